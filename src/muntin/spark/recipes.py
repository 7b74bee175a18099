"""Every aggregate in Spark's own expressions: plain, lifted from a row, as partials of a slice, merged, lowered.

A partial has the same columns and types whether it is lifted from one row, aggregated over a slice or merged, so that
every shape of plan is put together from the same five steps.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin.aggregates import Aggregate, Function, Merge
from muntin.errors import InternalError

Columns = Sequence[Column]

_KLL = {"bigint": T.LongType, "float": T.FloatType, "double": T.DoubleType}


@dataclass(frozen=True)
class Recipe:
    """The five steps of one aggregate over given columns."""

    aggregate: Aggregate
    plain: Column
    """The aggregate over rows, as a Spark user writes it."""
    lift: tuple[Column, ...] = ()
    """The partial of one row; none where rows cannot stand for themselves."""
    partials: tuple[Column, ...] = ()
    """The partial of a slice's rows; none where partials cannot be merged."""
    merge: Callable[[Columns], list[Column]] | None = None
    """The partial of several partials."""
    lower: Callable[[Columns], Column] | None = None
    """The result of a partial."""

    @property
    def mergeable(self) -> bool:
        """Whether slices can be shared."""
        return self.merge is not None


def recipe(  # noqa: C901 - one line for each way to merge
    aggregate: Aggregate, inputs: Columns, types: Sequence[T.DataType], time: Column
) -> Recipe:
    """Write an aggregate over columns of given types; the event time is in microseconds."""
    function = aggregate.function
    options = dict(aggregate.options)
    match function.merge:
        case Merge.SUM if function.name == "avg":
            return _average(aggregate, inputs[0], types[0])
        case Merge.SUM if function.name == "sum":
            return _same(aggregate, F.sum, inputs[0], types[0], _sum_type(types[0]))
        case Merge.SUM:
            return _count(aggregate, inputs)
        case Merge.MIN | Merge.MAX | Merge.AND | Merge.OR:
            return _same(aggregate, getattr(F, function.name), inputs[0], types[0], types[0])
        case Merge.EARLIER | Merge.LATER:
            order = time if function.takes_time else inputs[1]
            return _by_order(aggregate, inputs[0], order, least=function.merge is Merge.EARLIER)
        case Merge.MOMENTS | Merge.COMOMENTS:
            return _moments(aggregate, [column.cast("double") for column in inputs])
        case Merge.UNION:
            return _distinct(aggregate, inputs[0])
        case Merge.SKETCH:
            return _sketch(aggregate, inputs[0], types[0], options)
        case Merge.CUSTOM:
            return _custom(aggregate, inputs, types, time)
        case Merge.NONE:
            return Recipe(aggregate, _holistic(function, inputs[0], options))
    raise InternalError(f"no recipe for {aggregate!r}. Please report this.")  # pragma: no cover


def _sum_type(given: T.DataType) -> T.DataType | None:
    match given:
        case T.DecimalType() if given.precision <= 28:  # beyond that a slice may overflow to null, and merging lose it
            return T.DecimalType(given.precision + 10, given.scale)
        case T.DecimalType():
            return None
        case T.IntegralType():
            return T.LongType()
        case T.FractionalType() | T.StringType():
            return T.DoubleType()
    return None


def _same(
    aggregate: Aggregate,
    function: Callable[[Column], Column],
    value: Column,
    given: T.DataType,
    kept: T.DataType | None,
) -> Recipe:
    """Write an aggregate whose partials it can itself merge."""
    if kept is None:
        return Recipe(aggregate, function(value))
    return Recipe(
        aggregate,
        plain=function(value),
        lift=(_as(value, given, kept),),
        partials=(function(value),),
        merge=lambda columns: [function(columns[0]).cast(kept)],
        lower=lambda columns: columns[0],
    )


def _as(value: Column, given: T.DataType, kept: T.DataType) -> Column:
    """Cast where that changes something: what is written alike is sent to Python once."""
    return value if given == kept else value.cast(kept)


