"""Rows on their way to the state of a stream: one Arrow message for every task and bucket of keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin import names
from muntin.arrow.batches import joined
from muntin.arrow.state.packing import MESSAGE, pack
from muntin.duration import FOREVER

ROWS = 500_000
"""Rows that a task holds before it sends them on."""


@dataclass(frozen=True)
class RowPacking:
    """What a task at the source needs to know; it travels pickled."""

    labels: tuple[int, ...]
    """What Spark knows the buckets by."""


def rows_at_source(batches: Iterable[pa.RecordBatch], packing: RowPacking) -> Iterator[pa.RecordBatch]:
    """Turn a task's rows into one message for every bucket, empty ones included: none misses a micro-batch."""
    latest, waiting = -FOREVER, list[pa.RecordBatch]()
    for batch in batches:
        if not batch.num_rows:
            continue
        latest = max(latest, pc.max(batch[names.TIME]).as_py())
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) > ROWS:
            yield _message(_by_bucket(joined(waiting)), packing, latest)
            waiting = []
    packed = _by_bucket(joined(waiting)) if waiting else {}
    yield _message(dict.fromkeys(range(len(packing.labels)), b"") | packed, packing, latest)


def _by_bucket(rows: pa.RecordBatch) -> dict[int, bytes]:
    """Pack the rows of every bucket, in the order in which they came."""
    numbers = rows[names.BUCKET_NUMBER].to_numpy()
    order = np.argsort(numbers, kind="stable")
    together = rows.drop_columns([names.BUCKET_NUMBER]).take(pa.array(order))
    first = np.flatnonzero(np.concatenate(([True], numbers[order][1:] != numbers[order][:-1])))
    ends = np.append(first[1:], len(numbers))
    return {int(numbers[order[lo]]): pack(together.slice(lo, hi - lo)) for lo, hi in zip(first, ends, strict=True)}


def _message(packed: dict[int, bytes], packing: RowPacking, latest: int) -> pa.RecordBatch:
    columns = [
        pa.array([packing.labels[number] for number in packed], pa.int32()),
        pa.array(packed.values(), pa.binary()),
        pa.array([latest] * len(packed), pa.int64()),
        pa.array(["[]"] * len(packed), pa.string()),
    ]
    return pa.RecordBatch.from_arrays(columns, schema=MESSAGE)
