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

from collections.abc import Collection, Iterator
from math import gcd

import numpy as np

from muntin.plan.forest.coverage import Array, on_grids
from muntin.plan.forest.divisors import divisors
from muntin.plan.forest.problem import Problem, Semantics
from muntin.window import Period

Grid = Period
"""What windows must agree in for one to read another: their range modulo a slide, that slide, and their offset."""

_MOST_GRIDS = 2_000
"""A bound for sets of many highly composite lengths; the finest grids, which serve the most windows, are kept."""

_FEW_GRIDS = 300
"""Up to this many grids, factor windows are considered as parents and children of others."""

_HOPPING, _HOPPING_EACH = 30, 2
"""How many windows below children, and how many above parents, the pool has at most: some, and some for each window."""

_LONGEST = 2**61
"""Beyond this range, which no clock reaches, there are no windows below or above others: sums must fit 64 bits."""

_NEXT = 64
"""How many multiples of a parent's slide are tried for a divisor of a grid."""


def candidates(problem: Problem) -> list[Period]:
    """List the factor windows worth weighing, in ascending order.

    >>> from muntin.plan.forest.horizon import Horizon
    >>> tumbling = tuple((r, r, 0) for r in (20, 30, 40))
    >>> candidates(Problem(tumbling, Semantics.PARTITIONED_BY, 1, 1, Horizon(120)))
    [(10, 10, 0)]
    """
    if problem.semantics is Semantics.ALONE:
        return []
    grids = common_grids(problem)
    pool = {_shortest(grid) for grid in grids}
    if problem.semantics is Semantics.COVERED_BY and max(problem.periods)[0] < _LONGEST:
        few = len(grids) <= _FEW_GRIDS
        pool |= _below_children(problem, grids, pool | problem.asked if few else problem.asked)
        pool |= _above_parents(problem, grids, pool | problem.asked if few else problem.asked)
        pool |= _finer_above_parents(problem, grids)
    return sorted(pool - problem.asked)


def common_grids(problem: Problem) -> list[Grid]:
    """List the grids of the asked windows and of every group of them, finest first."""
    most = max(_MOST_GRIDS, 2 * len(problem.periods))
    found: set[Grid] = set()
    for grid in sorted({grid for period in problem.periods for grid in _own_grids(problem, period)}):
        if len(found) < most:
            found.update([_meet(grid, other) for other in found])
        found.add(grid)
    return sorted(found, key=lambda grid: (grid[1], grid))[:most]


def _own_grids(problem: Problem, period: Period) -> list[Grid]:
    """Give the grid of a window's panes and, where overlaps are allowed, those of windows that could slide with it.

    Where the range is no multiple of the slide, a finer slide is worth a grid if it allows a shorter window.
    """
    range, slide, offset = period
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


def _shortest(grid: Grid) -> Period:
    """Give the shortest window on a grid: its pane where the range is a multiple of the slide."""
    rest, step, offset = grid
    return step + rest, step, offset


def _below_children(problem: Problem, grids: list[Grid], neighbours: Collection[Period]) -> set[Period]:
    """List windows on a grid whose range stands just below that of a child.

    A step of the grid, from its shortest window towards the child, saves a read for every instance of the child and of
    longer windows. It costs at least a read, or a step of raw input, for every instance of the factor window. Of the
    longer windows only asked ones count: the others stand there instead of one another.
    """
    children = sorted(neighbours)
    ranges, slides, _ = np.array(children).T
    rest, step, _ = np.array(grids).T[:, :, None]
    asked, often = _asked(problem, children), _frequencies(problem, ranges, slides)
    on = on_grids(np.array(children), np.array(grids))
    saved = _sums_from(on * asked * often)[:, :-1] + ~asked * often
    spent = np.minimum(1.0, problem.raw / problem.step * step) * _frequencies(problem, ranges - step, step)
    steps = np.maximum(0, ranges - rest - 2 * step) / step
    below = _foremost(problem, on * (saved - spent) * steps, asked)
    return {(children[child][0] - grids[grid][1], *grids[grid][1:]) for grid, child in below}


