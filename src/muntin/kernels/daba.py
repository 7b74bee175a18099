"""DABA: two stacks whose turning over is spread over the slides, so that none is slow."""

from __future__ import annotations

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.protocol import bare, capacity, combine, end, load, longest, mark, room, slot, store


@compiled
def daba(op, values, lo, hi, out):  # type: ignore[no-untyped-def]
    """Keep totals of suffixes before the middle and of prefixes after it: 5 combinations amortised, 8 at worst.

    Live rows go from front to stop; those from middle on are the newer ones. While the rows that were newer wait to be
    turned over, the older ones from left to right get totals that include them, and they themselves, from the middle
    back to inner, totals of their suffixes: one of each for every row that comes or goes. Returns the partials held at
    most.
    """
    core = bare(op)
    slots = capacity(longest(lo, hi, len(out)) + 1)
    totals = room(values, slots)
    front = left = right = inner = middle = stop = np.int64(0)
    for k in range(len(out)):
        first, last = end(lo, k), end(hi, k)
        if first >= stop:
            front = left = right = inner = middle = stop = first
        while front < first:
            front += 1
            left, right, inner, middle = _turned(core, values, totals, front, left, right, inner, middle, stop)
        while stop < last:
            new = load(core, values, stop)
            if middle < stop:
                new = combine(core, load(core, totals, slot(stop - 1, slots - 1)), new)
            store(core, totals, slot(stop, slots - 1), new)
            stop += 1
            left, right, inner, middle = _turned(core, values, totals, front, left, right, inner, middle, stop)
        if front < stop:
            older, newer = slot(front, slots - 1), slot(stop - 1, slots - 1)
            if front == middle or middle == stop:  # one of the two is empty
                store(core, out, k, load(core, totals, newer if front == middle else older))
            else:
                store(core, out, k, combine(core, load(core, totals, older), load(core, totals, newer)))
        mark(op, k)
    return 2 * slots


@compiled
def _turned(op, values, totals, front, left, right, inner, middle, stop):  # type: ignore[no-untyped-def]
    """Do the one step of turning over that is due after a row came or went."""
    around = len(totals) - 1
    if front == middle:  # at most one row is left
        return stop, stop, stop, stop
    if left == middle:  # all is turned over: the newer rows are next
        left, inner, middle = front, stop, stop
    if left == right:
        return left + 1, right + 1, inner + 1, middle
    total, own = load(op, totals, slot(left, around)), load(op, values, inner - 1)
    if right < inner:
        total = combine(op, total, load(op, totals, slot(inner - 1, around)))
    if inner < middle:
        rest = load(op, totals, slot(inner, around))
        total, own = combine(op, total, rest), combine(op, own, rest)
    store(op, totals, slot(left, around), total)
    store(op, totals, slot(inner - 1, around), own)
    return left + 1, right, inner - 1, middle
