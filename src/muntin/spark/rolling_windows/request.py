"""Rolling queries, checked: the frames, the input, and what Spark alone makes of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, WindowSpec
from pyspark.sql import Window as Over
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.aggregates import Aggregate, Merge
from muntin.errors import QueryError, UnsupportedError
from muntin.query import check_units, repeated, several
from muntin.sentences import sentence_of
from muntin.spark.batch.wide import wide_name
from muntin.spark.input.checking import alike, expression, folding
from muntin.spark.input.columns import Key
from muntin.spark.input.events import Events
from muntin.spark.input.parts import Recipe, column
from muntin.spark.input.reading import read
from muntin.window import Length, Window, check_lengths, parse_window, parse_windows

MOST_ROWS = 2**31 - 1
"""The longest frame of rows that Spark takes."""


@dataclass(frozen=True, slots=True)
class Frames:
    """The stretches that every event looks back on: ranges of time in microseconds, then counts of rows."""

    ranges: tuple[int, ...]
    counts: tuple[int, ...]
    labels: tuple[str, ...]

    def over(self, keys: Iterable[str]) -> list[WindowSpec]:
        """Give Spark's own windows."""
        ordered = Over.partitionBy(*keys).orderBy(names.TIME)
        ranges = [ordered.rangeBetween(-length, Over.currentRow) for length in self.ranges]
        return ranges + [ordered.rowsBetween(1 - count, Over.currentRow) for count in self.counts]


@dataclass(frozen=True)
class Request:
    """A checked rolling query."""

    events: Events
    frames: Frames
    columns: tuple[str, ...]
    """The input's columns."""
    names: tuple[tuple[str, ...], ...]
    """The result's column of every aggregate and frame."""
    types: tuple[T.DataType, ...]
    """The type of every aggregate's results."""
    counted: Aggregate | None = None
    """A distinct count, which only kernels evaluate over such frames."""

    @property
    def carried(self) -> list[str]:
        """The safe names of the input's columns."""
        return [names.carried(number) for number in range(len(self.columns))]

    def finish(self, frame: DataFrame, results: list[list[Column]]) -> DataFrame:
        """Give the input's columns their names again, and every aggregate's result over every frame its own."""
        kept = [F.col(safe).alias(name) for safe, name in zip(self.carried, self.columns, strict=True)]
        made = [
            result.cast(given).alias(name)
            for given, columns, outputs in zip(self.types, results, self.names, strict=True)
            for result, name in zip(columns, outputs, strict=True)
        ]
        return frame.select(*kept, *made)


def frames_of(ranges: Length | Iterable[Length], rows: int | Iterable[int]) -> Frames:
    """Check what is looked back on; a text may be several ranges with commas between them, as it may be of windows."""
    windows = parse_windows(ranges) if isinstance(ranges, str) else tuple(map(_range, several(ranges)))
    check_units(windows)
    check_lengths(windows)
    if uneven := next((window for window in windows if not window.is_tumbling or window.offset), None):
        raise QueryError(
            f"range {uneven.label!r} has a slide or an offset. Use a length alone: every event looks back."
        )
    counts = several(rows)
    for count in counts:
        if not isinstance(count, int) or isinstance(count, bool) or not 0 < count <= MOST_ROWS:
            raise QueryError(f"rows has {count!r}. Use whole numbers from 1 to {MOST_ROWS}.")
    labels = (*(window.label for window in windows), *(f"{count}rows" for count in counts))
    if not labels:
        raise QueryError("no ranges were given. Give at least one, such as ranges=['1 hour'] or rows=[100].")
    if twice := repeated(labels):
        raise QueryError(f"range {twice!r} appears twice. Leave one out.")
    return Frames(tuple(int(window.range) for window in windows), counts, labels)


def _range(length: Length) -> Window:
    return parse_window(length) if isinstance(length, str) else Window(length)


def checked(
    df: DataFrame, time: Key, keys: tuple[Key, ...], frames: Frames, aggregates: tuple[Aggregate, ...]
) -> Request:
    """Check a query against a DataFrame; nothing runs."""
    if df.isStreaming:
        raise UnsupportedError(
            "the input is a stream, which mt.rolling does not take. Use a batch DataFrame (spark.read)."
        )
    outputs = tuple(tuple(wide_name(asked.name, label) for label in frames.labels) for asked in aggregates)
    fold = folding(df)
    if twice := alike(df.columns, fold):
        raise QueryError(f"the input has two columns {twice}. Rename one, for example with df.toDF(…).")
    if twice := alike([*df.columns, *(name for group in outputs for name in group)], fold):
        raise QueryError(f"the result would have two columns {twice}. Rename an aggregate with .alias(…).")
    when, named = expression(df, time, "time"), [expression(df, key, "by") for key in keys]
    if twice := repeated(key.name for key in named):
        raise QueryError(f"key {twice!r} appears twice in by. Leave one out.")
    events = read(df, when, named, aggregates, carry=True).over_ranges()
    types, counted = _types(events, frames)
    return Request(events, frames, tuple(df.columns), outputs, types, counted)


def _types(events: Events, frames: Frames) -> tuple[tuple[T.DataType, ...], Aggregate | None]:
    """Return the results' types as Spark alone finds them, and a distinct count, if there is one.

    Refuse what neither Spark nor kernels evaluate over such windows.

    Spark has no distinct counts over windows. Those that kernels read have the type that they have over groups.
    """
    over = frames.over(events.keys)[0]
    for made in events.recipes:
        if made.aggregate.function.merge is Merge.CUSTOM:  # Spark calls such a function an internal error
            raise _unsupported(made.aggregate, "it is a function in Python.")
    alone = [made for made in events.recipes if made.ranged is None or made.aggregate.function.merge is not Merge.UNION]
    try:
        results = events.frame.select(*events.keys, *(column(made.plain).over(over) for made in alone)).schema
    except AnalysisException:
        _say_why(events, alone, over)
        raise
    types = dict(zip((made.aggregate for made in alone), results.fields[len(events.keys) :], strict=True))
    counted = {made.aggregate: made.result for made in events.recipes if made not in alone and made.result}
    return tuple((types | counted)[made.aggregate].dataType for made in events.recipes), next(iter(counted), None)


def _say_why(events: Events, recipes: list[Recipe], over: WindowSpec) -> None:
    """Find the key or the aggregate that Spark does not take in a window."""
    for name, key, type in zip(events.by, events.keys, events.key_types, strict=True):
        try:
            _ = events.frame.orderBy(key).schema
        except AnalysisException as error:
            kind = type.simpleString()
            raise QueryError(f"key {name!r} is of type {kind}, which Spark cannot sort by. Use another.") from error
    for made in recipes:
        try:
            _ = events.frame.select(column(made.plain).over(over)).schema
        except AnalysisException as error:
            raise _unsupported(made.aggregate, sentence_of(error)) from error


def _unsupported(aggregate: Aggregate, reason: str) -> UnsupportedError:
    return UnsupportedError(
        f"Spark does not evaluate {aggregate!r} over a rolling window: {reason} "
        "Use sum, count, avg, min, max or another aggregate that it does, or mt.aggregate with hopping windows."
    )
