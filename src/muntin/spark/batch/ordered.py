"""Windows of every kind over the rows of every key in order."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.arrow.frames.framing import Framing
from muntin.arrow.frames.framings import framing
from muntin.arrow.frames.rows import frame
from muntin.arrow.frames.slicing import FrameTask
from muntin.arrow.frames.source_sessions import SessionTask, sessions_at_source
from muntin.spark.input.source import Source
from muntin.spark.workers.layout import layout, tail
from muntin.spark.workers.passage import mapped
from muntin.window import AnyWindow, Session, in_order

MEASURES = {"bigint": "int64", "double": "float64"}
"""Arrow's names of the types of measures."""


def ordered(source: Source, windows: tuple[AnyWindow, ...]) -> DataFrame:
    """Evaluate windows in one pass over the rows of every key, in order of time."""
    events, watching = source.events, source.watching
    rows = in_order_of_rows(source, events.lift(events.rows, *watching.watched, *watching.order))
    framed = mapped(rows, frame, frame_task(source, windows), instance_schema(source), events.shared)
    return source.finish_framed(framed, events.lowered())


def in_order_of_rows(source: Source, rows: DataFrame) -> DataFrame:
    """Bring the rows of every key together, in order of time and then as the query asks."""
    keys, watching = source.events.keys, source.watching
    spread = rows.repartition(*keys) if keys else rows.repartition(1)
    sorted_rows = spread.sortWithinPartitions(*map(F.expr, (*keys, names.TIME)), *watching.sorting)
    return sorted_rows.drop(*watching.order) if watching.order else sorted_rows


def source_sessions(source: Source, windows: tuple[Session, ...]) -> DataFrame:
    """Evaluate sessions from partial sessions that are made where the rows are."""
    events = source.events
    times = [T.StructField(name, T.LongType()) for name in (names.TIME, names.UNTIL)]
    task = SessionTask(layout(events), min(int(window.gap) for window in windows))
    schema = T.StructType([*times, *tail(events)])
    parts = mapped(events.lifted, sessions_at_source, task, schema, events.shared)
    spread = parts.repartition(*events.keys) if events.keys else parts.repartition(1)
    in_turn = spread.sortWithinPartitions(*map(F.expr, (*events.keys, names.TIME)))
    whole = frame_task(source, windows)
    framings = tuple(replace(framing, columns=(names.UNTIL,)) for framing in whole.framings)
    merging = replace(whole, framings=framings, watched=(names.UNTIL,))
    return source.finish_framed(mapped(in_turn, frame, merging, instance_schema(source)), events.lowered())


def frame_task(source: Source, windows: tuple[AnyWindow, ...]) -> FrameTask:
    """Give everything that a Python worker needs to know."""
    measured = MEASURES[source.measure_type] if source.query.measured else None
    return FrameTask(layout(source.events), framings_of(source, windows), source.watching.watched, measured)


def framings_of(source: Source, windows: tuple[AnyWindow, ...]) -> tuple[Framing, ...]:
    """Frame windows, with their numbers in the query and the columns that they watch."""
    asked = source.query.windows
    watched = source.watching.of or ((),) * len(asked)
    places = {window: place for place, window in enumerate(in_order(asked))}
    return tuple(
        framing(window, number, watched[number], places[window])
        for number, window in enumerate(asked)
        if window in windows
    )


def instance_schema(source: Source) -> T.StructType:
    """Give the columns of instances that tell when they start and end."""
    return T.StructType([*told(source), *tail(source.events)])


def told(source: Source) -> list[T.StructField]:
    """Give the columns that tell an instance: the number of its window, its start and end, also in its own measure."""
    times = [T.StructField(name, T.LongType()) for name in (names.START, names.FINISH)]
    kind = T.LongType() if source.watching.whole else T.DoubleType()
    own = [T.StructField(name, kind) for name in (names.FROM, names.TO)] if source.query.measured else []
    return [T.StructField(names.NUMBER, T.IntegerType()), *times, *own]
