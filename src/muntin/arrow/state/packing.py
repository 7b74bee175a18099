"""Slices and instances as few, fat rows: what a task has for a bucket of keys travels as one Arrow message.

Spark sees a number and some bytes; every type stays in Arrow on its way from the source to the state and to the result.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin import names
from muntin.arrow.batches import ColumnLayout, joined
from muntin.arrow.combine import SliceTask, merged_slices, slices_at_source
from muntin.arrow.reducers import Numbers
from muntin.duration import FOREVER
from muntin.errors import QueryError
from muntin.kernels.operators import Sum
from muntin.plan.slicing.grids import Grid, slicing
from muntin.registry import WindowRegistry

ROWS = 1_000_000
"""Slices that a task holds before it sends them on."""

MESSAGE = pa.schema(
    [
        (names.BUCKET, pa.int32()),
        (names.DATA, pa.binary()),
        (names.LATEST, pa.int64()),
        (names.GRIDS, pa.string()),
    ]
)
"""What goes from the source to a bucket: slices, the latest event time of the whole task, what it sliced by."""


def pack(batch: pa.RecordBatch, compression: str | None = None) -> bytes:
    """Write a batch, schema included; a compression that Arrow knows may be named."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue())


def unpack(data: bytes) -> pa.RecordBatch:
    """Read a batch back.

    >>> unpack(pack(pa.RecordBatch.from_pydict({"t": [1, None]}))).to_pydict()
    {'t': [1, None]}
    """
    with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
        return joined(list(reader))


def unpack_state(data: bytes) -> pa.RecordBatch:
    """Read a batch back from a checkpoint: a file that others may have written.

    Arrow takes offsets as they are, and reads the memory beside a column, or fails, where they say so. Here they are
    checked. What tasks of a query send one another is not.
    """
    try:
        batch = unpack(data)
        batch.validate(full=True)
    except (pa.ArrowException, ValueError, OSError) as error:
        raise QueryError(f"the state in the checkpoint is damaged ({error}). Use a new checkpoint.") from error
    return batch


def counting(layout: ColumnLayout) -> ColumnLayout:
    """Give the layout of rows with a count of rows, which is for late rows only."""
    reducers, partials = (*layout.reducers, Numbers(Sum(), whole=True)), (*layout.partials, (names.COUNT,))
    return replace(layout, reducers=reducers, partials=partials)


@dataclass(frozen=True)
class Packing:
    """What a task at the source needs to know; it travels pickled."""

    layout: ColumnLayout
    """Keys and partials of rows; those that come have the number of their bucket beside them."""
    labels: tuple[int, ...]
    """What Spark knows the buckets by."""
    grids: tuple[Grid, ...] = ()
    registry: WindowRegistry | None = None
    """Says what to slice by, where windows come and go."""
    query: Callable[[], str] = str
    """Gives the id of the query that this is a task of, which a registry knows it by."""
    items: tuple[str, ...] = ()
    """Keys that are items to be counted; of several, a row has one at a time."""

    @property
    def wide(self) -> ColumnLayout:
        """The layout of rows with the number of their bucket and a count of rows; the count is for late rows only."""
        counted = counting(self.layout)
        return replace(counted, keys=(names.BUCKET_NUMBER, *counted.keys))

    def current(self) -> tuple[Grid, ...]:
        """Give the grids to slice by, as of now."""
        if self.registry is None:
            return self.grids
        windows = self.registry.needed(self.query())
        return slicing(windows) if windows else no_windows()


def no_windows() -> tuple[Grid, ...]:
    """Give what rows are sliced by where there are no windows: hardly at all."""
    return ((1 << 50, 0),)


def with_count(rows: pa.RecordBatch) -> pa.RecordBatch:
    """Let every row count as one."""
    return rows.append_column(names.COUNT, pa.array(np.ones(rows.num_rows, np.int64)))


def packed_at_source(batches: Iterable[pa.RecordBatch], packing: Packing) -> Iterator[pa.RecordBatch]:
    """Turn a task's rows into one message for every bucket, empty ones included.

    Every bucket hears of every task, so that all see the same latest event time, and none misses a micro-batch.
    """
    grids = packing.current()
    told = json.dumps(grids)
    wide = packing.wide
    latest = -FOREVER

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal latest
        for batch in batches:
            if batch.num_rows:
                latest = max(latest, pc.max(batch[wide.time]).as_py())
                single = with_count(batch)
                yield apart(single, packing.items) if len(packing.items) > 1 else single

    waiting: list[pa.RecordBatch] = []
    for slices in slices_at_source(counted(), SliceTask(wide, grids)):
        waiting.append(slices)
        if sum(batch.num_rows for batch in waiting) > ROWS:
            waiting = [merged_slices(waiting, wide.of_slices())]
            if waiting[0].num_rows > ROWS // 2:
                yield _message(_by_bucket(waiting[0]), packing, latest, told)
                waiting = []
    merged = merged_slices(waiting, wide.of_slices()) if len(waiting) > 1 else waiting[0] if waiting else None
    packed = {} if merged is None else _by_bucket(merged)
    empty = dict.fromkeys(range(len(packing.labels)), b"")
    yield _message(empty | packed, packing, latest, told)