def _count(aggregate: Aggregate, inputs: Columns) -> Recipe:
    if aggregate.function.name == "count_if":
        plain, counts = F.count_if(inputs[0]), F.coalesce(inputs[0], F.lit(False))
    else:
        plain, counts = (F.count(inputs[0]), inputs[0].isNotNull()) if inputs else (F.count(F.lit(1)), F.lit(True))
    return Recipe(
        aggregate,
        plain=plain,
        lift=(F.when(counts, _long(1)).otherwise(_long(0)),),
        partials=(plain,),
        merge=lambda columns: [F.sum(columns[0])],
        lower=lambda columns: F.coalesce(columns[0], _long(0)),
    )


def _average(aggregate: Aggregate, value: Column, given: T.DataType) -> Recipe:
    kept: T.DataType = T.DoubleType()
    divide: Callable[[Column, Column], Column] = _divide
    if isinstance(given, T.DecimalType):
        kept = T.DecimalType(min(38, given.precision + 10), given.scale)
        divide = partial(_divide_decimals, given)
        if given.precision > 18 or given.precision + given.scale > 28:  # the exact division needs more than 38 digits
            return Recipe(aggregate, F.avg(value))
    elif not isinstance(given, T.NumericType | T.StringType):
        return Recipe(aggregate, F.avg(value))
    added = _as(value, given, kept)
    return Recipe(
        aggregate,
        plain=F.avg(value),
        lift=(added, F.when(added.isNotNull(), _long(1)).otherwise(_long(0))),
        partials=(F.sum(added).cast(kept), F.count(added)),
        merge=lambda columns: [F.sum(columns[0]).cast(kept), F.sum(columns[1])],
        lower=lambda columns: F.when(columns[1] > 0, divide(columns[0], columns[1])),
    )


def _long(value: int) -> Column:
    return F.lit(value).cast("long")


def _divide(total: Column, count: Column) -> Column:
    return total / count


def _divide_decimals(given: T.DecimalType, total: Column, count: Column) -> Column:
    """Divide as Spark's avg does, rounding half up at four more digits, and only once.

    Spark's `/` rounds at some other digit first. With n = count and x the total in units of the last digit wanted,
    half up is floor((2x + n) / 2n), and a division without remainder is exact.
    """
    digits = given.scale + 4
    unit = F.lit(Decimal(2).scaleb(digits)).cast(T.DecimalType(digits + 1, 0))
    twice = (F.abs(total) * unit).cast(T.DecimalType(given.precision + 15, 0)) + count
    whole = (twice - F.pmod(twice, 2 * count)) / (2 * count)
    last = F.lit(Decimal(1).scaleb(-digits)).cast(T.DecimalType(digits, digits))
    size = whole.cast(T.DecimalType(given.precision + 4, 0)) * last
    return F.when(total < 0, -size).otherwise(size).cast(T.DecimalType(given.precision + 4, digits))


def _by_order(aggregate: Aggregate, value: Column, order: Column, *, least: bool) -> Recipe:
    best, best_by = (F.min, F.min_by) if least else (F.max, F.max_by)
    return Recipe(
        aggregate,
        plain=best_by(value, order),
        lift=(order, value),
        partials=(best(order), best_by(value, order)),
        merge=lambda columns: [best(columns[0]), best_by(columns[1], columns[0])],
        lower=lambda columns: columns[1],
    )


