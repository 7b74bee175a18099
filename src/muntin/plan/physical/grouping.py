"""Which windows are evaluated together: joined as long as that costs less than apart."""

from __future__ import annotations

from muntin.plan.physical.plans import Group
from muntin.plan.physical.prices import Amounts
from muntin.plan.physical.shapes import Shape
from muntin.plan.physical.work import Load, Work, amounts, at_source
from muntin.plan.physical.work import cost as cost_of
from muntin.plan.slicing.grids import Grid, density, slicing
from muntin.plan.slicing.slicings import sliced_apart
from muntin.window import Window


def price(work: Work, windows: tuple[Window, ...], shape: Shape) -> Group:
    """Price one group of windows in one shape."""
    load, grids = _cut(work, windows, shape)
    cost, slices = cost_of(work, load, shape)
    return Group(windows, shape, cost, load.out, slices, grids)


def counted(work: Work, windows: tuple[Window, ...], shape: Shape) -> Amounts:
    """Count the units of work of one group of windows in one shape."""
    return amounts(work, _cut(work, windows, shape)[0], shape)[0]


def branch_amounts(work: Work, windows: tuple[Window, ...]) -> Amounts:
    """Count the units of work of one branch, whose rows are in Python already because of others."""
    return at_source(work, _cut(work, windows, Shape.SOURCE_SLICES_KERNEL)[0])[0]


def _cut(work: Work, windows: tuple[Window, ...], shape: Shape) -> tuple[Load, tuple[Grid, ...]]:
    """Give the load of some windows, cut into slices where a shape has them, and what the slices lie on."""
    if not shape.uses_slices:
        return work.load(windows), ()
    grids = slicing(windows)
    return work.load(windows).cut(density(grids), len(grids)), grids


def grouped(work: Work, windows: tuple[Window, ...], shape: Shape) -> tuple[Group, ...]:
    """Split windows into groups for a shape, as long as joining two groups would cost more.

    Only slices are worth splitting: windows with no common divisor cut them as fine as the events.
    """
    if not shape.uses_slices or len(windows) == 1:
        return (price(work, windows, shape),)
    whole = price(work, windows, shape)
    if whole.slices < 0.2 * work.statistics.rows:  # splitting would read the rows again to save few slices
        return (whole,)

    def charge(load: Load, edges: float, grids: int) -> float:
        return cost_of(work, load.cut(edges, grids), shape)[0]

    parts = sliced_apart(windows, lambda window: work.load((window,)), charge)
    split = tuple(price(work, part, shape) for part in parts)
    return split if len(split) > 1 and total(split) < whole.cost else (whole,)


def total(groups: tuple[Group, ...]) -> float:
    """Add up what groups cost."""
    return sum(group.cost for group in groups)
