"""What is looked at once: for every key, the slices that open instances still need, and the new rows after them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from muntin import names
from muntin.arrow.batches import Rows
from muntin.arrow.frames.exact import Exact
from muntin.arrow.reducers import Arrays, numbers
from muntin.duration import FOREVER
from muntin.errors import QueryError
from muntin.kernels.frames.lasting import located
from muntin.kernels.protocol import Longs

Flags = NDArray[np.bool_]
Slots = Mapping[str, Any]
"""What a window keeps of a key between two stretches, by name, as it is before the first row."""

SEEN, LAST, AFTER = "seen", "last", "after"
COMMON: Slots = {SEEN: 0, LAST: -FOREVER, AFTER: -FOREVER}
"""The rows of a key that have been seen, the time of the last, and up to when instances have been given."""


@dataclass
class Memory:
    """What is kept of every key between two stretches; an array has an entry for each group."""

    arrays: dict[str, NDArray[Any]]

    @staticmethod
    def blank(slots: Slots, groups: int) -> Memory:
        """Give what is known of keys that no row has been seen of."""
        return Memory({name: _filled(start, groups) for name, start in {**COMMON, **slots}.items()})

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self.arrays[name]

    def __setitem__(self, name: str, array: NDArray[Any]) -> None:
        self.arrays[name] = array

    def take(self, groups: Any) -> Memory:
        """Give what is kept of some groups."""
        return Memory({name: array[groups].copy() for name, array in self.arrays.items()})

    def put(self, groups: Any, other: Memory) -> None:
        """Take over what is kept of some groups."""
        for name, array in other.arrays.items():
            if array.dtype != self.arrays[name].dtype:
                self.arrays[name] = self.arrays[name].astype(array.dtype)
            self.arrays[name][groups] = array


def _filled(start: Any, groups: int) -> NDArray[Any]:
    """Give every group the same start, and a copy of its own where it is a list."""
    if isinstance(start, list):
        lists = np.empty(groups, object)
        lists[:] = [copy.deepcopy(start) for _ in range(groups)]
        return lists
    return np.full(groups, start)


@dataclass
class Stretch:
    """Items of every group in order: slices, then new rows; and how far the input is known."""

    rows: Rows
    memory: Memory
    by: Longs
    """Up to when instances end that have all their rows, for every group."""
    ended: Flags
    """Whether no more rows come, for every group."""
    following: Longs
    """When the next row comes that is known already but not among these, for every group."""

    def __post_init__(self) -> None:
        self.bounds = self.rows.bounds()
        number = np.array(self.rows.batch[names.ROW].to_numpy())
        self.fresh = number < 0
        self.new = np.flatnonzero(self.fresh)
        self.new_bounds = np.searchsorted(self.new, self.bounds)
        """Where the new rows of every group begin among all new rows."""
        self.base: Longs = self.memory[SEEN].copy()
        """The number of the first new row of every group."""
        self.counts = np.diff(self.new_bounds)
        self.before: Longs = self.memory[LAST].copy()
        """The time of the last row of every group before these."""
        self.after: Longs = self.memory[AFTER].copy()
        ranks = np.arange(len(self.new)) - np.repeat(self.new_bounds[:-1], self.counts)
        number[self.new] = np.repeat(self.base, self.counts) + ranks
        self.number: Longs = number
        """The number of an item's first row."""
        self.seen = self.base + self.counts
        self.last = self.before.copy()
        some = self.counts > 0
        self.last[some] = self.new_time[self.new_bounds[1:][some] - 1]
        self.memory[SEEN], self.memory[LAST] = self.seen, self.last

    @property
    def time(self) -> Longs:
        """The time of an item's first row."""
        return self.rows.time

    @cached_property
    def arrays(self) -> list[Arrays]:
        """The partials of items."""
        return self.rows.lifted()

    @cached_property
    def new_time(self) -> Longs:
        """The times of new rows."""
        return self.time[self.new]

    @cached_property
    def group(self) -> Longs:
        """The group of every item."""
        return np.repeat(np.arange(len(self.bounds) - 1), np.diff(self.bounds))

    def earlier(self, places: NDArray[Any], least: Any) -> NDArray[Any]:
        """Give the place of the item before every item, the least one before the first of a group."""
        before = np.empty_like(places)
        before[1:] = places[:-1]
        before[self.bounds[:-1][np.diff(self.bounds) > 0]] = least
        return before

    def values(self, column: str) -> tuple[NDArray[Any], Flags]:
        """Give a watched column as numbers, and where it has one."""
        return numbers(self.rows.batch[column]), self.valid(column)

    def exact(self, column: str) -> tuple[Exact, Flags]:
        """Return a watched column as exact numbers, and where it has one."""
        return Exact.of(self.rows.batch[column]), self.valid(column)

    def valid(self, column: str) -> Flags:
        """Return where a watched column has a value."""
        return np.array(self.rows.batch[column].is_valid().to_numpy(zero_copy_only=False))

    def ends_of(self, hi: Longs, group: Longs) -> Longs:
        """Give the time of the item at which instances end, of the last row where there is none."""
        inside = hi < self.bounds[group + 1]
        return np.where(inside, self.time[np.minimum(hi, len(self.time) - 1)], self.last[group])

    def first_from(self, group: Longs, time: Longs) -> Longs:
        """Give the first item of a group from a time on; the end of the group if there is none."""
        return np.asarray(located(self.bounds, self.time, group, time))

    def fail(self, label: str, item: int, what: str) -> QueryError:
        """Say what is wrong with a row for a window: which key, which row, and when."""
        keys = [key[item].as_py() for key in self.rows.keys]
        of = f"key {keys[0] if len(keys) == 1 else tuple(keys)!r}" if keys else "the only key"
        when = moment_text(int(self.time[item]))
        return QueryError(f"window {label!r}: {what} at row {self.number[item]} of {of}, time {when}.")


def batch_with_numbers(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Mark rows as new: their numbers are not known yet."""
    return batch.append_column(names.ROW, pa.array(np.full(batch.num_rows, -1)))


def moment_text(micros: int) -> str:
    """Write a time as people read it.

    >>> moment_text(1_704_067_203_000_000), moment_text(10**18)
    ('2024-01-01 00:00:03 UTC', '1000000000000000000 µs')
    """
    try:
        return f"{datetime(1970, 1, 1) + timedelta(microseconds=micros)} UTC"
    except OverflowError:  # Spark knows years that Python does not
        return f"{micros} µs"
