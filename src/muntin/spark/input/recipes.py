"""Every aggregate in Spark SQL: plain, lifted from a row, as partials of a slice, merged, lowered.

A partial has the same columns and types whether it is lifted from one row, aggregated over a slice or merged, so that
every shape of plan is put together from the same five steps. Steps are texts over names of columns: a text reaches
Spark in one call, where a tree of columns takes one for each of its nodes.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin.aggregates import Aggregate, Function, Merge
from muntin.errors import InternalError

Step = str | Column
"""A text of Spark SQL; a column only where a function in Python is within, since texts have no name for it."""


@dataclass(frozen=True)
class Recipe:
    """The five steps of one aggregate over given columns."""

    aggregate: Aggregate
    plain: Step
    """The aggregate over rows, as a Spark user writes it."""
    lift: tuple[str, ...] = ()
    """The partial of one row; none where rows cannot stand for themselves."""
    partials: tuple[Step, ...] = ()
    """The partial of a slice's rows; none where partials cannot be merged."""
    merge: Callable[..., tuple[Step, ...]] | None = None
    """The partial of several partials, whose columns' names it is given."""
    lower: Callable[..., Step] | None = None
    """The result of a partial, whose columns' names it is given."""

    @property
    def mergeable(self) -> bool:
        """Whether slices can be shared."""
        return self.merge is not None


def column(step: Step) -> Column:
    """Give a step as a column."""
    return F.expr(step) if isinstance(step, str) else step


def named(step: Step, name: str) -> Column:
    """Give a step as a column under a safe name."""
    return F.expr(f"{step} AS {name}") if isinstance(step, str) else step.alias(name)


def selected(frame: DataFrame, steps: dict[str, Step]) -> DataFrame:
    """Select steps under safe names, in as few calls as can be."""
    if all(isinstance(step, str) for step in steps.values()):
        return frame.selectExpr(*(f"{step} AS {name}" for name, step in steps.items()))
    return frame.select(*(named(step, name) for name, step in steps.items()))


def recipe(  # noqa: C901 - one line for each way to merge
    aggregate: Aggregate, inputs: Sequence[str], types: Sequence[T.DataType], time: str, *, legacy: bool
) -> Recipe:
    """Write an aggregate over columns of given types; the event time is in microseconds.

    With legacy, Spark gives deviations of a single value as NaN, not as null (spark.sql.legacy.statisticalAggregate).
    """
    function = aggregate.function
    options = dict(aggregate.options)
    match function.merge:
        case Merge.SUM if function.name == "avg":
            return _average(aggregate, inputs[0], types[0])
        case Merge.SUM if function.name == "sum":
            return _sum(aggregate, inputs[0], types[0])
        case Merge.SUM:
            return _count(aggregate, *inputs)
        case Merge.MIN | Merge.MAX | Merge.AND | Merge.OR:
            return _selective(aggregate, inputs[0])
        case Merge.EARLIER | Merge.LATER:
            return _by_order(aggregate, inputs[0], time if function.takes_time else inputs[1])
        case Merge.MOMENTS:
            return _moments(aggregate, f"CAST({inputs[0]} AS DOUBLE)", legacy=legacy)
        case Merge.COMOMENTS:
            return _comoments(aggregate, *(f"CAST({name} AS DOUBLE)" for name in inputs), legacy=legacy)
        case Merge.UNION:
            return _distinct(aggregate, inputs[0])
        case Merge.SKETCH:
            return _sketch(aggregate, inputs[0], types[0], options)
        case Merge.CUSTOM:
            return _custom(aggregate, inputs, types, time)
        case Merge.NONE:
            return Recipe(aggregate, _holistic(function, inputs[0], options))
    raise InternalError(f"no recipe for {aggregate!r}. Please report this.")  # pragma: no cover


def _selective(aggregate: Aggregate, value: str) -> Recipe:
    """Write an aggregate that is one of its values, and whose partials it can itself merge."""
    function = aggregate.function.name
    return Recipe(
        aggregate,
        plain=f"{function}({value})",
        lift=(value,),
        partials=(f"{function}({value})",),
        merge=lambda best: (f"{function}({best})",),
        lower=lambda best: str(best),
    )


def _sum(aggregate: Aggregate, value: str, given: T.DataType) -> Recipe:
    kept = _sum_type(given)
    if kept is None:
        return Recipe(aggregate, f"sum({value})")
    return Recipe(
        aggregate,
        plain=f"sum({value})",
        lift=(_as(value, given, kept),),
        partials=(f"sum({value})",),
        merge=lambda total: (_cast(f"sum({total})", kept),),
        lower=lambda total: str(total),
    )


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


