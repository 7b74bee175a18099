"""What kernels let in: ranges within the values, in order, and values of a type that holds the results.

Compiled code checks nothing while it runs: a range beyond the values would give whatever lies behind them in memory. So
everything is checked here, once, before a kernel begins.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from muntin.errors import QueryError
from muntin.kernels.compiling import compiled
from muntin.kernels.operators import (
    Compose,
    FirstMax,
    FirstMin,
    Max,
    Means,
    Min,
    Moments,
    Operator,
    Sum,
    Wide,
    innermost,
)
from muntin.kernels.protocol import Asked, Longs

Column = NDArray[Any]

WIDEST: dict[str, type[np.generic]] = {"b": np.int64, "i": np.int64, "u": np.uint64, "f": np.float64}
"""The type that kernels work in, by the kind of the values: what is smaller would wrap around, or round."""


class Ranges(NamedTuple):
    """Ranges [lo, hi) that lie within the values and whose ends never move back."""

    lo: Longs
    hi: Longs
    members: int
    """Values in all of them together."""


def ranges(lo: ArrayLike, hi: ArrayLike, count: int) -> Ranges:
    """Check ranges over so many values.

    >>> ranges([0, 1], [2, 4], 3)
    Traceback (most recent call last):
      ...
    muntin.errors.QueryError: range 1 is [1, 4), which does not lie within 3 values. Use 0 ≤ lo ≤ hi ≤ 3.
    """
    begins, ends = longs(lo, "lo"), longs(hi, "hi")
    if len(begins) != len(ends):
        raise QueryError(f"{len(begins)} ranges begin and {len(ends)} end. Give lo and hi the same length.")
    wrong, members = _survey(begins, ends, count)
    if wrong < 0:
        return Ranges(begins, ends, members)
    shown = f"range {wrong} is [{begins[wrong]}, {ends[wrong]}), which"
    if 0 <= begins[wrong] <= ends[wrong] <= count:
        before = f"[{begins[wrong - 1]}, {ends[wrong - 1]})"
        raise QueryError(f"{shown} moves back from {before}. Sort the ranges by both of their ends.")
    raise QueryError(f"{shown} does not lie within {count} values. Use 0 ≤ lo ≤ hi ≤ {count}.")


@compiled
def _survey(lo, hi, count):  # type: ignore[no-untyped-def]
    """Give the first range that is not within the values or moves back, -1 if none does, and the values in all."""
    left = right = members = np.int64(0)
    for k in range(len(lo)):
        if lo[k] < left or hi[k] < right or hi[k] < lo[k] or hi[k] > count:
            return k, members
        left, right = lo[k], hi[k]
        members += right - left
    return -1, members


def longs(numbers: ArrayLike, name: str) -> Longs:
    """Give whole numbers as the 64-bit ones that kernels read; others are refused, not rounded.

    >>> longs([1.5, 2.0], "lo")
    Traceback (most recent call last):
      ...
    muntin.errors.QueryError: lo has values of type float64. Use one dimension of whole numbers, such as int64.
    """
    array = np.asarray(numbers)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        shape = f"type {array.dtype}" if array.ndim == 1 else f"{array.ndim} dimensions"
        raise QueryError(f"{name} has values of {shape}. Use one dimension of whole numbers, such as int64.")
    if array.dtype.kind == "u" and array.size and array.max() >= 2**63:
        raise QueryError(f"{name} has {array.max()}, which is beyond 64 signed bits. Use less than {2**63}.")
    return np.ascontiguousarray(array, np.int64)


def values_for(operator: Operator, values: ArrayLike) -> Column:
    """Give values in 64 bits, and refuse those whose type or shape the operator cannot read.

    >>> values_for(Sum(), np.array([100, 100], np.int8)).dtype
    dtype('int64')
    """
    array = np.asarray(values)
    name = type(innermost(operator)).__name__
    columns = _columns(operator)
    if array.ndim == 0 or (columns is not None and array.shape[1:] != columns):
        wanted = f"(n, {columns[0]})" if columns else "(n,)"
        raise QueryError(f"{name} reads values of shape {wanted}, and these have {array.shape}.")
    if array.dtype.kind not in WIDEST or array.dtype.itemsize > 8:
        raise QueryError(f"kernels cannot read values of type {array.dtype}. Cast them to int64, uint64 or float64.")
    if isinstance(innermost(operator), Wide) and array.dtype != np.uint64:
        raise QueryError(f"Wide reads words of type uint64, and these are {array.dtype}. Use values.view(np.uint64).")
    kind = "f" if isinstance(innermost(operator), Moments) else array.dtype.kind
    return array.astype(WIDEST[kind], copy=False)


def results_for(operator: Operator, results: Column, values: ArrayLike) -> Column:
    """Give results the values' own type again if each of them is one of the values."""
    if isinstance(innermost(operator), Min | Max | FirstMin | FirstMax):
        return results.astype(np.asarray(values).dtype, copy=False)
    return results


