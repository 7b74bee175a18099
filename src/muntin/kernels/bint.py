"""B-Int: totals of intervals whose lengths are powers of two, in one circular array for each length."""

from __future__ import annotations

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.protocol import (
    answers,
    bare,
    capacity,
    combine,
    end,
    load,
    longest,
    mark,
    room,
    start,
    store,
    widest,
)


@compiled
def bint(op, values, lo, hi, out):  # type: ignore[no-untyped-def]
    """Complete intervals as their last row arrives, and cover every range by complete ones: O(log n).

    Intervals have fixed places in time, so the order is kept. Returns the partials held at most.
    """
    core = bare(op)
    leaves = capacity(longest(lo, hi, len(out)))
    intervals = room(values, 2 * leaves)
    seen = np.int64(0)
    for k in range(len(out)):
        first, last = end(lo, k), end(hi, k)
        seen = max(seen, first)
        while seen < last:
            _complete(core, intervals, leaves, seen, load(core, values, seen))
            seen += 1
        if first < last:
            store(core, out, k, _cover(core, intervals, leaves, first, last))
        mark(op, k)
    return 2 * leaves


@compiled
def bint_many(op, values, asked, out):  # type: ignore[no-untyped-def]
    """Complete intervals once for all queries, and cover every answer: O(log n) each."""
    core = bare(op)
    leaves = capacity(widest(asked))
    intervals = room(values, 2 * leaves)
    for k in range(len(values)):
        _complete(core, intervals, leaves, k, load(core, values, k))
        first, last = answers(asked, k)
        for answer in range(first, last):
            store(core, out, answer, _cover(core, intervals, leaves, start(asked, k, answer), k + 1))
        mark(op, k)
    return 2 * leaves


@compiled
def _complete(op, intervals, leaves, row, partial):  # type: ignore[no-untyped-def]
    """Store a row's partial and the intervals that end with it; those of a length lie from `slots` on."""
    slots = leaves
    store(op, intervals, slots + (row & (slots - 1)), partial)
    while row & 1 and slots > 1:
        left = slots + ((row - 1) & (slots - 1))
        partial = combine(op, load(op, intervals, left), partial)
        row >>= 1
        slots >>= 1
        store(op, intervals, slots + (row & (slots - 1)), partial)


@compiled
def _cover(op, intervals, leaves, left, right):  # type: ignore[no-untyped-def]
    """Combine the intervals that cover rows left to right, short ones at both ends and long ones between."""
    slots = leaves
    begun = ended = False
    head = tail = load(op, intervals, slots + (left & (slots - 1)))
    while left < right:
        if left & 1:
            interval = load(op, intervals, slots + (left & (slots - 1)))
            head = combine(op, head, interval) if begun else interval
            begun = True
            left += 1
        if right & 1:
            right -= 1
            interval = load(op, intervals, slots + (right & (slots - 1)))
            tail = combine(op, interval, tail) if ended else interval
            ended = True
        left >>= 1
        right >>= 1
        slots >>= 1
    if begun and ended:
        return combine(op, head, tail)
    return head if begun else tail
