"""mt.rolling: for every event, aggregates over the time or the rows before it."""

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
from muntin.arrow.batches import Chunks
from muntin.arrow.preceding import RollTask, roll
from muntin.choices import RollingStrategy, check_choice
from muntin.errors import QueryError, UnsupportedError
from muntin.plan.physical.rolling import Rolling, RollingPlan, RollingShape, frame_rows
from muntin.plan.physical.work import Work
from muntin.plan.statistics import Statistics
from muntin.query import check_aggregates, check_units, repeated, several
from muntin.spark.batch.choice import prices
from muntin.spark.batch.wide import wide_name
from muntin.spark.input.checking import alike, check_lengths, expression, first_line, folding, is_set
from muntin.spark.input.columns import Aggregates, Key, as_aggregates
from muntin.spark.input.events import Events
from muntin.spark.input.frame import check_frame
from muntin.spark.input.parts import column
from muntin.spark.input.reading import read
from muntin.spark.input.statistics import check_known, known, measure
from muntin.spark.input.travel import travels
from muntin.spark.workers.chunks import chunk_length, chunked, in_order
from muntin.spark.workers.layout import layout, obstacle
from muntin.spark.workers.passage import mapped
from muntin.spark.workers.techniques import expected, kinds_of
from muntin.window import Length, Window, parse_window, parse_windows

ROLLING_STRATEGIES = {
    "auto": (RollingShape.INDEPENDENT, RollingShape.KERNEL),
    "independent": (RollingShape.INDEPENDENT,),
    "kernel": (RollingShape.KERNEL,),
}
ASSUMED = Statistics(1_000_000, source="assumed")
"""What stands for statistics where nothing depends on them."""
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

    @property
    def carried(self) -> list[str]:
        """The safe names of the input's columns."""
        return [names.carried(number) for number in range(len(self.columns))]

    def finish(self, frame: DataFrame, results: list[list[Column]]) -> DataFrame:
        """Give the input's columns their names again, and every aggregate's result over every frame its own."""
        kept = [F.col(safe).alias(name) for safe, name in zip(self.carried, self.columns, strict=True)]
        made = [
            result.cast(given).alias(name)
            for given, columns, names in zip(self.types, results, self.names, strict=True)
            for result, name in zip(columns, names, strict=True)
        ]
        return frame.select(*kept, *made)


def rolling(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key] = (),
    ranges: Length | Iterable[Length] = (),
    aggregates: Aggregates = (),
    *,
    rows: int | Iterable[int] = (),
    strategy: RollingStrategy = "auto",
    statistics: Statistics | DataFrame | None = None,
) -> DataFrame:
    """Give every event the aggregates over the ranges of time before it, per key, all in one pass.

    A range of w is Spark's RANGE BETWEEN w PRECEDING AND CURRENT ROW in the order of time: it has both ends, and all
    events of the same time. Of rows=[100] it is ROWS BETWEEN 99 PRECEDING AND CURRENT ROW. The result has the input's
    columns and rows, and a column such as sum_1h or sum_100rows for every aggregate and range. The strategy is "auto"
    (by cost), "independent" (plain Spark) or "kernel", where what no kernel knows goes the plain way; explain_rolling
    says which and why. Statistics, if given, save the small job that the input is sampled with; a batch DataFrame of
    the same columns is measured instead.
    """
    request, plan = _planned(df, time, by, ranges, aggregates, rows, strategy, statistics)
    if plan.shape is RollingShape.INDEPENDENT:
        return _independent(request)
    return _by_kernel(request, plan.statistics)


def explain_rolling(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key] = (),
    ranges: Length | Iterable[Length] = (),
    aggregates: Aggregates = (),
    *,
    rows: int | Iterable[int] = (),
    strategy: RollingStrategy = "auto",
    statistics: Statistics | DataFrame | None = None,
) -> RollingPlan:
    """Give the plan that mt.rolling would run: print it, or look into it."""
    return _planned(df, time, by, ranges, aggregates, rows, strategy, statistics)[1]


