"""Windows of every kind over a stream: rows wait, packed, until the watermark has passed them, and are read in order.

rows → one Arrow message per task and bucket → state per bucket → instances that have ended, packed → rows
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.arrow.frames.packing import RowPacking, rows_at_source
from muntin.arrow.frames.state import FrameJob, frame_step
from muntin.arrow.state.packing import bucket_labels
from muntin.errors import UnsupportedError
from muntin.fingerprint import Fingerprint
from muntin.registry import WindowRegistry
from muntin.spark.batch.ordered import frame_task, instance_schema
from muntin.spark.capabilities import TIMES
from muntin.spark.input.reducing import is_flat
from muntin.spark.input.source import Source
from muntin.spark.stream.columnar import KNOWN, PACKED, buckets_for, changes, check_columnar, given_rows, stepped
from muntin.spark.workers.passage import mapped


def ordered(source: Source, kept: Fingerprint, registry: WindowRegistry | None = None) -> DataFrame:
    """Evaluate windows of every kind over a stream, or those of a registry; an instance is given when it has ended."""
    check_ordered(source)
    labels = bucket_labels(kept.buckets or 1)
    watches = {} if registry is None else _watches(source)
    numbered = _numbered(source, len(labels)).withColumnsRenamed(watches)
    rows = mapped(numbered, rows_at_source, RowPacking(labels), PACKED, source.events.shared)
    rows = rows.withColumn(names.CHANGE, F.lit(None).cast("string"))
    order = tuple(zip(source.watching.order, source.watching.directions, strict=True))
    task = frame_task(source, source.query.windows)
    if registry is not None:
        task = replace(task, framings=(), watched=tuple(watches[name] for name in task.watched))
        rows = rows.unionByName(changes(source, registry, labels))
    job = FrameJob(task, kept, order, registered=registry is not None)
    given = stepped(rows, buckets_for(source, job, frame_step, labels[0], registry))
    schema = instance_schema(source)
    if registry is None:
        instances = given_rows(source, given, schema)
        return source.finish_framed(instances, source.events.lowered())
    instances = given_rows(source, given, T.StructType([*KNOWN, *schema]), labelled=True)
    return source.finish_framed(instances, source.events.lowered(), names.LABEL)


def check_ordered(source: Source) -> None:
    """Refuse what cannot be read in order on a stream, and say what to do."""
    check_columnar(source)
    for name, text in zip(source.watching.order, source.watching.order_texts, strict=True):
        given = source.events.frame.schema[name].dataType
        if not is_flat(given) and not isinstance(given, (T.DayTimeIntervalType, *TIMES)):
            raise UnsupportedError(
                f"order_by has {text}, and streams do not sort by {given.simpleString()}. "
                "Use a simple type, such as a field of it."
            )


def _watches(source: Source) -> dict[str, str]:
    """Return names that tell what windows of a registry watch: the next start may give the columns other numbers."""
    pairs = zip(source.query.windows, source.watching.of or ((),) * len(source.query.windows), strict=True)
    return {
        number: names.watched_as(str(watch.column), watch.role)
        for window, columns in pairs
        for watch, number in zip(window.watches, columns, strict=True)
    }


def _numbered(source: Source, buckets: int) -> DataFrame:
    """Give rows as partials of themselves, with what windows watch and the number of their bucket."""
    events, watching = source.events, source.watching
    hashed = F.xxhash64(*events.keys) if events.keys else F.lit(0).cast("long")
    lifted = events.lift(events.rows, *watching.watched, *watching.order, *source.carried)
    return lifted.withColumn(names.BUCKET_NUMBER, F.pmod(hashed, F.lit(buckets)).cast("int"))
