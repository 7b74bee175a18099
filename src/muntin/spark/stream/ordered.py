"""Windows of every kind over a stream: rows wait, packed, until the watermark has passed them, and are read in order.

rows → one Arrow message per task and bucket → state per bucket → instances that have ended, packed → rows
"""

from __future__ import annotations

from uuid import uuid4

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.arrow.frames.packing import RowPacking, rows_at_source
from muntin.arrow.frames.state import FrameJob, frame_step
from muntin.arrow.state.packing import bucket_labels, unpacked
from muntin.fingerprint import Fingerprint
from muntin.spark.batch.ordered import frame_task, instance_schema
from muntin.spark.input.source import Source
from muntin.spark.stream.columnar import GIVEN, LATE_METRIC, PACKED, Buckets, check_columnar
from muntin.spark.workers.passage import mapped


def ordered(source: Source, kept: Fingerprint) -> DataFrame:
    """Evaluate windows of every kind over a stream; an instance is given once, when it has ended."""
    check_columnar(source)
    labels = bucket_labels(kept.buckets or 1)
    rows = mapped(_numbered(source, len(labels)), rows_at_source, RowPacking(labels), PACKED, source.events.shared)
    rows = rows.withColumn(names.CHANGE, F.lit(None).cast("string"))
    order = tuple(zip(source.watching.order, source.watching.directions, strict=True))
    job = FrameJob(frame_task(source, source.query.windows), kept, order)
    stepped = Buckets(job, labels[0], None, frame_step)
    given = rows.groupBy(names.BUCKET).transformWithState(stepped, GIVEN, "append", "eventTime")
    counts = (F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in (names.LATE, names.DROPPED))
    given = given.observe(f"{LATE_METRIC}_{uuid4().hex}", *counts)  # a query may have two of us, even two alike
    instances = mapped(given.select(names.DATA), unpacked, False, instance_schema(source))
    return source.finish_framed(instances, source.events.lowered())


def _numbered(source: Source, buckets: int) -> DataFrame:
    """Give rows as partials of themselves, with what windows watch and the number of their bucket."""
    events, watching = source.events, source.watching
    hashed = F.xxhash64(*events.keys) if events.keys else F.lit(0).cast("long")
    lifted = events.lift(events.rows, *watching.watched, *watching.order)
    return lifted.withColumn(names.BUCKET_NUMBER, F.pmod(hashed, F.lit(buckets)).cast("int"))
