"""Rows of keys in order, each given once for every instance that it lies in: for aggregates that no kernel knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from muntin import names
from muntin.arrow.batches import Gathering
from muntin.arrow.frames.framing import Ended, Framing
from muntin.arrow.frames.rows import Slicing
from muntin.arrow.frames.slicing import FrameTask, cuts_of, ended_with, told
from muntin.arrow.frames.stretch import Stretch, batch_with_numbers

ROWS = 100_000
"""Rows that are given at once."""


class Tagging(Slicing):
    """Windows whose instances are given their rows; rows are kept from the first on that an open instance has."""

    def __init__(self, framings: Sequence[Framing], task: FrameTask) -> None:
        super().__init__(framings, task)
        self.instances = 0
        """How many instances have been given: two of a key may have all else in common."""

    def given(self, stretch: Stretch) -> Iterator[pa.RecordBatch]:
        """Yield the rows of instances that end with a stretch."""
        for framing, some in ended_with(stretch, self.framings):
            yield from self._tagged(stretch, framing, some)
            self.instances += len(some.lo)

    def left(self, stretch: Stretch) -> pa.RecordBatch:
        """Give the rows from the first on that an open instance begins with; it is of the last key."""
        cuts = cuts_of(stretch, self.framings)
        first = int(cuts[0]) if len(cuts) else len(stretch.time)
        batch = stretch.rows.batch.slice(first)
        numbers = pa.array(stretch.number[first:])
        return batch.set_column(batch.schema.get_field_index(names.ROW), names.ROW, numbers)

    def _tagged(self, stretch: Stretch, framing: Framing, some: Ended) -> Iterator[pa.RecordBatch]:
        """Yield rows with what tells their instance."""
        carried = [self.task.layout.time, *self.task.layout.keys, *self.task.carried]
        columns = [stretch.rows.batch[name] for name in carried]
        ordinals = pa.array(np.arange(self.instances, self.instances + len(some.lo)))
        tags = [ordinals, *told(framing, some, self.task)]
        ends = np.cumsum(some.hi - some.lo)
        shifts = some.hi - ends
        for start in range(0, int(ends[-1]), ROWS):
            places = np.arange(start, min(start + ROWS, int(ends[-1])))
            instance = np.searchsorted(ends, places, side="right")
            rows, own = pa.array(places + shifts[instance]), pa.array(instance)
            arrays = [*(tag.take(own) for tag in tags), *(column.take(rows) for column in columns)]
            yield pa.RecordBatch.from_arrays(arrays, names=tag_columns(self.task))


def tag_columns(task: FrameTask) -> list[str]:
    """Name the columns of rows that are given to instances."""
    own = [] if task.measured is None else [names.FROM, names.TO]
    tags = [names.ORDINAL, names.NUMBER, names.START, names.FINISH, *own]
    return [*tags, task.layout.time, *task.layout.keys, *task.carried]


def tag(batches: Iterable[pa.RecordBatch], task: FrameTask) -> Iterator[pa.RecordBatch]:
    """Give rows sorted by key and time once for every instance that they lie in."""
    tagging = Tagging(task.framings, task)
    waiting = Gathering(batches)
    for batch in waiting:
        given = tagging.instances
        yield from tagging.take(batch_with_numbers(batch.select(task.inputs)))
        waiting.learn(batch.num_rows, tagging.instances - given, tagging.kept.num_rows if tagging.kept else 0)
    yield from tagging.end()
