"""Many branches over the same rows: sliced in one pass at the source, combined after one shuffle.

A branch is some windows over the rows of one filter, by some of the keys. Slices of all branches travel together: a row
has a column for every key, which is null in branches without that key, and slots, which every branch fills with its own
partials.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby, pairwise
from operator import itemgetter

import numpy as np
import pyarrow as pa

from muntin import names
from muntin.arrow.batches import Gathering
from muntin.arrow.combine import Codes, CombineTask, SliceTask, coded, combine, in_time_order, key_code, sliced
from muntin.kernels.ordering import stable_order
from muntin.kernels.protocol import Longs


@dataclass(frozen=True)
class Branch:
    """Windows over the rows of one filter, by some of the keys; it travels pickled."""

    slicing: SliceTask
    combining: CombineTask
    """The same partials, in slots."""
    bit: tuple[str, int] | None = None
    """The column of bits and the one of them that is set where the filter holds; None where all rows count."""

    @property
    def stride(self) -> int:
        """How far apart the places of two chunks begin."""
        chunks = self.combining.layout.chunks
        return 1 << 62 if chunks is None else chunks.stride

    def chosen(self, rows: pa.RecordBatch) -> Longs:
        """Give the places of the rows that count."""
        if self.bit is None:
            return np.arange(rows.num_rows)
        column, bit = self.bit
        return np.flatnonzero((rows[column].to_numpy() & bit) != 0)

    def sliced(self, rows: pa.RecordBatch, chosen: Longs, codes: Mapping[str, Codes]) -> pa.RecordBatch:
        """Slice the rows that count, of those in order of time."""
        layout = self.slicing.layout
        numbers, size = coded([(codes[key][0][chosen], codes[key][1]) for key in layout.keys], len(chosen))
        ordered = chosen[stable_order(numbers, size)]
        return sliced(rows.select([layout.time, *layout.tail]).take(pa.array(ordered)), self.slicing)


@dataclass(frozen=True)
class BranchesTask:
    """Everything that a Python worker needs to know of all branches; it travels pickled."""

    branches: tuple[Branch, ...]
    keys: tuple[str, ...]
    """The keys of all branches."""
    slots: Mapping[str, str]
    """The slots, each with a partial of its type."""


def slices_of_branches(batches: Iterable[pa.RecordBatch], task: BranchesTask) -> Iterator[pa.RecordBatch]:
    """Turn unsorted rows into partials of slices for every branch, with a place in every chunk that needs them."""
    waiting = Gathering(batches)
    for batch in waiting:
        waiting.learn(batch.num_rows, 0)
        rows = in_time_order(batch, names.TIME)
        codes = {key: key_code(rows[key]) for key in task.keys}
        types = {key: rows[key].type for key in task.keys} | {
            slot: rows[partial].type for slot, partial in task.slots.items()
        }
        for number, branch in enumerate(task.branches):
            if len(chosen := branch.chosen(rows)):
                slices = branch.sliced(rows, chosen, codes)
                places = slices[names.PLACE]
                head = {names.CHUNK: pa.array(places.to_numpy() // branch.stride), names.PLACE: places}
                own = dict(zip(branch.combining.layout.tail, slices.columns[1:], strict=True))
                yield _widened(number, head, own, types)


def instances_of_branches(batches: Iterable[pa.RecordBatch], task: BranchesTask) -> Iterator[pa.RecordBatch]:
    """Turn slices, sorted by branch, key and place, into the windows' partials, every instance once."""
    types: dict[str, pa.DataType] = {}

    def pieces() -> Iterator[tuple[int, pa.RecordBatch]]:
        for batch in batches:
            types.update({name: batch[name].type for name in (*task.keys, *task.slots)})
            yield from _pieces(batch)

    for number, own in groupby(pieces(), key=itemgetter(0)):
        for windows in combine(map(itemgetter(1), own), task.branches[number].combining):
            columns = dict(zip(windows.schema.names, windows.columns, strict=True))
            head = {name: columns.pop(name) for name in (names.NUMBER, names.START)}
            yield _widened(number, head, columns, types)


def _pieces(batch: pa.RecordBatch) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Cut a batch where branches begin, each piece with the number of its branch."""
    numbers = batch[names.BRANCH].to_numpy()
    begins = np.flatnonzero(numbers[1:] != numbers[:-1]) + 1
    for begin, end in pairwise([0, *begins.tolist(), len(numbers)]):
        if begin < end:
            yield int(numbers[begin]), batch.slice(begin, end - begin)


def _widened(
    number: int, head: Mapping[str, pa.Array], own: Mapping[str, pa.Array], types: Mapping[str, pa.DataType]
) -> pa.RecordBatch:
    """Give rows of a branch the columns of all branches; those that it lacks are null."""
    rows = len(next(iter(head.values())))
    numbers = pa.array(np.full(rows, number, np.int32))
    rest = [own[name] if name in own else pa.nulls(rows, given) for name, given in types.items()]
    return pa.RecordBatch.from_arrays([numbers, *head.values(), *rest], names=[names.BRANCH, *head, *types])
