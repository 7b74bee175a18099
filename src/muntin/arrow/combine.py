"""What a Spark task does in Python: partials of rows or slices in Arrow batches become partials of windows.

Rows come sorted by key, time chunk and time. Only the rows that an unfinished instance still needs are kept from one
batch to the next, so memory is bounded by the longest range, not by the partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin import names
from muntin.arrow.batches import Chunks, ColumnLayout, Gathering, Rows, joined
from muntin.arrow.forest import Level, Reader, columns_of, instances, level_of, walk
from muntin.kernels.ordering import stable_order
from muntin.kernels.protocol import Longs
from muntin.kernels.slices import slice_starts
from muntin.plan.slicing.grids import Grid

Codes = tuple[Longs, int]
"""Numbers of rows that are equal where keys are, and what they are all less than."""


@dataclass(frozen=True)
class CombineTask:
    """Everything that a Python worker needs to know to combine windows; it travels pickled."""

    readers: tuple[Reader, ...]
    layout: ColumnLayout

    @property
    def longest(self) -> int:
        """The longest range."""
        return max(reader.range for reader in self.readers)


@dataclass(frozen=True)
class SliceTask:
    """Everything that a Python worker needs to know to slice rows; it travels pickled."""

    layout: ColumnLayout
    """What the rows have."""
    grids: tuple[Grid, ...]
    """What slices lie on."""
    chunks: Chunks | None = None
    """The stretches of time that the slices are to be cut into, if any."""


def combine(batches: Iterable[pa.RecordBatch], task: CombineTask) -> Iterator[pa.RecordBatch]:
    """Turn sorted partials into the windows' partials, every instance once."""
    kept: pa.RecordBatch | None = None
    done = None  # until when instances of the first group have been given
    waiting = Gathering(batches)
    for batch in waiting:
        rows = Rows(batch if kept is None else joined([kept, batch]), task.layout)
        level = level_of(rows)
        now = int(level.time[-1])
        given = 0
        for result in _windows(rows, level, task, done, now):
            given += result.num_rows
            yield result
        last = int(level.bounds[-2])
        first = last + int(np.searchsorted(level.time[last:], now - task.longest, side="right"))
        kept, done = rows.batch.slice(first), now
        waiting.learn(batch.num_rows, given, kept.num_rows)
    if kept is not None:
        rows = Rows(kept, task.layout)
        yield from _windows(rows, level_of(rows), task, done, None)


def windows_at_source(batches: Iterable[pa.RecordBatch], task: CombineTask) -> Iterator[pa.RecordBatch]:
    """Turn unsorted rows into partials of windows, which are to be merged with those of other batches."""
    waiting = Gathering(batches)
    for batch in waiting:
        rows, given = Rows(in_key_order(batch, task.layout), task.layout), 0
        for result in _windows(rows, level_of(rows), task, None, None):
            given += result.num_rows
            yield result
        waiting.learn(batch.num_rows, given)


def _windows(rows: Rows, root: Level, task: CombineTask, done: int | None, now: int | None) -> Iterator[pa.RecordBatch]:
    """Yield the instances of every asked window that end after `done` in the first group and by `now` in the last."""
    chunks = task.layout.chunks
    for reader, level in walk(root, task.readers, task.layout.reducers):
        if reader.number < 0:
            continue
        chosen = _finished(level, reader, done, now)
        if chunks is not None and rows.chunks is not None:
            begun = level.time[chosen] // chunks.length == rows.chunks[level.row[chosen]]
            chosen = np.arange(chosen.start, chosen.stop)[begun]
        if len(level.time[chosen]):
            yield instances(rows, level, reader.number, chosen)


def _finished(level: Level, reader: Reader, done: int | None, now: int | None) -> Any:
    """Give the stretch of instances that are finished and have not been given."""
    first, last = 0, len(level.time)
    if done is not None:  # ends of the first group lie in order
        first = int(np.searchsorted(level.time[: level.bounds[1]], done - reader.range, side="right"))
    if now is not None:
        begin = int(level.bounds[-2])
        last = begin + int(np.searchsorted(level.time[begin:], now - reader.range, side="right"))
    return slice(first, max(first, last))


