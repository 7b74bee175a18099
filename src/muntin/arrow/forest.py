"""The walk along a forest of windows: each reads the rows, or the instances of the window that it stands on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from muntin import names
from muntin.arrow.batches import Rows
from muntin.arrow.reducers import Arrays, Reducer
from muntin.duration import FOREVER
from muntin.kernels.protocol import Longs
from muntin.kernels.spans import spans
from muntin.plan.forest.logical import Plan
from muntin.plan.slicing.grids import reach
from muntin.window import Starts, Window

ALL: Starts = (-FOREVER, FOREVER)
"""All instances that have rows."""


@dataclass(frozen=True)
class Reader:
    """A window of the forest, and what it reads; it travels pickled."""

    range: int
    slide: int
    offset: int
    reach: int
    """How far after an instance's start what it reads may begin."""
    parent: int
    """The place of the reader whose instances it reads, -1 for the rows."""
    number: int
    """The number of the window in the query, -1 for a factor window."""


def readers_of(forest: Plan, numbers: Mapping[Window, int]) -> tuple[Reader, ...]:
    """Give the windows of a plan with their numbers, parents first."""
    places = {node.window: place for place, node in enumerate(forest.nodes)}
    return tuple(
        Reader(
            *node.window.period,
            reach=reach(node.window, None if node.parent is None else node.parent.period),
            parent=-1 if node.parent is None else places[node.parent],
            number=-1 if node.is_factor else numbers[node.window],
        )
        for node in forest.nodes
    )


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


def walk(
    root: Level,
    readers: Sequence[Reader],
    reducers: Sequence[Reducer],
    starts: Sequence[Starts | None] | None = None,
) -> Iterator[tuple[Reader, Level]]:
    """Yield every window with its instances, parents first; of each only those that are asked for, if that is said.

    A window of which nothing is asked for is left out, and so must be what reads it.
    """
    levels: list[Level | None] = [root]
    for reader, asked in zip(readers, starts or [ALL] * len(readers), strict=True):
        parent = levels[reader.parent + 1]
        level = None if parent is None or asked is None else _read(parent, reader, reducers, asked)
        levels.append(level)
        if level is not None:
            yield reader, level


def _read(parent: Level, reader: Reader, reducers: Sequence[Reducer], starts: Starts) -> Level:
    spanned = spans(parent.bounds, parent.time, reader.reach, reader.slide, reader.offset, *starts)
    return Level(
        np.searchsorted(spanned.lo, parent.bounds),
        spanned.start,
        parent.row[spanned.lo],
        [r.reduce(a, spanned.lo, spanned.hi) for r, a in zip(reducers, parent.arrays, strict=True)],
    )


def instances(rows: Rows, level: Level, number: int, chosen: Any) -> pa.RecordBatch:
    """Give chosen instances of a window: its number, their starts, keys and partials."""
    starts = level.time[chosen]
    arrays = [tuple(None if array is None else array[chosen] for array in part) for part in level.arrays]
    numbers = pa.array(np.full(len(starts), number, np.int32))
    columns = [numbers, pa.array(starts), *columns_of(rows, level.row[chosen], arrays)]
    return pa.RecordBatch.from_arrays(columns, names=[names.NUMBER, names.START, *rows.layout.tail])


def columns_of(rows: Rows, places: Longs, arrays: list[Arrays]) -> list[pa.Array]:
    """Give the keys of rows, and partials beside them, as Arrow columns."""
    taken = [key.take(pa.array(places)) for key in rows.keys]
    parts = zip(rows.layout.reducers, arrays, rows.partials, strict=True)
    return [*taken, *(column for r, part, columns in parts for column in r.lower(part, columns))]