def _cast(value: str, kept: T.DataType) -> str:
    return f"CAST({value} AS {kept.simpleString()})"


def _as(value: str, given: T.DataType, kept: T.DataType) -> str:
    """Cast where that changes something: what is written alike is sent to Python once."""
    return value if given == kept else _cast(value, kept)


def _count(aggregate: Aggregate, value: str | None = None) -> Recipe:
    plain, counts = f"count({value or 1})", f"{value} IS NOT NULL"
    if aggregate.function.name == "count_if":
        plain, counts = f"count_if({value})", f"{value}"
    return Recipe(
        aggregate,
        plain=plain,
        lift=(f"CASE WHEN {counts} THEN 1L ELSE 0L END" if value else "1L",),
        partials=(plain,),
        merge=lambda count: (f"sum({count})",),
        lower=lambda count: f"coalesce({count}, 0L)",
    )


def _average(aggregate: Aggregate, value: str, given: T.DataType) -> Recipe:
    kept: T.DataType = T.DoubleType()
    divide: Callable[[str, str], str] = "{} / {}".format
    if isinstance(given, T.DecimalType):
        if given.precision > 18 or given.precision + given.scale > 28:  # the exact division needs more than 38 digits
            return Recipe(aggregate, f"avg({value})")
        kept = T.DecimalType(given.precision + 10, given.scale)
        divide = _decimal_division(given)
    elif not isinstance(given, T.NumericType | T.StringType):
        return Recipe(aggregate, f"avg({value})")
    added = _as(value, given, kept)
    return Recipe(
        aggregate,
        plain=f"avg({value})",
        lift=(added, f"CASE WHEN {added} IS NOT NULL THEN 1L ELSE 0L END"),
        partials=(_cast(f"sum({added})", kept), f"count({added})"),
        merge=lambda total, count: (_cast(f"sum({total})", kept), f"sum({count})"),
        lower=lambda total, count: f"CASE WHEN {count} > 0 THEN {divide(total, count)} END",
    )


def _decimal_division(given: T.DecimalType) -> Callable[[str, str], str]:
    """Divide as Spark's avg does, rounding half up at four more digits, and only once.

    Spark's `/` rounds at some other digit first. With n = count and x the total in units of the last digit wanted,
    half up is floor((2x + n) / 2n), and a division without remainder is exact. Whole numbers alone are worked with, and
    of few enough digits for both ways in which Spark finds the types of results (allowPrecisionLoss or not).
    """
    precision, scale = given.precision, given.scale
    result = T.DecimalType(precision + 4, scale + 4)

    def divide(total: str, count: str) -> str:
        units = f"CAST(abs({total}) * 1{'0' * scale}BD AS DECIMAL({precision + 10}, 0))"
        twice = f"({units} * 20000BD + {count})"
        whole = f"CAST(({twice} - pmod({twice}, 2 * {count})) / (2 * {count}) AS DECIMAL({precision + 4}, 0))"
        size = f"{whole} * 1E-{scale + 4}BD"
        return _cast(f"CASE WHEN {total} < 0 THEN -({size}) ELSE {size} END", result)

    return divide


def _by_order(aggregate: Aggregate, value: str, order: str) -> Recipe:
    best = "min" if aggregate.function.merge is Merge.EARLIER else "max"
    return Recipe(
        aggregate,
        plain=f"{best}_by({value}, {order})",
        lift=(order, value),
        partials=(f"{best}({order})", f"{best}_by({value}, {order})"),
        merge=lambda order, value: (f"{best}({order})", f"{best}_by({value}, {order})"),
        lower=lambda order, value: str(value),
    )


def _moments(aggregate: Aggregate, value: str, *, legacy: bool) -> Recipe:
    """Write a function of count, mean and squared deviations."""
    function = aggregate.function.name
    return Recipe(
        aggregate,
        plain=f"{function}({value})",
        lift=(_counted(value), _or_zero(value), _or_zero(_nothing(value))),
        partials=(_doubled(f"count({value})"), _mean(value), _or_zero(f"var_pop({value}) * count({value})")),
        merge=lambda n, x, xx: _merge_moments({"n": n, "x": x, "xx": xx}),
        lower=lambda n, x, xx: _LOWER[function].format(n=n, xx=xx, single=_single(legacy=legacy)),
    )


