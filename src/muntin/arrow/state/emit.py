"""Instances that are due, of slices that are kept: the batch kernels along a forest, over the times that are needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa

from muntin.arrow.batches import Rows
from muntin.arrow.combine import Level, Node, columns_of, level_of, nodes_of
from muntin.arrow.state.terms import Due
from muntin.kernels.spans import spans
from muntin.plan import plan
from muntin.plan.slicing.grids import density, slicing
from muntin.window import AnyWindow, Window

Stretch = tuple[int, int]
"""The first and the last of something."""


@lru_cache(maxsize=64)
def forest(windows: tuple[AnyWindow, ...], overlap: bool) -> tuple[Node, ...]:
    """Plan how windows read slices and one another; overlap says whether what overlaps may be combined.

    >>> [(node.range, node.parent) for node in forest((Window(20), Window(40), Window(30)), False)]
    [(20, -1), (30, -1), (40, 0)]
    """
    numbers = {Window(*window.period): number for number, window in enumerate(windows) if window.in_forest}
    planned = plan(tuple(numbers), "min" if overlap else "sum", rate=density(slicing(numbers)))
    return nodes_of(planned, numbers)


def needed(nodes: Sequence[Node], due: Mapping[int, Sequence[Due]]) -> list[Stretch | None]:
    """Give the starts of instances that every node must have, for its own sake or for those that read it."""
    found: list[Stretch | None] = [None] * len(nodes)
    for place in reversed(range(len(nodes))):
        node = nodes[place]
        for asked in due.get(node.number, ()):
            found[place] = _hull(found[place], (asked.first, asked.last))
        own = found[place]
        if own is not None and node.parent >= 0:
            inside = (own[0], own[1] + node.range - nodes[node.parent].range)
            found[node.parent] = _hull(found[node.parent], inside)
    return found


def times(nodes: Sequence[Node], found: Sequence[Stretch | None]) -> Stretch | None:
    """Give the stretch of time whose slices are read, its end left out."""
    hull: Stretch | None = None
    for node, own in zip(nodes, found, strict=True):
        if own is not None and node.parent < 0:
            hull = _hull(hull, (own[0], own[1] + node.range))
    return hull


def emit(
    rows: Rows, nodes: Sequence[Node], found: Sequence[Stretch | None], due: Mapping[int, Sequence[Due]]
) -> Iterator[pa.RecordBatch]:
    """Yield the instances that are due: the number of the window, the start, keys and partials."""
    layout = rows.layout
    levels: list[Level | None] = [level_of(rows)]
    for node, own in zip(nodes, found, strict=True):
        parent = levels[node.parent + 1]
        if own is None or parent is None:
            levels.append(None)
            continue
        spanned = spans(parent.bounds, parent.time, node.reach, node.slide, node.offset, *own)
        level = Level(
            np.searchsorted(spanned.lo, parent.bounds),
            spanned.start,
            parent.row[spanned.lo],
            [r.reduce(a, spanned.lo, spanned.hi) for r, a in zip(layout.reducers, parent.arrays, strict=True)],
        )
        levels.append(level)
        for asked in due.get(node.number, ()):
            chosen = np.flatnonzero((level.time >= asked.first) & (level.time <= asked.last))
            if len(chosen):
                arrays = [tuple(None if array is None else array[chosen] for array in part) for part in level.arrays]
                number = pa.array(np.full(len(chosen), asked.number, np.int32))
                columns = [number, pa.array(level.time[chosen]), *columns_of(rows, level.row[chosen], arrays)]
                yield pa.RecordBatch.from_arrays(columns, names=["w", "s", *layout.tail])


def _hull(one: Stretch | None, other: Stretch) -> Stretch:
    return other if one is None else (min(one[0], other[0]), max(one[1], other[1]))
