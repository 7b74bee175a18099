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
"""A slide, with the offset and the range modulo that slide: all windows of one grid can read one another's family."""

MOST_GRIDS = 20_000
"""A bound for adversarial sets; the finest grids are left out first."""

_NEIGHBOURS = 4
"""How many parents and children of a grid are considered for hopping windows on it."""

_NEXT = 64
"""How many multiples of a parent's slide are tried for a divisor of a grid."""


def candidates(problem: Problem) -> list[Shape]:
    """List the factor windows worth weighing, in ascending order.

    >>> tumbling = tuple((r, r, 0) for r in (20, 30, 40))
    >>> candidates(Problem(tumbling, Semantics.PARTITIONED_BY, 1, 1, 120, False))
    [(10, 10, 0)]
    """
    if problem.semantics is Semantics.ALONE:
        return []
    found = set()
    for grid in common_grids(problem):
        slide, offset, rest = grid
        found.add((slide + rest, slide, offset))
        if problem.semantics is Semantics.COVERED_BY:
            found.update(_hopping(problem, grid))
    return sorted(found - problem.asked)


def common_grids(problem: Problem) -> list[Grid]:
    """List the grids of the asked windows and of every group of them, coarsest first."""
    found: set[Grid] = set()
    for grid in sorted({grid for shape in problem.shapes for grid in _own_grids(problem, shape)}, reverse=True):
        if len(found) < MOST_GRIDS:
            found.update([_meet(grid, other) for other in found])
        found.add(grid)
    return sorted(found, reverse=True)[:MOST_GRIDS]


def _own_grids(problem: Problem, shape: Shape) -> list[Grid]:
    range, slide, offset = shape
    pane = gcd(range, slide)
    grids = [(pane, offset % pane, 0)]
    if problem.semantics is Semantics.COVERED_BY and range % slide:
        grids.append((slide, offset, range % slide))
    return grids


def _meet(a: Grid, b: Grid) -> Grid:
    """Give the coarsest grid that holds two grids."""
    step = gcd(a[0], b[0], a[1] - b[1], a[2] - b[2])
    return step, a[1] % step, a[2] % step


def _hopping(problem: Problem, grid: Grid) -> set[Shape]:
    """List the windows on a grid whose range stands just above a parent's or just below a child's."""
    step, offset, rest = grid
    children = sorted(
        s for s in problem.shapes if s[1] % step == 0 and (s[0] - rest) % step == 0 and (s[2] - offset) % step == 0
    )
    parents = [
        p for p in problem.shapes if step % p[1] == 0 and (rest - p[0]) % p[1] == 0 and (offset - p[2]) % p[1] == 0
    ]
    found: set[Shape] = set()
    for range_, slide, _ in sorted((p for p in parents if p[0] > p[1]), key=lambda p: (-p[1], p[0]))[:_NEIGHBOURS]:
        found.add((max(range_ + 1 + (rest - range_ - 1) % step, step + rest), step, offset))
        if range_ < step:
            multiples = range(range_ + slide - range_ % slide, min(step, range_ + _NEXT * slide), slide)
            if finer := next((m for m in multiples if step % m == 0), 0):
                found.add((finer + rest % finer, finer, offset % finer))
    shortest = (step + rest, step, offset)
    weight = sum(problem.instances(child) for child in children) * problem.step
    if weight > problem.instances(shortest) * min(problem.step, problem.raw * step):  # else no gain is possible
        found.update((child[0] - step, step, offset) for child in children[:_NEIGHBOURS] if child[0] - step >= step)
    return {f for f in found if children and f[0] < children[-1][0]}
