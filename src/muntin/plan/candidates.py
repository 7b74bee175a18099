"""The factor windows worth weighing, found on the grids that asked windows have in common.

A factor window f between a parent p and its children costs n_f·M(f, p) + Σ n_c·M(c, f). For a given slide the first
term is concave in f's range and the second falls linearly, so that the sum is least at an end of the admissible ranges:
just above the parent, at the slide itself, or just below the shortest child. For a given range a longer slide is never
worse, and the longest that all children admit is a greatest common divisor of their lengths. So a handful of ranges on
the common grids stands for the thousands of windows that cover something.
"""

from __future__ import annotations

from math import gcd

from muntin.plan.problem import Problem, Semantics, Shape

Grid = tuple[int, int, int]
"""A slide, with the offset and the range modulo that slide: what windows must agree in for one to read another."""

MOST_GRIDS = 5_000
"""A bound for sets of many highly composite lengths; the finest grids, which serve the most windows, are kept."""

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
    found: set[Shape] = set()
    for grid in common_grids(problem):
        step, offset, rest = grid
        found.add((step + rest, step, offset))
        if problem.semantics is Semantics.COVERED_BY:
            children = sorted(shape for shape in problem.shapes if _agree((shape[1], shape[2], shape[0]), grid))
            hopping = _above_parents(problem, grid) | _below_children(problem, grid, children)
            found.update(shape for shape in hopping if shape[0] < children[-1][0])
    return sorted(found - problem.asked)


def common_grids(problem: Problem) -> list[Grid]:
    """List the grids of the asked windows and of every group of them."""
    found: set[Grid] = set()
    for grid in sorted({grid for shape in problem.shapes for grid in _own_grids(problem, shape)}, reverse=True):
        if len(found) < MOST_GRIDS:
            found.update([_meet(grid, other) for other in found])
        found.add(grid)
    return sorted(found)[:MOST_GRIDS]


def _own_grids(problem: Problem, shape: Shape) -> list[Grid]:
    """Give the grid of a window's panes and, where overlaps are allowed, that of windows which slide with it."""
    range, slide, offset = shape
    pane = gcd(range, slide)
    panes = (pane, offset % pane, 0)
    return [panes, (slide, offset, range % slide)] if problem.semantics is Semantics.COVERED_BY else [panes]


def _meet(a: Grid, b: Grid) -> Grid:
    """Give the coarsest grid that holds two grids."""
    step = gcd(a[0], b[0], a[1] - b[1], a[2] - b[2])
    return step, a[1] % step, a[2] % step


def _above_parents(problem: Problem, grid: Grid) -> set[Shape]:
    """List windows on a grid, or on a finer one, whose range stands just above that of an overlapping asked window."""
    step, offset, rest = grid
    parents = [p for p in problem.shapes if p[0] > p[1] and _agree(grid, (p[1], p[2], p[0]))]
    found: set[Shape] = set()
    for range_, slide, _ in sorted(parents, key=lambda p: (-p[1], p[0]))[:_NEIGHBOURS]:
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
    step, offset, rest = grid
    saved = problem.step * sum(problem.instances(child) for child in children)
    spent = min(problem.step, problem.raw * step) * problem.instances((step + rest, step, offset))
    if saved <= spent:
        return set()
    return {(child[0] - step, step, offset) for child in children[:_NEIGHBOURS] if child[0] >= 2 * step}


def _agree(grid: Grid, finer: Grid) -> bool:
    """Tell whether all windows of a grid may read those of a finer one, as far as slides, offsets and ranges go."""
    step = finer[0]
    return grid[0] % step == 0 and (grid[1] - finer[1]) % step == 0 and (grid[2] - finer[2]) % step == 0
