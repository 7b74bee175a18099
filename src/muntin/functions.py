"""The built-in aggregates, each a Function and the call that asks it of columns.

Nulls are ignored and NaN is the greatest number, as in Spark. Exact holistic functions (median, percentile, mode)
need the rows of every window; the sketches beside them (approx_quantile, approx_count_distinct) can be shared.
"""

from __future__ import annotations

import builtins
import math
import statistics
from collections import Counter
from collections.abc import Callable
from typing import Any

from muntin.aggregate import Aggregate, Function, Kind, Merge, Partial, combine_by
from muntin.errors import QueryError, UnsupportedError


def _value(value: Any) -> Partial | None:
    return None if value is None else (value,)


def _first(partial: Partial | None) -> Any:
    return None if partial is None else partial[0]


def _tally(partial: Partial | None) -> int:
    return 0 if partial is None else partial[0]


def _by_order(value: Any, order: Any) -> Partial | None:
    return None if order is None else (order, value)


def _second(partial: Partial | None) -> Any:
    return None if partial is None else partial[1]


def _moments(value: Any) -> Partial | None:
    return None if value is None else (1, builtins.float(value), 0.0)


def _spread(sample: bool, root: bool) -> Callable[[Partial | None], float | None]:
    def lower(partial: Partial | None) -> float | None:
        degrees = 0 if partial is None else partial[0] - sample
        if partial is None or degrees == 0:
            return None
        variance = builtins.max(partial[2] / degrees, 0.0)
        return math.sqrt(variance) if root else variance

    return lower


def _comoments(x: Any, y: Any) -> Partial | None:
    return None if x is None or y is None else (1, builtins.float(x), builtins.float(y), 0.0, 0.0, 0.0)


def _covariance(sample: bool) -> Callable[[Partial | None], float | None]:
    def lower(partial: Partial | None) -> float | None:
        degrees = 0 if partial is None else partial[0] - sample
        return None if partial is None or degrees == 0 else partial[5] / degrees

    return lower


def _correlation(partial: Partial | None) -> float | None:
    scale = 0.0 if partial is None else math.sqrt(partial[3] * partial[4])
    return None if partial is None or scale == 0 else partial[5] / scale


def _only_in_spark(*_: Any) -> Any:
    raise UnsupportedError("this sketch is built by Spark, not in plain Python. Run the query with mt.aggregate.")


def _distributive(name: str, merge: Merge, **properties: Any) -> Function:
    return Function(name, Kind.DISTRIBUTIVE, merge, (name,), _value, combine_by(merge), _first, **properties)


def _algebraic(
    name: str,
    merge: Merge,
    partials: str,
    lift: Callable[..., Partial | None],
    lower: Callable[[Partial | None], Any],
    **properties: Any,
) -> Function:
    return Function(name, Kind.ALGEBRAIC, merge, tuple(partials.split()), lift, combine_by(merge), lower, **properties)


def _holistic(name: str, lower: Callable[..., Any]) -> Function:
    """Make a function of all values, which plain Python collects in a list."""
    return Function(
        name,
        Kind.HOLISTIC,
        Merge.NONE,
        (),
        lambda value: None if value is None else ([value],),
        lambda a, b: (a[0] + b[0],),
        lambda partial, **options: None if partial is None else lower(partial[0], **options),
    )


def _interpolate(values: list[Any], fraction: float) -> float:
    """Give the value at a fraction of the sorted values, between two of them in proportion."""
    ordered = sorted(values)
    below, share = divmod(fraction * (len(ordered) - 1), 1)
    low, high = ordered[int(below)], ordered[builtins.min(int(below) + 1, len(ordered) - 1)]
    return builtins.float(low + (high - low) * share)


def _sketch(name: str) -> Function:
    return _algebraic(name, Merge.SKETCH, "sketch", _only_in_spark, _only_in_spark)


_SELECTIVE: dict[str, Any] = {"selective": True, "overlap_safe": True}

