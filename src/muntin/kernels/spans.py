"""Which rows every instance of a window reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from muntin.duration import FOREVER
from muntin.kernels.compiling import compiled
from muntin.kernels.entrance import at_least, groups, longs
from muntin.kernels.protocol import Longs


class Spans(NamedTuple):
    """Instances that have rows, by group and start; the ends lo and hi never move back."""

    start: Longs
    lo: Longs
    """The first row of an instance."""
    hi: Longs
    """One past the last row of an instance."""


def spans(
    bounds: Longs, time: Longs, reach: int, slide: int, offset: int, first: int = -FOREVER, last: int = FOREVER
) -> Spans:
    """Find the instances a = offset + k·slide that have rows with a ≤ time < a + reach, in every group.

    Group g is the rows bounds[g] to bounds[g + 1], sorted by time. The reach of a window that reads rows or slices is
    its range; that of one that reads a window of range r is its range - r + 1, since both ends must lie inside. Only
    instances from `first`, which must be one of them, to `last` are looked for.

    >>> instances = spans(np.array([0, 3]), np.array([1, 5, 30]), reach=10, slide=5, offset=0)
    >>> instances.start.tolist(), instances.lo.tolist(), instances.hi.tolist()
    ([-5, 0, 5, 25, 30], [0, 0, 1, 2, 2], [1, 2, 2, 3, 3])
    >>> spans(np.array([0, 3]), np.array([1, 5, 30]), 10, 5, 0, first=0, last=25).start.tolist()
    [0, 5, 25]
    """
    at_least(1, reach=reach, slide=slide)
    times = longs(time, "time")
    return Spans(*_spans(groups(bounds, len(times)), times, reach, slide, offset, first, last))


@compiled
def _spans(bounds, time, reach, slide, offset, earliest, latest):  # type: ignore[no-untyped-def]
    capacity = len(time) + 16
    start, lo, hi = np.empty(capacity, np.int64), np.empty(capacity, np.int64), np.empty(capacity, np.int64)
    count = 0
    for group in range(len(bounds) - 1):
        first, end = bounds[group], bounds[group + 1]
        if first == end:
            continue
        left = right = first
        a = max(earliest, _first_instance(time[first], reach, slide, offset))
        while a <= latest:
            while left < end and time[left] < a:
                left += 1
            if left == end:
                break
            if time[left] >= a + reach:  # a gap, or no row for this instance
                a = _first_instance(time[left], reach, slide, offset)
                if time[left] < a or a > latest:  # the row lies between two instances that have reach < slide
                    continue
            right = max(left, right)
            while right < end and time[right] < a + reach:
                right += 1
            if count == capacity:
                capacity *= 2
                start, lo, hi = _grown(start, capacity), _grown(lo, capacity), _grown(hi, capacity)
            start[count], lo[count], hi[count] = a, left, right
            count += 1
            a += slide
    return start[:count], lo[:count], hi[:count]


@compiled
def _first_instance(time, reach, slide, offset):  # type: ignore[no-untyped-def]
    """Give the first instance that begins after time - reach."""
    after = time - reach + 1
    return after + (offset - after) % slide


@compiled
def _grown(array, capacity):  # type: ignore[no-untyped-def]
    larger = np.empty(capacity, array.dtype)
    larger[: len(array)] = array
    return larger
