"""The factor windows worth weighing, found on the grids that asked windows have in common.

A factor window f between a parent p and its children costs n_f·M(f, p) + Σ n_c·M(c, f). For a given slide the first
term is concave in f's range and the second falls linearly, so that the sum is least at an end of the admissible ranges:
just above the parent, at the slide itself, or just below the shortest child. For a given range a longer slide is never
worse, and the longest that all children admit is a greatest common divisor of their lengths. So a handful of ranges on
the common grids stands for the thousands of windows that cover something. Parents and children may be factor windows
themselves; of those only few are considered, so the pool can lack a window that the optimum has.
"""

from __future__ import annotations

from math import gcd

from muntin.plan.divisors import divisors
from muntin.plan.problem import Problem, Semantics
from muntin.window import Shape, on_grid

Grid = Shape
"""What windows must agree in for one to read another: their range modulo a slide, that slide, and their offset."""

_MOST_GRIDS = 2_000
"""A bound for sets of many highly composite lengths; the finest grids, which serve the most windows, are kept."""

_FEW_GRIDS = 100
"""Up to this many grids, the shortest windows on them are considered as children of others."""

_NEIGHBOURS = 4
"""How many parents and children of a grid are considered for hopping windows on it."""

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
    found = {_shortest(grid) for grid in grids}
    if problem.semantics is Semantics.COVERED_BY:
        readers = sorted(found | problem.asked if len(grids) <= _FEW_GRIDS else problem.asked)
        for grid in grids:
            children = [shape for shape in readers if on_grid(shape, grid)]
            hopping = _above_parents(problem, grid) | _below_children(problem, grid, children)
            found.update(shape for shape in hopping if shape[0] < children[-1][0])
    return sorted(found - problem.asked)


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


def _above_parents(problem: Problem, grid: Grid) -> set[Shape]:
    """List windows on a grid, or on a finer one, whose range stands just above that of an overlapping asked window."""
    rest, step, offset = grid
    parents = [shape for shape in problem.shapes if shape[0] > shape[1] and on_grid(grid, shape)]
    found: set[Shape] = set()
    for range_, slide, _ in sorted(parents, key=lambda shape: (-shape[1], shape[0]))[:_NEIGHBOURS]:
        found.add((max(range_ + 1 + (rest - range_ - 1) % step, step + rest), step, offset))
        multiples = range(range_ + slide - range_ % slide, min(step, range_ + _NEXT * slide), slide)
        if finer := next((multiple for multiple in multiples if step % multiple == 0), 0):
            found.add((finer + rest % finer, finer, offset % finer))
    return found


def _below_children(problem: Problem, grid: Grid, children: list[Shape]) -> set[Shape]:
    """List windows on a grid whose range stands just below that of a child, where that can gain anything.

    Over the shortest window on the grid such a window saves at most its extra range for every child instance, and
    costs at least that for each of its own.
    """
    _, step, offset = grid
    saved = problem.step * sum(problem.instances(child) for child in children)
    spent = min(problem.step, problem.raw * step) * problem.instances(_shortest(grid))
    if saved <= spent:
        return set()
    longer = [child for child in children if child[0] >= 2 * step]
    return {(child[0] - step, step, offset) for child in longer[:_NEIGHBOURS]}