def _comoments(aggregate: Aggregate, one: str, other: str, *, legacy: bool) -> Recipe:
    """Write a function of count, means, squared deviations and their products; only pairs without a null count."""
    function = aggregate.function.name
    x, y = f"CASE WHEN {other} IS NOT NULL THEN {one} END", f"CASE WHEN {one} IS NOT NULL THEN {other} END"
    count = f"count({x})"
    return Recipe(
        aggregate,
        plain=f"{function}({one}, {other})",
        lift=(_counted(x), *map(_or_zero, (x, y, _nothing(x), _nothing(y), f"{_nothing(x)} + {_nothing(y)}"))),
        partials=(
            *(_doubled(count), _mean(x), _mean(y)),
            *(_or_zero(f"{deviation} * {count}") for deviation in (f"var_pop({x})", f"var_pop({y})")),
            _or_zero(f"covar_pop({one}, {other}) * {count}"),
        ),
        merge=lambda *names: _merge_moments(dict(zip(("n", "x", "y", "xx", "yy", "xy"), names, strict=True))),
        lower=lambda n, x, y, xx, yy, xy: _LOWER[function].format(
            n=n, xx=xx, yy=yy, xy=xy, single=_single(legacy=legacy)
        ),
    )


def _counted(value: str) -> str:
    return f"CASE WHEN {value} IS NOT NULL THEN 1.0D ELSE 0.0D END"


def _or_zero(value: str) -> str:
    return f"coalesce({value}, 0.0D)"


def _doubled(value: str) -> str:
    return f"CAST({value} AS DOUBLE)"


def _nothing(value: str) -> str:
    """Write the deviation of one value: nothing, but NaN of NaN and of infinity, as Spark has it."""
    return f"({value} - {value})"


def _mean(value: str) -> str:
    """Write the mean of a slice.

    Equal values have exactly their own mean; a sum divided by a count may miss it, and nothing is then a deviation. A
    sum of large values would be infinite where their mean is not; a power of two changes no digit of it.
    """
    scaled = f"avg({value} * {2.0**-32!r}D) * {2.0**32!r}D"
    return _or_zero(f"CASE WHEN var_pop({value}) = 0 THEN min({value}) ELSE {scaled} END")


def _merge_moments(columns: dict[str, str]) -> tuple[str, ...]:
    """Merge by Chan's formula, one partial after the other: sums of squares would lose digits far from zero.

    A difference of means that is infinite makes squared deviations NaN, as it does in Spark.
    """
    count, weight = "(a.n + b.n)", "(b.n / (a.n + b.n))"

    def difference(name: str) -> str:
        return f"(b.{name} - a.{name})"

    def merged(name: str) -> str:
        if name == "n":
            return count
        if len(name) == 1:
            return f"a.{name} + {difference(name)} * {weight}"
        one, other = map(difference, name)
        infinite = f" + ({one} - {one})" if one == other else ""
        return f"a.{name} + b.{name} + {one} * ({other} * {weight}) * a.n{infinite}"

    zero = ", ".join(f"0.0D AS {name}" for name in columns)
    states = ", ".join(f"{column} AS {name}" for name, column in columns.items())
    both = ", ".join(f"{merged(name)} AS {name}" for name in columns)
    step = f"CASE WHEN b.n = 0 THEN a WHEN a.n = 0 THEN b ELSE struct({both}) END"
    total = f"aggregate(collect_list(struct({states})), struct({zero}), (a, b) -> {step})"
    return tuple(f"{total}.{name}" for name in columns)


def _single(*, legacy: bool) -> str:
    """Write what a sample of one value deviates by: nothing is known of it."""
    return "double('NaN')" if legacy else "NULL"


_VARIANCE = "CASE WHEN {n} > 1 THEN {xx} / ({n} - 1) WHEN {n} = 1 THEN {single} END"
_VAR_POP = "CASE WHEN {n} > 0 THEN {xx} / {n} END"
_LOWER = {
    "variance": _VARIANCE,
    "var_pop": _VAR_POP,
    "stddev": f"sqrt({_VARIANCE})",
    "stddev_pop": f"sqrt({_VAR_POP})",
    "covar_samp": "CASE WHEN {n} > 1 THEN {xy} / ({n} - 1) WHEN {n} = 1 THEN {single} END",
    "covar_pop": "CASE WHEN {n} > 0 THEN {xy} / {n} END",
    "corr": "CASE WHEN {n} > 1 AND {xx} * {yy} != 0 THEN {xy} / sqrt({xx} * {yy}) WHEN {n} = 1 THEN {single} END",
}


