"""What a Spark task does in Python: partials of rows or slices in Arrow batches become partials of windows.

Rows come sorted by key, time chunk and time. Only the rows that an unfinished instance still needs are kept from one
batch to the next, so memory is bounded by the longest range, not by the partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from muntin.kernels.protocol import Longs
from muntin.kernels.slices import slice_starts
from muntin.kernels.spans import spans
from muntin.plan.slicing import Grid
from muntin.spark.reducers import Arrays, Reducer

BATCH = 100_000
"""Rows that are worked on at once, if so many come."""


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


@dataclass(frozen=True)
class Chunks:
    """Stretches of time that a key's rows are cut into, each followed by a halo that the next one has too.

    Chunk c has the instances that begin in [c·length, (c + 1)·length), and the rows up to one halo later. A row at
    time t of chunk c is told by the single number t + c·halo: such numbers do not meet between chunks, and sort by
    chunk and time.
    """

    length: int
    halo: int
    """The longest range."""

    @property
    def stride(self) -> int:
        """How far apart the places of two chunks begin."""
        return self.length + self.halo

    def places(self, time: Longs) -> tuple[Longs, Longs]:
        """Give the rows of all chunks that times are needed in, as places, and the index of each time.

        >>> places, index = Chunks(length=100, halo=10).places(np.array([50, 105]))
        >>> places.tolist(), index.tolist()
        ([50, 115, 105], [0, 1, 1])
        """
        own = time // self.length
        copies = own - (time - (self.halo - 1)) // self.length
        places, index = [time + own * self.halo], [np.arange(len(time))]
        for back in range(1, int(copies.max(initial=0)) + 1):
            again = np.flatnonzero(copies >= back)
            places.append(time[again] + (own[again] - back) * self.halo)
            index.append(again)
        return np.concatenate(places), np.concatenate(index)

    def times(self, places: Longs) -> tuple[Longs, Longs]:
        """Give the chunks and times of places."""
        chunks = places // self.stride
        return chunks, places - chunks * self.halo


@dataclass(frozen=True)
class Task:
    """Everything that a Python worker needs to know; it travels pickled."""

    nodes: tuple[Node, ...]
    reducers: tuple[Reducer, ...]
    columns: tuple[int, ...]
    """How many partial columns each reducer takes."""
    keys: int
    chunks: Chunks | None = None
    """The stretches of time that the rows are cut into, if they are; column t then has places."""
    grids: tuple[Grid, ...] = ()
    """Where the result is slices, what they lie on."""

    @property
    def longest(self) -> int:
        """The longest range."""
        return max(node.range for node in self.nodes)

    @property
    def names(self) -> list[str]:
        """Names of the result's columns: window, start, keys and partials."""
        return ["w", "s", *self.tail]

    @property
    def tail(self) -> list[str]:
        """Names of keys and partials."""
        return [*(f"k{i}" for i in range(self.keys)), *(f"p{i}" for i in range(sum(self.columns)))]


@dataclass
class Level:
    """The rows, or the instances of one window, that others may read."""

    bounds: Longs
    time: Longs
    row: Longs
    """A row of the input that has the instance's key."""
    arrays: list[Arrays] = field(default_factory=list)


class Rows:
    """A stretch of input, sorted by key and time."""

    def __init__(self, batch: pa.RecordBatch, task: Task) -> None:
        self.batch, self.task = batch, task
        self.time: Longs = np.array(batch["t"].to_numpy())
        self.chunks: Longs | None = None
        if task.chunks is not None:
            self.chunks, self.time = task.chunks.times(self.time)

    @property
    def keys(self) -> list[pa.Array]:
        """The key columns."""
        return [self.batch[f"k{i}"] for i in range(self.task.keys)]

    @property
    def partials(self) -> list[list[pa.Array]]:
        """The partial columns that every reducer takes."""
        names = (f"p{i}" for i in range(sum(self.task.columns)))
        return [[self.batch[next(names)] for _ in range(count)] for count in self.task.columns]

    def level(self) -> Level:
        """Give the input as something to read."""
        arrays = [r.lift(columns) for r, columns in zip(self.task.reducers, self.partials, strict=True)]
        return Level(self._bounds(), self.time, np.arange(len(self.time)), arrays)

    def _bounds(self) -> Longs:
        """Find where groups of one key and chunk begin, with the end of the last one."""
        changes = np.zeros(max(0, len(self.time) - 1), np.bool_)
        for key in self.keys:
            changes |= _changes(key)
        if self.chunks is not None:
            changes |= self.chunks[1:] != self.chunks[:-1]
        return np.concatenate(([0], np.flatnonzero(changes) + 1, [len(self.time)]))


