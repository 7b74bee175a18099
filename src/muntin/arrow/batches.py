"""What all Python sides of a task share: sorted rows in Arrow batches, cut by time and gathered to a good size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from muntin import names
from muntin.arrow.reducers import Arrays, Reducer
from muntin.kernels.protocol import Longs

BATCH = 100_000
"""Rows that are worked on at once, if so many come."""
BYTES = 1 << 28
"""Bytes that are worked on at once; Arrow itself cannot put more than 2 GiB of text together."""


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
class ColumnLayout:
    """What is in the columns of a batch: when a row is, its keys and its partials; it travels pickled."""

    reducers: tuple[Reducer, ...]
    partials: tuple[tuple[str, ...], ...]
    """Names of the columns that each reducer takes."""
    keys: tuple[str, ...]
    """Names of the columns whose values a group has in common."""
    chunks: Chunks | None = None
    """The stretches of time that the rows are cut into, if they are; a row then has a place instead of a time."""
    time: str = names.TIME
    """Name of the column that says when a row is: its event time, or the begin of a slice."""

    @staticmethod
    def numbered(
        reducers: tuple[Reducer, ...], columns: Iterable[int], keys: int, chunks: Chunks | None = None
    ) -> ColumnLayout:
        """Give the layout of rows with so many keys, and so many partials for each reducer.

        >>> ColumnLayout.numbered((), (1, 2), 1).tail
        ['k0', 'p0', 'p1', 'p2']
        """
        number = count()
        partials = tuple(tuple(names.partial(next(number)) for _ in range(taken)) for taken in columns)
        return ColumnLayout(reducers, partials, tuple(names.keys(keys)), chunks)

    def of_slices(self) -> ColumnLayout:
        """Give the layout of slices of such rows."""
        return replace(self, chunks=None, time=names.BEGIN)

    @property
    def when(self) -> str:
        """Name of the column that rows of one key are sorted by."""
        return self.time if self.chunks is None else names.PLACE

    @property
    def tail(self) -> list[str]:
        """Names of keys and partials."""
        return [*self.keys, *(name for group in self.partials for name in group)]


class Rows:
    """A stretch of input, sorted by key and time; rows without a time come first, and count as one moment."""

    def __init__(self, batch: pa.RecordBatch, layout: ColumnLayout) -> None:
        self.batch, self.layout = batch, layout
        time = batch[layout.when]
        self.timeless: NDArray[np.bool_] | None = None
        if time.null_count:
            self.timeless = np.array(time.is_null().to_numpy(zero_copy_only=False))
            time = pc.fill_null(time, 0)
        self.time: Longs = np.array(time.to_numpy())
        self.chunks: Longs | None = None
        if layout.chunks is not None:
            self.chunks, self.time = layout.chunks.times(self.time)

    @property
    def keys(self) -> list[pa.Array]:
        """The key columns."""
        return [self.batch[name] for name in self.layout.keys]

    @property
    def partials(self) -> list[list[pa.Array]]:
        """The partial columns that every reducer takes."""
        return [[self.batch[name] for name in group] for group in self.layout.partials]

    def lifted(self) -> list[Arrays]:
        """Give the partials as arrays; what is dear to lift is lifted once for reducers that lift alike."""
        lifted: list[Arrays] = []
        dear: list[tuple[type[Reducer], list[pa.Array], Arrays]] = []
        for reducer, columns in zip(self.layout.reducers, self.partials, strict=True):
            same = [arrays for kind, others, arrays in dear if kind is type(reducer) and others == columns]
            lifted.append(same[0] if same else reducer.lift(columns))
            if reducer.lifts_dearly:
                dear.append((type(reducer), columns, lifted[-1]))
        return lifted

    def bounds(self) -> Longs:
        """Find where groups of one key and chunk, with or without a time, begin, with the end of the last one."""
        changes = self._key_changes()
        if self.chunks is not None:
            changes |= self.chunks[1:] != self.chunks[:-1]
        if self.timeless is not None:
            changes |= self.timeless[1:] != self.timeless[:-1]
        return self._bounds(changes)

    def key_bounds(self) -> Longs:
        """Find where keys begin, with the end of the last one."""
        return self._bounds(self._key_changes())

    def _key_changes(self) -> NDArray[np.bool_]:
        changes = np.zeros(max(0, len(self.time) - 1), np.bool_)
        for key in self.keys:
            changes |= _changes(key)
        return changes

    def _bounds(self, changes: NDArray[np.bool_]) -> Longs:
        return np.concatenate(([0], np.flatnonzero(changes) + 1, [len(self.time)]))


class Gathering:
    """Batches joined or cut to the size that is worth working on at once.

    The size follows what came: few rows at once where each has many instances, more where many rows are kept. Fat
    rows are not gathered beyond a number of bytes.
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
                if waiting[-1].num_rows == missing or sum(waited.nbytes for waited in waiting) > BYTES:
                    yield joined(waiting)
                    waiting = []
        if waiting:
            yield joined(waiting)

    def learn(self, rows: int, instances: int, kept: int = 0) -> None:
        """Choose the next size such that about ten batches' worth of instances are made at once."""
        self.size = max(1, kept, min(BATCH, 10 * BATCH * rows // max(1, instances)))


def joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    """Put batches together."""
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)


def _changes(column: pa.Array) -> NDArray[np.bool_]:
    """Tell where a column's value differs from that of the row before; null equals null, and NaN equals NaN."""
    before, after = column.slice(0, len(column) - 1), column.slice(1)
    different = pc.not_equal(before, after)
    if column.null_count:
        different = pc.fill_null(different, False)
    if pa.types.is_floating(column.type):
        both = pc.fill_null(pc.and_(pc.is_nan(before), pc.is_nan(after)), False)
        different = pc.and_not(different, both)
    if column.null_count:
        different = pc.or_(different, pc.xor(before.is_null(), after.is_null()))
    return np.asarray(different.to_numpy(zero_copy_only=False))
