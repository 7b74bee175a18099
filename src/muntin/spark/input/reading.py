"""From a DataFrame and what is asked of it to checked input under safe names; nothing runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame
from pyspark.sql import types as T

from muntin import names
from muntin.aggregates import Aggregate
from muntin.errors import QueryError
from muntin.expressions import Expression, written
from muntin.query import Query, Windows, check_units
from muntin.sentences import sentence_of
from muntin.spark.capabilities import Capabilities, capabilities
from muntin.spark.input.checking import (
    alike,
    check_ceiling,
    check_expressions,
    check_keys,
    check_names,
    check_time,
    column_of,
    expression,
    folding,
    is_set,
    quoted,
)
from muntin.spark.input.equality import with_equals_as_one
from muntin.spark.input.events import Events, name_parts
from muntin.spark.input.parts import Recipe, selected
from muntin.spark.input.recipes import recipe
from muntin.spark.input.reducing import reducer_of
from muntin.spark.input.source import Source, micros
from muntin.spark.input.watching import placed, watching
from muntin.window import check_lengths


def prepare(
    df: DataFrame,
    time: Any,
    by: Iterable[Any],
    windows: Windows,
    aggregates: Aggregate | Iterable[Aggregate],
    order_by: Iterable[Any] = (),
    *,
    late_rows: bool = False,
) -> Source:
    """Check a query against a DataFrame and give its input, with all columns where late rows are given back."""
    time, keys = expression(df, time, "time"), [expression(df, key, "by") for key in by]
    query = Query(time.name, tuple(key.name for key in keys), windows, aggregates)
    check_units(query.windows)
    check_lengths(query.windows)
    check_ceiling(df.sparkSession, query.windows)
    late = (names.LATE_ROW,) if late_rows else ()
    if twice := alike([*query.outputs, *late], folding(df)):
        raise QueryError(f"output names {twice} are the same to Spark. Rename one with .alias(…).")
    watched = watching(df, query.windows, order_by)
    events = read(df, time, keys, query.aggregates, carry=late_rows, aggregated=True, beside=watched.columns)
    asked = tuple(made.aggregate for made in events.recipes)
    query = replace(query, windows=placed(df, query.windows, zoned=events.zoned), aggregates=asked)
    late_row = _late_row(df) if late_rows else None
    return Source(events, query, tuple(text_of(one) for one in (time, *keys)), watched, late_row)


def _late_row(df: DataFrame) -> T.StructType:
    """Give the type of late rows: all columns of the input, and the watermark that they missed."""
    if twice := alike([*df.columns, names.WATERMARK], folding(df)):
        raise QueryError(f"late rows would have two columns {twice}. Rename one in the input.")
    fields = [T.StructField(field.name, field.dataType) for field in df.schema]
    return T.StructType([*fields, T.StructField(names.WATERMARK, T.TimestampType())])


def text_of(given: Expression) -> str:
    """Give a name as it is, and an expression as Spark writes it, without the name that its results have."""
    if isinstance(given.value, str):
        return given.value
    text = written(given.value)
    return text.removesuffix(f" AS {given.name}").removesuffix(f" AS {quoted(given.name)}")


def read(
    df: DataFrame,
    time: Expression,
    keys: list[Expression],
    aggregates: tuple[Aggregate, ...],
    *,
    carry: bool = False,
    aggregated: bool | None = None,
    beside: Mapping[str, Column] = MappingProxyType({}),
) -> Events:
    """Check what is read of a DataFrame and give it under safe names; with carry also all its columns, as c0, c1, ….

    Columns beside those have safe names already. What is carried is not aggregated, unless that is said.
    """
    check_names(df, [time, *keys], aggregates)
    aggregated = not carry if aggregated is None else aggregated
    if check_expressions(df, [time, *keys], _inputs(aggregates), aggregated=aggregated):
        aggregates = with_equals_as_one(df, aggregates)
    inputs = _inputs(aggregates)
    values = {column: names.value(i) for i, column in enumerate(inputs)}
    safe = [names.TIMESTAMP, *names.keys(len(keys)), *values.values(), *beside]
    try:
        frame = df.select(*(["*"] if carry else []), *map(column_of, (time, *keys, *inputs)), *beside.values())
        frame = frame.toDF(*(names.carried(i) for i in range(len(df.columns) if carry else 0)), *safe)
        schema = frame.schema
    except AnalysisException as error:
        raise QueryError(f"the columns of the query cannot be read: {sentence_of(error)}") from error
    zoned = check_time(df, time, schema[names.TIMESTAMP].dataType)
    frame = frame.selectExpr("*", f"{micros(names.TIMESTAMP, zoned=zoned)} AS {names.TIME}")
    recipes = _made(frame, [(a, [schema[values[c]] for c in a.columns]) for a in aggregates])
    key_types = tuple(schema[key].dataType for key in names.keys(len(keys)))
    by = tuple(key.name for key in keys)
    check_keys(frame, by, key_types)
    read = {key.value: names.key(i) for i, key in enumerate(keys) if isinstance(key.value, str)} | values
    carried = [(names.carried(i), read[name]) for i, name in enumerate(df.columns) if name in read] if carry else ()
    return Events(by, frame, key_types, zoned, recipes, tuple(carried))


def _inputs(aggregates: tuple[Aggregate, ...]) -> list[str | Expression]:
    """Give the columns that aggregates read, each once."""
    return list(dict.fromkeys(column for aggregate in aggregates for column in aggregate.columns))


def _made(frame: DataFrame, asked: list[tuple[Aggregate, list[T.StructField]]]) -> tuple[Recipe, ...]:
    """Write aggregates over their inputs, with the types of results and partials as Spark alone finds them.

    Spark is asked for all of them at once, and one by one only if it refuses: every question takes time.
    """
    legacy = is_set(frame, "spark.sql.legacy.statisticalAggregate", "false")
    write = partial(_recipe, legacy=legacy, able=capabilities(frame.sparkSession))
    try:
        return _typed(frame, tuple(write(aggregate, inputs) for aggregate, inputs in asked))
    except (AnalysisException, ParseException):
        return _typed(frame, tuple(_made_alone(frame, aggregate, inputs, write) for aggregate, inputs in asked))


def _typed(frame: DataFrame, recipes: tuple[Recipe, ...]) -> tuple[Recipe, ...]:
    """Give recipes with the types of results and partials, and with what kernels make of those."""
    parts = name_parts(recipes)
    steps = {names.result(i): made.plain for i, made in enumerate(recipes)}
    steps |= {name: step for kept in parts for name, step in zip(kept.names, kept.part.partials, strict=True)}
    schema = selected(frame, steps).schema
    strict = is_set(frame, "spark.sql.ansi.enabled", "true")
    typed = {}
    for kept in parts:
        part = replace(kept.part, types=tuple(schema[name].dataType for name in kept.names))
        typed[part.key] = replace(part, reducer=reducer_of(part, strict=strict))

    def with_types(made: Recipe, field: T.StructField) -> Recipe:
        result = T.StructField(made.aggregate.name, field.dataType, field.nullable)
        ranged = made.ranged and replace(made.ranged, types=(field.dataType,))
        return replace(made, parts=tuple(typed[part.key] for part in made.parts), result=result, ranged=ranged)

    return tuple(map(with_types, recipes, schema.fields))


def _made_alone(
    frame: DataFrame, aggregate: Aggregate, inputs: list[T.StructField], write: Callable[..., Recipe]
) -> Recipe:
    """Write one aggregate, without partials where Spark takes the type for the result alone: a set of maps, say."""
    try:
        made = write(aggregate, inputs)
        _typed(frame, (Recipe(aggregate, made.plain),))
    except (AnalysisException, ParseException) as error:
        columns = " and ".join(
            f"{str(column)!r} of type {field.dataType.simpleString()}"
            for column, field in zip(aggregate.columns, inputs, strict=True)
        )
        raise QueryError(
            f"{aggregate.function.name} does not take column {columns}. Cast it, or use another aggregate. "
            f"Spark says: {sentence_of(error)}"
        ) from error
    try:
        _typed(frame, (made,))
    except AnalysisException:
        return Recipe(aggregate, made.plain)
    return made


def _recipe(aggregate: Aggregate, inputs: list[T.StructField], *, legacy: bool, able: Capabilities) -> Recipe:
    columns, types = [field.name for field in inputs], [field.dataType for field in inputs]
    return recipe(aggregate, columns, types, names.TIME, legacy=legacy, able=able)
