"""What rolling windows cost in plain Spark and by kernels, in core-microseconds; only the order matters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from math import log2

from muntin.aggregates import Aggregate
from muntin.plan.physical.prices import Amounts, added
from muntin.plan.physical.work import LIFTED, Work
from muntin.plan.show.outline import Outline
from muntin.plan.show.rolling import outline_of_rolling
from muntin.plan.show.shown import Shown
from muntin.plan.statistics import Statistics


@dataclass(frozen=True, slots=True)
class Rolling:
    """The sizes of a rolling query."""

    work: Work
    frames: tuple[float, ...]
    """How many rows each frame has on average."""
    carried: int
    """Columns that are given back as they came."""
    aggregates: int
    segment_tree: bool = False
    """Whether Spark's own segment tree is switched on."""

    def amounts(self, shape: RollingShape) -> Amounts:
        """Count the units of work of a shape.

        >>> from muntin.plan.statistics import Statistics
        >>> Rolling(Work(Statistics(1000)), (10, 100), 3, 2).amounts(RollingShape.INDEPENDENT)["frame_look"]
        220000
        """
        rows = self.work.statistics.rows
        ordered = added({"branch": 1, "stage": 1, "exchange": rows * self.work.wide}, self.work.reading())
        return added(ordered, self._plain(rows) if shape is RollingShape.INDEPENDENT else self._by_kernels(rows))

    def cost(self, shape: RollingShape) -> float:
        """Price a shape."""
        return self.work.prices.of(self.amounts(shape))

    def _plain(self, rows: float) -> Amounts:
        """Count the window functions of plain Spark."""
        frames, each = len(self.frames), rows * self.aggregates
        own = {"frame": rows * frames, "frame_aggregate": each * frames}
        own |= {"holistic": rows * sum(self.frames) * self.work.ranked}
        if self.segment_tree:
            return own | {"frame_climb": each * sum(log2(2 + length) for length in self.frames)}
        return own | {"frame_look": each * sum(self.frames)}

    def _by_kernels(self, rows: float) -> Amounts:
        """Count the way to Python and back, and the kernels."""
        own = {"python": 1, "frame_row": rows, "carried": rows * self.carried}
        own["frame_result"] = rows * self.work.columns * len(self.frames)
        own |= {"search": rows * len(self.frames) * self.work.ranked, "order": LIFTED * rows * self.work.ranked}
        return added(own, self.work.sent_rows())


class RollingShape(Enum):
    """How rolling windows are evaluated on Spark."""

    INDEPENDENT = "a window function for every aggregate and frame"
    KERNEL = "rows sorted by key and time, all frames by kernels in one pass"


@dataclass(frozen=True, slots=True, repr=False)
class RollingPlan(Shown):
    """How a rolling query is evaluated, and the alternatives that were weighed; mt.explain_rolling returns it.

    Example:
        ```python
        plan = mt.explain_rolling(readings, "ts", "device", ["10 minutes", "1 hour"], mt.avg("temperature"))
        print(plan.shape.name, plan.frames)
        ```
    """

    shape: RollingShape
    strategy: str
    frames: tuple[str, ...]
    """The labels of ranges and counts."""
    statistics: Statistics
    alternatives: tuple[tuple[str, float], ...]
    """Every way that was weighed with its cost in core-microseconds, cheapest first."""
    notes: tuple[str, ...] = ()
    """Why kernels were left out, or what would make them faster."""
    aggregates: tuple[Aggregate, ...] = ()
    frame_rows: tuple[float, ...] = ()
    """How many rows each frame is expected to have on average."""
    techniques: tuple[str, ...] = ()
    """How frames are expected to be combined, where kernels do it."""

    @property
    def cost(self) -> float:
        """The estimated core-microseconds."""
        return dict(self.alternatives)[self.shape.name.lower()]

    def outline(self) -> Outline:
        """Say what the plan contains: all ways to show it are made of this."""
        return outline_of_rolling(self)

    def __repr__(self) -> str:
        return f"<rolling plan of {len(self.frames)} frames: {self.shape.name.lower()}>"


def frame_rows(work: Work, ranges: Iterable[int], counts: Iterable[int]) -> tuple[float, ...]:
    """Estimate how many rows the frames of ranges (in microseconds) and of counts have, at most those of a key.

    >>> from muntin.plan.statistics import Statistics
    >>> frame_rows(Work(Statistics(1000, keys=10, span=1000)), ranges=[90, 10**9], counts=[7])
    (10.0, 100.0, 7.0)
    """
    statistics = work.statistics
    most = max(1.0, statistics.rows / max(1, statistics.keys))
    lengths = [1 + float(statistics.rate * length) for length in ranges]
    return tuple(min(most, length) for length in [*lengths, *map(float, counts)])
