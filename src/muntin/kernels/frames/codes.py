"""Marks of rows: which end the open window before them, begin one, or end it after them.

Every kernel goes on from what it kept of the rows of a key before these, and keeps what the next ones need.
"""

from __future__ import annotations

import numpy as np
from numba.extending import register_jitable

from muntin.kernels.compiling import compiled

ENDS_BEFORE = 1
"""The open window, if any, ends before the row."""
BEGINS = 2
"""A window begins with the row, unless one is open."""
ENDS_WITH = 4
"""The open window ends after the row."""


@compiled
def session_codes(bounds, time, until, is_open, first, last, gap, longest, aligned):  # type: ignore[no-untyped-def]
    """Mark rows that come more than a gap after what came before, or beyond the longest length (0 for none).

    An aligned session is looked at only at multiples of the longest length.

    A row may stand for several, the last of which came at `until`. Give also when the last row before each came.
    """
    codes, before = np.full(len(time), BEGINS, np.int8), np.empty(len(time), np.int64)
    for group in range(len(bounds) - 1):
        for row in range(bounds[group], bounds[group + 1]):
            before[row] = last[group]
            if is_open[group]:
                too_late = time[row] > last[group] + gap
                bound = first[group] + longest
                if aligned:
                    bound += -bound % longest
                if too_late or (longest > 0 and time[row] >= bound):
                    codes[row] |= ENDS_BEFORE
                    first[group] = time[row]
                    last[group] = until[row]
            else:
                is_open[group] = True
                first[group] = time[row]
                last[group] = until[row]
            last[group] = max(last[group], until[row])
    return codes, before


@compiled
def delta_codes(bounds, value, valid, is_known, first, distance):  # type: ignore[no-untyped-def]
    """Mark rows whose value is not within a distance of that of the window's first row that has one; NaN never is."""
    codes = np.full(len(value), BEGINS, np.int8)
    for group in range(len(bounds) - 1):
        for row in range(bounds[group], bounds[group + 1]):
            if not valid[row]:
                continue
            if is_known[group] and not abs(value[row] - first[group]) <= distance:
                codes[row] |= ENDS_BEFORE
                is_known[group] = False
            if not is_known[group]:
                is_known[group] = True
                first[group] = value[row]
    return codes


@register_jitable
def _replaces(value, total, function):  # type: ignore[no-untyped-def]
    """Whether a value is greater than all so far, or less, where NaN is greatest."""
    return not value <= total if function == 1 else value < total or total != total


@compiled
def until_codes(bounds, value, valid, is_known, total, bound, function):  # type: ignore[no-untyped-def]
    """Mark rows at which an aggregate reaches a bound: 0 for a sum, 1 for the greatest, 2 for the least.

    NaN is greater than all numbers.
    """
    codes = np.full(len(value), BEGINS, np.int8)
    for group in range(len(bounds) - 1):
        for row in range(bounds[group], bounds[group + 1]):
            if valid[row]:
                if not is_known[group]:
                    total[group] = value[row]
                elif function == 0:
                    total[group] += value[row]
                elif _replaces(value[row], total[group], function):  # type: ignore[no-untyped-call]
                    total[group] = value[row]
                is_known[group] = True
            if not is_known[group]:
                continue
            if (function == 2 and total[group] <= bound) or (function != 2 and not total[group] < bound):
                codes[row] |= ENDS_WITH
                is_known[group] = False
    return codes
