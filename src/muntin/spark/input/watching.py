"""The columns that windows watch beside the time, and those that rows of one time are ordered by."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.errors import QueryError
from muntin.expressions import Expression, Named, is_column, renumbered, written
from muntin.sentences import sentence_of
from muntin.spark.input.checking import ATOMS, column_of, expression, folding
from muntin.spark.input.columns import sort_child
from muntin.spark.input.travel import travels
from muntin.window import AnyWindow, Landmark, Watch, in_order
from muntin.zones import instant


@dataclass(frozen=True)
class Watching:
    """What is read of the input for the sake of windows, under safe names."""

    columns: dict[str, Column]
    """The columns that windows watch, and those that rows of one time are ordered by."""
    watched: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    of: tuple[tuple[str, ...], ...] = ()
    """The columns that every window of the query watches, in its own order."""
    whole: bool = True
    """Whether all measures are whole numbers."""
    directions: tuple[str, ...] = ()
    """How each of the columns that rows of one time are ordered by is sorted, as Spark writes it."""
    order_texts: tuple[str, ...] = ()
    """The order in words: each expression with its type and direction."""

    @property
    def sorting(self) -> list[Column]:
        """The columns that rows of one time are ordered by, each in its direction."""
        return [DIRECTIONS[how](F.col(name)) for name, how in zip(self.order, self.directions, strict=True)]


DIRECTIONS: dict[str, Callable[[Column], Column]] = {
    "ASC NULLS FIRST": lambda column: column.asc_nulls_first(),
    "ASC NULLS LAST": lambda column: column.asc_nulls_last(),
    "DESC NULLS FIRST": lambda column: column.desc_nulls_first(),
    "DESC NULLS LAST": lambda column: column.desc_nulls_last(),
}
"""The ways to sort, as Spark writes them."""

NOTHING = Watching({})


def watching(df: DataFrame, windows: tuple[AnyWindow, ...], order_by: Iterable[Any]) -> Watching:
    """Check the columns that windows watch; nothing runs."""
    sorting = [_sorted_by(df, given) for given in order_by]
    order = [column for column, _ in sorting]
    watches = list(dict.fromkeys(watch for window in in_order(windows) for watch in window.watches))
    if not watches and not order:
        return NOTHING
    watchers = [next(window.label for window in windows if watch in window.watches) for watch in watches]
    readers = [(watch.column, f"window {label!r} watches") for watch, label in zip(watches, watchers, strict=True)]
    types = _types(df, [*readers, *((column, "order_by names") for column in order)])
    _check_order(df, order, types[len(watches) :])
    safe = {watch: names.watched(place) for place, watch in enumerate(watches)}
    read = zip(watches, watchers, types, strict=False)
    columns = {safe[watch]: _read(watch, label, given) for watch, label, given in read}
    ordered = {names.order(place): _column(given) for place, given in enumerate(order)}
    measures = [safe[window.watches[0]] for window in windows if window.measure not in (None, "rows")]
    numbers = dict(zip(safe.values(), types, strict=False))
    lengths = [number for window in windows if window.measure for number in _lengths(window)]
    whole = all(isinstance(numbers[name], T.IntegralType) for name in measures) and all(
        isinstance(number, int) for number in lengths
    )
    of = tuple(tuple(safe[watch] for watch in window.watches) for window in windows)
    directions = tuple(direction for _, direction in sorting)
    texts = tuple(
        f"{renumbered(str(column))} {given.simpleString()} {how}"
        for (column, how), given in zip(sorting, types[len(watches) :], strict=True)
    )
    return Watching(columns | ordered, tuple(safe.values()), tuple(ordered), of, whole, directions, texts)


def _sorted_by(df: DataFrame, given: Any) -> tuple[Expression, str]:
    """Give a column that rows of one time are ordered by, and its direction: F.desc('v') has one, 'v' goes up."""
    child = sort_child(df, given) if is_column(given) else None
    if child is None:
        return expression(df, given, "order_by"), next(iter(DIRECTIONS))
    text = written(given)
    direction = next(how for how in DIRECTIONS if text.endswith(f" {how}"))
    if isinstance(child, Column):
        return expression(df, child, "order_by"), direction
    fold = folding(df)
    if fold(child) not in map(fold, df.columns):
        raise QueryError(
            f"order_by sorts by {child!r}, which is not a column. Add it to the input, and use F.desc of that."
        )
    return Expression(child, child), direction


def _lengths(window: Any) -> list[Any]:
    return [getattr(window, name) for name in ("range", "slide", "offset") if window.kind == "measured"]


def _types(df: DataFrame, columns: list[tuple[Named, str]]) -> list[T.DataType]:
    """Ask Spark for the types of columns, each told with who reads it."""
    fold = folding(df)
    known = {fold(name) for name in df.columns}
    for column, reader in columns:
        name = column.value if isinstance(column, Expression) else column
        if isinstance(name, str) and fold(name) not in known:
            listed = ", ".join(map(repr, df.columns)) or "none"
            is_field = fold(name.partition(".")[0]) in known
            hint = f" Use F.col({name!r}) for a field within a column." if is_field else ""
            raise QueryError(f"no column {name!r} in the input, which {reader}. Its columns are {listed}.{hint}")
    try:
        return [field.dataType for field in df.select(*(column_of(column) for column, _ in columns)).schema]
    except AnalysisException as error:
        raise QueryError(f"the columns that windows watch cannot be read: {sentence_of(error)}") from error


def _check_order(df: DataFrame, order: Iterable[Named], types: Iterable[T.DataType]) -> None:
    """Refuse types that Spark cannot sort by; it is asked of those that have parts."""
    for column, given in zip(order, types, strict=True):
        if isinstance(given, (*ATOMS, T.StringType)):
            continue
        try:
            _ = df.sort(_column(column)).schema
        except AnalysisException as error:
            kind = given.simpleString()
            raise QueryError(
                f"order_by has {str(column)!r} of type {kind}, which Spark cannot sort by. Use another column."
            ) from error


def _read(watch: Watch, label: str, given: T.DataType) -> Column:
    """Give a watched column as windows take it; refuse types that tell them nothing."""
    kind, column = given.simpleString(), _column(watch.column)
    match watch.role:
        case "condition":
            if not isinstance(given, T.BooleanType):
                raise QueryError(
                    f"window {label!r} takes {str(watch.column)!r} for a condition, which is of type {kind}. "
                    "Use a boolean column or a condition, such as F.col('speed') > 120."
                )
            return F.coalesce(column, F.lit(False))
        case "number":
            if isinstance(given, T.IntegralType):
                return column.cast("bigint")
            if not isinstance(given, T.NumericType):
                raise QueryError(
                    f"window {label!r} takes {str(watch.column)!r} for a number, which is of type {kind}. "
                    "Use a numeric column."
                )
            return column if isinstance(given, T.DecimalType) else column.cast("double")
    if not travels(given):
        raise QueryError(f"window {label!r} watches {str(watch.column)!r} of type {kind}, which Arrow does not carry.")
    return column


def _column(given: Named) -> Column:
    read = column_of(given)
    return F.col(read) if isinstance(read, str) else read


def placed(df: DataFrame, windows: tuple[AnyWindow, ...], *, zoned: bool) -> tuple[AnyWindow, ...]:
    """Give landmarks of a wall clock as instants of the session's time zone, where times are instants."""
    return tuple(_placed(df, one, zoned=zoned) if isinstance(one, Landmark) else one for one in windows)


def _placed(df: DataFrame, window: Landmark, *, zoned: bool) -> Landmark:
    if not window.local:
        return window
    if not zoned:
        return window.at(window.since)
    return window.at(instant(window.since, session_zone(df.sparkSession)))


def session_zone(spark: SparkSession) -> str:
    """Return the time zone of a session as Spark has it."""
    return str(spark.conf.get("spark.sql.session.timeZone"))
