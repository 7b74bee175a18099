"""Which queries of a set are evaluated together, as data: shares, each in its way, and what else was weighed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from muntin.plan.show.outline import Outline
from muntin.plan.show.sharing import outline_of_sharing
from muntin.plan.show.shown import Shown
from muntin.plan.statistics import Statistics

Way = Literal["apart", "conditions", "fragments", "branches"]
"""How queries are evaluated: a query by itself; filters as conditions on what is lifted; over common partials; or
sliced at the source for every filter and set of keys."""

KEPT = 0.5
"""Core-microseconds for a result row that is kept until all queries have read it."""
READ = 150_000
"""Core-microseconds for a query that reads its rows from those kept."""


@dataclass(frozen=True, slots=True)
class Reader:
    """What a query asks, in words."""

    name: str
    by: tuple[str, ...]
    windows: tuple[str, ...]
    aggregates: tuple[str, ...]
    where: str | None = None


@dataclass(frozen=True, slots=True)
class Share:
    """Queries that are evaluated together, and how."""

    way: Way
    queries: tuple[Reader, ...]
    cost: float
    rows: float = 0.0
    """Rows that it reads."""
    parts: float = 0.0
    """Partials that the queries have in common, where there are any."""
    filters: int = 0
    keys: tuple[tuple[str, ...], ...] = ()
    """The sets of keys, each once."""
    plans: tuple[Shown, ...] = ()
    """How windows are evaluated, for each set of keys."""
    reason: str = ""
    """Why it is not shared with others, where it could not be."""


@dataclass(frozen=True, slots=True, repr=False)
class SharingPlan(Shown):
    """Which queries of a set are evaluated together, and how; mt.explain returns it for many queries.

    Example:
        ```python
        queries = [mt.Query("ts", key, "1 hour", mt.count(), name=key) for key in ("device", "region")]
        plan = mt.explain(readings, queries)
        print([(share.way, len(share.queries)) for share in plan.shares])
        ```
    """

    shares: tuple[Share, ...]
    statistics: Statistics
    streaming: bool = False
    alternatives: tuple[tuple[str, float], ...] = ()
    """Every way to share that was weighed with its cost, cheapest first."""
    alone: float | None = None
    """What all queries would cost one by one."""

    @property
    def cost(self) -> float:
        """The estimated core-microseconds."""
        return sum(share.cost for share in self.shares)

    def outline(self) -> Outline:
        """Say what the plan contains: all ways to show it are made of this."""
        return outline_of_sharing(self)

    def __repr__(self) -> str:
        ways = ", ".join(f"{len(share.queries)} {share.way}" for share in self.shares)
        return f"<sharing plan of {sum(len(share.queries) for share in self.shares)} queries: {ways}>"