MIN = _distributive("min", Merge.MIN, **_SELECTIVE)
MAX = _distributive("max", Merge.MAX, **_SELECTIVE)
SUM = _distributive("sum", Merge.SUM, invertible=True)
BOOL_AND = _distributive("bool_and", Merge.AND, **_SELECTIVE)
BOOL_OR = _distributive("bool_or", Merge.OR, **_SELECTIVE)
COUNT = Function(
    "count",
    Kind.DISTRIBUTIVE,
    Merge.SUM,
    ("count",),
    lambda *values: None if None in values else (1,),
    combine_by(Merge.SUM),
    _tally,
    inputs=(0, 1),
    invertible=True,
)
COUNT_IF = Function(
    "count_if",
    Kind.DISTRIBUTIVE,
    Merge.SUM,
    ("count",),
    lambda v: (1,) if v else None,
    combine_by(Merge.SUM),
    _tally,
    invertible=True,
)
AVG = _algebraic(
    "avg",
    Merge.SUM,
    "sum count",
    lambda v: None if v is None else (v, 1),
    lambda partial: None if partial is None else partial[0] / partial[1],
    invertible=True,
)
VARIANCE = _algebraic("variance", Merge.MOMENTS, "count mean m2", _moments, _spread(True, False), invertible=True)
VAR_POP = _algebraic("var_pop", Merge.MOMENTS, "count mean m2", _moments, _spread(False, False), invertible=True)
STDDEV = _algebraic("stddev", Merge.MOMENTS, "count mean m2", _moments, _spread(True, True), invertible=True)
STDDEV_POP = _algebraic("stddev_pop", Merge.MOMENTS, "count mean m2", _moments, _spread(False, True), invertible=True)
_COMOMENTS = "count mean_x mean_y m2_x m2_y c_xy"
COVAR_SAMP = _algebraic(
    "covar_samp", Merge.COMOMENTS, _COMOMENTS, _comoments, _covariance(True), inputs=(2,), invertible=True
)
COVAR_POP = _algebraic(
    "covar_pop", Merge.COMOMENTS, _COMOMENTS, _comoments, _covariance(False), inputs=(2,), invertible=True
)
CORR = _algebraic("corr", Merge.COMOMENTS, _COMOMENTS, _comoments, _correlation, inputs=(2,), invertible=True)
MIN_BY = _algebraic("min_by", Merge.EARLIER, "order value", _by_order, _second, inputs=(2,), **_SELECTIVE)
MAX_BY = _algebraic("max_by", Merge.LATER, "order value", _by_order, _second, inputs=(2,), **_SELECTIVE)
FIRST = _algebraic(
    "first", Merge.EARLIER, "time value", lambda time, v: _by_order(v, time), _second, takes_time=True, **_SELECTIVE
)
LAST = _algebraic(
    "last", Merge.LATER, "time value", lambda time, v: _by_order(v, time), _second, takes_time=True, **_SELECTIVE
)
COUNT_DISTINCT = Function(
    "count_distinct",
    Kind.HOLISTIC,
    Merge.UNION,
    ("values",),
    lambda v: None if v is None else (frozenset([v]),),
    combine_by(Merge.UNION),
    lambda partial: 0 if partial is None else len(partial[0]),
    overlap_safe=True,
)
APPROX_COUNT_DISTINCT = Function(
    "approx_count_distinct",
    Kind.ALGEBRAIC,
    Merge.SKETCH,
    ("sketch",),
    _only_in_spark,
    combine_by(Merge.SKETCH),
    _only_in_spark,
    overlap_safe=True,
)
APPROX_QUANTILE = _sketch("approx_quantile")
MEDIAN = _holistic("median", statistics.median)
MODE = _holistic("mode", lambda values: Counter(values).most_common(1)[0][0])
PERCENTILE = _holistic("percentile", _interpolate)

FUNCTIONS = {
    function.name: function
    for function in (
        *(MIN, MAX, SUM, COUNT, COUNT_IF, AVG, VARIANCE, VAR_POP, STDDEV, STDDEV_POP, COVAR_SAMP, COVAR_POP, CORR),
        *(FIRST, LAST, MIN_BY, MAX_BY, BOOL_AND, BOOL_OR, COUNT_DISTINCT, APPROX_COUNT_DISTINCT, APPROX_QUANTILE),
        *(MEDIAN, PERCENTILE, MODE),
    )
}
"""The built-in functions by name."""


def min(column: str) -> Aggregate:
    """Ask for the least value."""
    return Aggregate(MIN, (column,))


def max(column: str) -> Aggregate:
    """Ask for the greatest value."""
    return Aggregate(MAX, (column,))


def sum(column: str) -> Aggregate:
    """Ask for the sum."""
    return Aggregate(SUM, (column,))


def count(column: str | None = None) -> Aggregate:
    """Count rows or, with a column, its values that are not null."""
    return Aggregate(COUNT, () if column is None or column == "*" else (column,))


def count_if(column: str) -> Aggregate:
    """Count the rows in which a boolean column is true."""
    return Aggregate(COUNT_IF, (column,))


def avg(column: str) -> Aggregate:
    """Ask for the mean."""
    return Aggregate(AVG, (column,))


def variance(column: str) -> Aggregate:
    """Ask for the sample variance."""
    return Aggregate(VARIANCE, (column,))


def var_pop(column: str) -> Aggregate:
    """Ask for the population variance."""
    return Aggregate(VAR_POP, (column,))


def stddev(column: str) -> Aggregate:
    """Ask for the sample standard deviation."""
    return Aggregate(STDDEV, (column,))


def stddev_pop(column: str) -> Aggregate:
    """Ask for the population standard deviation."""
    return Aggregate(STDDEV_POP, (column,))


