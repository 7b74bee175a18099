"""What a Spark task does in Python for rolling windows: every row gets the partials of the rows before it.

Rows come sorted by key, time chunk and time. From one batch to the next only the rows that later ones still look back
on are kept, without the columns that are merely carried, so memory is bounded by the longest range (and by the largest
group of rows of one time), not by the partition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from muntin.arrow import batches
from muntin.arrow.batches import Gathering, Layout, Rows, joined
from muntin.kernels.preceding import after_ties, latest, preceding
from muntin.kernels.protocol import Longs


@dataclass(frozen=True)
class Task:
    """Everything that a Python worker needs to know; it travels pickled."""

    layout: Layout
    ranges: tuple[int, ...]
    """Frames from so many microseconds before a row to the last row of its time."""
    counts: tuple[int, ...]
    """Frames of so many rows that end with a row itself."""
    carried: int
    """How many columns c0, c1, … are given back as they came."""

    @property
    def inputs(self) -> list[str]:
        """Names of the columns that are worked on."""
        return ["t", *self.layout.tail]

    @property
    def carry(self) -> list[str]:
        """Names of the columns that are carried."""
        return [f"c{i}" for i in range(self.carried)]

    @property
    def names(self) -> list[str]:
        """Names of the result's columns: those carried, then the partials of every frame."""
        frames = range(len(self.ranges) + len(self.counts))
        partials = range(sum(self.layout.columns))
        return [*self.carry, *(f"f{frame}p{partial}" for frame in frames for partial in partials)]


@dataclass
class Stretch:
    """Rows that are worked on together, where groups begin in them, and the columns that those not yet given carry."""

    rows: Rows
    carried: pa.RecordBatch
    given: int = 0
    """How many rows at the start have been given, and are there only to be looked back on."""

    def __post_init__(self) -> None:
        self.bounds, self.keys = self.rows.bounds(), self.rows.key_bounds()

    def known(self, task: Task) -> int:
        """Count the rows at the start whose frames are complete: those of the last time may have more to come."""
        time, last = self.rows.time, int(self.bounds[-2])
        return last + int(np.searchsorted(time[last:], time[-1])) if task.ranges else len(time)

    def needed(self, task: Task, known: int) -> int:
        """Give the first row that rows to come, or not yet given, may look back on."""
        time, last = self.rows.time, int(self.bounds[-2])
        first = known
        if task.ranges:
            earliest = max(int(time[-1]) - max(task.ranges), -(2**63))
            first = last + int(np.searchsorted(time[last:], earliest))
        if task.counts:
            first = min(first, max(int(self.keys[-2]), known - (max(task.counts) - 1)))
        return first


def roll(parts: Iterable[pa.RecordBatch], task: Task) -> Iterator[pa.RecordBatch]:
    """Give every row its carried columns and the partials of its frames."""
    kept, held, given = None, None, 0
    frames = len(task.ranges) + len(task.counts)
    waiting = Gathering(parts)
    for batch in waiting:
        work, load = batch.select(task.inputs), batch.select(task.carry)
        if kept is not None:
            work, load = joined([kept, work]), joined([held, load])
        found = Stretch(Rows(work, task.layout), load, given)
        known = found.known(task)
        yield from _results(found, task, known)
        first = found.needed(task, known)
        kept, held, given = work.slice(first), load.slice(known - given), known - first
        waiting.learn(batch.num_rows, frames * batch.num_rows, kept.num_rows)
    if kept is not None and held is not None and held.num_rows:  # frames of one row leave nothing
        yield from _results(Stretch(Rows(kept, task.layout), held, given), task, kept.num_rows)


def _results(found: Stretch, task: Task, end: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows up to an end that have not been given, in batches."""
    if end <= found.given:
        return
    load, own = found.carried.slice(0, end - found.given), _own(found, task, end)
    arrays, layout = found.rows.lifted(), task.layout
    columns = load.columns if own is None else [column.filter(pa.array(own)) for column in load.columns]
    for lo, hi in _frames(found, task, end):
        ends = (lo, hi) if own is None else (lo[own], hi[own])
        if len(ends[0]) == 0:  # a halo only
            return
        for r, lifted, partials in zip(layout.reducers, arrays, found.rows.partials, strict=True):
            columns += r.lower(r.reduce(lifted, *ends), partials)
    result = pa.RecordBatch.from_arrays(columns, names=task.names)
    for start in range(0, result.num_rows, batches.BATCH):
        yield result.slice(start, batches.BATCH)


def _frames(found: Stretch, task: Task, end: int) -> Iterator[tuple[Longs, Longs]]:
    """Yield the ends of every frame of the rows that have not been given."""
    if task.ranges:
        hi = after_ties(found.bounds, found.rows.time)[found.given : end]
    for range in task.ranges:
        yield preceding(found.bounds, found.rows.time, range, found.given, end), hi
    for count in task.counts:
        yield latest(found.keys, count, found.given, end), np.arange(found.given, end) + 1


def _own(found: Stretch, task: Task, end: int) -> NDArray[np.bool_] | None:
    """Tell which rows lie in their chunk itself and not in the halo before it; None if all do."""
    rows, chunks = found.rows, task.layout.chunks
    if chunks is None or rows.chunks is None:
        return None
    stretch = slice(found.given, end)
    own = (rows.time[stretch] - max(task.ranges)) // chunks.length == rows.chunks[stretch]
    if rows.timeless is not None:
        own |= rows.timeless[stretch]
    return None if own.all() else own
