"""Which windows begin and end with which row: what the discretizer tells the loop, and what is checked of it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from muntin.errors import QueryError
from muntin.kernels.entrance import longs
from muntin.kernels.protocol import Longs


class Marks(NamedTuple):
    """Rows with a cut, with begins and with ends; an empty instance has no begin."""

    cuts: Longs
    """The rows before which a slice ends, ascending."""
    starts: Longs
    """The rows with which instances begin, ascending, each once; all are cuts."""
    windows: Longs
    """How many instances begin with each."""
    ends: Longs
    """For every instance, the row upon which it is emitted, one past its last; never moves back."""
    begins: Longs
    """For every instance, which of the starts is its own; -1 if it has no rows."""


def marks_of(lo: ArrayLike, hi: ArrayLike, cuts: ArrayLike, rows: int) -> Marks:
    """Mark so many rows with the instances [lo, hi), in order of their ends, of any number of queries.

    >>> marks = marks_of([0, 0, 2], [4, 5, 6], [0, 2, 3, 4], 6)
    >>> marks.starts.tolist(), marks.windows.tolist(), marks.begins.tolist()
    ([0, 2], [2, 1], [0, 0, 1])
    >>> marks_of([0, 1], [4, 5], [0, 2], 6)
    Traceback (most recent call last):
      ...
    muntin.errors.QueryError: instance 1 is [1, 5), which begins without a cut. Cut at every row with which one begins.
    """
    (first, end), at = in_order(lo, hi, rows), longs(cuts, "cuts")
    if len(at) and (at[0] < 0 or at[-1] > rows or (at[1:] <= at[:-1]).any()):
        raise QueryError(f"cuts do not ascend from 0 to {rows}. Sort them, and have each row once.")
    some = first < end
    _refuse(some & ~np.isin(first, at), first, end, "begins without a cut. Cut at every row with which one begins")
    starts, windows = np.unique(first[some], return_counts=True)
    begins = np.where(some, np.searchsorted(starts, first), -1)
    return Marks(at, starts, windows.astype(np.int64), end, begins.astype(np.int64))


def in_order(lo: ArrayLike, hi: ArrayLike, rows: int) -> tuple[Longs, Longs]:
    """Check instances [lo, hi) of so many rows, which may begin anywhere but must be in order of their ends.

    >>> in_order([0, 2], [5, 4], 6)
    Traceback (most recent call last):
      ...
    muntin.errors.QueryError: instance 1 is [2, 4), which ends before the one before it. Sort instances by hi.
    """
    first, end = longs(lo, "lo"), longs(hi, "hi")
    if len(first) != len(end):
        raise QueryError(f"{len(first)} instances begin and {len(end)} end. Give lo and hi the same length.")
    _refuse((first < 0) | (end < first) | (end > rows), first, end, f"does not lie within {rows} rows")
    _refuse(np.diff(end, prepend=end[:1]) < 0, first, end, "ends before the one before it. Sort instances by hi")
    return first, end


def _refuse(wrong: ArrayLike, lo: Longs, hi: Longs, why: str) -> None:
    places = np.flatnonzero(wrong)
    if len(places):
        raise QueryError(f"instance {places[0]} is [{lo[places[0]]}, {hi[places[0]]}), which {why}.")
