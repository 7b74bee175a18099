"""Kernels by the names of their techniques, and the three ways to call them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from operator import index

import numpy as np
from numpy.typing import ArrayLike

from muntin.errors import QueryError, UnsupportedError
from muntin.kernels.bint import bint, bint_many
from muntin.kernels.daba import daba
from muntin.kernels.entrance import Column, asked_of, ranges, results_for, room_for_marks, values_for
from muntin.kernels.flatfat import flatfat, flatfat_many
from muntin.kernels.flatfit import flatfit, flatfit_many
from muntin.kernels.naive import naive, naive_many
from muntin.kernels.operators import (
    FirstMax,
    FirstMin,
    Max,
    Min,
    Operator,
    Sum,
    Wide,
    innermost,
)
from muntin.kernels.protocol import Asked
from muntin.kernels.slick_deque import slick_deque, slick_deque_many
from muntin.kernels.subtract_on_evict import subtract_on_evict, subtract_on_evict_many
from muntin.kernels.two_stacks import two_stacks
from muntin.techniques import Need, Technique, able, cheapest, check, technique

Kernel = Callable[..., int]

KERNELS: dict[str, Kernel] = {
    "naive": naive,
    "subtract_on_evict": subtract_on_evict,
    "flatfat": flatfat,
    "bint": bint,
    "flatfit": flatfit,
    "two_stacks": two_stacks,
    "daba": daba,
    "slick_deque": slick_deque,
}
"""One stream of ranges: operator, values, lo, hi, out; each gives the partials held at most, and checks nothing."""

MANY: dict[str, Kernel] = {
    "naive": naive_many,
    "subtract_on_evict": subtract_on_evict_many,
    "flatfat": flatfat_many,
    "bint": bint_many,
    "flatfit": flatfit_many,
    "slick_deque": slick_deque_many,
}
"""Many ranges that end with a partial: operator, values, sizes or what is asked, out; nothing is checked."""


def reduce_ranges(operator: Operator, values: ArrayLike, lo: ArrayLike, hi: ArrayLike, by: str | None = None) -> Column:
    """Reduce values[lo:hi] for every range; neither lo nor hi ever moves back. An empty range gives 0.

    Without a name the technique is chosen by cost, for these very ranges; one that rounds differently from adding up
    every range, such as taking floats out of a sum, is chosen only by name. A sum has 64 bits, so small types do not
    wrap around; a whole number beyond 64 bits does, as in numpy.

    >>> values, lo, hi = np.array([3.0, 1.0, 2.0]), np.array([0, 0, 1]), np.array([1, 2, 3])
    >>> reduce_ranges(Sum(), values, lo, hi).tolist(), reduce_ranges(Min(), values, lo, hi, by="daba").tolist()
    ([3.0, 4.0, 3.0], [3.0, 1.0, 1.0])
    >>> reduce_ranges(Sum(), np.array([100, 100], np.int8), [0], [2]).tolist()
    [200]
    """
    column = values_for(operator, values)
    checked = ranges(lo, hi, len(column))
    count = len(checked.lo)
    room_for_marks(operator, count)
    if by is None:
        new = int(checked.hi[-1] - checked.lo[0]) if count else 0
        whole = column.dtype.kind != "f"
        chosen = cheapest(safe_offers(operator, whole=whole), checked.members / max(1, count), new / max(1, count))
    else:
        chosen = _chosen(operator, by)
        _check_undoing(chosen, column, lambda: int((checked.hi - checked.lo).max(initial=0)))
    out = np.zeros((count, *column.shape[1:]), column.dtype)
    if count and len(column):
        KERNELS[chosen.name](operator, column, checked.lo, checked.hi, out)
    return results_for(operator, out, values)


def slide(operator: Operator, values: ArrayLike, size: int, by: str) -> Column:
    """Reduce, for every value, the range of so many values that ends with it; the first ranges are shorter.

    >>> slide(Max(), np.array([5, 1, 6, 3, 2, 4, 7, 0]), 3, by="slick_deque").tolist()
    [5, 5, 6, 6, 6, 4, 7, 7]
    """
    chosen = _chosen(operator, by)
    column = values_for(operator, values)
    room_for_marks(operator, len(column))
    (clipped,) = _sizes([size], len(column))
    _check_undoing(chosen, column, lambda: clipped)
    out = np.zeros_like(column)
    if len(column):
        KERNELS[chosen.name](operator, column, 1 - clipped, 1, out)
    return results_for(operator, out, values)


def slide_many(operator: Operator, values: ArrayLike, sizes: Iterable[int], by: str) -> Column:
    """Reduce, for every value, ranges of several sizes that end with it; one column for each size.

    >>> slide_many(Sum(), np.array([5, 1, 6, 3]), [1, 3], by="flatfit").tolist()
    [[5, 5], [1, 6], [6, 12], [3, 10]]
    """
    chosen = _chosen(operator, by, many=True)
    column = values_for(operator, values)
    room_for_marks(operator, len(column))
    order, back = np.unique(np.array(_sizes(sizes, len(column)), np.int64), return_inverse=True)
    _check_undoing(chosen, column, lambda: int(order[-1]), many=True)
    out = np.zeros((len(column) * len(order), *column.shape[1:]), column.dtype)
    if len(column):
        MANY[chosen.name](operator, column, order, out)
    return results_for(operator, out.reshape(len(column), len(order), *column.shape[1:])[:, back], values)


def answer_many(operator: Operator, values: ArrayLike, asked: Asked, by: str) -> Column:
    """Give the answers of queries that are due after different slides, with ranges of different lengths.

    >>> due, starts, queries = np.array([0, 0, 1, 3]), np.array([0, 2, 1]), np.array([0, 1, 0])
    >>> answer_many(Sum(), np.array([5, 1, 6]), Asked(due, starts, queries, number=2, widest=2), by="bint").tolist()
    [6, 6, 7]
    """
    chosen = _chosen(operator, by, many=True)
    column = values_for(operator, values)
    room_for_marks(operator, len(column))
    checked = asked_of(asked, len(column))
    _check_undoing(chosen, column, lambda: checked.widest, many=True)
    out = np.zeros((len(checked.starts), *column.shape[1:]), column.dtype)
    if len(column):
        MANY[chosen.name](operator, column, checked, out)
    return results_for(operator, out, values)


def offers(operator: Operator) -> set[Need]:
    """Tell what an operation offers, whatever it costs in digits.

    >>> sorted(need.name for need in offers(Sum()))
    ['ASSOCIATIVE', 'INVERTIBLE']
    """
    match innermost(operator):
        case Sum() | Wide():
            return {Need.ASSOCIATIVE, Need.INVERTIBLE}
        case Min() | Max() | FirstMin() | FirstMax():
            return {Need.ASSOCIATIVE, Need.SELECTIVE}
    return {Need.ASSOCIATIVE}


def safe_offers(operator: Operator, *, whole: bool) -> set[Need]:
    """Tell what an operation offers without a loss of digits: sums of numbers that are not whole cannot be undone."""
    return offers(operator) - (set() if whole else {Need.INVERTIBLE})


def _chosen(operator: Operator, by: str, *, many: bool = False) -> Technique:
    chosen = technique(by)
    check(chosen, type(innermost(operator)).__name__, offers(operator), many=many)
    return chosen


def _check_undoing(chosen: Technique, values: Column, longest: Callable[[], int], *, many: bool = False) -> None:
    """Refuse floats that a running total would never get rid of: NaN, infinity, and sums that become infinite."""
    if chosen.need is not Need.INVERTIBLE or values.dtype.kind != "f" or not len(values):
        return
    peak = max(float(values.max()), -float(values.min()))  # NaN if there is one
    with np.errstate(over="ignore"):
        if np.isfinite(np.float64(peak) * (longest() + 2)):  # a total, a value that comes and one that goes
            return
    strange = np.flatnonzero(~np.isfinite(values))
    cause = (
        f"value {strange[0]} is {values[strange[0]]}, which {chosen.name} cannot take out of a sum again"
        if len(strange)
        else f"sums of {longest()} values up to {peak} may be infinite, and {chosen.name} cannot undo that"
    )
    raise UnsupportedError(f"{cause}. Use {', '.join(able({Need.ASSOCIATIVE}, many=many))}.")


def _sizes(sizes: Iterable[int], count: int) -> list[int]:
    """Check sizes of ranges over so many values, and clip them: a longer range has all the values, and no more."""
    wanted = list(sizes)
    try:
        whole = [index(size) for size in wanted]
    except TypeError:
        raise QueryError(
            f"sizes {wanted} are not all whole numbers. Use numbers of partials, each 1 or more."
        ) from None
    if not whole or min(whole) < 1:
        raise QueryError(f"sizes {whole} have no ranges, or empty ones. Use one or more, each 1 or more.")
    return [min(size, max(1, count)) for size in whole]
