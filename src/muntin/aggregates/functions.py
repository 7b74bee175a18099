"""The built-in aggregates, each a Function and the call that asks it of columns.

Nulls are ignored and NaN is the greatest number, as in Spark. Exact holistic functions (median, percentile, mode,
count_distinct) share the sorted rows of a key; the sketches beside them (approx_quantile, approx_count_distinct) are
merged from slices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from muntin.aggregates import steps
from muntin.aggregates.model import Aggregate, Function, Merge, Reading
from muntin.errors import QueryError


def _distributive(name: str, merge: Merge, **properties: Any) -> Function:
    lift, lower = steps.lift_value, steps.lower_first
    return Function(name, merge, (name,), lift, steps.COMBINE[merge], lower, **properties)


def _counting(name: str, lift: Callable[..., Any], inputs: tuple[int, ...], **properties: Any) -> Function:
    combine, lower = steps.add, steps.lower_count
    return Function(name, Merge.SUM, ("count",), lift, combine, lower, inputs, **properties)


def _algebraic(
    name: str, merge: Merge, partials: str, lift: Callable[..., Any], lower: Callable[..., Any], **properties: Any
) -> Function:
    columns = tuple(partials.split())
    return Function(name, merge, columns, lift, steps.COMBINE[merge], lower, **properties)


def _moments(name: str, lower: Callable[..., Any], sql_lower: str) -> Function:
    return _algebraic(name, Merge.MOMENTS, "count mean m2", steps.lift_moments, lower, sql_lower=sql_lower)


def _comoments(name: str, lower: Callable[..., Any], sql_lower: str) -> Function:
    columns = "count mean_x mean_y m2_x m2_y c_xy"
    return _algebraic(name, Merge.COMOMENTS, columns, steps.lift_comoments, lower, inputs=(2,), sql_lower=sql_lower)


def _sketch(name: str, merge: Merge) -> Function:
    refuse = steps.only_in_spark
    return Function(name, merge, ("sketch",), refuse, refuse, refuse)


def _holistic(name: str, lower: Callable[..., Any], reading: Reading, **properties: Any) -> Function:
    return Function(name, Merge.NONE, (), steps.lift_list, steps.add, lower, reading=reading, **properties)


ColumnLike = str | Any
"""The name of a column, or a Spark Column."""

_BY_ORDER: dict[str, Any] = {"partials": "order value", "lift": steps.lift_value_by_order, "lower": steps.lower_second}
_BY_TIME: dict[str, Any] = {"partials": "time value", "lift": steps.lift_value_by_time, "lower": steps.lower_second}
_OF_SAMPLE = "CASE WHEN {{count}} > 1 THEN {} WHEN {{count}} = 1 THEN {{single}} END"
_OF_ALL = "CASE WHEN {{count}} > 0 THEN {} END"

MIN = _distributive("min", Merge.MIN)
MAX = _distributive("max", Merge.MAX)
SUM = _distributive("sum", Merge.SUM)
BOOL_AND = _distributive("bool_and", Merge.AND)
BOOL_OR = _distributive("bool_or", Merge.OR)
COUNT = _counting("count", steps.lift_row, inputs=(0, 1))
COUNT_IF = _counting("count_if", steps.lift_true, inputs=(1,), conditional=True)
AVG = _algebraic("avg", Merge.SUM, "sum count", steps.lift_sum_count, steps.lower_mean)
VARIANCE = _moments("variance", steps.lower_variance, _OF_SAMPLE.format("{m2} / ({count} - 1)"))
VAR_POP = _moments("var_pop", steps.lower_var_pop, _OF_ALL.format("{m2} / {count}"))
STDDEV = _moments("stddev", steps.lower_stddev, f"sqrt({VARIANCE.sql_lower})")
STDDEV_POP = _moments("stddev_pop", steps.lower_stddev_pop, f"sqrt({VAR_POP.sql_lower})")
COVAR_SAMP = _comoments("covar_samp", steps.lower_covar_samp, _OF_SAMPLE.format("{c_xy} / ({count} - 1)"))
COVAR_POP = _comoments("covar_pop", steps.lower_covar_pop, _OF_ALL.format("{c_xy} / {count}"))
CORR = _comoments(
    *("corr", steps.lower_correlation),
    "CASE WHEN {count} > 1 AND {m2_x} * {m2_y} != 0 THEN {c_xy} / sqrt({m2_x} * {m2_y}) "
    "WHEN {count} = 1 THEN {single} END",
)
MIN_BY = _algebraic("min_by", Merge.EARLIER, inputs=(2,), **_BY_ORDER)
MAX_BY = _algebraic("max_by", Merge.LATER, inputs=(2,), **_BY_ORDER)
FIRST = _algebraic("first", Merge.EARLIER, takes_time=True, **_BY_TIME)
LAST = _algebraic("last", Merge.LATER, takes_time=True, **_BY_TIME)
COUNT_DISTINCT = Function(
    *("count_distinct", Merge.UNION, ("values",)),
    *(steps.lift_set, steps.unite, steps.lower_size),
    reading=Reading.MEMBERS,
)
APPROX_COUNT_DISTINCT = _sketch("approx_count_distinct", Merge.DISTINCT_SKETCH)
APPROX_QUANTILE = _sketch("approx_quantile", Merge.QUANTILE_SKETCH)
MEDIAN = _holistic("median", steps.lower_median, Reading.RANK, sql="percentile({0}, 0.5D)")
MODE = _holistic("mode", steps.lower_mode, Reading.FREQUENCY)
PERCENTILE = _holistic("percentile", steps.lower_percentile, Reading.RANK, sql="percentile({0}, {fraction}D)")

FUNCTIONS = {
    function.name: function
    for function in (
        *(MIN, MAX, SUM, COUNT, COUNT_IF, AVG, VARIANCE, VAR_POP, STDDEV, STDDEV_POP, COVAR_SAMP, COVAR_POP, CORR),
        *(FIRST, LAST, MIN_BY, MAX_BY, BOOL_AND, BOOL_OR, COUNT_DISTINCT, APPROX_COUNT_DISTINCT, APPROX_QUANTILE),
        *(MEDIAN, PERCENTILE, MODE),
    )
}
"""The built-in functions by name."""


def min(column: ColumnLike) -> Aggregate:
    """Find the least value; null if there is none.

    Args:
        column: The name of any column that can be ordered, or a Spark expression that gives it.

    >>> min("v").evaluate([(3,), (None,), (1,)])
    1
    """
    return Aggregate(MIN, (column,))


def max(column: ColumnLike) -> Aggregate:
    """Find the greatest value; null if there is none.

    Args:
        column: The name of any column that can be ordered, or a Spark expression that gives it.

    >>> max("v").evaluate([(3,), (None,), (1,)])
    3
    """
    return Aggregate(MAX, (column,))


def sum(column: ColumnLike) -> Aggregate:
    """Compute the sum of the values that are not null; its type is Spark's.

    Args:
        column: The name of a numeric column, or a Spark expression that gives it.

    >>> sum("v").evaluate([(3,), (None,), (1,)])
    4
    """
    return Aggregate(SUM, (column,))


def count(column: ColumnLike | None = None) -> Aggregate:
    """Count rows or, with a column, its values that are not null.

    Args:
        column: The name of a column, or a Spark expression; without one, rows are counted.

    >>> count().evaluate([(), (), ()]), count("v").evaluate([(3,), (None,), (1,)])
    (3, 2)
    """
    return Aggregate(COUNT, () if column is None or (isinstance(column, str) and column == "*") else (column,))


def count_if(column: ColumnLike) -> Aggregate:
    """Count the rows in which a boolean column is true.

    Args:
        column: The name of a boolean column, or a Spark expression that gives it.

    >>> count_if("hot").evaluate([(True,), (None,), (False,)])
    1
    """
    return Aggregate(COUNT_IF, (column,))


def avg(column: ColumnLike) -> Aggregate:
    """Compute the mean of the values that are not null; `mean` is another name.

    Args:
        column: The name of a numeric column, or a Spark expression that gives it.

    >>> avg("v").evaluate([(3,), (None,), (1,)])
    2.0
    """
    return Aggregate(AVG, (column,))


mean = avg


def variance(column: ColumnLike) -> Aggregate:
    """Compute the sample variance; null for a single value.

    Args:
        column: The name of a numeric column, or a Spark expression that gives it.

    >>> variance("v").evaluate([(3,), (None,), (1,)])
    2.0
    """
    return Aggregate(VARIANCE, (column,))


def var_pop(column: ColumnLike) -> Aggregate:
    """Compute the population variance.

    Args:
        column: The name of a numeric column, or a Spark expression that gives it.

    >>> var_pop("v").evaluate([(3,), (None,), (1,)])
    1.0
    """
    return Aggregate(VAR_POP, (column,))


def stddev(column: ColumnLike) -> Aggregate:
    """Compute the sample standard deviation; `std` is another name.

    Args:
        column: The name of a numeric column, or a Spark expression that gives it.

    >>> stddev("v").evaluate([(3,), (None,), (5,), (4,)])
    1.0
    """
    return Aggregate(STDDEV, (column,))


std = stddev


def stddev_pop(column: ColumnLike) -> Aggregate:
    """Compute the population standard deviation.

    Args:
        column: The name of a numeric column, or a Spark expression that gives it.

    >>> stddev_pop("v").evaluate([(3,), (None,), (1,)])
    1.0
    """
    return Aggregate(STDDEV_POP, (column,))


def covar_samp(x: ColumnLike, y: ColumnLike) -> Aggregate:
    """Compute the sample covariance of two columns.

    Args:
        x: The name of a numeric column, or a Spark expression.
        y: Another one; rows with a null in either are left out.

    >>> covar_samp("x", "y").evaluate([(1, 2), (2, 4), (3, 6)])
    2.0
    """
    return Aggregate(COVAR_SAMP, (x, y))


def covar_pop(x: ColumnLike, y: ColumnLike) -> Aggregate:
    """Compute the population covariance of two columns.

    Args:
        x: The name of a numeric column, or a Spark expression.
        y: Another one; rows with a null in either are left out.

    >>> covar_pop("x", "y").evaluate([(1, 2), (3, 6)])
    2.0
    """
    return Aggregate(COVAR_POP, (x, y))


def corr(x: ColumnLike, y: ColumnLike) -> Aggregate:
    """Compute Pearson's correlation of two columns.

    Args:
        x: The name of a numeric column, or a Spark expression.
        y: Another one; rows with a null in either are left out.

    >>> corr("x", "y").evaluate([(1, 2), (2, 4), (3, 6)])
    1.0
    """
    return Aggregate(CORR, (x, y))


def first(column: ColumnLike) -> Aggregate:
    """Take the value at the earliest event time; if several rows have that time, any of them.

    Args:
        column: The name of any column, or a Spark expression that gives it.

    >>> first("state").alias("began").name
    'began'
    """
    return Aggregate(FIRST, (column,))


def last(column: ColumnLike) -> Aggregate:
    """Take the value at the latest event time; if several rows have that time, any of them.

    Args:
        column: The name of any column, or a Spark expression that gives it.

    >>> last("state").name
    'last_state'
    """
    return Aggregate(LAST, (column,))


def min_by(column: ColumnLike, order: ColumnLike) -> Aggregate:
    """Take the value of the row in which another column is least; of several such rows, the last.

    In mt.rolling, and in windows that read rows in order, that is the last in time. Elsewhere Spark reads rows in no
    fixed order, as in its own min_by: any of them may then be the last.

    Args:
        column: The column whose value is wanted, by name or as a Spark expression.
        order: The column that decides.

    >>> min_by("device", "temperature").evaluate([("a", 21.5), ("b", 19.0)])
    'b'
    """
    return Aggregate(MIN_BY, (column, order))


def max_by(column: ColumnLike, order: ColumnLike) -> Aggregate:
    """Take the value of the row in which another column is greatest; of several such rows, the last.

    In mt.rolling, and in windows that read rows in order, that is the last in time. Elsewhere Spark reads rows in no
    fixed order, as in its own max_by: any of them may then be the last.

    Args:
        column: The column whose value is wanted, by name or as a Spark expression.
        order: The column that decides.

    >>> max_by("device", "temperature").evaluate([("a", 21.5), ("b", 19.0)])
    'a'
    """
    return Aggregate(MAX_BY, (column, order))


def bool_and(column: ColumnLike) -> Aggregate:
    """Tell whether a boolean column is true in every row that is not null.

    Args:
        column: The name of a boolean column, or a Spark expression that gives it.

    >>> bool_and("ok").evaluate([(True,), (None,), (False,)])
    False
    """
    return Aggregate(BOOL_AND, (column,))


def bool_or(column: ColumnLike) -> Aggregate:
    """Tell whether a boolean column is true in any row.

    Args:
        column: The name of a boolean column, or a Spark expression that gives it.

    >>> bool_or("ok").evaluate([(True,), (None,), (False,)])
    True
    """
    return Aggregate(BOOL_OR, (column,))


def count_distinct(column: ColumnLike) -> Aggregate:
    """Count the distinct values exactly; windows share the latest occurrence of each value.

    Nulls do not count.

    Args:
        column: The name of any column that can be grouped by, or a Spark expression that gives it.

    >>> count_distinct("user").evaluate([("ann",), (None,), ("bob",), ("ann",)])
    2
    """
    return Aggregate(COUNT_DISTINCT, (column,))


def approx_count_distinct(column: ColumnLike, lg_k: int = 12) -> Aggregate:
    """Estimate the number of distinct values by a mergeable HyperLogLog sketch of 2**lg_k registers.

    The relative standard error is 1.04 / sqrt(2**lg_k), which is 1.6 % at 12: one estimate in three is off by more than
    that, and one in 300 by more than three times that. Which rows meet in which sketch depends on the strategy, and so
    does the estimate, within that error.

    Args:
        column: The name of a column that sketches take (integers, text, binary), or a Spark expression.
        lg_k: The logarithm of the number of registers, 4 to 21.

    >>> approx_count_distinct("user", lg_k=14).name
    'approx_count_distinct_user'
    """
    _check_bounds("lg_k", lg_k, 4, 21)
    return Aggregate(APPROX_COUNT_DISTINCT, (column,), options=(("lg_k", lg_k),))


def approx_quantile(column: ColumnLike, fraction: float, k: int = 200) -> Aggregate:
    """Estimate a quantile by a mergeable KLL sketch of size k.

    The rank of the result is off by at most 2.296 / k**0.9723 of all values in 99 estimates of 100. At 200 that is
    1.33 %: a median lies between the exact percentiles 48.67 and 51.33, however far apart they are. Which rows meet in
    which sketch depends on the strategy, and so does the estimate, within that error.

    Args:
        column: The name of a numeric column, or a Spark expression.
        fraction: The quantile, 0 to 1; 0.5 is the median.
        k: The size of the sketch, 8 to 65535.

    >>> approx_quantile("latency", 0.99).name
    'approx_quantile_99_latency'
    """
    _check_bounds("k", k, 8, 65_535)
    return _quantile(APPROX_QUANTILE, column, fraction, ("k", k))


def median(column: ColumnLike) -> Aggregate:
    """Compute the exact median, interpolated; windows share the sorted rows.

    Args:
        column: The name of a numeric column, or a Spark expression that gives it.

    >>> median("v").evaluate([(3,), (None,), (1,)])
    2.0
    """
    return Aggregate(MEDIAN, (column,))


def percentile(column: ColumnLike, fraction: float) -> Aggregate:
    """Compute an exact percentile, interpolated as in Spark; windows share the sorted rows.

    Args:
        column: The name of a numeric column, or a Spark expression.
        fraction: The percentile, 0 to 1: 0.95 for the 95th.

    >>> percentile("v", 0.75).evaluate([(1,), (2,), (3,)])
    2.5
    """
    return _quantile(PERCENTILE, column, fraction)


def mode(column: ColumnLike) -> Aggregate:
    """Find the most frequent value, or any of them if there are several; windows share the sorted rows.

    Args:
        column: The name of any column that can be grouped by, or a Spark expression that gives it.

    >>> mode("v").evaluate([(3,), (1,), (3,)])
    3
    """
    return Aggregate(MODE, (column,))


def user_defined(
    name: str,
    *columns: ColumnLike,
    lift: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    lower: Callable[[Any], Any],
    returns: str = "double",
    overlap_safe: bool = False,
) -> Aggregate:
    """Define your own aggregate by lift, combine and lower.

    Rows with a null are left out. On Spark, no kernel runs such an aggregate: its partials are merged in SQL, or plain
    Spark evaluates it.

    Args:
        name: The name of the aggregate, in result names and in checkpoints.
        columns: The columns whose values `lift` receives.
        lift: Turns the values of one row into a partial. On Spark, batch queries and streams keep partials as data and
            never pickle them: None, bool, int, float, str, bytes, Decimal, date, datetime, time, timedelta, and numpy's
            numbers and arrays of numbers, in tuples, lists, dicts and sets. Any other type is refused, also subclasses
            such as Counter: use a dict.
        combine: Merges two partials into one; it must be associative.
        lower: Turns a partial into the result.
        returns: The Spark type of the result, such as "double" or "array<int>".
        overlap_safe: Whether `combine` may count rows twice without harm, as a maximum does. In plans of mt.plan,
            windows then read any windows that they contain.

    >>> product = user_defined("product", "v", lift=int, combine=lambda a, b: a * b, lower=int)
    >>> product.evaluate([(2,), (None,), (5,)])
    10
    """
    if not isinstance(name, str) or not name:
        raise QueryError(f"{name!r} is not an aggregate name. Use a non-empty string.")
    for step in (lift, combine, lower):
        if not callable(step):
            raise QueryError(
                f"{step!r} in aggregate {name!r} is not a function. Give lift, combine and lower as functions."
            )
    if not isinstance(overlap_safe, bool):
        raise QueryError(f"overlap_safe={overlap_safe!r} is neither True nor False in aggregate {name!r}.")
    function = Function(
        name,
        Merge.CUSTOM,
        ("state",),
        lambda *values: None if None in values else (lift(*values),),
        lambda a, b: (combine(a[0], b[0]),),
        lambda state, returns=returns: None if state is None else lower(state[0]),
        inputs=(len(columns),),
        idempotent=overlap_safe,
    )
    return Aggregate(function, columns, options=(("returns", returns),))


def _check_bounds(name: str, value: int, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise QueryError(f"{name} {value!r} is out of bounds. Use a whole number from {low} (coarse) to {high} (fine).")


def _quantile(function: Function, column: ColumnLike, fraction: float, *options: tuple[str, Any]) -> Aggregate:
    if isinstance(fraction, bool) or not isinstance(fraction, int | float) or not 0 <= fraction <= 1:
        raise QueryError(f"fraction {fraction!r} is out of bounds. Use 0 (least) to 1 (greatest), for example 0.95.")
    percent = f"{100 * fraction:g}".replace(".", "_")
    asked = Aggregate(function, (column,), options=(("fraction", fraction), *options))
    return asked.alias(f"{function.name}_{percent}_{asked.columns[0]}")
