"""Physical plans of batch queries, as data."""

from __future__ import annotations

from dataclasses import dataclass, field

from muntin.aggregates import Aggregate
from muntin.plan.forest.logical import Plan
from muntin.plan.physical.shapes import Shape
from muntin.plan.show.describe import describe
from muntin.plan.slicing.grids import Grid
from muntin.plan.statistics import Statistics
from muntin.window import Window


@dataclass(frozen=True, slots=True)
class Group:
    """Windows and aggregates that are evaluated together, and how."""

    windows: tuple[Window, ...]
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
    """What is evaluated over the windows."""


@dataclass(frozen=True, slots=True, repr=False)
class PhysicalPlan:
    """The groups of windows, the logical plan that the kernels follow, and what else was weighed."""

    groups: tuple[Group, ...]
    strategy: str
    statistics: Statistics
    alternatives: tuple[tuple[str, float], ...] = field(default=())
    """Every way that was weighed with its cost, cheapest first."""
    notes: tuple[str, ...] = ()
    """Why shapes were left out, and what would help."""
    logical: Plan | None = None
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

    def explain(self) -> str:
        """Write the plan as text: the choice, the alternatives with their costs, and the logical plan."""
        return describe(self)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        shapes = ", ".join(dict.fromkeys(group.shape.name.lower() for group in self.groups))
        return f"<physical plan of {sum(len(group.windows) for group in self.groups)} windows: {shapes}>"
