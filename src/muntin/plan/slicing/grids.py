"""Slices: the pieces of time between neighbouring edges of a set of windows.

Edges are where instances begin or end. Those of one window lie on one or two grids ⟨slide, residue⟩, so the edges of a
set are the union of a few grids, and a row's slice is the latest edge at or before it.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from math import gcd, lcm

import numpy as np

from muntin.window import Grid as Grid
from muntin.window import Period, Window

_COUNTED = 10_000
"""Edges that are counted at most; beyond that the density is that of a stretch of time with so many."""

_AWAY = 12_345
"""Where that stretch begins, in its own lengths: at zero, where most grids meet, edges are fewer than elsewhere."""

HARDLY_FINER = 1.6
"""How much finer than the edges a single grid may be to slice by."""


def grids(windows: Iterable[Window]) -> tuple[Grid, ...]:
    """Give the grids whose union is all edges, without those that lie on another one.

    >>> grids([Window(20), Window(30), Window(40)]), grids([Window(7, 3)])
    (((20, 0), (30, 0)), ((3, 0), (3, 1)))
    """
    return union(grid for window in windows for grid in window.edges)


def lies_on(grid: Grid, other: Grid) -> bool:
    """Tell whether all times of one grid are times of another.

    >>> lies_on((12, 4), (4, 0)), lies_on((12, 5), (4, 0))
    (True, False)
    """
    return grid[0] % other[0] == 0 and (grid[1] - other[1]) % other[0] == 0


def union(several: Iterable[Grid]) -> tuple[Grid, ...]:
    """Give the grids without those that lie on another one, finest first: the same times, said once.

    >>> union([(12, 0), (4, 0), (4, 1), (6, 3)])
    ((4, 0), (4, 1), (6, 3))
    """
    kept: list[Grid] = []
    for grid in sorted(set(several)):
        if not any(lies_on(grid, other) for other in kept):
            kept.append(grid)
    return tuple(kept)


def common_grid(windows: Iterable[Window]) -> Grid:
    """Give the coarsest single grid on which all edges lie.

    >>> common_grid([Window(20), Window(30), Window(40)]), common_grid([Window(10, 10, 3)])
    ((10, 0), (10, 3))
    """
    exact = grids(windows)
    slide = 0
    for other, residue in exact:
        slide = gcd(slide, other, residue - exact[0][1])
    return slide, exact[0][1] % slide


def slice_rate(grids: tuple[Grid, ...]) -> Fraction:
    """Return the edges per unit of time as a fraction: what a float is near to.

    >>> slice_rate(((60_000_000, 0),))
    Fraction(1, 60000000)
    """
    return Fraction(density(grids)).limit_denominator(10**15)


def density(finest_first: tuple[Grid, ...]) -> float:
    """Count edges per unit of time.

    >>> density(((20, 0), (30, 0)))  # 0, 20, 30, 40 of 60
    0.06666666666666667
    """
    return _density(finest_first)


@cache
def _density(finest_first: tuple[Grid, ...]) -> float:
    finest = finest_first[0][0]
    if len(finest_first) == 1:
        return 1 / finest
    counted = max(2 * finest, int(_COUNTED / sum(1 / slide for slide, _ in finest_first)))
    fine = [(slide, residue) for slide, residue in finest_first if slide <= counted]
    length = min(lcm(*(slide for slide, _ in fine)), counted)
    begin = _AWAY * length
    edges = np.sort(np.concatenate([np.arange((residue - begin) % slide, length, slide) for slide, residue in fine]))
    distinct = 1 + np.count_nonzero(np.diff(edges))
    coarse = sum(1 / slide for slide, _ in finest_first if slide > counted)  # too few to matter if some fall together
    return float(distinct / length + coarse)


def slicing(windows: Iterable[Window]) -> tuple[Grid, ...]:
    """Give the grids to slice by: the common grid where it is hardly finer than the edges, for it is quicker to find.

    >>> slicing([Window(20), Window(30), Window(40)]), slicing([Window(70), Window(110)])
    (((10, 0),), ((70, 0), (110, 0)))
    """
    windows = tuple(windows)
    exact, single = grids(windows), (common_grid(windows),)
    return single if density(single) <= HARDLY_FINER * density(exact) else exact


def reach(window: Window, parent: Period | None) -> int:
    """Tell how far after an instance's start the rows or parent instances may begin that it reads.

    >>> reach(Window(30), None), reach(Window(30), (10, 10, 0))
    (30, 21)
    """
    return int(window.range) - (parent[0] - 1 if parent else 0)
