"""One running total: the newest partial comes in, the oldest is taken out."""

from __future__ import annotations

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.protocol import (
    answers,
    bare,
    combine,
    end,
    exchange,
    load,
    longest,
    mark,
    queries,
    query,
    remove,
    room,
    start,
    steps_by_one,
    store,
    widest,
)


@compiled
def subtract_on_evict(op, values, lo, hi, out):  # type: ignore[no-untyped-def]
    """Keep one total: two operations a slide. Returns the partials held at most."""
    core = bare(op)
    left = right = np.int64(0)
    total = load(core, values, 0)
    for k in range(len(out)):
        first, last = end(lo, k), end(hi, k)
        if steps_by_one(lo) and 0 < first < right:
            _glide(op, values, left, right, total, k, out)
            break
        if first == left + 1 and last == right + 1 and first < right:
            total = exchange(core, total, load(core, values, left), load(core, values, right))
            left, right = first, last
        elif first >= right:  # nothing of the last range is left
            left = right = first
            if first < last:
                total = load(core, values, first)
                right += 1
        while left < first:
            total = remove(core, total, load(core, values, left))
            left += 1
        while right < last:
            total = combine(core, total, load(core, values, right))
            right += 1
        if first < last:
            store(core, out, k, total)
        mark(op, k)
    return longest(lo, hi, len(out)) + 1


@compiled
def _glide(op, values, left, right, total, k, out):  # type: ignore[no-untyped-def]
    """Slide by one row at a time to the end: slices have no ends to look up or to check."""
    core = bare(op)
    count = len(out) - k
    olds, news, results = values[left : left + count], values[right : right + count], out[k:]
    for step in range(count):
        total = exchange(core, total, load(core, olds, step), load(core, news, step))
        store(core, results, step, total)
        mark(op, k + step)


@compiled
def subtract_on_evict_many(op, values, asked, out):  # type: ignore[no-untyped-def]
    """Keep one total for every query (SlickDeque for invertible operations): two operations each a slide."""
    core = bare(op)
    totals = room(values, queries(asked))
    lefts, rights = np.zeros(queries(asked), np.int64), np.zeros(queries(asked), np.int64)
    for k in range(len(values)):
        first, last = answers(asked, k)
        for answer in range(first, last):
            q, begin = query(asked, k, answer), start(asked, k, answer)
            left, right, total = lefts[q], rights[q], load(core, totals, q)
            if begin == left + 1 and right == k and begin < right:
                total = exchange(core, total, load(core, values, left), load(core, values, k))
            else:
                if begin >= right:
                    left, right, total = begin, begin + 1, load(core, values, begin)
                while left < begin:
                    total = remove(core, total, load(core, values, left))
                    left += 1
                while right <= k:
                    total = combine(core, total, load(core, values, right))
                    right += 1
            lefts[q], rights[q] = begin, k + 1
            store(core, totals, q, total)
            store(core, out, answer, total)
        mark(op, k)
    return widest(asked) + 3 * queries(asked)
