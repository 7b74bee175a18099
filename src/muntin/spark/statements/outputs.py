"""From the rows of queries to what statements select: HAVING, expressions over results, names and types."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin.errors import QueryError
from muntin.spark.input.source import WINDOW as IS_WINDOW
from muntin.spark.input.source import literal
from muntin.spark.statements.inputs import MICROSECOND, readable
from muntin.spark.statements.tables import Tables
from muntin.sql.statement import KEY, RESULT, WINDOW, WINDOW_ID, Output, Select, Statement
from muntin.window import Cumulating, Landmark, Window

_INTERNAL = re.compile(r"`?muntin_(key|result)_(\d+)`?")
_EDGE = re.compile(r"window\.(start|end)")


def selected(
    statement: Statement, results: Sequence[DataFrame], schema: T.StructType | None, tables: Tables
) -> DataFrame:
    """Give what a statement selects from the rows of its queries; with a schema, under its names and types."""
    branches = [_selected(select, rows) for select, rows in zip(statement.selects, results, strict=True)]
    names = [output.name or "" for output in statement.selects[0].outputs]
    if schema is not None:
        names = schema.names
        branches = [_as(branch, schema) for branch in branches]
    result = reduce(DataFrame.union, branches).toDF(*names)
    ending = f"ORDER BY {', '.join(statement.order)}" if statement.order else ""
    ending += "" if statement.limit is None else f" LIMIT {statement.limit}"
    return Tables(tables.spark, {"rows": result}).query(f"SELECT rows.* FROM rows {ending}")  # noqa: S608 - names are quoted if ending else result


def named(statement: Statement) -> Statement:
    """Give a statement with a name for every output, as the first SELECT has them; in Spark's dialect Spark tells."""
    if statement.dialect == "spark":
        return statement
    selects = (
        replace(it, outputs=tuple(replace(output, name=name_of(output, it)) for output in it.outputs))
        for it in statement.selects
    )
    return replace(statement, selects=tuple(selects))


def name_of(output: Output, select: Select) -> str:
    """Name a result column: as the user did, or by its expression, as Spark does.

    >>> from muntin.sql.statement import Call, Input
    >>> select = Select(Input(("t",), "", ""), (), ("`device`",), (Call("min", ("`T`",)),), ())
    >>> name_of(Output("muntin_key_0"), select), name_of(Output("muntin_result_0 + 1"), select)
    ('device', 'min(T) + 1')
    >>> name_of(Output("`window`.`end`"), select), name_of(Output("window_id"), select)
    ('window_end', 'window_id')
    """
    if output.name is not None:
        return output.name

    def meant(match: re.Match[str]) -> str:
        place = int(match[2])
        if match[1] == "key":
            return readable(select.keys[place])
        call = select.calls[place]
        return f"{call.function}({', '.join(map(readable, call.arguments)) or '*'})"

    return _EDGE.sub(r"window_\1", readable(_INTERNAL.sub(meant, output.sql)))


def _selected(select: Select, rows: DataFrame) -> DataFrame:
    """Give the outputs of one SELECT under the names of their places."""
    results = range(max(len(select.calls), 1))
    named = rows.toDF(WINDOW_ID, WINDOW, *map(KEY.format, range(len(select.keys))), *map(RESULT.format, results))
    named = _as_reported(select, named)
    if select.having is not None:
        named = named.where(F.expr(select.having))
    return named.select(*(F.expr(output.sql).alias(_place(place)) for place, output in enumerate(select.outputs)))


def _as_reported(select: Select, rows: DataFrame) -> DataFrame:
    """Give windows that rows begin and end their own times back, where events count as a microsecond earlier."""
    loose = [it.label for it in select.windows if not isinstance(it, Window | Cumulating | Landmark)]
    if select.boundaries == "[)" or not loose:
        return rows
    start, end = (f"{WINDOW}.{edge} + {MICROSECOND}" for edge in ("start", "end"))
    own = f"named_struct('start', {start}, 'end', {end})"
    if len(loose) < len(select.windows):
        own = f"CASE WHEN {WINDOW_ID} IN ({', '.join(map(literal, loose))}) THEN {own} ELSE {WINDOW} END"
    return rows.withColumn(WINDOW, F.expr(own)).withMetadata(WINDOW, rows.schema[WINDOW].metadata | {IS_WINDOW: True})


def _as(rows: DataFrame, schema: T.StructType) -> DataFrame:
    """Give rows the types that Spark would give them."""
    columns = []
    for mine, theirs in zip(rows.schema, schema, strict=True):
        same = mine.dataType.simpleString() == theirs.dataType.simpleString()
        columns.append(F.col(mine.name) if same else F.col(mine.name).cast(theirs.dataType).alias(mine.name))
    return rows.select(*columns)


def _place(place: int) -> str:
    return f"o{place}"


def check_ordered(statement: Statement, *, streaming: bool) -> None:
    """Refuse an order of rows that never end."""
    if streaming and statement.order:
        raise QueryError(
            f"statement {statement.name!r} orders the rows of a stream, which has no last one. "
            "Leave ORDER BY out, and order what was written."
        )
