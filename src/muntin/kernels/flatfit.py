"""FlatFIT: every slot tells how many rows its partial covers, and what a look-up combines is kept for the next ones."""

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
    slot,
    start,
    store,
    widest,
)


@compiled
def flatfit(op, values, lo, hi, out):  # type: ignore[no-untyped-def]
    """Follow the slots of a range, and let each slot on the way cover the rest of it.

    3 combinations amortised; every n + 1 slides all n slots are met one by one. Returns the partials held at most,
    and what they cover.
    """
    core = bare(op)
    slots = capacity(longest(lo, hi, len(out)) + 1)
    partials, covers, stack = room(values, slots), np.empty(slots, np.int32), np.empty(slots, np.int64)
    seen = np.int64(0)
    for k in range(len(out)):
        first, last = end(lo, k), end(hi, k)
        seen = max(seen, first)
        while seen < last:
            store(core, partials, slot(seen, slots - 1), load(core, values, seen))
            covers[slot(seen, slots - 1)] = 1
            seen += 1
        if first < last:
            store(core, out, k, _follow(core, partials, covers, stack, first, last))
        mark(op, k)
    return 2 * slots


@compiled
def flatfit_many(op, values, asked, out):  # type: ignore[no-untyped-def]
    """Follow the slots of every answer, the longest first: the others meet slots that cover the rest already."""
    core = bare(op)
    slots = capacity(widest(asked) + 1)
    partials, covers, stack = room(values, slots), np.empty(slots, np.int32), np.empty(slots, np.int64)
    for k in range(len(values)):
        store(core, partials, slot(k, slots - 1), load(core, values, k))
        covers[slot(k, slots - 1)] = 1
        first, last = answers(asked, k)
        for answer in range(last - 1, first - 1, -1):
            store(core, out, answer, _follow(core, partials, covers, stack, start(asked, k, answer), k + 1))
        mark(op, k)
    return 2 * slots


@compiled
def _follow(op, partials, covers, stack, first, last):  # type: ignore[no-untyped-def]
    """Combine first to last; a slot tells how many rows it covers, so that it can be met twice a slide."""
    around, depth = len(covers) - 1, 0
    row = first
    after = row + covers[slot(row, around)]
    while after < last:
        stack[depth] = row
        depth += 1
        row = after
        after = row + covers[slot(row, around)]
    total = load(op, partials, slot(row, around))
    for place in range(depth - 1, -1, -1):
        row = stack[place]
        total = combine(op, load(op, partials, slot(row, around)), total)
        store(op, partials, slot(row, around), total)
        covers[slot(row, around)] = last - row
    return total