def _moments(aggregate: Aggregate, inputs: Columns) -> Recipe:
    """Write a function of count, means and squared deviations; of two columns only pairs without a null count."""
    known = F.lit(True)
    for column in inputs:
        known = known & column.isNotNull()
    values = [F.when(known, column) for column in inputs]
    count = F.count(F.when(known, _long(1))).cast("double")
    variances = [F.var_pop(value) for value in values]
    # equal values have exactly their own mean; a sum divided by a count may miss it, and nothing is then a deviation
    means = [F.when(v == 0, F.min(x)).otherwise(F.avg(x)) for x, v in zip(values, variances, strict=True)]
    products = [F.covar_pop(*values) * count] if len(inputs) == 2 else []
    deviations = [value - value for value in values]  # nothing, but NaN of NaN and of infinity, as Spark has it
    deviations += [deviations[0] + deviations[1]] if len(inputs) == 2 else []
    return Recipe(
        aggregate,
        plain=getattr(F, aggregate.function.name)(*inputs),
        lift=(
            F.when(known, F.lit(1.0)).otherwise(F.lit(0.0)),
            *(F.coalesce(value, F.lit(0.0)) for value in values),
            *(F.coalesce(deviation, F.lit(0.0)) for deviation in deviations),
        ),
        partials=tuple(
            F.coalesce(column, F.lit(0.0))
            for column in (count, *means, *(variance * count for variance in variances), *products)
        ),
        merge=partial(_merge_moments, pairs=len(inputs) == 2),
        lower=_LOWER[aggregate.function.name],
    )


def _merge_moments(columns: Columns, *, pairs: bool) -> list[Column]:
    """Merge by Chan's formula, one partial after the other: sums of squares would lose digits far from zero."""
    names = ["n", "x", "y", "xx", "yy", "xy"] if pairs else ["n", "x", "xx"]
    zero = F.struct(*(F.lit(0.0).alias(name) for name in names))

    def step(a: Column, b: Column) -> Column:
        count = a["n"] + b["n"]
        weight, share = b["n"] / count, a["n"] * b["n"] / count
        merged = [count.alias("n")]
        deltas = {name: b[name] - a[name] for name in names if name in ("x", "y")}
        merged += [(a[name] + delta * weight).alias(name) for name, delta in deltas.items()]
        merged += [
            (a[name] + b[name] + deltas[name[0]] * deltas[name[1]] * share).alias(name)
            for name in names
            if len(name) == 2
        ]
        return F.when(b["n"] == 0, a).when(a["n"] == 0, b).otherwise(F.struct(*merged))

    states = F.collect_list(F.struct(*(column.alias(name) for column, name in zip(columns, names, strict=True))))
    total = F.aggregate(states, zero, step)
    return [total[name] for name in names]


def _over(total: Column, count: Column, least: int) -> Column:
    """Divide where the count is at least some number: null for too few rows, as Spark has it."""
    return F.when(count >= least, total / (count - (least - 1)))


def _lower_correlation(columns: Columns) -> Column:
    count, _, _, xx, yy, xy = columns
    return F.when((count > 1) & (xx * yy != 0), xy / F.sqrt(xx * yy))


_LOWER: dict[str, Callable[..., Column]] = {
    "variance": lambda columns: _over(columns[2], columns[0], 2),
    "var_pop": lambda columns: _over(columns[2], columns[0], 1),
    "stddev": lambda columns: F.sqrt(_over(columns[2], columns[0], 2)),
    "stddev_pop": lambda columns: F.sqrt(_over(columns[2], columns[0], 1)),
    "covar_samp": lambda columns: _over(columns[5], columns[0], 2),
    "covar_pop": lambda columns: _over(columns[5], columns[0], 1),
    "corr": _lower_correlation,
}


def _distinct(aggregate: Aggregate, value: Column) -> Recipe:
    return Recipe(
        aggregate,
        plain=F.count_distinct(value),
        partials=(F.collect_set(value),),
        merge=lambda columns: [F.call_function("collect_union", columns[0])],
        lower=lambda columns: F.coalesce(F.size(columns[0]).cast("long"), _long(0)),
    )


