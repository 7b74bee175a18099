"""What was asked: windows and aggregates over one event stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from muntin.aggregates import Aggregate
from muntin.errors import QueryError
from muntin.expressions import Expression, Named, column_named, is_column
from muntin.window import AnyWindow, Kind, Window, parse_window, parse_windows

T = TypeVar("T")

Windows = Kind | str | Iterable[Kind | str]
"""Windows as users write them: one or several, each a window or a text such as '1 hour every 5 minutes'."""

RESERVED = ("window_id", "window")
"""Output columns that every result has."""
MEASURES = ("window_begin", "window_end")
"""Output columns where a window has another measure than time: where an instance begins and ends in it."""


@dataclass(frozen=True, slots=True)
class Query:
    """Aggregates over windows of event time, per key. A query is checked as a whole when you make it.

    Args:
        time: The column of event time.
        by: The keys: one column or several; () means one group.
        windows: One window or several, as in mt.aggregate.
        aggregates: One aggregate or several.
        where: A filter: SQL text such as "state = 'hot'", or a Spark expression.
        name: The name of the query among others.

    Raises:
        QueryError: If there is no window or no aggregate, or if two results have the same name.

    >>> from muntin import window as w
    >>> from muntin.aggregates import functions as f
    >>> Query("ts", ("device",), (w.tumbling("20 minutes"),), (f.min("t"), f.max("t"))).outputs
    ('window_id', 'window', 'device', 'min_t', 'max_t')
    """

    time: Named
    by: tuple[Named, ...]
    windows: tuple[AnyWindow, ...]
    aggregates: tuple[Aggregate, ...]
    where: Named | None
    """The condition on rows that count, a text of Spark SQL or a Spark column; None where all do."""
    name: str | None
    """What the query is called among others."""

    def __init__(
        self,
        time: Any,
        by: Any,
        windows: Windows,
        aggregates: Aggregate | Iterable[Aggregate],
        where: Any = None,
        name: str | None = None,
    ) -> None:
        if not _is_named(time):
            raise QueryError(f"time {time!r} is not a column. Use the name of the event-time column.")
        for key in several(by):
            if not _is_named(key):
                raise QueryError(f"by has {key!r}, which is not a column. Use names of columns, or none.")
        for field, value in (
            ("time", column_named(time, "time")),
            ("by", tuple(column_named(key, "by") for key in several(by))),
            ("windows", check_windows(windows)),
            ("aggregates", check_aggregates(aggregates)),
            ("where", None if where is None else column_named(where, "where")),
            ("name", name),
        ):
            object.__setattr__(self, field, value)
        if name is not None and (not isinstance(name, str) or not name):
            raise QueryError(f"{name!r} is not a query name. Use a non-empty string, or none.")
        if twice := repeated(map(str, self.by)):
            raise QueryError(f"key {twice!r} appears twice in by. Leave one out.")
        if twice := repeated(self.outputs):
            raise QueryError(
                f"output name {twice!r} appears twice among {list(self.outputs)}. Rename one with .alias(…)."
            )

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the result's columns, in order."""
        own = MEASURES if self.measured else ()
        return (*RESERVED, *own, *map(str, self.by), *(aggregate.name for aggregate in self.aggregates))

    @property
    def measured(self) -> bool:
        """Whether a window has another measure than time."""
        return any(window.measure is not None for window in self.windows)

    @property
    def periodic(self) -> tuple[Window, ...]:
        """The windows of time on a grid, which slices can be cut for."""
        return tuple(window for window in self.windows if isinstance(window, Window))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the query reads by name, each once; expressions read others."""
        named = [self.time, *self.by, *(column for aggregate in self.aggregates for column in aggregate.columns)]
        return tuple(dict.fromkeys(column for column in named if isinstance(column, str)))

    def check(self, schema: Iterable[str]) -> Query:
        """Return the query if a schema has all its columns; otherwise say which are missing.

        >>> from muntin import window as w
        >>> from muntin.aggregates import functions as f
        >>> Query("ts", (), w.tumbling("1 h"), f.min("v")).check(["ts", "value"])
        Traceback (most recent call last):
        muntin.errors.QueryError: no column 'v' in the input. Its columns are 'ts', 'value'.
        """
        known = several(schema)
        missing = [column for column in self.columns if column not in known]
        if missing:
            names = ", ".join(map(repr, missing))
            raise QueryError(
                f"no column {names} in the input. Its columns are {', '.join(map(repr, known)) or 'none'}."
            )
        return self


@dataclass(frozen=True, slots=True)
class QuerySet:
    """Queries over one event stream, to be evaluated together by mt.evaluate.

    Args:
        queries: One query or several; names must differ.

    >>> from muntin import window as w
    >>> from muntin.aggregates import functions as f
    >>> per_device = Query("ts", "device", w.tumbling("1 h"), f.min("v"))
    >>> overall = Query("ts", (), w.tumbling("1 d"), f.min("v"))
    >>> QuerySet([per_device, overall]).columns
    ('ts', 'device', 'v')
    """

    queries: tuple[Query, ...]

    def __init__(self, queries: Query | Iterable[Query]) -> None:
        object.__setattr__(self, "queries", several(queries))
        if not self.queries:
            raise QueryError("a query set has no queries. Give at least one.")
        for query in self.queries:
            if not isinstance(query, Query):
                raise QueryError(f"{query!r} is not a query. Make one with mt.Query(time, by, windows, aggregates).")
        if len(times := {str(query.time) for query in self.queries}) > 1:
            raise QueryError(
                f"queries of one set use different event times {sorted(times)}. Use one time column, or two sets."
            )
        if twice := repeated(self.queries):
            raise QueryError(f"{twice} appears twice. Leave one out.")
        if name := repeated(self.names):
            raise QueryError(f"two queries of one set are called {name!r}. Give each a name of its own.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the queries; a query without a name is called by its position."""
        return tuple(query.name or f"query {place}" for place, query in enumerate(self.queries, start=1))

    def __iter__(self) -> Iterator[Query]:
        return iter(self.queries)

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that the queries read, each once."""
        return tuple(dict.fromkeys(column for query in self.queries for column in query.columns))

    def check(self, schema: Iterable[str]) -> QuerySet:
        """Return the set if a schema has all columns of all queries."""
        known = several(schema)
        for query in self.queries:
            query.check(known)
        return self


def check_windows(windows: Windows) -> tuple[AnyWindow, ...]:
    """Give the windows as a tuple, all with or all without a unit of time; refuse none, strangers and repetitions.

    >>> check_windows("5 minutes, 1 hour") == check_windows(["5 minutes", Window("1 hour")])
    True
    """
    given = _windows(windows)
    if twice := repeated(given):
        raise QueryError(f"window {twice} appears twice. Leave one out.")
    if label := repeated(window.label for window in given):
        raise QueryError(f"window id {label!r} is given twice. Use a different id for each window.")
    return given


def distinct_windows(windows: Windows) -> tuple[Window, ...]:
    """Give each window once, shortest range first, however many queries ask for it; refuse none and strangers.

    >>> distinct_windows([Window(20), Window(10), Window(20)])
    (Window(10, 10), Window(20, 20))
    """
    given = dict.fromkeys(_windows(windows))
    if other := [window for window in given if not isinstance(window, Window)]:
        raise QueryError(f"window {other[0].label!r} is on no grid of time, so none can read another. Leave it out.")
    return tuple(sorted((window for window in given if isinstance(window, Window)), key=lambda window: window.period))


def check_units(windows: Iterable[AnyWindow]) -> None:
    """Refuse windows without a unit of time, which a timestamp cannot be compared with.

    >>> check_units([Window(3600)])
    Traceback (most recent call last):
    muntin.errors.QueryError: range 3600 has no unit of time. Write '3600 seconds', or whatever unit is meant.
    """
    for window in windows:
        if isinstance(window, Window) and not window.is_timed:
            of = "" if window.id is None else f" of window {window.id!r}"
            remedy = f"Write '{window.range} seconds', or whatever unit is meant."
            raise QueryError(f"range {window.range}{of} has no unit of time. {remedy}")


def _windows(windows: Windows) -> tuple[AnyWindow, ...]:
    given = parse_windows(windows) if isinstance(windows, str) else tuple(map(_window, several(windows)))
    if not given:
        raise QueryError("no windows were given. Give at least one, such as mt.tumbling('5 minutes').")
    if any(window.is_timed for window in given):
        check_units(given)
    return given


def _window(given: Any) -> AnyWindow:
    if isinstance(given, Kind):
        return given  # type: ignore[return-value]
    if isinstance(given, str):
        return parse_window(given)
    raise QueryError(f"{given!r} is not a window. Make one with mt.tumbling(range) or mt.hopping(range, slide).")


def check_aggregates(aggregates: Aggregate | Iterable[Aggregate]) -> tuple[Aggregate, ...]:
    """Give the aggregates as a tuple; refuse none and strangers."""
    given: tuple[Aggregate, ...] = several(aggregates)
    if not given:
        raise QueryError("no aggregates were given. Give at least one, such as mt.count().")
    for aggregate in given:
        if not isinstance(aggregate, Aggregate):
            raise QueryError(f"{aggregate!r} is not an aggregate. Use one such as mt.min('v').")
    return given


def _is_named(given: Any) -> bool:
    return isinstance(given, Expression) or is_column(given) or (isinstance(given, str) and given != "")


def several(value: Any) -> tuple[Any, ...]:
    """Give one or several things as a tuple; a text is one thing, and so is a Spark column, which poses as a list.

    >>> several("key"), several(["key", "time"])
    (('key',), ('key', 'time'))
    """
    many = isinstance(value, Iterable) and not isinstance(value, str) and not is_column(value)
    return tuple(value) if many else (value,)


def repeated(values: Iterable[T]) -> T | None:
    """Give the first value that stands more than once."""
    return next((value for value, count in Counter(values).items() if count > 1), None)