def _planned(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key],
    ranges: Length | Iterable[Length],
    aggregates: Aggregates,
    rows: int | Iterable[int],
    strategy: RollingStrategy,
    statistics: Statistics | DataFrame | None,
) -> tuple[Request, RollingPlan]:
    """Check a query and choose how it is evaluated."""
    check_frame(df)
    check_choice("strategy", strategy, RollingStrategy)
    check_known(statistics)
    keys, frames, asked = several(by), _frames(ranges, rows), check_aggregates(as_aggregates(df, aggregates))
    request = _checked(df, time, keys, frames, asked)
    figures = known(statistics, lambda history: _checked(history, time, keys, frames, asked).events)
    return request, _plan(request, strategy, figures)


def _frames(ranges: Length | Iterable[Length], rows: int | Iterable[int]) -> Frames:
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
        raise QueryError("no ranges are asked for. Give at least one, such as ranges=['1 hour'] or rows=[100].")
    if twice := repeated(labels):
        raise QueryError(f"range {twice!r} is asked for twice. Leave one out.")
    return Frames(tuple(int(window.range) for window in windows), counts, labels)


def _range(length: Length) -> Window:
    return parse_window(length) if isinstance(length, str) else Window(length)


def _checked(
    df: DataFrame, time: Key, keys: tuple[Key, ...], frames: Frames, aggregates: tuple[Aggregate, ...]
) -> Request:
    """Check a query against a DataFrame; nothing runs."""
    if df.isStreaming:
        raise UnsupportedError(
            "the input is a stream, which mt.rolling does not take. Use a batch DataFrame (spark.read)."
        )
    names = tuple(tuple(wide_name(asked.name, label) for label in frames.labels) for asked in aggregates)
    fold = folding(df)
    if twice := alike(df.columns, fold):
        raise QueryError(f"the input has two columns {twice}. Rename one, for example with df.toDF(…).")
    if twice := alike([*df.columns, *(name for group in names for name in group)], fold):
        raise QueryError(f"the result would have two columns {twice}. Rename an aggregate with .alias(…).")
    when, named = expression(df, time, "time"), [expression(df, key, "by") for key in keys]
    if twice := repeated(key.name for key in named):
        raise QueryError(f"key {twice!r} stands twice in by. Leave one out.")
    events = read(df, when, named, aggregates, carry=True)
    return Request(events, frames, tuple(df.columns), names, _types(events, frames))


def _types(events: Events, frames: Frames) -> tuple[T.DataType, ...]:
    """Give the results' types as Spark alone finds them; refuse what it does not evaluate over such windows."""
    over = frames.over(events.keys)[0]
    for made in events.recipes:
        if made.aggregate.function.merge is Merge.CUSTOM:  # Spark calls such a function an internal error
            raise _unsupported(made.aggregate, "it is a function in Python.")
    try:
        results = events.frame.select(*(column(made.plain).over(over) for made in events.recipes)).schema
        return tuple(field.dataType for field in results)
    except AnalysisException:
        _say_why(events, over)
        raise


def _say_why(events: Events, over: WindowSpec) -> None:
    """Find the key or the aggregate that Spark does not take in a window."""
    for name, key, type in zip(events.by, events.keys, events.key_types, strict=True):
        try:
            _ = events.frame.orderBy(key).schema
        except AnalysisException as error:
            kind = type.simpleString()
            raise QueryError(f"key {name!r} is of type {kind}, which Spark cannot sort by. Use another.") from error
    for made in events.recipes:
        try:
            _ = events.frame.select(column(made.plain).over(over)).schema
        except AnalysisException as error:
            raise _unsupported(made.aggregate, first_line(error)) from error


def _unsupported(aggregate: Aggregate, reason: str) -> UnsupportedError:
    return UnsupportedError(
        f"Spark does not evaluate {aggregate!r} over a rolling window: {reason} "
        "Use sum, count, avg, min, max or another aggregate that it does, or mt.aggregate with hopping windows."
    )


def _independent(request: Request) -> DataFrame:
    """Evaluate every frame alone, as a Spark user writes it."""
    windows = request.frames.over(request.events.keys)
    return request.finish(
        request.events.frame,
        [[column(made.plain).over(window) for window in windows] for made in request.events.recipes],
    )


