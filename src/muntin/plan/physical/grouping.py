"""Which windows are evaluated together: joined as long as that costs less than apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import count

from muntin.plan.physical.plans import Group
from muntin.plan.physical.shapes import Shape
from muntin.plan.physical.work import Load, Work
from muntin.plan.physical.work import cost as cost_of
from muntin.plan.slicing.cuts import Cut, Cuts
from muntin.plan.slicing.grids import density, slicing
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
    split = tuple(price(work, part.windows, shape) for part in _parts(work, windows, shape))
    return split if total(split) < whole.cost else (whole,)


@dataclass(frozen=True, slots=True)
class _Part:
    """Windows that may be joined with others."""

    windows: tuple[Window, ...]
    cut: Cut
    load: Load
    cost: float


def _parts(work: Work, windows: tuple[Window, ...], shape: Shape) -> Iterable[_Part]:
    """Join the two parts that gain most, again and again, as long as that gains anything.

    Pairs are weighed by an estimate of the edges that they have together. Edges are counted when it is a pair's turn;
    if it gains less than estimated, it waits for its turn again.
    """
    cuts = Cuts(windows)
    parts: dict[int, _Part] = {}
    pairs: list[tuple[float, int, int]] = []
    numbers = count()

    def cost(load: Load, slicing: tuple[float, int]) -> float:
        return cost_of(work, load.cut(*slicing), shape)[0]

    def add(windows: tuple[Window, ...], cut: Cut, load: Load) -> None:
        new, number = _Part(windows, cut, load, cost(load, cut.slicing)), next(numbers)
        for other, old in parts.items():
            loss = cost(old.load + load, old.cut.slicing_with(cut)) - old.cost - new.cost
            if loss < 0:
                heappush(pairs, (loss, other, number))
        parts[number] = new

    for window in windows:
        add((window,), cuts.alone(window), work.load((window,)))
    while pairs:
        _, a, b = heappop(pairs)
        if a in parts and b in parts:
            one, other = parts[a], parts[b]
            cut, load = cuts.joined(one.cut, other.cut), one.load + other.load
            loss = cost(load, cut.slicing) - one.cost - other.cost
            if loss < 0 and pairs and pairs[0][0] < loss:
                heappush(pairs, (loss, a, b))
            elif loss < 0:
                del parts[a], parts[b]
                add((*one.windows, *other.windows), cut, load)
    return parts.values()


def total(groups: tuple[Group, ...]) -> float:
    """Add up what groups cost."""
    return sum(group.cost for group in groups)
