"""The factor windows worth weighing, found on the grids that asked windows have in common.

A factor window f between a parent p and its children costs n_f·M(f, p) + Σ n_c·M(c, f). For a given slide the first
term is concave in f's range and the second falls linearly, so that the sum is least at an end of the admissible ranges:
just above the parent, at the slide itself, or just below the shortest child. For a given range a longer slide is never
worse, and the longest that all children admit is a greatest common divisor of their lengths. So a handful of ranges on
the common grids stands for the thousands of windows that cover something. Parents and children may be factor windows
themselves: the shortest on a grid, windows below them, windows above those. Longer chains are not followed, so the pool
can lack a window that the optimum has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from math import gcd

import numpy as np

from muntin.plan.coverage import Array, on_grids
from muntin.plan.divisors import divisors
from muntin.plan.problem import Problem, Semantics
from muntin.window import Shape

Grid = Shape
"""What windows must agree in for one to read another: their range modulo a slide, that slide, and their offset."""

_MOST_GRIDS = 2_000
"""A bound for sets of many highly composite lengths; the finest grids, which serve the most windows, are kept."""

_FEW_GRIDS = 100
"""Up to this many grids, factor windows are considered as parents and children of others."""

_NEIGHBOURS = 400
"""How many parents, and how many children, are considered for hopping windows, shared out among the grids."""

_NEXT = 64
"""How many multiples of a parent's slide are tried for a divisor of a grid."""


def candidates(problem: Problem) -> list[Shape]:
    """List the factor windows worth weighing, in ascending order.

    >>> from muntin.plan.horizon import Horizon
    >>> tumbling = tuple((r, r, 0) for r in (20, 30, 40))
    >>> candidates(Problem(tumbling, Semantics.PARTITIONED_BY, 1, 1, Horizon(120)))
    [(10, 10, 0)]
    """
    if problem.semantics is Semantics.ALONE:
        return []
    grids = common_grids(problem)
    pool = {_shortest(grid) for grid in grids}
    if problem.semantics is Semantics.COVERED_BY:
        few = len(grids) <= _FEW_GRIDS
        pool |= _below_children(problem, grids, pool | problem.asked if few else problem.asked)
        pool |= _above_parents(problem, grids, pool | problem.asked if few else problem.asked)
    return sorted(pool - problem.asked)


def common_grids(problem: Problem) -> list[Grid]:
    """List the grids of the asked windows and of every group of them, finest first."""
    most = max(_MOST_GRIDS, 2 * len(problem.shapes))
    found: set[Grid] = set()
    for grid in sorted({grid for shape in problem.shapes for grid in _own_grids(problem, shape)}):
        if len(found) < most:
            found.update([_meet(grid, other) for other in found])
        found.add(grid)
    return sorted(found, key=lambda grid: (grid[1], grid))[:most]


def _own_grids(problem: Problem, shape: Shape) -> list[Grid]:
    """Give the grid of a window's panes and, where overlaps are allowed, those of windows that could slide with it.

    Where the range is no multiple of the slide, a finer slide is worth a grid if it allows a shorter window.
    """
    range, slide, offset = shape
    pane = gcd(range, slide)
    found = [(0, pane, offset % pane)]
    if problem.semantics is Semantics.COVERED_BY and pane != slide:
        shortest = range + 1
        for step in reversed(divisors(slide)):
            if step + range % step < shortest:
                shortest = step + range % step
                found.append((range % step, step, offset % step))
    return found


def _meet(a: Grid, b: Grid) -> Grid:
    """Give the coarsest grid that holds two grids."""
    step = gcd(a[1], b[1], a[0] - b[0], a[2] - b[2])
    return a[0] % step, step, a[2] % step


def _shortest(grid: Grid) -> Shape:
    """Give the shortest window on a grid: its pane where the range is a multiple of the slide."""
    rest, step, offset = grid
    return step + rest, step, offset


def _below_children(problem: Problem, grids: list[Grid], neighbours: Collection[Shape]) -> set[Shape]:
    """List windows on a grid whose range stands just below that of a child, where that can gain anything.

    A step of the grid towards the child saves a read for every instance of the child and of longer windows. It costs at
    least a read, or a step of raw input, for every instance of the factor window. Of the longer windows only asked ones
    count: the others stand there instead of one another.
    """
    children = sorted(neighbours)
    on = on_grids(np.array(children), np.array(grids))
    often = _frequencies(problem, children)
    asked = np.array([child in problem.asked for child in children])
    longer = np.cumsum((on * often * asked)[:, ::-1], axis=1)[:, ::-1]
    costs = np.array([min(1.0, problem.raw * step / problem.step) for _, step, _ in grids])
    gains = longer + often * ~asked > (costs * _frequencies(problem, map(_shortest, grids)))[:, None]
    below = set()
    for grid, child in _pairs(on & gains):
        (_, step, offset), (range_, _, _) = grids[grid], children[child]
        if range_ >= 2 * step:
            below.add((range_ - step, step, offset))
    return below


def _above_parents(problem: Problem, grids: list[Grid], neighbours: Collection[Shape]) -> set[Shape]:
    """List windows on a grid, or on a finer one, whose range stands just above that of an overlapping parent.

    The parent must slide more finely: above one of the same slide, the next step always gains what the first one does.
    """
    parents = sorted((shape for shape in neighbours if shape[0] > shape[1]), key=lambda shape: (-shape[1], shape))
    if not parents:
        return set()
    finer = np.array(parents)[:, 1] < np.array(grids)[:, 1, None]
    longest = _longest_asked(problem, grids)
    above = set()
    for grid, parent in _pairs(on_grids(np.array(grids), np.array(parents)).T & finer):
        (rest, step, offset), (range_, slide, _) = grids[grid], parents[parent]
        above.add((max(range_ + 1 + (rest - range_ - 1) % step, step + rest), step, offset, longest[grid]))
        multiples = range(range_ + slide - range_ % slide, min(step, range_ + _NEXT * slide), slide)
        if divisor := next((multiple for multiple in multiples if step % multiple == 0), 0):
            above.add((divisor + rest % divisor, divisor, offset % divisor, longest[grid]))
    return {(range_, step, offset) for range_, step, offset, most in above if range_ < most}


def _longest_asked(problem: Problem, grids: list[Grid]) -> list[int]:
    """Give the longest range among the asked windows on each grid."""
    asked = np.array(problem.shapes)
    longest: list[int] = np.max(on_grids(asked, np.array(grids)) * asked[:, 0], axis=1).tolist()
    return longest


def _frequencies(problem: Problem, shapes: Iterable[Shape]) -> Array:
    """Give the instances per unit of time; whole numbers of them may exceed any float."""
    return np.array([problem.instances(shape) / problem.horizon.length for shape in shapes])


def _pairs(neighbours: Array) -> Iterator[tuple[int, int]]:
    """Yield the grids and their neighbours, as many of the first as each grid may have."""
    most = max(4, _NEIGHBOURS // len(neighbours))
    grids, places = np.nonzero(neighbours & (np.cumsum(neighbours, axis=1) <= most))
    return zip(grids.tolist(), places.tolist(), strict=True)
