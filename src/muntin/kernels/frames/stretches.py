"""Instances on a grid of places: times, numbers of rows, or a column that never falls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.protocol import Longs


class Stretches(NamedTuple):
    """Instances that have items, by group and in order."""

    group: Longs
    step: Longs
    """The number of the instance on its grid."""
    lo: Longs
    """Its first item."""
    hi: Longs
    """One past its last item."""


def stretches(bounds: Longs, begun: Longs, ended: Longs, after: Longs, by: Longs) -> Stretches:
    """Return the instances on a grid that have items, after the last ones given up to the last ones due.

    Group g is the items bounds[g] to bounds[g + 1]. For each item, `begun` and `ended` are the last instances that
    begin, and that end, at or before it: it lies in those between, and neither falls. `after` and `by` are numbers of
    instances for every group.

    >>> places = np.array([1, 5, 30])
    >>> some = stretches(np.array([0, 3]), places // 5, (places - 10) // 5, np.array([-1]), np.array([5]))
    >>> some.step.tolist(), some.lo.tolist(), some.hi.tolist()
    ([0, 1, 5], [0, 1, 2], [2, 2, 3])
    """
    return Stretches(*_stretches(bounds, begun, ended, after, by))


@compiled
def _stretches(bounds, begun, ended, after, by):  # type: ignore[no-untyped-def]
    capacity = len(begun) + 16
    table = np.empty((4, capacity), np.int64)
    count = 0
    for g in range(len(bounds) - 1):
        left, end = bounds[g], bounds[g + 1]
        if left == end:
            continue
        right = left
        step = max(after[g], ended[left]) + 1
        while step <= by[g]:
            while left < end and begun[left] < step:
                left += 1
            if left == end:
                break
            if ended[left] >= step:  # a gap
                step = ended[left] + 1
                continue
            right = max(left, right)
            while right < end and ended[right] < step:
                right += 1
            if count == capacity:
                capacity *= 2
                table = _grown(table, capacity)
            table[0, count], table[1, count], table[2, count], table[3, count] = g, step, left, right
            count += 1
            step += 1
    return table[0, :count], table[1, :count], table[2, :count], table[3, :count]


@compiled
def growing(bounds, time, length, step, offset, after, by):  # type: ignore[no-untyped-def]
    """Give [begin, begin + k·step) for every begin = offset + j·length that has items, from the first item's step on.

    Only ends after one time and by another count; both are times of every group. Give group, begin, end, lo and hi.
    """
    capacity = len(time) + 16
    table = np.empty((5, capacity), np.int64)
    count = 0
    for g in range(len(bounds) - 1):
        item, last = bounds[g], bounds[g + 1]
        while item < last:
            a = time[item] - (time[item] - offset) % length
            end = a + ((time[item] - a) // step + 1) * step
            if end <= after[g]:
                end += ((after[g] - end) // step + 1) * step
            right = item
            while end <= a + length and end <= by[g]:
                while right < last and time[right] < end:
                    right += 1
                if count == capacity:
                    capacity *= 2
                    table = _grown(table, capacity)
                table[0, count], table[1, count], table[2, count] = g, a, end
                table[3, count], table[4, count] = item, right
                count += 1
                end += step
            while item < last and time[item] < a + length:
                item += 1
    return table[0, :count], table[1, :count], table[2, :count], table[3, :count], table[4, :count]


@compiled
def _grown(table, capacity):  # type: ignore[no-untyped-def]
    larger = np.empty((table.shape[0], capacity), table.dtype)
    larger[:, : table.shape[1]] = table
    return larger
