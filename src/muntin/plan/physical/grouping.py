"""Which windows are evaluated together: joined as long as that costs less than apart."""

from __future__ import annotations

from muntin.plan.physical.plans import Group
from muntin.plan.physical.shapes import Shape
from muntin.plan.physical.work import Load, Work
from muntin.plan.physical.work import cost as cost_of
from muntin.plan.slicing.grids import density, slicing
from muntin.plan.slicing.slicings import sliced_apart
from muntin.window import Window


def price(work: Work, windows: tuple[Window, ...], shape: Shape) -> Group:
    """Price one group of windows in one shape."""
    grids = slicing(windows) if shape.uses_slices else ()
    load = work.load(windows).cut(density(grids), len(grids)) if grids else work.load(windows)
    cost, slices = cost_of(work, load, shape)
    return Group(windows, shape, cost, load.out, slices, grids)


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
