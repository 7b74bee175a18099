"""Windows of every kind over the rows of every key in order."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.arrow.frames.framings import framing
from muntin.arrow.frames.rows import frame
from muntin.arrow.frames.slicing import FrameTask
from muntin.spark.input.source import Source
from muntin.spark.workers.layout import layout, tail
from muntin.spark.workers.passage import mapped
from muntin.window import AnyWindow, in_order

MEASURES = {"bigint": "int64", "double": "float64"}
"""Arrow's names of the types of measures."""


def ordered(source: Source, windows: tuple[AnyWindow, ...]) -> DataFrame:
    """Evaluate windows in one pass over the rows of every key, in order of time."""
    events, watching = source.events, source.watching
    rows = events.lift(events.rows, *watching.watched, *watching.order)
    spread = rows.repartition(*events.keys) if events.keys else rows.repartition(1)
    sorted_rows = spread.sortWithinPartitions(*map(F.expr, (*events.keys, names.TIME, *watching.order)))
    if watching.order:
        sorted_rows = sorted_rows.drop(*watching.order)
    framed = mapped(sorted_rows, frame, frame_task(source, windows), instance_schema(source), events.shared)
    return source.finish_framed(framed, events.lowered())


def frame_task(source: Source, windows: tuple[AnyWindow, ...]) -> FrameTask:
    """Give everything that a Python worker needs to know."""
    asked = source.query.windows
    watched = source.watching.of or ((),) * len(asked)
    places = {window: place for place, window in enumerate(in_order(asked))}
    framings = tuple(
        framing(window, number, watched[number], places[window])
        for number, window in enumerate(asked)
        if window in windows
    )
    measured = MEASURES[source.measure_type] if source.query.measured else None
    return FrameTask(layout(source.events), framings, source.watching.watched, measured)


def instance_schema(source: Source) -> T.StructType:
    """Give the columns of instances that tell when they start and end."""
    times = [T.StructField(name, T.LongType()) for name in (names.START, names.FINISH)]
    kind = T.LongType() if source.watching.whole else T.DoubleType()
    own = [T.StructField(name, kind) for name in (names.FROM, names.TO)] if source.query.measured else []
    return T.StructType([T.StructField(names.NUMBER, T.IntegerType()), *times, *own, *tail(source.events)])
