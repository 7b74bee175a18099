"""What a Spark task does in Python for windows of every kind: rows of keys in order become partials of instances."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from muntin.arrow.batches import Gathering, Rows, joined
from muntin.arrow.frames.framing import Framing
from muntin.arrow.frames.slicing import FrameTask, framed, kept, slots_of
from muntin.arrow.frames.stretch import Memory, Stretch, batch_with_numbers
from muntin.duration import FOREVER


class Slicing:
    """Windows that share slices, and what they keep of the last key from one batch to the next."""

    def __init__(self, framings: Sequence[Framing], task: FrameTask) -> None:
        self.framings, self.task = framings, task
        self.slots = slots_of(framings)
        self.kept: pa.RecordBatch | None = None
        self.memory: Memory | None = None
        self.latest: pa.RecordBatch | None = None

    def take(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Yield the instances that end with a batch of new rows."""
        rows = Rows(joined([self.kept, batch]) if self.kept is not None else batch, self.task.layout)
        stretch = self._stretch(rows, self._goes_on(batch))
        stretch.by[-1], stretch.ended[-1] = rows.time[-1], False
        yield from self.given(stretch)
        self.kept = self.left(stretch)
        self.memory, self.latest = stretch.memory.take(slice(-1, None)), batch.slice(batch.num_rows - 1)

    def end(self) -> Iterator[pa.RecordBatch]:
        """Yield the instances that end with the input."""
        if self.kept is not None and self.kept.num_rows:
            yield from self.given(self._stretch(Rows(self.kept, self.task.layout), True))

    def given(self, stretch: Stretch) -> Iterator[pa.RecordBatch]:
        """Yield the instances that end with a stretch."""
        return framed(stretch, self.framings, self.task)

    def left(self, stretch: Stretch) -> pa.RecordBatch:
        """Give what open instances need of a stretch."""
        return kept(stretch, self.framings, self.task)

    def _stretch(self, rows: Rows, goes_on: bool) -> Stretch:
        """Give rows of keys that have ended, the first of which may have begun before."""
        groups = len(rows.bounds()) - 1
        memory = Memory.blank(self.slots, groups)
        if self.memory is not None and goes_on:
            memory.put(slice(0, 1), self.memory)
        return Stretch(rows, memory, np.full(groups, FOREVER), np.ones(groups, np.bool_), np.full(groups, FOREVER))

    def _goes_on(self, batch: pa.RecordBatch) -> bool:
        """Tell whether the first group is of the last key, which is so where slices of it are kept."""
        if self.kept is None or self.latest is None or self.kept.num_rows:
            return True
        return len(Rows(joined([self.latest, batch.slice(0, 1)]), self.task.layout).bounds()) == 2


def frame(batches: Iterable[pa.RecordBatch], task: FrameTask) -> Iterator[pa.RecordBatch]:
    """Turn rows sorted by key and time into the partials of all instances, every one once."""
    slicings = [Slicing(framings, task) for framings in task.slicings]
    waiting = Gathering(batches)
    for batch in waiting:
        given = 0
        rows = batch_with_numbers(batch.select(task.inputs))
        for slicing in slicings:
            for result in slicing.take(rows):
                given += result.num_rows
                yield result
        waiting.learn(batch.num_rows, given)
    for slicing in slicings:
        yield from slicing.end()
