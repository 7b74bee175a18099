"""Which rows every row looks back on: those of a stretch of time, or so many."""

from __future__ import annotations

import numpy as np

from muntin.errors import QueryError
from muntin.kernels.compiling import compiled
from muntin.kernels.entrance import at_least, groups, longs
from muntin.kernels.protocol import Longs


def preceding(bounds: Longs, time: Longs, range: int, first: int, end: int) -> Longs:
    """Give, for the rows from first to end, the first row of the same group that is at most a range earlier.

    Group g is the rows bounds[g] to bounds[g + 1], sorted by time.

    >>> preceding(np.array([0, 4, 5]), np.array([1, 3, 3, 9, 2]), range=2, first=1, end=5).tolist()
    [0, 0, 3, 4]
    """
    at_least(0, range=range)
    times = longs(time, "time")
    _check_stretch(first, end, len(times))
    return _preceding(groups(bounds, len(times)), times, range, first, end)  # type: ignore[no-any-return]


def latest(bounds: Longs, count: int, first: int, end: int) -> Longs:
    """Give, for the rows from first to end, the first of so many rows of the same group that end with the row itself.

    >>> latest(np.array([0, 4, 5]), count=3, first=1, end=5).tolist()
    [0, 0, 1, 4]
    """
    at_least(1, count=count)
    ends = groups(bounds)
    _check_stretch(first, end, int(ends[-1]))
    rows = np.arange(first, end)
    begins = ends[np.searchsorted(ends, rows, side="right") - 1]
    return np.maximum(begins, rows - (count - 1))


def after_ties(bounds: Longs, time: Longs) -> Longs:
    """Give, for every row, one past the last row of the same group and time.

    >>> after_ties(np.array([0, 4, 5]), np.array([1, 3, 3, 9, 9])).tolist()
    [1, 3, 3, 4, 5]
    """
    times = longs(time, "time")
    return _after_ties(groups(bounds, len(times)), times)  # type: ignore[no-any-return]


def _check_stretch(first: int, end: int, count: int) -> None:
    if not 0 <= first <= end <= count:
        raise QueryError(f"rows {first} to {end} do not lie within {count} rows. Use 0 ≤ first ≤ end ≤ {count}.")


@compiled
def _preceding(bounds, time, range_, first, end):  # type: ignore[no-untyped-def]
    lo = np.empty(end - first, np.int64)
    for group in range(len(bounds) - 1):
        left = bounds[group]
        for row in range(max(first, bounds[group]), min(end, bounds[group + 1])):
            while np.uint64(time[row]) - np.uint64(time[left]) > np.uint64(range_):  # no time is too early for that
                left += 1
            lo[row - first] = left
    return lo


@compiled
def _after_ties(bounds, time):  # type: ignore[no-untyped-def]
    hi = np.empty(len(time), np.int64)
    for group in range(len(bounds) - 1):
        after = bounds[group + 1]
        for row in range(bounds[group + 1] - 1, bounds[group] - 1, -1):
            if row + 1 < bounds[group + 1] and time[row] != time[row + 1]:
                after = row + 1
            hi[row] = after
    return hi
