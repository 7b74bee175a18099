"""What a Spark task does in Python: partials of rows or slices in Arrow batches become partials of windows.

Rows come sorted by key, time chunk and time. Only the rows that an unfinished instance still needs are kept from one
batch to the next, so memory is bounded by the longest range, not by the partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin.arrow.batches import Gathering, Layout, Rows, joined
from muntin.arrow.reducers import Arrays
from muntin.kernels.protocol import Longs
from muntin.kernels.slices import slice_starts
from muntin.kernels.spans import spans
from muntin.plan.forest.logical import Plan
from muntin.plan.slicing.grids import Grid, reach
from muntin.window import Window


@dataclass(frozen=True)
class Node:
    """A window of the forest."""

    range: int
    slide: int
    offset: int
    reach: int
    """How far after an instance's start what it reads may begin."""
    parent: int
    """The place of the node that it reads, -1 for the rows."""
    number: int
    """The number of the window in the query, -1 for a factor window."""


def nodes_of(forest: Plan, numbers: Mapping[Window, int]) -> tuple[Node, ...]:
    """Give the forest of a plan with the numbers of its windows, parents first."""
    places = {node.window: place for place, node in enumerate(forest.nodes)}
    return tuple(
        Node(
            *node.window.period,
            reach=reach(node.window, None if node.parent is None else node.parent.period),
            parent=-1 if node.parent is None else places[node.parent],
            number=-1 if node.is_factor else numbers[node.window],
        )
        for node in forest.nodes
    )


@dataclass(frozen=True)
class Task:
    """Everything that a Python worker needs to know; it travels pickled."""

    nodes: tuple[Node, ...]
    layout: Layout
    grids: tuple[Grid, ...] = ()
    """Where the result is slices, what they lie on."""

    @property
    def longest(self) -> int:
        """The longest range."""
        return max(node.range for node in self.nodes)

    @property
    def names(self) -> list[str]:
        """Names of the result's columns: window, start, keys and partials."""
        return ["w", "s", *self.layout.tail]


@dataclass
class Level:
    """The rows, or the instances of one window, that others may read."""

    bounds: Longs
    time: Longs
    row: Longs
    """A row of the input that has the instance's key."""
    arrays: list[Arrays]


def level_of(rows: Rows) -> Level:
    """Give the input as something to read."""
    return Level(rows.bounds(), rows.time, np.arange(len(rows.time)), rows.lifted())