def apart(batch: pa.RecordBatch, items: Sequence[str]) -> pa.RecordBatch:
    """Give every row once for each of its items, with no other; it counts as one row, and stays if it has no item.

    >>> rows = pa.RecordBatch.from_pydict({"i0": [1, None, None], "i1": [5, 6, None], "n": [1, 1, 1]})
    >>> apart(rows, ("i0", "i1")).to_pylist()
    [{'i0': 1, 'i1': None, 'n': 1}, {'i0': None, 'i1': 5, 'n': 0}, {'i0': None, 'i1': 6, 'n': 1}, \
{'i0': None, 'i1': None, 'n': 1}]
    """
    seen = np.zeros(batch.num_rows, np.bool_)
    parts = []
    for place, name in enumerate(items):
        has = np.asarray(batch[name].is_valid())
        chosen = np.flatnonzero(has if place < len(items) - 1 else has | ~seen)
        part = batch.take(pa.array(chosen))
        for other in items:
            if other != name:
                column = part.schema.get_field_index(other)
                part = part.set_column(column, other, pa.nulls(len(chosen), part.schema.types[column]))
        column = part.schema.get_field_index(names.COUNT)
        parts.append(part.set_column(column, names.COUNT, pa.array((~seen[chosen]).astype(np.int64))))
        seen |= has
    return joined(parts)


def _by_bucket(slices: pa.RecordBatch) -> dict[int, bytes]:
    """Pack the slices of every bucket; they lie together."""
    numbers = slices[names.BUCKET_NUMBER].to_numpy()
    first = np.flatnonzero(np.concatenate(([True], numbers[1:] != numbers[:-1])))
    rest = slices.drop_columns([names.BUCKET_NUMBER])
    ends = np.append(first[1:], len(numbers))
    return {int(numbers[lo]): pack(rest.slice(lo, hi - lo)) for lo, hi in zip(first, ends, strict=True)}


def _message(packed: dict[int, bytes], packing: Packing, latest: int, grids: str) -> pa.RecordBatch:
    columns = [
        pa.array([packing.labels[number] for number in packed], pa.int32()),
        pa.array(packed.values(), pa.binary()),
        pa.array([latest] * len(packed), pa.int64()),
        pa.array([grids] * len(packed), pa.string()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=MESSAGE)


def unpacked(batches: Iterable[pa.RecordBatch], labelled: bool) -> Iterator[pa.RecordBatch]:
    """Turn packed instances into rows, with the labels and ranges of windows that only the state knows if labelled."""
    for batch in batches:
        for data in batch[names.DATA]:
            if data.is_valid and data.as_buffer().size:
                instances = unpack(data.as_buffer())
                yield labelled_instances(instances) if labelled else instances.replace_schema_metadata()


def labelled_instances(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Put the label and the range of every instance's window before its own columns."""
    known = {int(number): told for number, told in json.loads(batch.schema.metadata[b"windows"]).items()}
    numbers = batch[names.NUMBER].dictionary_encode()
    told = [known[number.as_py()] for number in numbers.dictionary]
    labels = pa.array([label for label, _ in told], pa.string()).take(numbers.indices)
    ranges = pa.array([range for _, range in told], pa.int64()).take(numbers.indices)
    columns = [names.LABEL, names.RANGE, *batch.schema.names]
    return pa.RecordBatch.from_arrays([labels, ranges, *batch.columns], names=columns)


def bucket_labels(buckets: int) -> tuple[int, ...]:
    """Choose numbers that Spark spreads evenly over as many partitions, or over a divisor or multiple of that.

    >>> bucket_labels(4)
    (12, 6, 2, 0)
    """
    labels: dict[int, int] = {}
    label = 0
    while len(labels) < buckets:
        labels.setdefault(_murmur3(label) % buckets, label)
        label += 1
    return tuple(labels[partition] for partition in range(buckets))


def _murmur3(value: int, seed: int = 42) -> int:
    """Hash an int as Spark partitions it (MurmurHash3, x86, 32 bits).

    >>> _murmur3(0), _murmur3(1)
    (933211791, -559580957)
    """
    mask = 0xFFFFFFFF
    k = value * 0xCC9E2D51 & mask
    k = ((k << 15 | k >> 17) & mask) * 0x1B873593 & mask
    h = seed ^ k
    h = ((h << 13 | h >> 19) & mask) * 5 + 0xE6546B64 & mask
    h ^= 4
    h = (h ^ h >> 16) * 0x85EBCA6B & mask
    h = (h ^ h >> 13) * 0xC2B2AE35 & mask
    h ^= h >> 16
    return h - (1 << 32) if h >> 31 else h
