"""From the rows of queries to what statements select: HAVING, expressions over results, names and types."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin.errors import QueryError, UnsupportedError
from muntin.spark.input.checking import is_set
from muntin.spark.input.source import WINDOW as IS_WINDOW
from muntin.spark.input.source import literal, micros
from muntin.spark.statements.inputs import MICROSECOND
from muntin.spark.statements.tables import Tables
from muntin.spark.stream.watermark import REUSE
from muntin.sqltext.statement import KEY, RESULT, WINDOW, WINDOW_ID, Select, Statement
from muntin.window import Cumulating, Landmark, Session, Window


def selected(
    statement: Statement, results: Sequence[DataFrame], schema: T.StructType | None, tables: Tables
) -> DataFrame:
    """Give what a statement selects from the rows of its queries; with a schema, under its names and types."""
    names = _names(statement, schema)
    branches = [_selected(select, rows, names) for select, rows in zip(statement.selects, results, strict=True)]
    if schema is not None:
        branches = [_as(branch, schema) for branch in branches]
    result = reduce(DataFrame.union, branches)
    if statement.order:
        ordered = f"TABLE muntin_rows ORDER BY {', '.join(statement.order)}"
        result = replace(tables, given={"muntin_rows": result}).query(ordered)
    return result if statement.limit is None else result.limit(statement.limit)


def key_names(statement: Statement, schema: T.StructType | None) -> tuple[str, ...] | None:
    """Return what a statement calls the keys that it groups by; None if a key is not among its columns.

    The SELECTs of a UNION ALL must have them in the same places.
    """
    places = {_key_places(select) for select in statement.selects}
    common = places.pop() if len(places) == 1 else None
    names = _names(statement, schema)
    return None if common is None else tuple(names[place] for place in common)


def _key_places(select: Select) -> tuple[int, ...] | None:
    """Return the places of a SELECT's keys among its outputs; None if one is not there by itself."""
    texts = [output.sql.strip("`") for output in select.outputs]
    keys = [KEY.format(number) for number in range(len(select.keys))]
    return tuple(map(texts.index, keys)) if set(keys) <= set(texts) else None


def _names(statement: Statement, schema: T.StructType | None) -> list[str]:
    """Return the names of a statement's columns."""
    return [output.name or "" for output in statement.selects[0].outputs] if schema is None else schema.names


def _selected(select: Select, rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """Give the outputs of one SELECT."""
    results = range(max(len(select.calls), 1))
    named = rows.toDF(WINDOW_ID, WINDOW, *map(KEY.format, range(len(select.keys))), *map(RESULT.format, results))
    named = _as_reported(select, named)
    if select.having is not None:
        named = named.where(select.having)
    return named.select(*(F.expr(output.sql).alias(name) for output, name in zip(select.outputs, names, strict=True)))


def _as_reported(select: Select, rows: DataFrame) -> DataFrame:
    """Give windows that rows begin and end their own times back, where events count as a microsecond earlier."""
    loose = [it.label for it in select.windows if not isinstance(it, Window | Cumulating | Landmark)]
    if select.boundaries == "[)" or not loose:
        return rows
    zoned = isinstance(rows.select(f"{WINDOW}.start").schema[0].dataType, T.TimestampType)
    end = f"{WINDOW}.end + {MICROSECOND}"
    if full := [_is_full(it, zoned=zoned) for it in select.windows if isinstance(it, Session) and it.aligned]:
        end = f"CASE WHEN {' OR '.join(full)} THEN {WINDOW}.end ELSE {end} END"
    own = f"named_struct('start', {WINDOW}.start + {MICROSECOND}, 'end', {end})"
    if len(loose) < len(select.windows):
        own = f"CASE WHEN {WINDOW_ID} IN ({', '.join(map(literal, loose))}) THEN {own} ELSE {WINDOW} END"
    return rows.withColumn(WINDOW, F.expr(own)).withMetadata(WINDOW, rows.schema[WINDOW].metadata | {IS_WINDOW: True})


def _is_full(window: Session, *, zoned: bool) -> str:
    """Write that a session ended at a multiple of its longest length, which is the clock's and no event's."""
    start, end = (micros(f"{WINDOW}.{edge}", zoned=zoned) for edge in ("start", "end"))
    longest = int(window.longest or 0)
    bound = f"{start} + {longest}L + pmod(-({start} + {longest}L), {longest}L)"
    return f"({WINDOW_ID} = {literal(window.label)} AND {end} = {bound})"


def _as(rows: DataFrame, schema: T.StructType) -> DataFrame:
    """Give rows the types that Spark would give them."""
    types = [field.dataType for field in schema]
    if all(
        mine.dataType.simpleString() == wanted.simpleString() for mine, wanted in zip(rows.schema, types, strict=True)
    ):
        return rows
    places = [f"c{place}" for place in range(len(types))]
    cast = (F.col(place).cast(wanted) for place, wanted in zip(places, types, strict=True))
    return rows.toDF(*places).select(*cast).toDF(*schema.names)


def check_stream(statement: Statement, rows: DataFrame) -> None:
    """Refuse what streams cannot do: an order of rows that never end, and a union of what shares a shuffle."""
    if not rows.isStreaming:
        return
    if statement.order:
        raise QueryError(
            f"statement {statement.name!r} orders the rows of a stream, which has no last one. "
            "Leave ORDER BY out, and order what was written."
        )
    if len(statement.selects) > 1 and is_set(rows, REUSE, "true"):
        raise UnsupportedError(
            f"the parts of statement {statement.name!r} have other filters or keys, and would share a shuffle of one "
            "stream, so that Spark would close windows of one part only. Write them as statements of their own, or "
            f"spark.conf.set({REUSE!r}, 'false') before the query starts."
        )
