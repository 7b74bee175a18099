"""Instances that look back from where they end: a number of rows, or a stretch of time."""

from __future__ import annotations

import numpy as np

from muntin.kernels.compiling import compiled


@compiled
def last_rows(bounds, time, number, seen, count, slide, offset, after, by):  # type: ignore[no-untyped-def]
    """Give the ends of slides that have items, after one time and by another, with so many rows before them.

    The latest rows are items of their own. Give group, end, and the numbers of the first row and past the last.
    """
    capacity = len(time)
    group, end, lo, hi = np.empty((4, capacity), np.int64)
    length = 0
    for g in range(len(bounds) - 1):
        for item in range(bounds[g], bounds[g + 1]):
            edge = time[item] - (time[item] - offset) % slide + slide
            is_last = item + 1 == bounds[g + 1]
            if not is_last and time[item + 1] < edge:
                continue
            rows = seen[g] if is_last else number[item + 1]
            if after[g] < edge <= by[g] and rows >= count:
                group[length], end[length], lo[length], hi[length] = g, edge, rows - count, rows
                length += 1
    return group[:length], end[:length], lo[:length], hi[:length]


@compiled
def located(bounds, number, group, wanted):  # type: ignore[no-untyped-def]
    """Give the first item of a group that begins with a row or after it; the end of the group if there is none."""
    places = np.empty(len(wanted), np.int64)
    for k in range(len(wanted)):
        left, right = bounds[group[k]], bounds[group[k] + 1]
        while left < right:
            middle = (left + right) // 2
            if number[middle] < wanted[k]:
                left = middle + 1
            else:
                right = middle
        places[k] = left
    return places
