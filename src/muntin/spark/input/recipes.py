"""Every built-in aggregate as a recipe: plain, lifted from a row, as partials of a slice, merged, lowered."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyspark.sql import types as T

from muntin.aggregates import Aggregate, Merge, Reading
from muntin.arrow.holistic import Holistic, Members, Mode, Percentile
from muntin.errors import InternalError, QueryError, UnsupportedError
from muntin.spark.capabilities import Capabilities, Feature
from muntin.spark.input.custom import custom
from muntin.spark.input.events import one_of_equals
from muntin.spark.input.moments import comoments, moments
from muntin.spark.input.parts import Part, Recipe
from muntin.spark.input.reducing import is_flat


def recipe(  # noqa: C901 - one line for each way to merge
    aggregate: Aggregate,
    inputs: Sequence[str],
    types: Sequence[T.DataType],
    time: str,
    *,
    legacy: bool,
    able: Capabilities,
) -> Recipe:
    """Write an aggregate over columns of given types; the event time is in microseconds.

    With legacy, Spark gives deviations of a single value as NaN, not as null (spark.sql.legacy.statisticalAggregate).
    """
    function = aggregate.function
    options = dict(aggregate.options)
    match function.merge:
        case Merge.SUM if function.partials == ("sum", "count"):
            return _average(aggregate, inputs[0], types[0])
        case Merge.SUM if function.partials == ("sum",):
            return _sum(aggregate, inputs[0], types[0])
        case Merge.SUM:
            return _count(aggregate, *inputs)
        case Merge.MIN | Merge.MAX | Merge.AND | Merge.OR:
            return _selective(aggregate, inputs[0])
        case Merge.EARLIER | Merge.LATER:
            return _by_order(aggregate, inputs[0], time if function.takes_time else inputs[1])
        case Merge.MOMENTS:
            return moments(aggregate, f"CAST({inputs[0]} AS DOUBLE)", legacy=legacy)
        case Merge.COMOMENTS:
            return comoments(aggregate, *(f"CAST({name} AS DOUBLE)" for name in inputs), legacy=legacy)
        case Merge.UNION:
            return _distinct(aggregate, inputs[0], types[0], able.lack(Feature.MERGED_SETS))
        case Merge.DISTINCT_SKETCH:
            return _distinct_sketch(aggregate, inputs[0], types[0], options["lg_k"])
        case Merge.QUANTILE_SKETCH if lacking := able.lack(Feature.QUANTILE_SKETCHES):
            raise UnsupportedError(
                f"{aggregate!r} is not supported here: {lacking}. Use mt.percentile, which is exact."
            )
        case Merge.QUANTILE_SKETCH:
            return _quantile_sketch(aggregate, inputs[0], types[0], options)
        case Merge.CUSTOM:
            return custom(aggregate, inputs, types, time)
        case Merge.NONE:
            plain = function.over_rows(*inputs, **options)
            return Recipe(aggregate, plain, ranged=_ranged(aggregate, plain, inputs[0], types[0]))
    raise InternalError(f"no recipe for {aggregate!r}. Please report this.")  # pragma: no cover


def _selective(aggregate: Aggregate, value: str) -> Recipe:
    """Write an aggregate that is one of its values, and whose partials it can itself merge."""
    plain = aggregate.function.over_rows
    part = Part(aggregate.function.merge, (plain(value),), lambda best: (plain(best),), (value,))
    return Recipe(aggregate, plain(value), (part,), lambda best: str(best))


def _sum(aggregate: Aggregate, value: str, given: T.DataType) -> Recipe:
    kept = _sum_type(given)
    parts = () if kept is None else (_added(value, given, kept),)
    return Recipe(aggregate, f"sum({value})", parts, lambda total: str(total))


def _added(value: str, given: T.DataType, kept: T.DataType) -> Part:
    """Write a sum in the type that it is kept in, the same for all that need it."""
    added = _as(value, given, kept)
    return Part(Merge.SUM, (_cast(f"sum({added})", kept),), lambda total: (_cast(f"sum({total})", kept),), (added,))


def _counted(plain: str, counts: str | None) -> Part:
    """Write a count of the rows for which something holds, or of all."""
    lift = "1L" if counts is None else f"CASE WHEN {counts} THEN 1L ELSE 0L END"
    return Part(Merge.SUM, (plain,), lambda count: (f"sum({count})",), (lift,))


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
    plain = aggregate.function.over_rows(value or "1")
    counts = None if value is None else value if aggregate.function.conditional else f"{value} IS NOT NULL"
    return Recipe(aggregate, plain, (_counted(plain, counts),), lambda count: f"coalesce({count}, 0L)")


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
    number = value if isinstance(given, T.NumericType) else _cast(value, kept)  # a text may be no number
    return Recipe(
        aggregate,
        f"avg({value})",
        (_added(value, given, kept), _counted(f"count({number})", f"{number} IS NOT NULL")),
        lambda total, count: f"CASE WHEN {count} > 0 THEN {divide(total, count)} END",
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
    """Write the value of the row whose order is least or greatest."""
    merge = aggregate.function.merge
    best = "min" if merge is Merge.EARLIER else "max"

    def steps(order: str, value: str) -> tuple[str, str]:
        return f"{best}({order})", f"{best}_by({value}, {order})"

    part = Part(merge, steps(order, value), steps, (order, value))
    return Recipe(aggregate, f"{best}_by({value}, {order})", (part,), lambda order, value: str(value))


def _ranged(aggregate: Aggregate, plain: str, value: str, given: T.DataType) -> Part | None:
    """Write what kernels read from the rows of a range; None where Arrow does not compare values as Spark does."""
    reading: Holistic
    match aggregate.function.reading:
        case Reading.RANK if isinstance(given, T.NumericType):
            value, reading = _as(value, given, T.DoubleType()), Percentile(dict(aggregate.options).get("fraction", 0.5))
        case Reading.MEMBERS if is_flat(given):
            value, reading = one_of_equals(value, given), Members()
        case Reading.FREQUENCY if is_flat(given):
            value, reading = one_of_equals(value, given), Mode()
        case _:
            return None
    return Part(aggregate.function.merge, (plain,), lift=(value,), reducer=reading)


def _distinct(aggregate: Aggregate, value: str, given: T.DataType, lacking: str | None) -> Recipe:
    if _has_variants(given):
        column = aggregate.columns[0]
        raise QueryError(
            f"column {str(column)!r} is of type {given.simpleString()}, and Spark compares no variants. "
            f"Count their texts, as in mt.count_distinct(F.to_json({str(column)!r}))."
        )
    merge = None if lacking else lambda values: (f"collect_union({values})",)
    part = Part(Merge.UNION, (f"collect_set({one_of_equals(value, given)})",), merge)  # Spark 4.0 keeps every NaN
    lower, plain = "coalesce(CAST(size({}) AS BIGINT), 0L)".format, f"count(DISTINCT {value})"
    item, ranged = value if is_sortable(given) else None, _ranged(aggregate, plain, value, given)
    return Recipe(aggregate, plain, (part,), lower, item=item, ranged=ranged, lacking=lacking)


def is_sortable(given: T.DataType) -> bool:
    """Whether Spark can sort by values of a type."""
    match given:
        case T.ArrayType():
            return is_sortable(given.elementType)
        case T.StructType():
            return all(is_sortable(field.dataType) for field in given)
        case T.MapType() | T.VariantType() | T.CalendarIntervalType():
            return False
    return True


def _has_variants(given: T.DataType) -> bool:
    match given:
        case T.ArrayType():
            return _has_variants(given.elementType)
        case T.MapType():
            return _has_variants(given.keyType) or _has_variants(given.valueType)
        case T.StructType():
            return any(_has_variants(field.dataType) for field in given)
    return isinstance(given, T.VariantType)


def _distinct_sketch(aggregate: Aggregate, value: str, given: T.DataType, size: int) -> Recipe:
    hashed = f"CAST({value} AS INT)" if isinstance(given, T.ByteType | T.ShortType) else value
    return _sketched(
        aggregate,
        f"hll_sketch_agg({hashed}, {size})",
        merge=lambda sketch: f"hll_union_agg({sketch})",
        lower=lambda sketch: f"coalesce(hll_sketch_estimate({sketch}), 0L)",
    )


def _quantile_sketch(aggregate: Aggregate, value: str, given: T.DataType, options: dict[str, Any]) -> Recipe:
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
    """Write a sketch; what a Spark user writes is the same sketch over the rows of a window."""
    part = Part(aggregate.function.merge, (sketch,), lambda sketch: (merge(sketch),))
    return Recipe(aggregate, lower(sketch), (part,), lower)
