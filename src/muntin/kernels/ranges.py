"""Reductions of one column over ranges of rows whose ends never move back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from muntin.kernels.spans import Longs

Column = NDArray[Any]

SUM, MIN, MAX = 0, 1, 2
"""What is done with the values of a range. The least ignores NaN, which is the greatest number, as in Spark."""


def reduce_ranges(values: Column, lo: Longs, hi: Longs, operation: int) -> Column:
    """Reduce values[lo:hi] for every range.

    >>> values, lo, hi = np.array([3.0, 1.0, 2.0]), np.array([0, 0, 1]), np.array([1, 2, 3])
    >>> reduce_ranges(values, lo, hi, SUM).tolist(), reduce_ranges(values, lo, hi, MIN).tolist()
    ([3.0, 4.0, 3.0], [3.0, 1.0, 1.0])
    """
    reduce = _two_stacks if overlapping(lo, hi) else _direct
    return reduce(values, lo, hi, operation)  # type: ignore[no-any-return]


def place_ranges(values: Column, valid: NDArray[np.bool_], lo: Longs, hi: Longs, operation: int) -> Longs:
    """Give the row of the least or greatest valid value of every range, -1 where none is valid.

    >>> place_ranges(np.array([3, 1, 2]), np.array([True, False, True]), np.array([0, 1]), np.array([2, 2]), MIN)
    array([ 0, -1])
    """
    return _place(values, valid, lo, hi, operation)  # type: ignore[no-any-return]


def overlapping(lo: Longs, hi: Longs) -> bool:
    """Tell whether ranges overlap so much that two stacks take fewer steps than adding up every range."""
    return len(lo) > 0 and int((hi - lo).sum()) > 3 * (int(hi[-1]) - int(lo[0]))


@njit(cache=True, nogil=True, inline="always")
def _combine(a, b, operation):  # type: ignore[no-untyped-def]
    if operation == SUM:
        return a + b
    if operation == MIN:  # a != a holds for NaN alone
        return b if b < a or a != a else a
    return b if b > a or b != b else a


@njit(cache=True, nogil=True)
def _direct(values, lo, hi, operation):  # type: ignore[no-untyped-def]
    result = np.empty(len(lo), values.dtype)
    for k in range(len(lo)):
        total = values[lo[k]]
        for row in range(lo[k] + 1, hi[k]):
            total = _combine(total, values[row], operation)
        result[k] = total
    return result


@njit(cache=True, nogil=True)
def _two_stacks(values, lo, hi, operation):  # type: ignore[no-untyped-def]
    """Keep suffixes of the rows before the middle and one running total of those after it (TwoStacks)."""
    result = np.empty(len(lo), values.dtype)
    suffix = np.empty(len(values), values.dtype)
    middle, seen = np.int64(0), np.int64(0)
    front = values[0]
    for k in range(len(lo)):
        if lo[k] >= middle:  # the back stack is used up: turn the front one over
            middle = hi[k]
            suffix[middle - 1] = values[middle - 1]
            for row in range(middle - 2, lo[k] - 1, -1):
                suffix[row] = _combine(values[row], suffix[row + 1], operation)
            seen = middle
        while seen < hi[k]:
            front = values[seen] if seen == middle else _combine(front, values[seen], operation)
            seen += 1
        result[k] = suffix[lo[k]] if seen == middle else _combine(suffix[lo[k]], front, operation)
    return result


@njit(cache=True, nogil=True)
def _place(values, valid, lo, hi, operation):  # type: ignore[no-untyped-def]
    """Keep the rows that can still be the best in a deque, the best first (SlickDeque for selective operations)."""
    result = np.empty(len(lo), np.int64)
    deque = np.empty(len(values), np.int64)
    head, tail, seen = 0, 0, np.int64(0)
    for k in range(len(lo)):
        if lo[k] >= seen:
            head, tail, seen = 0, 0, lo[k]
        while seen < hi[k]:
            if valid[seen]:
                while tail > head and _beats(values[seen], values[deque[tail - 1]], operation):
                    tail -= 1
                deque[tail] = seen
                tail += 1
            seen += 1
        while head < tail and deque[head] < lo[k]:
            head += 1
        result[k] = deque[head] if head < tail else -1
    return result


@njit(cache=True, nogil=True, inline="always")
def _beats(new, old, operation):  # type: ignore[no-untyped-def]
    """Tell whether a new value is strictly better; NaN is the greatest number."""
    if operation == MIN:
        return new < old or (old != old and new == new)
    return new > old or (new != new and old == old)
