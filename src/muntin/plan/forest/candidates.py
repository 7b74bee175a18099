"""The factor windows worth weighing, on the lattices that asked windows have in common.

A factor window f between a parent p and its children costs n_f·M(f, p) + Σ n_c·M(c, f). For a given slide the first
term is concave in f's range and the second falls linearly, so that the sum is least at an end of the admissible ranges:
just above the parent, at the slide itself, or just below the shortest child. For a given range a longer slide is never
worse, and the longest that all children admit is a greatest common divisor of their lengths. So a handful of ranges on
the common lattices stands for the thousands of windows that cover something. Parents and children may be factor windows
themselves: the shortest on a lattice, windows below them, windows above those. Longer chains are not followed, so the
pool can lack a window that the optimum has.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import gcd

import numpy as np

from muntin.plan.forest.coverage import Array, on_grids
from muntin.plan.forest.divisors import divisors
from muntin.plan.forest.problem import Problem, Semantics
from muntin.window import Period

Lattice = Period
"""What windows must agree in for one to read another: their range modulo a slide, that slide, and their offset."""

_MOST_LATTICES = 2_000
"""A bound for sets of many highly composite lengths; the finest lattices, which serve the most windows, are kept."""

_FEW_LATTICES = 300
"""Up to this many lattices, factor windows are considered as parents and children of others."""

_HOPPING, _HOPPING_EACH = 30, 2
"""How many windows below children, and how many above parents, the pool has at most: some, and some for each window."""

_LONGEST = 2**61
"""Beyond this range, which no clock reaches, there are no windows below or above others: sums must fit 64 bits."""

_NEXT = 64
"""How many multiples of a parent's slide are tried for a divisor of a lattice."""


def candidates(problem: Problem) -> list[Period]:
    """List the factor windows worth weighing, in ascending order.

    >>> from muntin.plan.forest.horizon import Horizon
    >>> tumbling = tuple((r, r, 0) for r in (20, 30, 40))
    >>> candidates(Problem(tumbling, Semantics.PARTITIONED_BY, 1, 1, Horizon(120)))
    [(10, 10, 0)]
    """
    if problem.semantics is Semantics.ALONE:
        return []
    lattices = common_lattices(problem)
    pool = {_shortest(lattice) for lattice in lattices}
    if problem.semantics is Semantics.COVERED_BY and max(problem.periods)[0] < _LONGEST:
        few = len(lattices) <= _FEW_LATTICES
        pool |= _below_children(problem, lattices, pool | problem.asked if few else problem.asked)
        pool |= _above_parents(problem, lattices, pool | problem.asked if few else problem.asked)
        pool |= _finer_above_parents(problem, lattices)
    return sorted(pool - problem.asked)


def common_lattices(problem: Problem) -> list[Lattice]:
    """List the lattices of the asked windows and of every group of them, finest first."""
    most = max(_MOST_LATTICES, 2 * len(problem.periods))
    lattices: set[Lattice] = set()
    for lattice in sorted({lattice for period in problem.periods for lattice in _own_lattices(problem, period)}):
        if len(lattices) < most:
            lattices.update([_meet(lattice, other) for other in lattices])
        lattices.add(lattice)
    return sorted(lattices, key=lambda lattice: (lattice[1], lattice))[:most]


def _own_lattices(problem: Problem, period: Period) -> list[Lattice]:
    """Give the lattice of a window's panes and, where overlaps are allowed, those of windows that could slide with it.

    Where the range is no multiple of the slide, a finer slide is worth a lattice if it allows a shorter window.
    """
    range, slide, offset = period
    pane = gcd(range, slide)
    lattices = [(0, pane, offset % pane)]
    if problem.semantics is Semantics.COVERED_BY and pane != slide:
        shortest = range + 1
        for step in reversed(divisors(slide)):
            if step + range % step < shortest:
                shortest = step + range % step
                lattices.append((range % step, step, offset % step))
    return lattices


def _meet(a: Lattice, b: Lattice) -> Lattice:
    """Give the coarsest lattice that holds two lattices."""
    step = gcd(a[1], b[1], a[0] - b[0], a[2] - b[2])
    return a[0] % step, step, a[2] % step


