"""Two stacks: totals of suffixes of the older rows, and one running total of the newer ones."""

from __future__ import annotations

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.protocol import combine, end, load, longest, mark, room, steps_by_one, store


@compiled
def two_stacks(op, values, lo, hi, out):  # type: ignore[no-untyped-def]
    """Turn the newer rows over when the older ones are used up: 3 combinations amortised, n - 1 at worst.

    Returns the partials held at most.
    """
    most = longest(lo, hi, len(out))
    suffixes = room(values, most)
    k = 0
    while k < len(out):
        base, middle = end(lo, k), end(hi, k)
        if base < middle:
            total = load(op, values, middle - 1)
            store(op, suffixes, middle - 1 - base, total)
            for row in range(middle - 2, base - 1, -1):
                total = combine(op, load(op, values, row), total)
                store(op, suffixes, row - base, total)
            store(op, out, k, total)
        mark(op, k)
        k += 1
        while k < len(out) and end(lo, k) < middle and end(hi, k) == middle:  # it only shrinks
            store(op, out, k, load(op, suffixes, end(lo, k) - base))
            mark(op, k)
            k += 1
        if k == len(out) or end(lo, k) >= middle:
            continue
        if steps_by_one(lo) and end(lo, k) > 0:
            k = _glide(op, values, suffixes, end(lo, k) - base, middle, k, out)
            continue
        newer, seen = load(op, values, middle), middle + 1
        while k < len(out):
            first, last = end(lo, k), end(hi, k)
            if first >= middle:
                break
            while seen < last:
                newer = combine(op, newer, load(op, values, seen))
                seen += np.int64(1)
            store(op, out, k, combine(op, load(op, suffixes, first - base), newer))
            mark(op, k)
            k += 1
    return 2 * most


@compiled
def _glide(op, values, suffixes, older, middle, k, out):  # type: ignore[no-untyped-def]
    """Slide by one row at a time until the older rows are used up: slices have no ends to look up or to check."""
    count = min(len(suffixes) - older, len(out) - k)
    olds, news, answers = suffixes[older : older + count], values[middle : middle + count], out[k : k + count]
    newer = load(op, news, 0)
    store(op, answers, 0, combine(op, load(op, olds, 0), newer))
    mark(op, k)
    for step in range(1, count):
        newer = combine(op, newer, load(op, news, step))
        store(op, answers, step, combine(op, load(op, olds, step), newer))
        mark(op, k + step)
    return k + count
