"""Inputs that statements share: one DataFrame with its event time, and a Query for each SELECT over it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin.aggregates import Aggregate
from muntin.aggregates.functions import COUNT, FUNCTIONS
from muntin.errors import QueryError
from muntin.expressions import Expression
from muntin.query import MEASURES, RESERVED, Query
from muntin.spark.input.checking import folding
from muntin.spark.input.source import DELAY
from muntin.spark.statements.tables import Tables, plain_name
from muntin.sqltext.statement import RESULT, Boundaries, Call, Input, Select

MICROSECOND = "INTERVAL '0.000001' SECOND"
"""The least step of Spark's time: an event so much earlier lies before the boundary that it lay on."""
_IDENTIFIER = re.compile(r"`([^\W\d]\w*)`")


@dataclass(frozen=True)
class SharedInput:
    """The rows that some SELECTs read, and what they ask of them."""

    frame: DataFrame
    queries: Mapping[str, Query]
    """By the names of the SELECTs."""


def shared_input(tables: Tables, input: Input, boundaries: Boundaries, selects: Mapping[str, Select]) -> SharedInput:
    """Read an input once for all SELECTs over it; equal expressions are one, which is how queries share."""
    tables.check_expressions(dict.fromkeys((input.time, *(text for it in selects.values() for text in it.expressions))))
    rows = tables.query(input.sql)
    frame, time = _with_time(rows, input.time, boundaries)
    expressions = Expressions(spelled(rows))
    queries = {name: _query(name, time, select, expressions) for name, select in selects.items()}
    _ = rows.select(*filter(_is_column, expressions.known)).schema  # a name that is wrong is Spark's to tell
    return SharedInput(frame, queries)


@dataclass(frozen=True)
class Expressions:
    """The expressions of an input, each once, under names of their own that people can read."""

    spelled: Mapping[str, str]
    """The names of columns as the input has them, by those that a text may have."""
    known: dict[str, Expression] = field(default_factory=dict)
    columns: dict[str, Expression] = field(default_factory=dict)

    def one(self, sql: str) -> Expression:
        """Give the expression that a text is; a column goes by its name."""
        if sql not in self.known:
            name = unused(readable(sql), (*RESERVED, *MEASURES, *(one.name for one in self.known.values())))
            # What gives several rows cannot stand within another function, and so is refused.
            value = _named(sql, self.spelled) if _is_column(sql) else F.expr(f"coalesce({sql})")
            self.known[sql] = Expression(value, name)
        return self.known[sql]

    def key(self, sql: str) -> Expression:
        """Give an expression that has its name in the result."""
        one = self.one(sql)
        return one if isinstance(one.value, str) and one.name == one.value else self._column(sql, one)

    def condition(self, sql: str) -> Expression:
        """Give an expression that is a Spark column, also where it only names one."""
        return self._column(sql, self.one(sql))

    def _column(self, sql: str, one: Expression) -> Expression:
        column = F.col(sql) if isinstance(one.value, str) else one.value
        return self.columns.setdefault(sql, Expression(column.alias(one.name), one.name))


def readable(sql: str) -> str:
    """Write an expression without the quotes that nobody needs.

    >>> readable("`v` * `two words`"), readable("`two words`")
    ('v * `two words`', 'two words')
    """
    return plain_name(sql) if _is_column(sql) else _IDENTIFIER.sub(r"\1", sql)


def unused(name: str, used: Iterable[str]) -> str:
    """Give a name, with a number behind it where Spark would take it for another one.

    >>> unused("v", ["V", "w"])
    'v (2)'
    """
    taken = {other.lower() for other in used}
    numbered = (name if number == 1 else f"{name} ({number})" for number in range(1, len(taken) + 2))
    return next(one for one in numbered if one.lower() not in taken)


def spelled(rows: DataFrame) -> Mapping[str, str]:
    """Give the names of all columns by the names that Spark takes for the same."""
    fold = folding(rows)
    return {fold(name): name for name in rows.columns}


def _named(sql: str, spelled: Mapping[str, str]) -> str:
    name = plain_name(sql)
    return spelled.get(name, spelled.get(name.lower(), name))


def _is_column(sql: str) -> bool:
    return re.fullmatch(r"`(?:[^`]|``)*`", sql) is not None


def _with_time(rows: DataFrame, sql: str, boundaries: Boundaries) -> tuple[DataFrame, str]:
    """Give the rows with their event time as a timestamp, the watermark that it has, and the name of its column.

    Where an instance has its end and not its start, events are a microsecond earlier: one at an end is then before it.
    """
    given = rows.select(F.expr(sql)).schema[0]
    if boundaries == "[)" and _is_column(sql) and isinstance(given.dataType, T.TimestampType | T.TimestampNTZType):
        return rows, _named(sql, spelled(rows))
    if isinstance(given.dataType, T.StringType | T.DateType):  # as Spark's own windows do
        sql = f"CAST({sql} AS TIMESTAMP)"
    elif not isinstance(given.dataType, T.TimestampType | T.TimestampNTZType):
        raise QueryError(
            f"the event time {readable(sql)!r} is of type {given.dataType.simpleString()}, not a timestamp. "
            "Make it one, as in timestamp_millis(…), or give the source with a column of timestamps."
        )
    name = unused(readable(sql), rows.columns)
    kept = {DELAY: given.metadata[DELAY]} if DELAY in given.metadata else {}
    shifted = f"({sql}) - {MICROSECOND}" if boundaries == "(]" else sql
    return rows.select("*", F.expr(shifted).alias(name, metadata=kept)), name


def _query(name: str, time: str, select: Select, expressions: Expressions) -> Query:
    """Ask what a SELECT asks; one without aggregates asks for the rows, to have its groups."""
    calls = select.calls or (Call(COUNT.name),)
    aggregates = [_aggregate(call, RESULT.format(place), expressions) for place, call in enumerate(calls)]
    by = tuple(map(expressions.key, select.keys))
    where = None if select.where is None else expressions.condition(select.where)
    return Query(time, by, select.windows, aggregates, where, name)


def _aggregate(call: Call, name: str, expressions: Expressions) -> Aggregate:
    columns = tuple(map(expressions.one, call.arguments))
    return Aggregate(FUNCTIONS[call.function], columns, name, call.options)
