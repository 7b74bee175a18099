"""What the queries of a set ask, over one DataFrame in which every expression of theirs is a column.

Filters become columns of truth values. Another expression is evaluated only for rows of the queries that ask for it,
as it would be behind their filters: elsewhere it might fail.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin.aggregates import Aggregate
from muntin.errors import QueryError
from muntin.expressions import Expression, Named
from muntin.query import MEASURES, RESERVED, Query, QuerySet
from muntin.sentences import sentence_of
from muntin.spark.input.checking import alike, column_of, expression, folding, quoted
from muntin.spark.input.equality import Equals
from muntin.spark.input.reading import text_of
from muntin.window import AnyWindow

RESULT = "muntin_result_{}"
"""What a result is called while several queries have it in common."""


@dataclass(frozen=True, slots=True)
class One:
    """A query of a set, over columns of the input in the place of its expressions."""

    name: str
    query: Query
    """As it was asked."""
    by: tuple[str, ...]
    keys: tuple[str, ...]
    """What the keys are called in the result."""
    aggregates: tuple[Aggregate, ...]
    where: str | None = None
    """The column that says which rows count; None where all do."""

    @property
    def windows(self) -> tuple[AnyWindow, ...]:
        """The windows that are asked for."""
        return self.query.windows

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the result's columns, in order."""
        own = MEASURES if self.query.measured else ()
        return (*RESERVED, *own, *self.keys, *(asked.name for asked in self.query.aggregates))

    @property
    def text(self) -> str:
        """What is asked, as Spark writes it and whatever the results are called."""
        query = self.query
        aggregates = (
            f"{asked.function.name}({', '.join([*map(_text, asked.columns), *(f'{k}={v}' for k, v in asked.options)])})"
            for asked in query.aggregates
        )
        parts = {
            "time": [_text(query.time)],
            "by": map(_text, query.by),
            "windows": (str(window.timed()) for window in query.windows),
            "aggregates": aggregates,
            "where": [] if query.where is None else [_text(query.where)],
        }
        return "; ".join(f"{name} {', '.join(texts)}" for name, given in parts.items() if (texts := list(given)))

    @property
    def periodic(self) -> bool:
        """Whether all windows are on a grid of time: rows of other queries do not move them."""
        return len(self.query.periodic) == len(self.query.windows)


@dataclass(frozen=True)
class Asked:
    """All queries of a set."""

    frame: DataFrame
    """The input with a column for every expression."""
    time: str
    ones: tuple[One, ...]

    @cached_property
    def types(self) -> dict[str, T.DataType]:
        """The types of all columns."""
        return {field.name: field.dataType for field in self.frame.schema}

    def only(self, ones: Iterable[One]) -> Asked:
        """Give some of the queries."""
        return replace(self, ones=tuple(ones))


def asked_of(df: DataFrame, queries: QuerySet) -> Asked:
    """Give every expression of the queries a column, the same for equal ones; nothing runs."""
    columns = _Columns(df)
    filters = [None if query.where is None else columns.filter(query.where) for query in queries]
    time = columns.value(queries.queries[0].time, None)
    ones = []
    for (name, query), where in zip(_named(queries), filters, strict=True):
        by = tuple(columns.value(key, where) for key in query.by)
        aggregates = tuple(
            replace(asked, columns=tuple(columns.value(one, where) for one in asked.columns))
            for asked in query.aggregates
        )
        keys = tuple(expression(df, key if isinstance(key, str) else key.value, "by").name for key in query.by)
        one = One(name, query, by, keys, aggregates, where)
        if twice := alike(one.outputs, folding(df)):
            raise QueryError(f"output names {twice} of {name!r} are the same to Spark. Rename one with .alias(…).")
        ones.append(one)
    return Asked(columns.frame(), time, tuple(ones))


def _named(queries: QuerySet) -> Iterator[tuple[str, Query]]:
    return zip(queries.names, queries.queries, strict=True)


def _text(given: Named) -> str:
    return given if isinstance(given, str) else text_of(given)


def anonymous(aggregate: Aggregate) -> Aggregate:
    """Give an aggregate under the name that it has by itself."""
    return replace(aggregate, name="")


def distinct_windows(ones: Iterable[One]) -> dict[AnyWindow, str]:
    """Give each window once, whatever ids queries give it, with an id of its own."""
    given = dict.fromkeys(window for one in ones for window in one.windows)
    return {window: str(number) for number, window in enumerate(given)}


def either(filters: Iterable[str | None]) -> str | None:
    """Write that one of some filters holds; None where rows need none."""
    given = list(dict.fromkeys(filters))
    return None if None in given else " OR ".join(quoted(one) for one in given if one is not None)


class _Columns:
    """The columns that expressions have become so far."""

    def __init__(self, df: DataFrame) -> None:
        self.df = df
        self.equals = Equals(df)
        self.texts: dict[str, Expression] = {}
        self.filters: dict[Expression, str] = {}
        self.values: dict[Expression, tuple[str, list[str | None]]] = {}
        self.prefix = _unused(df.columns)

    def filter(self, where: Named) -> str:
        """Give the column of a filter."""
        if isinstance(where, str):
            one = self.texts.setdefault(where, Expression(F.expr(where), where))
        else:
            one = self.equals.one(where)
        return self.filters.setdefault(one, f"{self.prefix}where_{len(self.filters)}")

    def value(self, given: Named, where: str | None) -> str:
        """Give the column of a name or an expression that a query with a filter reads."""
        if isinstance(given, str) or isinstance(given.value, str):
            return str(given.value if isinstance(given, Expression) else given)
        one = self.equals.one(given)
        name, readers = self.values.setdefault(one, (f"{self.prefix}value_{len(self.values)}", []))
        readers.append(where)
        return name

    def frame(self) -> DataFrame:
        """Give the input with all the columns."""
        self._check()
        truths = {name: F.coalesce(one.value, F.lit(False)) for one, name in self.filters.items()}
        frame = self.df.withColumns(truths) if truths else self.df
        values = {name: _guarded(one, either(readers)) for one, (name, readers) in self.values.items()}
        try:
            return frame.withColumns(values) if values else frame
        except AnalysisException as error:
            raise QueryError(f"the columns of the queries cannot be read: {sentence_of(error)}") from error

    def _check(self) -> None:
        """Refuse filters that cannot be read or are no conditions; Spark is asked one by one only if it refuses."""
        given = list(self.filters)
        try:
            types = [field.dataType for field in self.df.select(*(one.value for one in given)).schema]
        except AnalysisException:
            types = [self._type(one) for one in given]
        for one, kind in zip(given, types, strict=True):
            if not isinstance(kind, T.BooleanType):
                raise QueryError(
                    f"where {one.name!r} is of type {kind.simpleString()}. Use a condition, such as 'speed > 120'."
                )

    def _type(self, one: Expression) -> T.DataType:
        try:
            return self.df.select(one.value).schema[0].dataType
        except AnalysisException as error:
            raise QueryError(f"where {one.name!r} cannot be read: {sentence_of(error)}") from error


def _guarded(value: Expression, where: str | None) -> Column:
    column = column_of(value)
    read = F.col(column) if isinstance(column, str) else column
    return read if where is None else F.when(F.expr(where), read)


def _unused(names: Iterable[str]) -> str:
    """Give what no column's name begins with."""
    prefix = "muntin_"
    while any(name.lower().startswith(prefix) for name in names):
        prefix += "_"
    return prefix
