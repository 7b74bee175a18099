"""Windows from slices: rows are combined once, into slices, and windows from these by any technique."""

from __future__ import annotations

import numpy as np

from muntin.errors import QueryError
from muntin.kernels.catalogue import reduce_ranges
from muntin.kernels.entrance import Column
from muntin.kernels.operators import Operator
from muntin.kernels.protocol import Longs
from muntin.kernels.slices import slice_starts
from muntin.kernels.spans import Spans, spans


def sliced_windows(
    operator: Operator,
    time: Longs,
    values: Column,
    period: tuple[int, int, int],
    cuts: tuple[tuple[int, int], ...],
    by: str | None = None,
) -> tuple[Spans, Column, Column]:
    """Evaluate a window ⟨range, slide, offset⟩ over rows in order of time, from slices that begin on some grids.

    Every instance must begin on a grid. Where it ends within a slice, as with Cutty's slices, that slice is read half
    done: the rows up to the end are combined by themselves. Gives the instances, their results and the slices.

    >>> from muntin.kernels.operators import Sum
    >>> time = np.arange(10)
    >>> instances, results, slices = sliced_windows(Sum(), time, time, (5, 3, 0), ((3, 0),))
    >>> instances.start.tolist(), results.tolist(), slices.tolist()
    ([-3, 0, 3, 6, 9], [1, 10, 25, 30, 9], [3, 12, 21, 9])
    """
    if len(time) != len(values) or not cuts:
        raise QueryError(
            f"{len(time)} times, {len(values)} values and {len(cuts)} grids. Give every value its time, and a grid."
        )
    slides, rests = (np.array(side, np.int64) for side in zip(*cuts, strict=True))
    starts = slice_starts(np.array([0, len(time)]), time, slides, rests)
    first = np.flatnonzero(np.concatenate(([len(time) > 0], starts[1:] != starts[:-1])))
    after = np.append(first[1:], len(time))[: len(first)]
    slices = reduce_ranges(operator, values, first, after, by="naive")
    instances = spans(np.array([0, len(time)]), time, *period)
    edges = slice_starts(np.array([0, len(instances.start)]), instances.start, slides, rests)
    if (edges != instances.start).any():
        raise QueryError(
            f"instances of ⟨range, slide, offset⟩ = {period} begin off the grids {cuts}. Add a grid of its slide."
        )
    lo, hi = np.searchsorted(first, instances.lo), np.searchsorted(after, instances.hi, side="right")
    whole, rest = lo < hi, np.append(first, len(time))[hi]
    results = reduce_ranges(operator, slices, lo, np.maximum(lo, hi), by=by)
    tails = reduce_ranges(operator, values, np.minimum(rest, instances.hi), instances.hi, by="naive")
    some = rest < instances.hi
    pairs = np.stack([results, tails], axis=1).reshape(-1, *values.shape[1:])
    at = 2 * np.arange(len(whole))
    return instances, reduce_ranges(operator, pairs, at + ~whole, at + 1 + (some | ~whole), by="naive"), slices
