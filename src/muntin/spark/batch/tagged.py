"""Windows of every kind for aggregates that no kernel knows: Python gives rows to instances, Spark aggregates them."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from muntin import names
from muntin.arrow.batches import ColumnLayout
from muntin.arrow.frames.slicing import FrameTask
from muntin.arrow.frames.tagging import tag
from muntin.spark.batch.native import plain
from muntin.spark.batch.ordered import MEASURES, framings_of, in_order_of_rows, told
from muntin.spark.input.source import Source
from muntin.spark.input.travel import travels
from muntin.spark.workers.layout import key_obstacle
from muntin.spark.workers.passage import mapped
from muntin.window import AnyWindow


def tagged(source: Source, windows: tuple[AnyWindow, ...]) -> DataFrame:
    """Give every row to each of its instances, and aggregate instances, which are told apart by numbers."""
    events, watching, values = source.events, source.watching, _values(source)
    rows = in_order_of_rows(source, events.keyed(events.rows, *values, *watching.watched, *watching.order))
    measured = MEASURES[source.measure_type] if source.query.measured else None
    layout = ColumnLayout.numbered((), (), len(events.keys))
    task = FrameTask(layout, framings_of(source, windows), watching.watched, measured, values)
    tags = [T.StructField(names.ORDINAL, T.LongType()), *told(source)]
    schema = events.frame.schema
    given = mapped(rows, tag, task, T.StructType([*tags, *(schema[it] for it in (names.TIME, *events.keys, *values))]))
    groups = plain(source, given, *(field.name for field in tags))
    return source.finish_framed(groups, events.plain)


def tag_obstacle(source: Source) -> str | None:
    """Say why rows cannot be given to instances; None if they can."""
    for name in _values(source):
        given = source.events.frame.schema[name].dataType
        if not travels(given):
            return f"Arrow does not carry values of type {given.simpleString()}"
    return key_obstacle(source.events)


def _values(source: Source) -> tuple[str, ...]:
    """Name the columns that aggregates read."""
    others = (names.TIMESTAMP, names.TIME, *source.events.keys, *source.watching.columns)
    return tuple(name for name in source.events.frame.columns if name not in others)
