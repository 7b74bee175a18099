"""Sessions at the source: the rows of a batch become partial sessions, which are merged when they are in order.

Rows that are no more than the shortest gap apart are in one session whatever the gap, so partial sessions by that gap
serve all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin import names
from muntin.arrow.batches import ColumnLayout, Gathering, Rows
from muntin.arrow.combine import in_key_order
from muntin.arrow.forest import columns_of, level_of


@dataclass(frozen=True)
class SessionTask:
    """Everything that a Python worker needs to know to make partial sessions; it travels pickled."""

    layout: ColumnLayout
    gap: int
    """The shortest gap, in microseconds."""


def sessions_at_source(batches: Iterable[pa.RecordBatch], task: SessionTask) -> Iterator[pa.RecordBatch]:
    """Turn unsorted rows into partial sessions: the times of the first and the last row, keys and partials."""
    waiting, layout = Gathering(batches), task.layout
    for batch in waiting:
        waiting.learn(batch.num_rows, 0)
        rows = Rows(in_key_order(batch, layout), layout)
        level = level_of(rows)
        begins = np.concatenate(([True], np.diff(level.time) > task.gap))
        begins[level.bounds[:-1]] = True
        lo = np.flatnonzero(begins)
        hi = np.append(lo[1:], len(level.time))
        arrays = [r.reduce(a, lo, hi) for r, a in zip(layout.reducers, level.arrays, strict=True)]
        columns = [pa.array(level.time[lo]), pa.array(level.time[hi - 1]), *columns_of(rows, lo, arrays)]
        yield pa.RecordBatch.from_arrays(columns, names=[names.TIME, names.UNTIL, *layout.tail])
