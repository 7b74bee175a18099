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

from muntin import names
from muntin.arrow import batches
from muntin.arrow.batches import ColumnLayout, Gathering, Rows, joined
from muntin.kernels.preceding import after_ties, latest, preceding
from muntin.kernels.protocol import Longs


@dataclass(frozen=True)
class RollTask:
    """Everything that a Python worker needs to know to roll frames; it travels pickled."""

    layout: ColumnLayout
    ranges: tuple[int, ...]
    """Frames from so many microseconds before a row to the last row of its time."""
    counts: tuple[int, ...]
    """Frames of so many rows that end with a row itself."""
    carried: int
    """How many columns c0, c1, … are given back as they came."""

    @property
    def inputs(self) -> list[str]:
        """Names of the columns that are worked on."""
        return [self.layout.when, *self.layout.tail]

    @property
    def carry(self) -> list[str]:
        """Names of the columns that are carried."""
        return [names.carried(number) for number in range(self.carried)]

    @property
    def names(self) -> list[str]:
        """Names of the result's columns: those carried, then the partials of every frame."""
        frames = map(names.of_frame, range(len(self.ranges) + len(self.counts)))
        partials = [name for group in self.layout.partials for name in group]
        return [*self.carry, *(frame + partial for frame in frames for partial in partials)]


@dataclass
class Held:
    """Rows that are worked on together, where groups begin in them, and the columns that those not yet given carry."""

    rows: Rows
    carried: pa.RecordBatch
    given: int = 0
    """How many rows at the start have been given, and are there only to be looked back on."""

    def __post_init__(self) -> None:
        self.bounds, self.keys = self.rows.bounds(), self.rows.key_bounds()

    def known(self, task: RollTask) -> int:
        """Count the rows at the start whose frames are complete: those of the last time may have more to come."""
        time, last = self.rows.time, int(self.bounds[-2])
        return last + int(np.searchsorted(time[last:], time[-1])) if task.ranges else len(time)

    def needed(self, task: RollTask, known: int) -> int:
        """Give the first row that rows to come, or not yet given, may look back on."""
        time, last = self.rows.time, int(self.bounds[-2])
        first = known
        if task.ranges:
            earliest = max(int(time[-1]) - max(task.ranges), -(2**63))
            first = last + int(np.searchsorted(time[last:], earliest))
        if task.counts:
            first = min(first, max(int(self.keys[-2]), known - (max(task.counts) - 1)))
        return first


def roll(parts: Iterable[pa.RecordBatch], task: RollTask) -> Iterator[pa.RecordBatch]:
    """Give every row its carried columns and the partials of its frames."""
    kept, carried, given = None, None, 0
    frames = len(task.ranges) + len(task.counts)
    waiting = Gathering(parts)
    for batch in waiting:
        work, load = batch.select(task.inputs), batch.select(task.carry)
        if kept is not None:
            work, load = joined([kept, work]), joined([carried, load])
        held = Held(Rows(work, task.layout), load, given)
        known = held.known(task)
        yield from _results(held, task, known)
        first = held.needed(task, known)
        kept, carried, given = work.slice(first), load.slice(known - given), known - first
        waiting.learn(batch.num_rows, frames * batch.num_rows, kept.num_rows)
    if kept is not None and carried is not None and carried.num_rows:  # frames of one row leave nothing
        yield from _results(Held(Rows(kept, task.layout), carried, given), task, kept.num_rows)


def _results(held: Held, task: RollTask, end: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows up to an end that have not been given, in batches."""
    if end <= held.given:
        return
    load, own = held.carried.slice(0, end - held.given), _own(held, task, end)
    arrays, layout = held.rows.lifted(), task.layout
    columns = load.columns if own is None else [column.filter(pa.array(own)) for column in load.columns]
    for lo, hi in _frames(held, task, end):
        ends = (lo, hi) if own is None else (lo[own], hi[own])
        if len(ends[0]) == 0:  # a halo only
            return
        for r, lifted, partials in zip(layout.reducers, arrays, held.rows.partials, strict=True):
            columns += r.lower(r.reduce(lifted, *ends), partials)
    result = pa.RecordBatch.from_arrays(columns, names=task.names)
    for start in range(0, result.num_rows, batches.BATCH):
        yield result.slice(start, batches.BATCH)


def _frames(held: Held, task: RollTask, end: int) -> Iterator[tuple[Longs, Longs]]:
    """Yield the ends of every frame of the rows that have not been given."""
    if task.ranges:
        hi = after_ties(held.bounds, held.rows.time)[held.given : end]
    for range in task.ranges:
        yield preceding(held.bounds, held.rows.time, range, held.given, end), hi
    for count in task.counts:
        yield latest(held.keys, count, held.given, end), np.arange(held.given, end) + 1


def _own(held: Held, task: RollTask, end: int) -> NDArray[np.bool_] | None:
    """Tell which rows lie in their chunk itself and not in the halo before it; None if all do."""
    rows, chunks = held.rows, task.layout.chunks
    if chunks is None or rows.chunks is None:
        return None
    stretch = slice(held.given, end)
    own = (rows.time[stretch] - max(task.ranges)) // chunks.length == rows.chunks[stretch]
    if rows.timeless is not None:
        own |= rows.timeless[stretch]
    return None if own.all() else own