def _plan(request: Request, strategy: RollingStrategy, statistics: Statistics | None) -> RollingPlan:
    """Choose how a query is evaluated; unless that is given, it needs statistics, and so a small job."""
    stopped = _obstacle(request) if strategy != "independent" else None
    shapes = ROLLING_STRATEGIES["independent" if stopped else strategy]
    if statistics is None:
        statistics = measure(request.events) if RollingShape.KERNEL in shapes else ASSUMED
    sizes = _sizes(request, statistics)
    costs = {RollingShape.INDEPENDENT: sizes.plain(), RollingShape.KERNEL: sizes.kernel()}
    weighed = sorted(shapes, key=costs.__getitem__)
    return RollingPlan(
        weighed[0],
        strategy,
        request.frames.labels,
        statistics,
        tuple((shape.name.lower(), costs[shape]) for shape in weighed),
        (f"kernels are left out: {stopped}",) if stopped else (),
        tuple(made.aggregate for made in request.events.recipes),
        sizes.frames,
        _techniques(request, sizes.frames) if weighed[0] is RollingShape.KERNEL else (),
    )


def _techniques(request: Request, lengths: tuple[float, ...]) -> tuple[str, ...]:
    """Say how frames of several rows will be combined; the choice itself is made for every batch."""
    kinds = kinds_of(request.events)
    frames = zip(request.frames.labels, lengths, strict=True)
    return tuple(f"{label} by {expected(kinds, rows, 1)}" for label, rows in frames if rows >= 2)


def _obstacle(request: Request) -> str | None:
    """Say why kernels cannot take a query; None if they can."""
    schema = request.events.frame.schema
    for name, safe in zip(request.columns, request.carried, strict=True):
        if not travels(schema[safe].dataType):
            return f"column {name!r} is of type {schema[safe].dataType.simpleString()}, which Arrow does not carry"
    return obstacle(request.events)


def _sizes(request: Request, statistics: Statistics) -> Rolling:
    """Give the sizes that the costs of a query depend on."""
    events, frames = request.events, request.frames
    shared = sum(name in events.shared for name in events.partials)
    work = Work(statistics, len(events.partials), len(events.keys), prices(events)[0], shared)
    lengths = frame_rows(work, frames.ranges, frames.counts)
    tree = is_set(events.frame, "spark.sql.window.segmentTree.enabled", "false")
    return Rolling(work, lengths, len(request.columns), len(events.recipes), tree)


def _by_kernel(request: Request, statistics: Statistics) -> DataFrame:
    """Evaluate all frames in one pass over the rows in order of key and time."""
    events, frames = request.events, request.frames
    chunks = _chunks(frames, statistics)
    parts = events.lift(events.frame, *request.carried)
    if chunks is not None:  # the halo lies before a chunk: one after the chunk, of times that are later by a halo
        later = (F.col(names.TIME) + max(frames.ranges)).alias(names.TIME)
        parts = chunked(parts.select(later, *parts.columns[1:]), chunks, timeless=True)
    task = RollTask(layout(events, chunks), frames.ranges, frames.counts, len(request.columns))
    ordered = in_order(events, parts, chunks)
    rolled = mapped(ordered, roll, task, _schema(request, task), events.shared)
    columns = [map(column, events.lowered(names.of_frame(frame))) for frame in range(len(frames.labels))]
    return request.finish(rolled, [list(group) for group in zip(*columns, strict=True)])


def _chunks(frames: Frames, statistics: Statistics) -> Chunks | None:
    """Cut hot keys by time; not where rows are counted, since a count may reach back as far as it likes."""
    if frames.counts:
        return None
    longest = max(frames.ranges)
    length = chunk_length(longest, statistics)
    return Chunks(length, longest + 1) if length < statistics.span else None


def _schema(request: Request, task: RollTask) -> T.StructType:
    """Give the columns that come back: those carried as they went, then partials."""
    events = request.events
    carried = [events.frame.schema[name] for name in request.carried]
    partials = [events.lifted_schema[name].dataType for name in events.partials]
    types = partials * len(request.frames.labels)
    made = [T.StructField(name, type) for name, type in zip(task.names[len(carried) :], types, strict=True)]
    return T.StructType([*carried, *made])
