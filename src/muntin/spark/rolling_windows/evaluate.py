"""Rolling queries on Spark: plain window functions, or one pass of kernels over sorted rows."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.arrow.batches import Chunks
from muntin.arrow.preceding import RollTask, roll
from muntin.plan.statistics import Statistics
from muntin.spark.input.parts import column
from muntin.spark.rolling_windows.request import Frames, Request
from muntin.spark.workers.chunks import chunk_length, chunked, in_order
from muntin.spark.workers.layout import layout
from muntin.spark.workers.passage import mapped


def independent(request: Request) -> DataFrame:
    """Evaluate every frame alone, as a Spark user writes it."""
    windows = request.frames.over(request.events.keys)
    return request.finish(
        request.events.frame,
        [[column(made.plain).over(window) for window in windows] for made in request.events.recipes],
    )


def by_kernels(request: Request, statistics: Statistics) -> DataFrame:
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