def covar_samp(x: str, y: str) -> Aggregate:
    """Ask for the sample covariance of two columns."""
    return Aggregate(COVAR_SAMP, (x, y))


def covar_pop(x: str, y: str) -> Aggregate:
    """Ask for the population covariance of two columns."""
    return Aggregate(COVAR_POP, (x, y))


def corr(x: str, y: str) -> Aggregate:
    """Ask for Pearson's correlation of two columns."""
    return Aggregate(CORR, (x, y))


def first(column: str) -> Aggregate:
    """Ask for the value at the earliest event time; among equal times any of them."""
    return Aggregate(FIRST, (column,))


def last(column: str) -> Aggregate:
    """Ask for the value at the latest event time; among equal times any of them."""
    return Aggregate(LAST, (column,))


def min_by(column: str, order: str) -> Aggregate:
    """Ask for the value where another column is least."""
    return Aggregate(MIN_BY, (column, order))


def max_by(column: str, order: str) -> Aggregate:
    """Ask for the value where another column is greatest."""
    return Aggregate(MAX_BY, (column, order))


def bool_and(column: str) -> Aggregate:
    """Ask whether a boolean column is true in every row that is not null."""
    return Aggregate(BOOL_AND, (column,))


def bool_or(column: str) -> Aggregate:
    """Ask whether a boolean column is true in any row."""
    return Aggregate(BOOL_OR, (column,))


def count_distinct(column: str) -> Aggregate:
    """Count the distinct values exactly; a partial holds them all, so prefer approx_count_distinct for many."""
    return Aggregate(COUNT_DISTINCT, (column,))


def approx_count_distinct(column: str, lg_k: int = 12) -> Aggregate:
    """Estimate the number of distinct values by a mergeable HyperLogLog sketch of 2**lg_k registers."""
    if not 4 <= lg_k <= 21:
        raise QueryError(f"lg_k {lg_k} is out of bounds. Use 4 (coarse) to 21 (fine).")
    return Aggregate(APPROX_COUNT_DISTINCT, (column,), options=(("lg_k", lg_k),))


def approx_quantile(column: str, fraction: float, k: int = 200) -> Aggregate:
    """Estimate a quantile by a mergeable KLL sketch of size k."""
    if not 8 <= k <= 65_535:
        raise QueryError(f"k {k} is out of bounds. Use 8 (coarse) to 65535 (fine).")
    return _quantile(APPROX_QUANTILE, column, fraction, ("k", k))


def median(column: str) -> Aggregate:
    """Ask for the exact median, evaluated from the rows of every window; approx_quantile can be shared."""
    return Aggregate(MEDIAN, (column,))


def percentile(column: str, fraction: float) -> Aggregate:
    """Ask for an exact percentile, evaluated from the rows of every window; approx_quantile can be shared."""
    return _quantile(PERCENTILE, column, fraction)


def mode(column: str) -> Aggregate:
    """Ask for the most frequent value, evaluated from the rows of every window."""
    return Aggregate(MODE, (column,))


def user_defined(
    name: str,
    *columns: str,
    lift: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    lower: Callable[[Any], Any],
    invertible: bool = False,
    selective: bool = False,
    overlap_safe: bool = False,
) -> Aggregate:
    """Make an aggregate of your own by lift, combine and lower; combine must be associative.

    Rows with a null are left out. Say overlap_safe only if combine(a, b) may count rows twice without harm.

    >>> longest = user_defined("longest", "text", lift=len, combine=builtins.max, lower=lambda n: n, overlap_safe=True)
    >>> longest.evaluate([("a",), ("abc",), (None,)])
    3
    """
    for step in (lift, combine, lower):
        if not callable(step):
            raise QueryError(
                f"{step!r} in aggregate {name!r} is no function. Give lift, combine and lower as functions."
            )
    function = Function(
        name,
        Kind.ALGEBRAIC,
        Merge.CUSTOM,
        ("state",),
        lambda *values: None if None in values else (lift(*values),),
        lambda a, b: (combine(a[0], b[0]),),
        lambda partial: None if partial is None else lower(partial[0]),
        inputs=(len(columns),),
        invertible=invertible,
        selective=selective,
        overlap_safe=overlap_safe,
    )
    return Aggregate(function, columns)


def _quantile(function: Function, column: str, fraction: float, *options: tuple[str, Any]) -> Aggregate:
    if not isinstance(fraction, int | float) or not 0 <= fraction <= 1:
        raise QueryError(f"fraction {fraction!r} is out of bounds. Use 0 (least) to 1 (greatest), for example 0.95.")
    percent = f"{100 * fraction:g}".replace(".", "_")
    return Aggregate(function, (column,), f"{function.name}_{percent}_{column}", (("fraction", fraction), *options))
