"""Counts, means and squared deviations of one or two columns over ranges of rows.

A state is a row of six numbers: count, mean of x and of y, squared deviations of x and of y, and of their products.
One column is a pair whose second half is nothing. Merging is Chan's, which loses no digits far from zero.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from muntin.kernels.spans import Longs

States = NDArray[np.float64]


def merge_ranges(states: States, lo: Longs, hi: Longs) -> States:
    """Merge states[lo:hi] for every range; a count of 0 stands for no values.

    >>> rows = np.array([[1, 2.0, 0, 0, 0, 0], [1, 4.0, 0, 0, 0, 0]])
    >>> merge_ranges(rows, np.array([0]), np.array([2]))[0, [0, 1, 3]].tolist()
    [2.0, 3.0, 2.0]
    """
    return _merge(states, lo, hi)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True)
def _combine(a, b, into):  # type: ignore[no-untyped-def]
    if a[0] == 0 or b[0] == 0:
        into[:] = b if a[0] == 0 else a
        return
    count, n, m = a[0] + b[0], a[0], b[0]
    dx, dy, share = b[1] - a[1], b[2] - a[2], n * m / count
    x, y = a[1] + dx * m / count, a[2] + dy * m / count
    xx, yy, xy = a[3] + b[3] + dx * dx * share, a[4] + b[4] + dy * dy * share, a[5] + b[5] + dx * dy * share
    into[0], into[1], into[2], into[3], into[4], into[5] = count, x, y, xx, yy, xy


@njit(cache=True, nogil=True)
def _merge(states, lo, hi):  # type: ignore[no-untyped-def]
    result = np.empty((len(lo), 6))
    suffix = np.zeros((len(states) + 1, 6))
    front = np.zeros(6)
    middle, seen = np.int64(0), np.int64(0)
    for k in range(len(lo)):
        if lo[k] >= middle:
            middle = seen = hi[k]
            front[:] = 0
            suffix[middle] = 0
            for row in range(middle - 1, lo[k] - 1, -1):
                _combine(states[row], suffix[row + 1], suffix[row])
        while seen < hi[k]:
            _combine(front, states[seen], front)
            seen += 1
        _combine(suffix[lo[k]], front, result[k])
    return result
