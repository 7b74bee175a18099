"""Two stacks: totals of suffixes of the older rows, and one running total of the newer ones."""

from __future__ import annotations

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.protocol import bare, combine, end, load, longest, mark, room, steps_by_one, store


@compiled
def two_stacks(op, values, lo, hi, out):  # type: ignore[no-untyped-def]
    """Turn the newer rows over when the older ones are used up: 3 combinations amortised, n - 1 at worst.

    Returns the partials held at most.
    """
    core = bare(op)
    most = longest(lo, hi, len(out))
    suffixes = room(values, most)
    k = 0
    while k < len(out):
        base, middle = end(lo, k), end(hi, k)
        if base < middle:
            total = load(core, values, middle - 1)
            store(core, suffixes, middle - 1 - base, total)
            for row in range(middle - 2, base - 1, -1):
                total = combine(core, load(core, values, row), total)
                store(core, suffixes, row - base, total)
            store(core, out, k, total)
        mark(op, k)
        k += 1
        while k < len(out) and end(lo, k) < middle and end(hi, k) == middle:  # it only shrinks
            store(core, out, k, load(core, suffixes, end(lo, k) - base))
            mark(op, k)
            k += 1
        if k == len(out) or end(lo, k) >= middle:
            continue
        if steps_by_one(lo) and end(lo, k) > 0:
            k = _glide(op, values, suffixes, end(lo, k) - base, middle, k, out)
            continue
        newer, seen = load(core, values, middle), middle + 1
        while k < len(out):
            first, last = end(lo, k), end(hi, k)
            if first >= middle:
                break
            while seen < last:
                newer = combine(core, newer, load(core, values, seen))
                seen += np.int64(1)
            store(core, out, k, combine(core, load(core, suffixes, first - base), newer))
            mark(op, k)
            k += 1
    return 2 * most


@compiled
def _glide(op, values, suffixes, older, middle, k, out):  # type: ignore[no-untyped-def]
    """Slide by one row at a time until the older rows are used up: slices have no ends to look up or to check."""
    core = bare(op)
    count = min(len(suffixes) - older, len(out) - k)
    olds, news, answers = suffixes[older : older + count], values[middle : middle + count], out[k : k + count]
    newer = load(core, news, 0)
    store(core, answers, 0, combine(core, load(core, olds, 0), newer))
    mark(op, k)
    for step in range(1, count):
        newer = combine(core, newer, load(core, news, step))
        store(core, answers, step, combine(core, load(core, olds, step), newer))
        mark(op, k + step)
    return k + count
