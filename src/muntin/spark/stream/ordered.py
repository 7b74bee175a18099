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
from muntin.fingerprint import Fingerprint
from muntin.registry import WindowRegistry
from muntin.spark.batch.ordered import frame_task, instance_schema
from muntin.spark.input.source import Source
from muntin.spark.stream.columnar import KNOWN, PACKED, buckets_for, changes, check_columnar, given_rows, stepped
from muntin.spark.workers.passage import mapped


def ordered(source: Source, kept: Fingerprint, registry: WindowRegistry | None = None) -> DataFrame:
    """Evaluate windows of every kind over a stream, or those of a registry; an instance is given when it has ended."""
    check_columnar(source)
    labels = bucket_labels(kept.buckets or 1)
    rows = mapped(_numbered(source, len(labels)), rows_at_source, RowPacking(labels), PACKED, source.events.shared)
    rows = rows.withColumn(names.CHANGE, F.lit(None).cast("string"))
    order = tuple(zip(source.watching.order, source.watching.directions, strict=True))
    task = frame_task(source, source.query.windows)
    if registry is not None:
        task = replace(task, framings=())
        rows = rows.unionByName(changes(source, registry, labels))
    job = FrameJob(task, kept, order, registered=registry is not None, watches=_watches(source))
    given = stepped(rows, buckets_for(source, job, frame_step, labels[0], registry))
    schema = instance_schema(source)
    if registry is None:
        instances = given_rows(source, given, schema)
        return source.finish_framed(instances, source.events.lowered())
    instances = given_rows(source, given, T.StructType([*KNOWN, *schema]), labelled=True)
    return source.finish_framed(instances, source.events.lowered(), names.LABEL)


def _watches(source: Source) -> dict[tuple[str, str], str]:
    """Give the names of the columns that windows watch, by what they call them and take them for."""
    pairs = zip(source.query.windows, source.watching.of or ((),) * len(source.query.windows), strict=True)
    return {
        (str(watch.column), watch.role): name
        for window, columns in pairs
        for watch, name in zip(window.watches, columns, strict=True)
    }


def _numbered(source: Source, buckets: int) -> DataFrame:
    """Give rows as partials of themselves, with what windows watch and the number of their bucket."""
    events, watching = source.events, source.watching
    hashed = F.xxhash64(*events.keys) if events.keys else F.lit(0).cast("long")
    lifted = events.lift(events.rows, *watching.watched, *watching.order, *source.carried)
    return lifted.withColumn(names.BUCKET_NUMBER, F.pmod(hashed, F.lit(buckets)).cast("int"))