def slices_at_source(batches: Iterable[pa.RecordBatch], task: SliceTask) -> Iterator[pa.RecordBatch]:
    """Turn unsorted rows into partials of slices, with a place in every chunk that needs them if there are chunks."""
    waiting = Gathering(batches)
    for batch in waiting:
        waiting.learn(batch.num_rows, 0)
        yield sliced(in_key_order(batch, task.layout), task)


def sliced(batch: pa.RecordBatch, task: SliceTask) -> pa.RecordBatch:
    """Turn rows in order of key and time into partials of slices."""
    rows = Rows(batch, task.layout)
    level = level_of(rows)
    slides, residues = (np.array(side, np.int64) for side in zip(*task.grids, strict=True))
    slices = _reduced(rows, level, slice_starts(level.bounds, level.time, slides, residues))
    return slices if task.chunks is None else _placed(slices, task.chunks)


def _placed(slices: pa.RecordBatch, chunks: Chunks) -> pa.RecordBatch:
    places, index = chunks.places(slices[names.BEGIN].to_numpy())
    if len(index) > slices.num_rows:
        slices = slices.take(pa.array(index))
    return slices.set_column(0, names.PLACE, pa.array(places))


def merged_slices(batches: list[pa.RecordBatch], layout: ColumnLayout) -> pa.RecordBatch:
    """Turn slices, of which a key may have several that begin together, into one for each key and begin, in order."""
    rows = Rows(in_key_order(joined(batches), layout), layout)
    return _reduced(rows, level_of(rows), rows.time)


def _reduced(rows: Rows, level: Level, starts: Longs) -> pa.RecordBatch:
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
    return pa.RecordBatch.from_arrays([pa.array(starts[lo]), *columns], names=[names.BEGIN, *layout.tail])


def in_key_order(batch: pa.RecordBatch, layout: ColumnLayout) -> pa.RecordBatch:
    """Sort a batch by key and time, unless it is."""
    time = batch[layout.when].to_numpy()
    codes, size = coded([key_code(batch[key]) for key in layout.keys], len(time))
    in_order = (codes[1:] > codes[:-1]) | ((codes[1:] == codes[:-1]) & (time[1:] >= time[:-1]))
    if in_order.all():
        return batch
    if _rises(time):
        return batch.take(pa.array(stable_order(codes, size)))
    by_time = np.argsort(time, kind="stable")
    return batch.take(pa.array(by_time[stable_order(codes[by_time], size)]))


def in_time_order(batch: pa.RecordBatch, column: str) -> pa.RecordBatch:
    """Sort a batch by time, unless it is; rows of one time stay as they came."""
    time = batch[column].to_numpy()
    return batch if _rises(time) else batch.take(pa.array(np.argsort(time, kind="stable")))


def _rises(time: Longs) -> bool:
    return bool((time[1:] >= time[:-1]).all())


def key_codes(keys: list[pa.Array], rows: int) -> Longs:
    """Give rows numbers from 0 on that are equal where their keys are."""
    codes = coded(map(key_code, keys), rows)[0]
    return np.unique(codes, return_inverse=True)[1] if len(keys) > 1 else codes


def key_code(key: pa.Array) -> Codes:
    """Give numbers from 0 on that are equal where values of a key are, and how many numbers there may be."""
    encoded = key.dictionary_encode()
    size = len(encoded.dictionary) + bool(encoded.null_count)
    values = pc.fill_null(encoded.indices, len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    return values.astype(np.int64), size


def coded(keys: Iterable[Codes], rows: int) -> Codes:
    """Give rows numbers that are equal where all their keys are; those of equal first keys lie together."""
    codes, size = np.zeros(rows, np.int64), 1
    for values, many in keys:
        if many > 1:
            if size * many > 2**62:
                codes, size = np.unique(codes, return_inverse=True)[1], rows
            codes, size = codes * many + values, size * many
    return codes, size
