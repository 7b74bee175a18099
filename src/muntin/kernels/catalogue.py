"""Kernels by the names of their techniques, and the three ways to call them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muntin.errors import QueryError
from muntin.kernels.bint import bint, bint_many
from muntin.kernels.daba import daba
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
from muntin.kernels.protocol import Asked, Longs
from muntin.kernels.slick_deque import slick_deque, slick_deque_many
from muntin.kernels.subtract_on_evict import subtract_on_evict, subtract_on_evict_many
from muntin.kernels.two_stacks import two_stacks
from muntin.techniques import Need, Technique, cheapest, check, technique

Column = NDArray[Any]
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
"""One stream of ranges: operator, values, lo, hi, out; each gives the partials held at most."""

MANY: dict[str, Kernel] = {
    "naive": naive_many,
    "subtract_on_evict": subtract_on_evict_many,
    "flatfat": flatfat_many,
    "bint": bint_many,
    "flatfit": flatfit_many,
    "slick_deque": slick_deque_many,
}
"""Many ranges that end with a partial: operator, values, sizes or what is asked, out."""


def reduce_ranges(operator: Operator, values: Column, lo: Longs, hi: Longs, by: str | None = None) -> Column:
    """Reduce values[lo:hi] for every range; neither lo nor hi ever moves back. An empty range gives 0.

    Without a name the technique is chosen by cost, for these very ranges; one that rounds differently from adding up
    every range, such as taking floats out of a sum, is chosen only by name.

    >>> values, lo, hi = np.array([3.0, 1.0, 2.0]), np.array([0, 0, 1]), np.array([1, 2, 3])
    >>> reduce_ranges(Sum(), values, lo, hi).tolist(), reduce_ranges(Min(), values, lo, hi, by="daba").tolist()
    ([3.0, 4.0, 3.0], [3.0, 1.0, 1.0])
    """
    chosen = (
        _chosen(operator, by)
        if by
        else cheapest(safe_offers(operator, whole=values.dtype.kind != "f"), *_overlap(lo, hi))
    )
    out = np.zeros((len(lo), *values.shape[1:]), values.dtype)
    if len(lo) and len(values):
        KERNELS[chosen.name](operator, values, lo, hi, out)
    return out


def slide(operator: Operator, values: Column, size: int, by: str) -> Column:
    """Reduce, for every value, the range of so many values that ends with it; the first ranges are shorter.

    >>> slide(Max(), np.array([5, 1, 6, 3, 2, 4, 7, 0]), 3, by="slick_deque").tolist()
    [5, 5, 6, 6, 6, 4, 7, 7]
    """
    kernel = KERNELS[_chosen(operator, by).name]
    if size < 1:
        raise QueryError(f"a range of {size} partials is empty. Use 1 or more.")
    out = np.zeros_like(values)
    if len(values):
        kernel(operator, values, 1 - size, 1, out)
    return out


def slide_many(operator: Operator, values: Column, sizes: Sequence[int], by: str) -> Column:
    """Reduce, for every value, ranges of several sizes that end with it; one column for each size.

    >>> slide_many(Sum(), np.array([5, 1, 6, 3]), [1, 3], by="flatfit").tolist()
    [[5, 5], [1, 6], [6, 12], [3, 10]]
    """
    kernel = MANY[_chosen(operator, by, many=True).name]
    if not sizes or min(sizes) < 1:
        raise QueryError(f"sizes {list(sizes)} have no ranges, or empty ones. Use one or more, each 1 or more.")
    order, back = np.unique(np.asarray(sizes, np.int64), return_inverse=True)
    out = np.zeros((len(values) * len(order), *values.shape[1:]), values.dtype)
    if len(values):
        kernel(operator, values, order, out)
    return out.reshape(len(values), len(order), *values.shape[1:])[:, back]


def answer_many(operator: Operator, values: Column, asked: Asked, by: str) -> Column:
    """Give the answers of queries that are due after different slides, with ranges of different lengths.

    >>> due, starts, queries = np.array([0, 0, 1, 3]), np.array([0, 2, 1]), np.array([0, 1, 0])
    >>> answer_many(Sum(), np.array([5, 1, 6]), Asked(due, starts, queries, number=2, widest=2), by="bint").tolist()
    [6, 6, 7]
    """
    kernel = MANY[_chosen(operator, by, many=True).name]
    out = np.zeros((len(asked.starts), *values.shape[1:]), values.dtype)
    if len(values):
        kernel(operator, values, asked, out)
    return out


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


def _overlap(lo: Longs, hi: Longs) -> tuple[float, float]:
    """Give the mean number of partials in a range, and of those that are new in it."""
    count = max(1, len(lo))
    return (float((hi - lo).sum()) / count, float(hi[-1] - lo[0]) / count) if len(lo) else (0.0, 0.0)