def _columns(operator: Operator) -> tuple[int, ...] | None:
    """Give the shape of a partial; None for an operator that is not ours."""
    match innermost(operator):
        case Sum() | Min() | Max() | FirstMin() | FirstMax():
            return ()
        case Wide() | Compose():
            return (2,)
        case Means():
            return (4,)
        case Moments():
            return (6,)
    return None


def room_for_marks(operator: Any, slides: int) -> None:
    """Refuse an operator that marks slides and has too few places for so many."""
    while hasattr(operator, "inner"):
        if len(operator.marks) < slides:
            name = type(operator).__name__
            raise QueryError(f"{name} has {len(operator.marks)} marks for {slides} slides. Give it {slides} or more.")
        operator = operator.inner


def asked_of(asked: Asked, count: int) -> Asked:
    """Check what is asked of so many values; a range longer than they are takes no more room than they do."""
    due, starts, queries = (longs(getattr(asked, name), name) for name in ("due", "starts", "queries"))
    if len(due) != count + 1 or due[0] != 0 or due[-1] != len(starts) or (due[1:] < due[:-1]).any():
        raise QueryError(
            f"due does not divide {len(starts)} answers among {count} values. It has {count + 1} places, from 0 to "
            f"{len(starts)}, and never moves back."
        )
    if len(queries) != len(starts) or (len(queries) and not 0 <= queries.min() <= queries.max() < asked.number):
        raise QueryError(
            f"queries must name one of {asked.number} queries, 0 and up, for each of {len(starts)} starts."
        )
    slides = np.repeat(np.arange(count), np.diff(due))
    if ((starts < 0) | (starts > slides)).any():
        raise QueryError("starts must lie between 0 and the value that the answer is due after.")
    if ((slides[1:] == slides[:-1]) & (starts[1:] > starts[:-1])).any():
        raise QueryError("starts of answers that are due together must be in descending order.")
    order = np.argsort(queries, kind="stable")
    if ((queries[order][1:] == queries[order][:-1]) & (starts[order][1:] < starts[order][:-1])).any():
        raise QueryError("starts of one query must never move back.")
    widest = int((slides + 1 - starts).max(initial=1))
    if asked.widest < widest:
        raise QueryError(f"widest is {asked.widest}, and the longest range has {widest} values. Use {widest} or more.")
    return Asked(due, starts, queries, asked.number, min(asked.widest, max(1, count)))


def groups(bounds: ArrayLike, count: int | None = None) -> Longs:
    """Check bounds that divide so many rows into groups; without a count, as many as they end with.

    >>> groups([0, 3, 5], 4)
    Traceback (most recent call last):
      ...
    muntin.errors.QueryError: bounds from 0 to 5 do not divide 4 rows. Begin with 0, never move back, end with 4.
    """
    ends = longs(bounds, "bounds")
    if not len(ends):
        raise QueryError("bounds are empty. Begin with 0, and end with the number of rows.")
    rows = ends[-1] if count is None else count
    if ends[0] != 0 or ends[-1] != rows or (ends[1:] < ends[:-1]).any():
        shown = f"from {ends[0]} to {ends[-1]}"
        raise QueryError(f"bounds {shown} do not divide {rows} rows. Begin with 0, never move back, end with {rows}.")
    return ends


def at_least(least: int, **numbers: int) -> None:
    """Refuse a number that is less than it must be.

    >>> at_least(1, slide=0)
    Traceback (most recent call last):
      ...
    muntin.errors.QueryError: slide is 0. Use 1 or more.
    """
    for name, number in numbers.items():
        if number < least:
            raise QueryError(f"{name} is {number}. Use {least} or more.")