def _sketch(aggregate: Aggregate, value: Column, given: T.DataType, options: dict[str, Any]) -> Recipe:
    """Write a sketch; what a Spark user writes is the same sketch over the rows of a window."""
    if aggregate.function.name == "approx_count_distinct":
        if isinstance(given, T.ByteType | T.ShortType):
            value = value.cast("int")
        made = F.hll_sketch_agg(value, F.lit(options["lg_k"]))
        return _sketched(aggregate, made, F.hll_union_agg, lambda c: F.coalesce(F.hll_sketch_estimate(c), _long(0)))
    kind = (
        "double" if isinstance(given, T.DecimalType | T.DoubleType) else "float" if given == T.FloatType() else "bigint"
    )
    agg, merge, get_n, get = (
        getattr(F, f"kll_{name}_{kind}") for name in ("sketch_agg", "merge_agg", "sketch_get_n", "sketch_get_quantile")
    )
    typed = value if isinstance(given, _KLL[kind]) or not isinstance(given, T.NumericType) else value.cast(kind)
    fraction = F.lit(float(options["fraction"]))
    return _sketched(
        aggregate,
        agg(typed, F.lit(options["k"])),
        lambda c: merge(c, F.lit(options["k"])),
        lambda c: F.when(get_n(c) > 0, get(c, fraction)),  # a sketch of nothing has no quantile
    )


def _sketched(
    aggregate: Aggregate, made: Column, merge: Callable[[Column], Column], lower: Callable[[Column], Column]
) -> Recipe:
    return Recipe(
        aggregate,
        plain=lower(made),
        partials=(made,),
        merge=lambda columns: [merge(columns[0])],
        lower=lambda columns: lower(columns[0]),
    )


def _custom(aggregate: Aggregate, inputs: Columns, types: Sequence[T.DataType], time: Column) -> Recipe:
    """Write a user's own lift, combine and lower: partials travel pickled, in the order of time.

    Rows of one time are in the order of their values. Where Spark has none, they are sorted as text, in Python.
    """
    function, returns = aggregate.function, dict(aggregate.options)["returns"]
    values = F.struct(*(c.alias(f"f{i}") for i, c in enumerate(inputs)))
    columns = [time.alias("t"), values.alias("values")]
    ordered = all(map(_has_order, types))
    text = [] if ordered else [values.cast("string").alias("text")]
    rows = F.collect_list(F.struct(*columns, *text))

    def lift(found: list[Any]) -> bytes | None:
        in_order = found if ordered else sorted(found, key=lambda row: (row["t"], row["text"]))
        return _dump(_total(function, (function.lift(*row["values"]) for row in in_order)))

    def merge(found: list[Any]) -> bytes | None:
        return _dump(_total(function, (_load(row["state"]) for row in found)))

    def lower(state: bytes | None) -> Any:
        return function.lower(_load(state))

    made = F.udf(lift, "binary")(F.array_sort(rows) if ordered else rows)
    lowered = F.udf(lower, returns)
    return Recipe(
        aggregate,
        plain=lowered(made),
        partials=(F.min(time), made),
        merge=lambda columns: [F.min(columns[0]), F.udf(merge, "binary")(_ordered_parts(columns))],
        lower=lambda columns: lowered(columns[1]),
    )


def _has_order(given: T.DataType) -> bool:
    """Tell whether Spark compares a type's values."""
    match given:
        case T.StructType():
            return all(_has_order(field.dataType) for field in given)
        case T.ArrayType():
            return _has_order(given.elementType)
        case T.UserDefinedType():
            return _has_order(given.sqlType())
    return not isinstance(given, T.MapType | T.VariantType | T.CalendarIntervalType | T.SpatialType)


def _ordered_parts(columns: Columns) -> Column:
    return F.array_sort(F.collect_list(F.struct(columns[0].alias("t"), columns[1].alias("state"))))


def _total(function: Function, partials: Any) -> Any:
    total = None
    for found in partials:
        if found is not None:
            total = found if total is None else function.combine(total, found)
    return total


def _dump(state: Any) -> bytes | None:
    return None if state is None else pickle.dumps(state)


def _load(state: bytes | None) -> Any:
    return None if state is None else pickle.loads(bytes(state))  # noqa: S301 - written by _dump in the same job


def _holistic(function: Function, value: Column, options: dict[str, Any]) -> Column:
    if function.name == "percentile":
        return F.percentile(value, F.lit(float(options["fraction"])))
    return F.median(value) if function.name == "median" else F.mode(value)
