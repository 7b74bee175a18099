"""Instances on a grid of places: times, numbers of rows, or a column that never falls."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.protocol import Longs


class Stretches(NamedTuple):
    """Instances that have items, by group and in order."""

    group: Longs
    begin: Longs
    """Where an instance begins, as a place."""
    stop: Longs
    lo: Longs
    """Its first item."""
    hi: Longs
    """One past its last item."""


def stretches(bounds, places, range, slide, offset, after, by) -> Stretches:  # type: ignore[no-untyped-def]
    """Give the instances [offset + k·slide, … + range) that have items and end after one place and by another.

    Group g is the items bounds[g] to bounds[g + 1], whose places never fall; after and by are places of every group.
    Whole numbers and floats both do.

    >>> some = stretches(np.array([0, 3]), np.array([1, 5, 30]), 10, 5, 0, np.array([5]), np.array([35]))
    >>> some.begin.tolist(), some.lo.tolist(), some.hi.tolist()
    ([0, 5, 25], [0, 1, 2], [2, 2, 3])
    """
    kind = places.dtype.type
    given = kind(range), kind(slide), kind(offset)
    return Stretches(*_stretches(bounds, places, *given, after.astype(places.dtype), by.astype(places.dtype)))


@compiled
def _stretches(bounds, places, length, slide, offset, after, by):  # type: ignore[no-untyped-def]
    capacity = len(places) + 16
    table, begin = np.empty((3, capacity), np.int64), np.empty(capacity, places.dtype)
    count = 0
    for g in range(len(bounds) - 1):
        first, end = bounds[g], bounds[g + 1]
        if first == end:
            continue
        left = right = first
        step = _following(max(after[g], places[first]), length, slide, offset)
        while True:
            a = offset + step * slide
            stop = a + length
            if stop > by[g]:
                break
            while left < end and places[left] < a:
                left += 1
            if left == end:
                break
            if places[left] >= stop:  # a gap
                step = max(step + 1, _following(places[left], length, slide, offset))
                continue
            right = max(left, right)
            while right < end and places[right] < stop:
                right += 1
            if count == capacity:
                capacity *= 2
                table, begin = _grown(table, capacity), _grown(begin.reshape(1, -1), capacity)[0]
            table[0, count], table[1, count], table[2, count], begin[count] = g, left, right, a
            count += 1
            step += 1
    begin = begin[:count]
    return table[0, :count], begin, begin + length, table[1, :count], table[2, :count]


@compiled
def _following(place, length, slide, offset):  # type: ignore[no-untyped-def]
    """Give the number of the first instance that ends after a place."""
    step = np.int64((place - length - offset) // slide)
    while offset + step * slide + length <= place:
        step += 1
    return step


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
