"""Edges of groups of windows that are joined and joined again: estimated for every pair, counted for few.

How often two grids meet is known in closed form. So how often two groups meet is a sum over their grids, and an
estimate only because an edge may lie on several grids of one group.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muntin.plan.slicing.grids import HARDLY_FINER, Grid, density, grids
from muntin.window import Window

Array = NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """The edges of a group of windows; arrays are over the grids of all windows."""

    on: Array
    """Which grids the edges lie on, those left out that lie on another."""
    clear: Array
    """Which grids lie on none of these."""
    common: Grid
    """The coarsest single grid on which all edges lie."""
    density: float
    """Edges per unit of time."""
    weights: Array
    """What each grid counts for, so that edges on several of them count once."""
    meets: Array
    """How often per unit of time each grid has an edge of the group."""

    @property
    def slicing(self) -> tuple[float, int]:
        """The slices per unit of time and the grids that they lie on."""
        return _slicing(self.density, self.common, self.on)

    def slicing_with(self, other: Cut) -> tuple[float, int]:
        """Estimate the slices of two groups together: rather too few than too many."""
        meeting = min(self.density, other.density, float(self.meets @ other.weights))
        return _slicing(self.density + other.density - meeting, _meet(self.common, other.common), _union(self, other))


class Cuts:
    """The grids of some windows, and how they meet."""

    def __init__(self, windows: Iterable[Window]) -> None:
        self._grids = sorted({grid for window in windows for grid in grids([window])})
        slides, residues = np.array(self._grids).T
        common = np.gcd.outer(slides, slides)
        touching = (residues[:, None] - residues) % common == 0
        self._meets = touching * (common / slides / slides[:, None])
        self._clear = ~touching | (common < slides[:, None]) | np.eye(len(slides), dtype=np.bool_)

    def alone(self, window: Window) -> Cut:
        """Count the edges of one window."""
        own = [self._grids.index(grid) for grid in grids([window])]
        on = np.isin(np.arange(len(self._grids)), own)
        return self._cut(on, self._clear[own].all(axis=0), _meet(self._grids[own[0]], self._grids[own[-1]]))

    def joined(self, one: Cut, other: Cut) -> Cut:
        """Count the edges of two groups together."""
        return self._cut(_union(one, other), one.clear & other.clear, _meet(one.common, other.common))

    def _cut(self, on: Array, clear: Array, common: Grid) -> Cut:
        own = [self._grids[number] for number in np.flatnonzero(on)]
        edges = density(tuple(own))
        weights = on * (edges / sum(1 / slide for slide, _ in own))
        return Cut(on, clear, common, edges, weights, self._meets @ weights)


def _slicing(edges: float, common: Grid, on: Array) -> tuple[float, int]:
    """Tell how slicing cuts: by a common grid that is hardly finer than the edges, or by all their grids."""
    single = 1 / common[0]
    return (single, 1) if single <= HARDLY_FINER * edges else (edges, int(np.count_nonzero(on)))


def _union(one: Cut, other: Cut) -> Array:
    """Give the grids of two groups together, those left out that lie on another."""
    return (one.on | other.on) & one.clear & other.clear


def _meet(one: Grid, other: Grid) -> Grid:
    """Give the coarsest grid that holds two grids."""
    slide = gcd(one[0], other[0], one[1] - other[1])
    return slide, one[1] % slide
