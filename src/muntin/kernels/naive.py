"""Every range from scratch: no state but the window itself."""

from __future__ import annotations

from muntin.kernels.compiling import compiled
from muntin.kernels.protocol import answers, bare, combine, end, load, longest, mark, start, store, widest


@compiled
def naive(op, values, lo, hi, out):  # type: ignore[no-untyped-def]
    """Combine every range anew: n - 1 combinations for a range of n. Returns the partials held at most."""
    core = bare(op)
    for k in range(len(out)):
        first, last = end(lo, k), end(hi, k)
        if first < last:
            total = load(core, values, first)
            for row in range(first + 1, last):
                total = combine(core, total, load(core, values, row))
            store(core, out, k, total)
        mark(op, k)
    return longest(lo, hi, len(out))


@compiled
def naive_many(op, values, asked, out):  # type: ignore[no-untyped-def]
    """Combine backwards from the newest partial, and give every answer, the shortest first, on the way."""
    core = bare(op)
    for k in range(len(values)):
        first, last = answers(asked, k)
        total, row = load(core, values, k), k
        for answer in range(first, last):
            while row > start(asked, k, answer):
                row -= 1
                total = combine(core, load(core, values, row), total)
            store(core, out, answer, total)
        mark(op, k)
    return widest(asked)