def _shortest(lattice: Lattice) -> Period:
    """Give the shortest window on a lattice: its pane where the range is a multiple of the slide."""
    rest, step, offset = lattice
    return step + rest, step, offset


def _below_children(problem: Problem, lattices: list[Lattice], neighbours: Collection[Period]) -> set[Period]:
    """List windows on a lattice whose range stands just below that of a child.

    A step of the lattice, from its shortest window towards the child, saves a read for every instance of the child and
    of longer windows. It costs at least a read, or a step of raw input, for every instance of the factor window. Of the
    longer windows only asked ones count: the others stand there instead of one another.
    """
    children = sorted(neighbours)
    ranges, slides, _ = np.array(children).T
    rest, step, _ = np.array(lattices).T[:, :, None]
    asked, often = _asked(problem, children), _frequencies(problem, ranges, slides)
    on = on_grids(np.array(children), np.array(lattices))
    saved = _sums_from(on * asked * often)[:, :-1] + ~asked * often
    spent = np.minimum(1.0, problem.raw / problem.step * step) * _frequencies(problem, ranges - step, step)
    steps = np.maximum(0, ranges - rest - 2 * step) / step
    below = _foremost(problem, on * (saved - spent) * steps, asked)
    return {(children[child][0] - lattices[lattice][1], *lattices[lattice][1:]) for lattice, child in below}


def _above_parents(problem: Problem, lattices: list[Lattice], neighbours: Collection[Period]) -> set[Period]:
    """List windows on a lattice whose range stands just above that of an overlapping parent.

    The parent must slide more finely: above one of the same slide, the next step always gains what the first one does.
    Gains are counted against the shortest window on the lattice. Longer asked windows are spared a read for every step
    that the window is longer, and the shortest itself is spared.
    """
    parents = sorted(period for period in neighbours if period[0] > period[1])
    if not parents:
        return set()
    ranges, slides, _ = np.array(parents).T
    rest, step, _ = np.array(lattices).T[:, :, None]
    finer = on_grids(np.array(lattices), np.array(parents)).T & (slides < step)
    nearest = np.maximum(ranges + 1 + (rest - ranges - 1) % step, step + rest)
    asked = np.array(sorted(problem.periods))
    often = _sums_from(on_grids(asked, np.array(lattices)) * _frequencies(problem, asked[:, 0], asked[:, 1]))
    longer = np.take_along_axis(often, np.searchsorted(asked[:, 0], nearest, side="right"), axis=1)
    shortest = min(1.0, problem.raw / problem.step) * (step + rest) * _frequencies(problem, step + rest, step)
    own = (1 + (nearest - ranges) / slides) * _frequencies(problem, nearest, step)
    gains = finer * (longer > 0) * (longer * (nearest - rest - step) / step + shortest - own)
    above = _foremost(problem, gains, _asked(problem, parents))
    return {(int(nearest[lattice, parent]), *lattices[lattice][1:]) for lattice, parent in above}


def _finer_above_parents(problem: Problem, lattices: list[Lattice]) -> set[Period]:
    """List windows on a finer lattice whose slide, a divisor, is just above the range of an overlapping asked parent.

    Where the parent slides finely, they can beat a window of a longer slide.
    """
    parents = [period for period in problem.periods if period[0] > period[1]]
    if not parents:
        return set()
    longer = np.array(parents)[:, 0] < np.array(lattices)[:, 1, None]
    finer = set()
    for lattice, parent in np.argwhere(on_grids(np.array(lattices), np.array(parents)).T & longer).tolist():
        (rest, step, offset), (range_, slide, _) = lattices[lattice], parents[parent]
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
    """Yield lattices and neighbours, by rows and columns: asked neighbours first, of each lattice those that gain most.

    What an asked neighbour gains is certain; a factor window must pay for itself first.
    """
    ranks = np.argsort(np.argsort(-gains, axis=1, kind="stable"), axis=1)
    lattices, places = np.nonzero(gains > 0)
    turns = np.lexsort((ranks[lattices, places], ~asked[places]))[: _HOPPING + _HOPPING_EACH * len(problem.periods)]
    return zip(lattices[turns].tolist(), places[turns].tolist(), strict=True)
