"""Kinds of trees: those with the same edges, and how many edges two kinds have together."""

from __future__ import annotations

import numpy as np

from muntin.plan.slicing.edges import Grids
from muntin.plan.slicing.merging import Array, Numbers
from muntin.plan.slicing.weave.model import joined, ratio

_KEPT_ROWS = 256
"""Kinds whose edges with all others are remembered at a time."""

_COUNTED_GRIDS = 12
"""Grids whose edges are counted at once; those of more are estimated until their trees are about to be merged."""


class Kinds:
    """Sets of edges, numbered, and how many edges two of them have together."""

    def __init__(self) -> None:
        self._grids: list[Grids] = []
        self._numbers: dict[Grids, int] = {}
        self._rows: dict[int, tuple[Array, Array]] = {}
        self._ratios: list[tuple[float, float]] = []
        self._settled: dict[Grids, tuple[float, float]] = {}

    def number(self, grids: Grids) -> int:
        """Give the number of a kind, a new one if need be."""
        if grids not in self._numbers:
            self._numbers[grids] = len(self._grids)
            self._grids.append(grids)
        return self._numbers[grids]

    def together(self, one: int, other: int) -> int:
        """Give the kind of a tree with the edges of both."""
        return self.number(joined(self._grids[one], self._grids[other]))

    def ratio(self, kind: int) -> tuple[float, float]:
        """Give the edges of a kind and the length of time that has them."""
        while len(self._ratios) <= kind:
            grids = self._grids[len(self._ratios)]
            self._ratios.append(self._settled.get(grids) or ratio(grids))
        return self._ratios[kind]

    def edges_with(self, kind: int, others: Numbers) -> tuple[Array, Array]:
        """Give edges and lengths for one kind together with each kind, right for some others at least."""
        edges, length = self._rows.get(kind, (np.empty(0), np.empty(0)))
        if len(edges) < len(self._grids):
            fresh = np.full((2, len(self._grids) - len(edges)), np.nan)
            edges, length = np.concatenate([edges, fresh[0]]), np.concatenate([length, fresh[1]])
        for other in others[np.isnan(edges[others])].tolist():
            edges[other], length[other] = self._ratio(kind, other)
        if len(self._rows) > _KEPT_ROWS:
            self._rows.clear()
        self._rows[kind] = edges, length
        return edges, length

    def settle(self, one: int, other: int) -> bool:
        """Count the edges of two kinds together; tell whether they were only estimated before."""
        grids = joined(self._grids[one], self._grids[other])
        if len(grids) <= _COUNTED_GRIDS or grids in self._settled or grids in self._numbers:
            return False
        self._settled[grids] = ratio(grids)
        for kind, with_kind in ((one, other), (other, one)):
            if kind in self._rows and with_kind < len(self._rows[kind][0]):
                self._rows[kind][0][with_kind] = np.nan
        return True

    def _ratio(self, one: int, other: int) -> tuple[float, float]:
        """Count edges, or take it that those of two kinds meet as often as chance would have it."""
        grids = joined(self._grids[one], self._grids[other])
        if grids in self._numbers:
            return self.ratio(self._numbers[grids])
        if grids in self._settled:
            return self._settled[grids]
        if len(grids) <= _COUNTED_GRIDS:
            return ratio(grids)
        (edges, length), (more, longer) = self.ratio(one), self.ratio(other)
        return 1 - (1 - edges / length) * (1 - more / longer), 1.0