def combine(batches: Iterable[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Turn sorted partials into the windows' partials, every instance once."""
    kept: pa.RecordBatch | None = None
    done = None  # until when instances of the first group have been given
    waiting = _Gathering(batches)
    for batch in waiting:
        rows = Rows(batch if kept is None else pa.concat_batches([kept, batch]), task)
        level = rows.level()
        now = int(level.time[-1])
        found = 0
        for result in _windows(rows, level, done, now):
            found += result.num_rows
            yield result
        last = int(level.bounds[-2])
        first = last + int(np.searchsorted(level.time[last:], now - task.longest, side="right"))
        kept, done = rows.batch.slice(first), now
        waiting.learn(batch.num_rows, found, kept.num_rows)
    if kept is not None:
        rows = Rows(kept, task)
        yield from _windows(rows, rows.level(), done, None)


def windows_at_source(batches: Iterable[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Turn unsorted rows into partials of windows, which are to be merged with those of other batches."""
    waiting = _Gathering(batches)
    for batch in waiting:
        rows, found = Rows(_sorted(batch, task), task), 0
        for result in _windows(rows, rows.level(), None, None):
            found += result.num_rows
            yield result
        waiting.learn(batch.num_rows, found)


def slices_at_source(batches: Iterable[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Turn unsorted rows into partials of slices."""
    slides, residues = (np.array(side, np.int64) for side in zip(*task.grids, strict=True))
    waiting = _Gathering(batches)
    for batch in waiting:
        waiting.learn(batch.num_rows, 0)
        rows = Rows(_sorted(batch, task), replace(task, chunks=None))
        level = rows.level()
        starts = slice_starts(level.bounds, level.time, slides, residues)
        begins = np.concatenate(([True], starts[1:] != starts[:-1]))
        begins[level.bounds[:-1]] = True
        lo = np.flatnonzero(begins)
        hi = np.append(lo[1:], len(starts))
        arrays = [r.reduce(a, lo, hi) for r, a in zip(task.reducers, level.arrays, strict=True)]
        slices = pa.RecordBatch.from_arrays(_columns(rows, level.row[lo], arrays), names=task.tail)
        places, index = (starts[lo], None) if task.chunks is None else task.chunks.places(starts[lo])
        if index is not None and len(index) > len(lo):
            slices = slices.take(pa.array(index))
        yield pa.RecordBatch.from_arrays([pa.array(places), *slices.columns], names=["t", *task.tail])


def _windows(rows: Rows, root: Level, done: int | None, now: int | None) -> Iterator[pa.RecordBatch]:
    """Yield the instances of every asked window that end after `done` in the first group and by `now` in the last."""
    task, levels = rows.task, [root]
    for node in task.nodes:
        parent = levels[node.parent + 1]
        found = spans(parent.bounds, parent.time, node.reach, node.slide, node.offset)
        level = Level(
            np.searchsorted(found.lo, parent.bounds),
            found.start,
            parent.row[found.lo],
            [r.reduce(a, found.lo, found.hi) for r, a in zip(task.reducers, parent.arrays, strict=True)],
        )
        levels.append(level)
        if node.number < 0:
            continue
        chosen = _finished(level, node, done, now)
        if task.chunks is not None and rows.chunks is not None:
            begun = found.start[chosen] // task.chunks.length == rows.chunks[level.row[chosen]]
            chosen = np.arange(chosen.start, chosen.stop)[begun]
        starts = found.start[chosen]
        if len(starts):
            arrays = [tuple(None if array is None else array[chosen] for array in part) for part in level.arrays]
            number = pa.array(np.full(len(starts), node.number, np.int32))
            columns = [number, pa.array(starts), *_columns(rows, level.row[chosen], arrays)]
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


def _columns(rows: Rows, places: Longs, arrays: list[Arrays]) -> list[pa.Array]:
    taken = [key.take(pa.array(places)) for key in rows.keys]
    parts = zip(rows.task.reducers, arrays, rows.partials, strict=True)
    return [*taken, *(column for r, part, columns in parts for column in r.lower(part, columns))]


class _Gathering:
    """Batches joined or cut to the size that is worth working on at once.

    The size follows what was found: few rows at once where each has many instances, more where many rows are kept.
    """

    def __init__(self, batches: Iterable[pa.RecordBatch]) -> None:
        self.batches, self.size = batches, min(BATCH, 10_000)

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        waiting: list[pa.RecordBatch] = []
        for batch in self.batches:
            rest = batch
            while rest.num_rows:
                missing = max(1, self.size - sum(waited.num_rows for waited in waiting))
                waiting.append(rest.slice(0, missing))
                rest = rest.slice(missing)
                if waiting[-1].num_rows == missing:
                    yield _joined(waiting)
                    waiting = []
        if waiting:
            yield _joined(waiting)

    def learn(self, rows: int, instances: int, kept: int = 0) -> None:
        """Choose the next size such that about ten batches' worth of instances are made at once."""
        self.size = max(1, kept, min(BATCH, 10 * BATCH * rows // max(1, instances)))


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def _changes(column: pa.Array) -> NDArray[np.bool_]:
    """Tell where a column's value differs from that of the row before; null equals null, and NaN equals NaN."""
    before, after = column.slice(0, len(column) - 1), column.slice(1)
    different = pc.fill_null(pc.not_equal(before, after), False)
    if pa.types.is_floating(column.type):
        both = pc.fill_null(pc.and_(pc.is_nan(before), pc.is_nan(after)), False)
        different = pc.and_not(different, both)
    if column.null_count:
        different = pc.or_(different, pc.xor(before.is_null(), after.is_null()))
    return np.asarray(different.to_numpy(zero_copy_only=False))


def _sorted(batch: pa.RecordBatch, task: Task) -> pa.RecordBatch:
    """Sort a batch by key and time, unless it is."""
    time = batch["t"].to_numpy()
    codes = np.zeros(len(time), np.int64)
    for i in range(task.keys):
        encoded = batch[f"k{i}"].dictionary_encode()
        if len(encoded.dictionary) + encoded.null_count > 1:
            values = pc.fill_null(encoded.indices, len(encoded.dictionary)).to_numpy(zero_copy_only=False)
            codes = np.unique(codes * (len(encoded.dictionary) + 1) + values, return_inverse=True)[1]
    in_order = (codes[1:] > codes[:-1]) | ((codes[1:] == codes[:-1]) & (time[1:] >= time[:-1]))
    if in_order.all():
        return batch
    return batch.take(pa.array(np.lexsort((time, codes))))