def _distinct(aggregate: Aggregate, value: str) -> Recipe:
    return Recipe(
        aggregate,
        plain=f"count(DISTINCT {value})",
        partials=(f"collect_set({value})",),
        merge=lambda values: (f"collect_union({values})",),
        lower=lambda values: f"coalesce(CAST(size({values}) AS BIGINT), 0L)",
    )


def _sketch(aggregate: Aggregate, value: str, given: T.DataType, options: dict[str, Any]) -> Recipe:
    """Write a sketch; what a Spark user writes is the same sketch over the rows of a window."""
    if aggregate.function.name == "approx_count_distinct":
        hashed = f"CAST({value} AS INT)" if isinstance(given, T.ByteType | T.ShortType) else value
        return _sketched(
            aggregate,
            f"hll_sketch_agg({hashed}, {options['lg_k']})",
            merge=lambda sketch: f"hll_union_agg({sketch})",
            lower=lambda sketch: f"coalesce(hll_sketch_estimate({sketch}), 0L)",
        )
    kind = {"decimal": "double", "double": "double", "float": "float"}.get(given.typeName(), "bigint")
    typed = f"CAST({value} AS {kind})" if isinstance(given, T.NumericType) else value
    size, fraction = options["k"], f"{float(options['fraction'])!r}D"
    return _sketched(
        aggregate,
        f"kll_sketch_agg_{kind}({typed}, {size})",
        merge=lambda sketch: f"kll_merge_agg_{kind}({sketch}, {size})",
        lower=lambda sketch: (  # a sketch of nothing has no quantile
            f"CASE WHEN kll_sketch_get_n_{kind}({sketch}) > 0 "
            f"THEN kll_sketch_get_quantile_{kind}({sketch}, {fraction}) END"
        ),
    )


def _sketched(aggregate: Aggregate, sketch: str, *, merge: Callable[[str], str], lower: Callable[[str], str]) -> Recipe:
    return Recipe(
        aggregate,
        plain=lower(sketch),
        partials=(sketch,),
        merge=lambda sketch: (merge(sketch),),
        lower=lower,
    )


def _custom(aggregate: Aggregate, inputs: Sequence[str], types: Sequence[T.DataType], time: str) -> Recipe:
    """Write a user's own lift, combine and lower: partials travel pickled, in the order of time.

    Rows of one time are in the order of their values. Where Spark has none, they are sorted as text, in Python.
    """
    function, returns = aggregate.function, dict(aggregate.options)["returns"]
    values = f"struct({', '.join(f'{name} AS f{i}' for i, name in enumerate(inputs))})"
    fields = [f"{time} AS t", f"{values} AS inputs"]
    ordered = all(map(_has_order, types))

    def lift(rows: list[Any]) -> bytes | None:
        in_order = rows if ordered else sorted(rows, key=lambda row: (row["t"], row["text"]))
        return _dump(_total(function, (function.lift(*row["inputs"]) for row in in_order)))

    def merge(parts: list[Any]) -> bytes | None:
        return _dump(_total(function, (_load(part["state"]) for part in parts)))

    def lower(state: bytes | None) -> Any:
        return function.lower(_load(state))

    rows = _in_order(*fields) if ordered else F.expr(_collected(*fields, f"CAST({values} AS STRING) AS text"))
    lifted = F.udf(lift, "binary")(rows)
    lowered = F.udf(lower, returns)
    return Recipe(
        aggregate,
        plain=lowered(lifted),
        partials=(f"min({time})", lifted),
        merge=lambda t, state: (f"min({t})", F.udf(merge, "binary")(_in_order(f"{t} AS t", f"{state} AS state"))),
        lower=lambda t, state: lowered(F.expr(state)),
    )


def _in_order(*fields: str) -> Column:
    """Collect structs in the order of their first field."""
    return F.expr(f"array_sort({_collected(*fields)})")


def _collected(*fields: str) -> str:
    return f"collect_list(struct({', '.join(fields)}))"


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


def _total(function: Function, partials: Any) -> Any:
    total = None
    for partial in partials:
        if partial is not None:
            total = partial if total is None else function.combine(total, partial)
    return total


def _dump(state: Any) -> bytes | None:
    return None if state is None else pickle.dumps(state)


def _load(state: bytes | None) -> Any:
    return None if state is None else pickle.loads(bytes(state))  # noqa: S301 - written by _dump in the same job


def _holistic(function: Function, value: str, options: dict[str, Any]) -> str:
    if function.name == "percentile":
        return f"percentile({value}, {float(options['fraction'])!r}D)"
    return f"{function.name}({value})"
