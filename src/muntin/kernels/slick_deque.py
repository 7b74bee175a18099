"""SlickDeque for selective operations: only rows that can still be the result, the present result first."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from muntin.errors import QueryError
from muntin.kernels.compiling import compiled
from muntin.kernels.entrance import Column, ranges, values_for
from muntin.kernels.operators import FirstMax, FirstMin, Max, Min
from muntin.kernels.protocol import (
    Longs,
    answers,
    bare,
    capacity,
    displaces,
    end,
    longest,
    mark,
    slot,
    start,
    steps_by_one,
    widest,
)


@compiled
def slick_deque(op, values, lo, hi, out):  # type: ignore[no-untyped-def]
    """Let a new row displace those that it beats: 2 - 2/n comparisons a slide on random rows, n at worst.

    Returns the places and values held at most.
    """
    core = bare(op)
    around = capacity(longest(lo, hi, len(out))) - 1
    rows, kept = np.empty(around + 1, np.int64), np.empty(around + 1, values.dtype)
    head = tail = most = seen = np.int64(0)
    if steps_by_one(lo) and end(hi, 0) == 1:
        return _glide(op, values, rows, kept, hi - lo, out)
    for k in range(len(out)):
        first, last = end(lo, k), end(hi, k)
        if first >= seen:
            head, tail, seen = np.int64(0), np.int64(0), first
        while head < tail and rows[slot(head, around)] < first:
            head += 1
        while seen < last:
            tail = _arrive(core, rows, kept, head, tail, seen, values[seen])
            seen += 1
        most = max(most, tail - head)
        if first < last:
            out[k] = kept[slot(head, around)]
        mark(op, k)
    return 2 * most


@compiled
def _glide(op, values, rows, kept, size, out):  # type: ignore[no-untyped-def]
    """Slide by one row at a time; the newest value is at hand, so that most arrivals look nothing up."""
    core = bare(op)
    around = len(rows) - 1
    head = tail = most = np.int64(0)
    newest = values[0]
    for k in range(len(out)):
        value = values[k]
        if head < tail and rows[slot(head, around)] <= k - size:
            head += 1
        if head < tail and displaces(core, value, newest):
            tail -= 1
            while head < tail and displaces(core, value, kept[slot(tail - 1, around)]):
                tail -= 1
        rows[slot(tail, around)] = k
        kept[slot(tail, around)] = newest = value
        tail += 1
        most = max(most, tail - head)
        out[k] = kept[slot(head, around)]
        mark(op, k)
    return 2 * most


@compiled
def slick_deque_many(op, values, asked, out):  # type: ignore[no-untyped-def]
    """Give all answers of a slide in one walk along the deque, the longest first."""
    core = bare(op)
    around = capacity(widest(asked)) - 1
    rows, kept = np.empty(around + 1, np.int64), np.empty(around + 1, values.dtype)
    head = tail = most = np.int64(0)
    for k in range(len(values)):
        while head < tail and rows[slot(head, around)] <= k - widest(asked):
            head += 1
        tail = _arrive(core, rows, kept, head, tail, k, values[k])
        most = max(most, tail - head)
        place = head
        first, last = answers(asked, k)
        for answer in range(last - 1, first - 1, -1):
            while rows[slot(place, around)] < start(asked, k, answer):
                place += 1
            out[answer] = kept[slot(place, around)]
        mark(op, k)
    return 2 * most


def slick_deque_places(
    operator: Min | Max | FirstMin | FirstMax, values: ArrayLike, valid: Column, lo: ArrayLike, hi: ArrayLike
) -> Longs:
    """Give the row of every range's result, -1 where no row is valid.

    >>> slick_deque_places(Max(), [3, 9, 4], np.array([True, False, True]), [0, 1, 1], [2, 2, 3]).tolist()
    [0, -1, 2]
    """
    column = values_for(operator, values)
    if len(valid) != len(column):
        raise QueryError(f"valid has {len(valid)} places for {len(column)} values. Give each value its own.")
    checked = ranges(lo, hi, len(column))
    return _places(operator, column, valid, checked.lo, checked.hi)  # type: ignore[no-any-return]


@compiled
def _places(op, values, valid, lo, hi):  # type: ignore[no-untyped-def]
    out = np.full(len(lo), -1)
    around = capacity(longest(lo, hi, len(lo))) - 1
    rows, kept = np.empty(around + 1, np.int64), np.empty(around + 1, values.dtype)
    head = tail = seen = np.int64(0)
    for k in range(len(lo)):
        if lo[k] >= seen:
            head, tail, seen = np.int64(0), np.int64(0), lo[k]
        while head < tail and rows[slot(head, around)] < lo[k]:
            head += 1
        while seen < hi[k]:
            if valid[seen]:
                tail = _arrive(op, rows, kept, head, tail, seen, values[seen])
            seen += 1
        if head < tail:
            out[k] = rows[slot(head, around)]
    return out


@compiled
def _arrive(op, rows, kept, head, tail, row, value):  # type: ignore[no-untyped-def]
    around = len(rows) - 1
    while tail > head and displaces(op, value, kept[slot(tail - 1, around)]):
        tail -= 1
    rows[slot(tail, around)] = row
    kept[slot(tail, around)] = value
    return tail + 1
