"""Marks of rows turned into ranges of rows, where a key has at most one open window at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.frames.codes import BEGINS, ENDS_BEFORE, ENDS_WITH
from muntin.kernels.protocol import Longs


class Runs(NamedTuple):
    """Windows that have ended, by group and in order."""

    group: Longs
    lo: Longs
    """The number of the first row."""
    hi: Longs
    """One past the number of the last row."""
    closer: Longs
    """The place of the row that ended it among these rows, -1 for none."""


def runs(bounds: Longs, codes: Any, base: Longs, opened: Longs, close: Any) -> Runs:
    """Give the windows that end among rows, and keep which are open.

    Group g has the rows bounds[g] to bounds[g + 1], whose first has the number base[g]. A window that is open there
    began with the row opened[g], -1 for none; close says where the open one ends after the last row.

    >>> codes = np.array([BEGINS, 0, ENDS_BEFORE | BEGINS, 0], np.int8)
    >>> opened = np.array([-1])
    >>> ended = runs(np.array([0, 4]), codes, np.array([10]), opened, np.array([False]))
    >>> ended.lo.tolist(), ended.hi.tolist(), ended.closer.tolist(), opened.tolist()
    ([10], [12], [2], [12])
    """
    return Runs(*_runs(bounds, codes, base, opened, close))


@compiled
def _runs(bounds, codes, base, opened, close):  # type: ignore[no-untyped-def]
    capacity = 2 * len(codes) + len(base)
    group, lo, hi, closer = np.empty((4, capacity), np.int64)
    count = 0
    for g in range(len(bounds) - 1):
        begun = opened[g]
        for row in range(bounds[g], bounds[g + 1]):
            number = base[g] + row - bounds[g]
            if begun >= 0 and codes[row] & ENDS_BEFORE:
                group[count], lo[count], hi[count], closer[count] = g, begun, number, row
                count += 1
                begun = -1
            if begun < 0 and codes[row] & BEGINS:
                begun = number
            if begun >= 0 and codes[row] & ENDS_WITH:
                group[count], lo[count], hi[count], closer[count] = g, begun, number + 1, row
                count += 1
                begun = -1
        if begun >= 0 and close[g]:
            group[count], lo[count], hi[count] = g, begun, base[g] + bounds[g + 1] - bounds[g]
            closer[count] = -1
            count += 1
            begun = -1
        opened[g] = begun
    return group[:count], lo[:count], hi[:count], closer[:count]