def combine(batches: Iterable[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Turn sorted partials into the windows' partials, every instance once."""
    kept: pa.RecordBatch | None = None
    done = None  # until when instances of the first group have been given
    waiting = Gathering(batches)
    for batch in waiting:
        rows = Rows(batch if kept is None else joined([kept, batch]), task.layout)
        level = level_of(rows)
        now = int(level.time[-1])
        found = 0
        for result in _windows(rows, level, task, done, now):
            found += result.num_rows
            yield result
        last = int(level.bounds[-2])
        first = last + int(np.searchsorted(level.time[last:], now - task.longest, side="right"))
        kept, done = rows.batch.slice(first), now
        waiting.learn(batch.num_rows, found, kept.num_rows)
    if kept is not None:
        rows = Rows(kept, task.layout)
        yield from _windows(rows, level_of(rows), task, done, None)


def windows_at_source(batches: Iterable[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Turn unsorted rows into partials of windows, which are to be merged with those of other batches."""
    waiting = Gathering(batches)
    for batch in waiting:
        rows, found = Rows(in_key_order(batch, task.layout), task.layout), 0
        for result in _windows(rows, level_of(rows), task, None, None):
            found += result.num_rows
            yield result
        waiting.learn(batch.num_rows, found)


def slices_at_source(batches: Iterable[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Turn unsorted rows into partials of slices."""
    layout = task.layout
    slides, residues = (np.array(side, np.int64) for side in zip(*task.grids, strict=True))
    waiting = Gathering(batches)
    for batch in waiting:
        waiting.learn(batch.num_rows, 0)
        rows = Rows(in_key_order(batch, layout), replace(layout, chunks=None))
        level = level_of(rows)
        starts = slice_starts(level.bounds, level.time, slides, residues)
        slices = reduced(rows, level, starts)
        if layout.chunks is not None:
            places, index = layout.chunks.places(slices["t"].to_numpy())
            if len(index) > slices.num_rows:
                slices = slices.take(pa.array(index))
            slices = slices.set_column(0, "t", pa.array(places))
        yield slices


def merged_slices(batches: list[pa.RecordBatch], layout: Layout) -> pa.RecordBatch:
    """Turn slices, of which a key may have several that begin together, into one for each key and begin, in order."""
    rows = Rows(in_key_order(joined(batches), layout), layout)
    return reduced(rows, level_of(rows), rows.time)


def reduced(rows: Rows, level: Level, starts: Longs) -> pa.RecordBatch:
    """Reduce neighbouring rows of one key whose slices begin together."""
    layout = rows.layout
    begins = np.concatenate(([True], starts[1:] != starts[:-1]))
    begins[level.bounds[:-1]] = True
    lo = np.flatnonzero(begins)
    if len(lo) == len(starts):
        columns = [rows.batch[name] for name in layout.tail]
    else:
        hi = np.append(lo[1:], len(starts))
        arrays = [r.reduce(a, lo, hi) for r, a in zip(layout.reducers, level.arrays, strict=True)]
        columns = columns_of(rows, level.row[lo], arrays)
    return pa.RecordBatch.from_arrays([pa.array(starts[lo]), *columns], names=["t", *layout.tail])


def _windows(rows: Rows, root: Level, task: Task, done: int | None, now: int | None) -> Iterator[pa.RecordBatch]:
    """Yield the instances of every asked window that end after `done` in the first group and by `now` in the last."""
    chunks, levels = task.layout.chunks, [root]
    for node in task.nodes:
        parent = levels[node.parent + 1]
        found = spans(parent.bounds, parent.time, node.reach, node.slide, node.offset)
        level = Level(
            np.searchsorted(found.lo, parent.bounds),
            found.start,
            parent.row[found.lo],
            [r.reduce(a, found.lo, found.hi) for r, a in zip(task.layout.reducers, parent.arrays, strict=True)],
        )
        levels.append(level)
        if node.number < 0:
            continue
        chosen = _finished(level, node, done, now)
        if chunks is not None and rows.chunks is not None:
            begun = found.start[chosen] // chunks.length == rows.chunks[level.row[chosen]]
            chosen = np.arange(chosen.start, chosen.stop)[begun]
        starts = found.start[chosen]
        if len(starts):
            arrays = [tuple(None if array is None else array[chosen] for array in part) for part in level.arrays]
            number = pa.array(np.full(len(starts), node.number, np.int32))
            columns = [number, pa.array(starts), *columns_of(rows, level.row[chosen], arrays)]
            yield pa.RecordBatch.from_arrays(columns, names=task.names)


def _finished(level: Level, node: Node, done: int | None, now: int | None) -> Any:
    """Give the stretch of instances that are finished and have not been given."""
    first, last = 0, len(level.time)
    if done is not None:  # ends of the first group lie in order
        first = int(np.searchsorted(level.time[: level.bounds[1]], done - node.range, side="right"))
    if now is not None:
        begin = int(level.bounds[-2])
        last = begin + int(np.searchsorted(level.time[begin:], now - node.range, side="right"))
    return slice(first, max(first, last))


def columns_of(rows: Rows, places: Longs, arrays: list[Arrays]) -> list[pa.Array]:
    """Give the keys of rows, and partials beside them, as Arrow columns."""
    taken = [key.take(pa.array(places)) for key in rows.keys]
    parts = zip(rows.layout.reducers, arrays, rows.partials, strict=True)
    return [*taken, *(column for r, part, columns in parts for column in r.lower(part, columns))]


def in_key_order(batch: pa.RecordBatch, layout: Layout) -> pa.RecordBatch:
    """Sort a batch by key and time, unless it is."""
    time = batch["t"].to_numpy()
    codes = np.zeros(len(time), np.int64)
    for i in range(layout.keys):
        encoded = batch[f"k{i}"].dictionary_encode()
        if len(encoded.dictionary) + encoded.null_count > 1:
            values = pc.fill_null(encoded.indices, len(encoded.dictionary)).to_numpy(zero_copy_only=False)
            codes = np.unique(codes * (len(encoded.dictionary) + 1) + values, return_inverse=True)[1]
    in_order = (codes[1:] > codes[:-1]) | ((codes[1:] == codes[:-1]) & (time[1:] >= time[:-1]))
    if in_order.all():
        return batch
    return batch.take(pa.array(np.lexsort((time, codes))))