def _above_parents(problem: Problem, grids: list[Grid], neighbours: Collection[Period]) -> set[Period]:
    """List windows on a grid whose range stands just above that of an overlapping parent.

    The parent must slide more finely: above one of the same slide, the next step always gains what the first one does.
    Gains are counted against the shortest window on the grid. Longer asked windows are spared a read for every step
    that the window is longer, and the shortest itself is spared.
    """
    parents = sorted(period for period in neighbours if period[0] > period[1])
    if not parents:
        return set()
    ranges, slides, _ = np.array(parents).T
    rest, step, _ = np.array(grids).T[:, :, None]
    finer = on_grids(np.array(grids), np.array(parents)).T & (slides < step)
    nearest = np.maximum(ranges + 1 + (rest - ranges - 1) % step, step + rest)
    asked = np.array(sorted(problem.periods))
    often = _sums_from(on_grids(asked, np.array(grids)) * _frequencies(problem, asked[:, 0], asked[:, 1]))
    longer = np.take_along_axis(often, np.searchsorted(asked[:, 0], nearest, side="right"), axis=1)
    shortest = min(1.0, problem.raw / problem.step) * (step + rest) * _frequencies(problem, step + rest, step)
    own = (1 + (nearest - ranges) / slides) * _frequencies(problem, nearest, step)
    gains = finer * (longer > 0) * (longer * (nearest - rest - step) / step + shortest - own)
    above = _foremost(problem, gains, _asked(problem, parents))
    return {(int(nearest[grid, parent]), *grids[grid][1:]) for grid, parent in above}


def _finer_above_parents(problem: Problem, grids: list[Grid]) -> set[Period]:
    """List windows on a finer grid whose slide, a divisor, stands just above the range of an overlapping asked parent.

    Where the parent slides finely, they can beat a window of a longer slide.
    """
    parents = [period for period in problem.periods if period[0] > period[1]]
    if not parents:
        return set()
    longer = np.array(parents)[:, 0] < np.array(grids)[:, 1, None]
    finer = set()
    for grid, parent in np.argwhere(on_grids(np.array(grids), np.array(parents)).T & longer).tolist():
        (rest, step, offset), (range_, slide, _) = grids[grid], parents[parent]
        multiples = range(range_ + slide - range_ % slide, min(step, range_ + _NEXT * slide), slide)
        if divisor := next((multiple for multiple in multiples if step % multiple == 0), 0):
            finer.add((divisor + rest % divisor, divisor, offset % divisor))
    return finer


def _asked(problem: Problem, periods: list[Period]) -> Array:
    return np.array([period in problem.asked for period in periods])


def _frequencies(problem: Problem, ranges: Array, slides: Array) -> Array:
    """Give the instances per unit of time, nearly; all of them together may be too many for a float."""
    rarer = 0.0 if problem.horizon.steady else 1 / problem.horizon.length
    return (1 - ranges * rarer) / slides + rarer


def _sums_from(columns: Array) -> Array:
    """Sum up every row from each column on, and last from behind them all.

    >>> _sums_from(np.array([[1, 2, 3]]))
    array([[6, 5, 3, 0]])
    """
    return np.pad(np.cumsum(columns[:, ::-1], axis=1)[:, ::-1], ((0, 0), (0, 1)))


def _foremost(problem: Problem, gains: Array, asked: Array) -> Iterator[tuple[int, int]]:
    """Yield grids and neighbours, by rows and columns: first the asked neighbours, of each grid those that gain most.

    What an asked neighbour gains is certain; a factor window must pay for itself first.
    """
    ranks = np.argsort(np.argsort(-gains, axis=1, kind="stable"), axis=1)
    grids, places = np.nonzero(gains > 0)
    turns = np.lexsort((ranks[grids, places], ~asked[places]))[: _HOPPING + _HOPPING_EACH * len(problem.periods)]
    return zip(grids[turns].tolist(), places[turns].tolist(), strict=True)
