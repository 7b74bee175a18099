"""Physical plans of batch queries, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import isclose
from typing import Any

from muntin.aggregates import Aggregate
from muntin.choices import Algorithm
from muntin.duration import natural_unit
from muntin.plan.forest.logical import Plan
from muntin.plan.forest.planner import plan
from muntin.plan.physical.shapes import FRAMED, Shape
from muntin.plan.show.batch import outline_of_batch
from muntin.plan.show.outline import Outline
from muntin.plan.show.shown import Shown
from muntin.plan.slicing.grids import Grid, slice_rate
from muntin.plan.statistics import Statistics
from muntin.window import Window


@dataclass(frozen=True, slots=True)
class Group:
    """Windows and aggregates that are evaluated together, and how."""

    windows: tuple[Any, ...]
    """Windows of the kinds that the shape reads: periodic ones, or, where rows are in order, any."""
    shape: Shape
    cost: float
    rows_out: float
    """Result rows."""
    slices: float = 0
    """Rows between the two steps, where there are two."""
    grids: tuple[Grid, ...] = ()
    """What slices lie on, where there are slices."""
    forest: Plan | None = None
    """Which window reads which, where kernels combine them."""
    techniques: tuple[str, ...] = ()
    """How each of them is combined, and why."""
    aggregates: tuple[Aggregate, ...] = ()
    """What is evaluated over the windows; empty for all that the query asks for."""

    @property
    def is_framed(self) -> bool:
        """Whether a window of the group is on no grid of time, or rows are read in order."""
        return self.shape in FRAMED or not all(isinstance(window, Window) for window in self.windows)

    @property
    def scans(self) -> int:
        """How often the rows are read."""
        return len(self.windows) if self.shape is Shape.INDEPENDENT else 1


@dataclass(frozen=True, slots=True, repr=False)
class PhysicalPlan(Shown):
    """The groups of windows, each with its shape, and the alternatives that were weighed; mt.explain returns it.

    Example:
        ```python
        plan = mt.explain(readings, "ts", "device", "10 minutes, 1 hour", mt.avg("temperature"))
        print([group.shape.name for group in plan.groups], round(plan.cost / 1e6, 2), "core-seconds")
        print(plan.to_mermaid())
        ```
    """

    groups: tuple[Group, ...]
    strategy: str
    statistics: Statistics
    alternatives: tuple[tuple[str, float], ...] = field(default=())
    """Every way that was weighed with its cost, cheapest first."""
    notes: tuple[str, ...] = ()
    """Why shapes were left out, and what would help."""
    joining: float = 0.0
    """What it costs to put the aggregates of several groups together, where the same windows are in several."""

    @property
    def cost(self) -> float:
        """The estimated core-microseconds."""
        return sum(group.cost for group in self.groups) + self.joining

    @property
    def bundles(self) -> tuple[tuple[Aggregate, ...], ...]:
        """The aggregates that are evaluated together, each set once."""
        return tuple(dict.fromkeys(group.aggregates for group in self.groups))

    @property
    def logical(self) -> Plan | None:
        """The forest of all periodic windows in the paper's unit model.

        A single group with kernels follows it, over what it reads: events or slices. Otherwise none of the groups
        follows it, and it is planned over events when it is read.
        """
        if len(self.groups) == 1 and self.groups[0].forest is not None:
            return self.groups[0].forest
        groups = [group for group in self.groups if not group.is_framed]
        windows = dict.fromkeys(window for group in groups for window in group.windows)
        aggregates = dict.fromkeys(aggregate for group in groups for aggregate in group.aggregates)
        return plan_forest(tuple(windows), tuple(aggregates), self.statistics.rate) if aggregates else None

    def outline(self) -> Outline:
        """Say what the plan contains: all ways to show it are made of this."""
        return outline_of_batch(self)

    def __repr__(self) -> str:
        shapes = ", ".join(dict.fromkeys(group.shape.name.lower() for group in self.groups))
        return f"<physical plan of {sum(len(group.windows) for group in self.groups)} windows: {shapes}>"


def plan_forest(
    windows: tuple[Window, ...],
    aggregates: tuple[Aggregate, ...],
    rate: Fraction,
    algorithm: Algorithm = "best",
) -> Plan:
    """Plan which window reads which, in the paper's unit model; the rate is that of what is read, by microsecond."""
    unit = natural_unit([length for window in windows for length in window.period])
    return plan(windows, aggregates, rate=rate * unit, algorithm=algorithm)


def rate_below(group: Group, statistics: Statistics) -> Fraction:
    """Return how much kernels read of every key by microsecond: slices where there are slices, else events.

    >>> statistics = Statistics(10**8, keys=10, span=10**12)
    >>> rate_below(Group((Window("10 s"),), Shape.SLICES_KERNEL, 0, 0, 1_000_010, ((10**7, 0),)), statistics)
    Fraction(1, 10000000)
    """
    if not group.grids:
        return statistics.rate
    every = slice_rate(group.grids)
    estimated = Fraction(max(1, round(group.slices)), statistics.keys * max(1, statistics.span))
    return every if isclose(estimated, every, rel_tol=0.01) else estimated
