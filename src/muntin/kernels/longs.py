"""Sums of whole numbers of 64 and 128 bits over ranges of rows."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from muntin.kernels.ranges import overlapping
from muntin.kernels.spans import Longs


def sum_longs(values: Longs, lo: Longs, hi: Longs) -> tuple[Longs, bool]:
    """Add values[lo:hi] for every range, and tell whether a sum left 64 bits; it wraps then.

    >>> sum_longs(np.array([1, 2, 3]), np.array([0, 1]), np.array([2, 3]))
    (array([3, 5]), False)
    """
    sums, overflow = (_sum_stacks if overlapping(lo, hi) else _sum_direct)(values, lo, hi)
    return sums, bool(overflow)


def sum_wide(values: NDArray[np.uint64], lo: Longs, hi: Longs) -> NDArray[np.uint64]:
    """Add whole numbers of 128 bits, given as rows of a low and a high word in two's complement.

    >>> sum_wide(np.array([[2**64 - 1, 0], [1, 0]], np.uint64), np.array([0]), np.array([2])).tolist()
    [[0, 1]]
    """
    return (_wide_stacks if overlapping(lo, hi) else _wide_direct)(values, lo, hi)  # type: ignore[no-any-return]


@njit(cache=True, nogil=True, inline="always")
def _left(a, b, total):  # type: ignore[no-untyped-def]
    """Tell whether a sum left 64 bits: both signs differ from that of the total."""
    return ((a ^ total) & (b ^ total)) < 0


@njit(cache=True, nogil=True)
def _sum_direct(values, lo, hi):  # type: ignore[no-untyped-def]
    sums, overflow = np.empty(len(lo), np.int64), False
    for k in range(len(lo)):
        total = np.int64(0)
        for row in range(lo[k], hi[k]):
            more = total + values[row]
            overflow |= _left(total, values[row], more)
            total = more
        sums[k] = total
    return sums, overflow


@njit(cache=True, nogil=True)
def _sum_stacks(values, lo, hi):  # type: ignore[no-untyped-def]
    sums, overflow = np.empty(len(lo), np.int64), False
    suffix = np.empty(len(values) + 1, np.int64)
    middle, seen, front = np.int64(0), np.int64(0), np.int64(0)
    for k in range(len(lo)):
        if lo[k] >= middle:
            middle = seen = hi[k]
            front = np.int64(0)
            suffix[middle] = 0
            for row in range(middle - 1, lo[k] - 1, -1):
                suffix[row] = values[row] + suffix[row + 1]
                overflow |= _left(values[row], suffix[row + 1], suffix[row])
        while seen < hi[k]:
            more = front + values[seen]
            overflow |= _left(front, values[seen], more)
            front = more
            seen += 1
        sums[k] = suffix[lo[k]] + front
        overflow |= _left(suffix[lo[k]], front, sums[k])
    return sums, overflow


@njit(cache=True, nogil=True, inline="always")
def _add_into(low, high, word):  # type: ignore[no-untyped-def]
    total = low + word[0]
    carry = np.uint64(1) if total < low else np.uint64(0)
    return total, high + word[1] + carry


@njit(cache=True, nogil=True)
def _wide_direct(values, lo, hi):  # type: ignore[no-untyped-def]
    sums = np.empty((len(lo), 2), np.uint64)
    for k in range(len(lo)):
        low, high = np.uint64(0), np.uint64(0)
        for row in range(lo[k], hi[k]):
            low, high = _add_into(low, high, values[row])
        sums[k, 0], sums[k, 1] = low, high
    return sums


@njit(cache=True, nogil=True)
def _wide_stacks(values, lo, hi):  # type: ignore[no-untyped-def]
    sums = np.empty((len(lo), 2), np.uint64)
    suffix = np.empty((len(values) + 1, 2), np.uint64)
    middle, seen = np.int64(0), np.int64(0)
    low, high = np.uint64(0), np.uint64(0)
    for k in range(len(lo)):
        if lo[k] >= middle:
            middle = seen = hi[k]
            low, high = np.uint64(0), np.uint64(0)
            suffix[middle, 0], suffix[middle, 1] = low, high
            for row in range(middle - 1, lo[k] - 1, -1):
                suffix[row] = _add_into(suffix[row + 1, 0], suffix[row + 1, 1], values[row])
        while seen < hi[k]:
            low, high = _add_into(low, high, values[seen])
            seen += 1
        sums[k] = _add_into(low, high, suffix[lo[k]])
    return sums
