"""Distinct counts and modes of ranges whose ends never move back, by two pointers.

Codes stand for values, and -1 for rows that do not count. Every row is taken in once and out once, however long the
ranges are.
"""

from __future__ import annotations

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.entrance import longs, ranges
from muntin.kernels.protocol import Longs


def distinct_counts(codes: Longs, distinct: int, lo: Longs, hi: Longs) -> Longs:
    """Count the distinct codes of each range.

    >>> distinct_counts(np.array([0, 1, 0, -1, 1]), 2, np.array([0, 2, 3]), np.array([3, 4, 4])).tolist()
    [2, 1, 0]
    """
    checked = longs(codes, "codes")
    asked = ranges(lo, hi, len(checked))
    return _distinct_counts(checked, distinct, asked.lo, asked.hi)  # type: ignore[no-any-return]


def modes(codes: Longs, distinct: int, lo: Longs, hi: Longs) -> Longs:
    """Give the most frequent code of each range, any of them if there are several; -1 where no row counts.

    >>> modes(np.array([0, 1, 1, 0, 0, -1]), 2, np.array([0, 1, 2, 5]), np.array([3, 4, 5, 6])).tolist()
    [1, 1, 0, -1]
    """
    checked = longs(codes, "codes")
    asked = ranges(lo, hi, len(checked))
    longest = int((asked.hi - asked.lo).max(initial=0))
    return _modes(checked, distinct, asked.lo, asked.hi, longest)  # type: ignore[no-any-return]


@compiled
def _distinct_counts(codes, distinct, lo, hi):  # type: ignore[no-untyped-def]
    held = np.zeros(distinct, np.int64)
    counts = np.empty(len(lo), np.int64)
    first = end = number = np.int64(0)
    for k in range(len(lo)):
        for row in range(first, min(end, lo[k])):
            if codes[row] >= 0:
                held[codes[row]] -= 1
                number -= held[codes[row]] == 0
        for row in range(max(end, lo[k]), hi[k]):
            if codes[row] >= 0:
                number += held[codes[row]] == 0
                held[codes[row]] += 1
        first, end = lo[k], max(hi[k], lo[k])
        counts[k] = number
    return counts


@compiled
def _modes(codes, distinct, lo, hi, longest):  # type: ignore[no-untyped-def]
    """Follow how often each code is held; codes held equally often are a list, linked both ways."""
    held = np.zeros(distinct, np.int64)
    following, previous = np.full(distinct, -1, np.int64), np.full(distinct, -1, np.int64)
    heads = np.full(longest + 2, -1, np.int64)
    result = np.empty(len(lo), np.int64)
    first = end = most = np.int64(0)
    for k in range(len(lo)):
        for row in range(first, min(end, lo[k])):
            code = codes[row]
            if code >= 0:
                _moved(code, held[code] - 1, held, following, previous, heads)
                if heads[most] < 0:
                    most -= 1
        for row in range(max(end, lo[k]), hi[k]):
            code = codes[row]
            if code >= 0:
                _moved(code, held[code] + 1, held, following, previous, heads)
                most = max(most, held[code])
        first, end = lo[k], max(hi[k], lo[k])
        result[k] = heads[most] if most > 0 else -1
    return result


@compiled
def _moved(code, times, held, following, previous, heads):  # type: ignore[no-untyped-def]
    """Move a code from the list of those held as often to another; those held 0 times are in none."""
    if held[code] > 0:
        if previous[code] >= 0:
            following[previous[code]] = following[code]
        else:
            heads[held[code]] = following[code]
        if following[code] >= 0:
            previous[following[code]] = previous[code]
    held[code] = times
    if times > 0:
        following[code], previous[code] = heads[times], -1
        if heads[times] >= 0:
            previous[heads[times]] = code
        heads[times] = code
