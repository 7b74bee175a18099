"""Columnar state: the open slices of a bucket of keys, packed, and the batch kernels inside Spark's state operator.

rows → slices at the source → one Arrow message per task and bucket → state per bucket → due instances, packed → rows
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pyspark import TaskContext
from pyspark.sql import DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from muntin import names
from muntin.arrow.frames.packing import RowPacking, rows_at_source
from muntin.arrow.state.bucket import News, Outcome, Store, step, told
from muntin.arrow.state.change_paths import read_changes
from muntin.arrow.state.head import Head, Job
from muntin.arrow.state.late_rows import LateJob, late_step, unpacked_beside
from muntin.arrow.state.packing import Packing, bucket_labels, counting, packed_at_source, unpacked
from muntin.arrow.state.terms import Term
from muntin.change_files import CHANGES
from muntin.changes import Change
from muntin.duration import FOREVER
from muntin.errors import InternalError, QueryError, UnsupportedError
from muntin.fingerprint import Fingerprint
from muntin.paths import pattern
from muntin.plan.slicing.grids import slicing
from muntin.registry import WindowRegistry
from muntin.spark.capabilities import Feature, capabilities
from muntin.spark.input.source import DELAY, Source
from muntin.spark.input.watching import session_zone
from muntin.spark.sessions import PROVIDER, ROCKSDB
from muntin.spark.stream.observing import count_changes, count_packed
from muntin.spark.stream.pandas_buckets import PandasBuckets
from muntin.spark.worker_errors import sentence_first
from muntin.spark.workers.layout import key_obstacle, layout, obstacle, window_schema
from muntin.spark.workers.passage import mapped
from muntin.window import MOST_INSTANCES, Window

PACKED = T.StructType(
    [
        T.StructField(names.BUCKET, T.IntegerType()),
        T.StructField(names.DATA, T.BinaryType()),
        T.StructField(names.LATEST, T.LongType()),
        T.StructField(names.GRIDS, T.StringType()),
    ]
)
GIVEN = T.StructType(
    [
        T.StructField(names.DATA, T.BinaryType()),
        T.StructField(names.LATE, T.LongType()),
        T.StructField(names.DROPPED, T.LongType()),
        T.StructField(names.LATE_BY_WINDOW, T.StringType()),
        T.StructField(names.KEPT, T.LongType()),
        T.StructField(names.NEWEST, T.LongType()),
        T.StructField(names.MISSED, T.BinaryType()),
        T.StructField(names.DAMAGED, T.LongType()),
    ]
)
"""What a bucket gives: a row about itself, and one for each message."""
FILE = "path string, modificationTime timestamp, length long, content binary"
"""What Spark's source of files has. What is not selected is not read, and the path is all that we select."""
CHANGE = T.StructType([T.StructField(names.CHANGE, T.StringType())])
EVER = "36500d"
"""Spark leaves out files that are older than the newest by this much, by default a week."""
KNOWN = (T.StructField(names.LABEL, T.StringType()), T.StructField(names.RANGE, T.LongType()))
"""What rows tell of windows that only the state knows."""
_HEAD = T.StructType([T.StructField(names.HEAD, T.StringType())])
_SEGMENT = T.StructType([T.StructField(names.SEGMENT, T.LongType())])
_DATA = T.StructType([T.StructField(names.DATA, T.BinaryType())])


def columnar(source: Source, windows: tuple[Window, ...] | WindowRegistry, kept: Fingerprint) -> DataFrame:
    """Evaluate windows over a stream with columnar state; an instance is given once, when the watermark passes its end.

    The fingerprint tells the number of buckets. As many as shuffle partitions, or a multiple, use all of them.
    """
    check_columnar(source)
    registry = windows if isinstance(windows, WindowRegistry) else None
    asked = () if isinstance(windows, WindowRegistry) else windows
    buckets = kept.buckets or 1
    columns, labels = layout(source.events), bucket_labels(buckets)
    packing = Packing(columns, labels, slicing(asked) if asked else (), registry, query_id)
    numbers = {window: number for number, window in enumerate(source.query.windows)}
    job = Job(
        columns.of_slices(),
        all(made.aggregate.function.overlap_safe for made in source.events.recipes),
        kept,
        tuple(Term(numbers[window], window, window.label) for window in asked),
    )
    others = [name for name in (*source.events.partials, *source.carried) if name not in source.events.shared]
    rows = numbered(source, source.events.lift(source.events.rows, *source.carried), buckets, others)
    packed = sent(source, rows, packing, source.events.shared)
    if registry is not None:
        packed = packed.unionByName(changes(source, registry, labels))
    given = stepped(packed, buckets_for(source, job, step, labels[0], registry, packing))
    schema = window_schema(source.events)
    if registry is None:
        rows = given_rows(source, given, schema)
        return source.finish(rows, source.events.lowered())
    rows = given_rows(source, given, T.StructType([*KNOWN, *schema]), labelled=True)
    return source.finish_with(rows, source.events.lowered(), names.LABEL, names.RANGE)


def check_columnar(source: Source) -> None:
    """Refuse what cannot run where no other shape can take its place, and say what to do."""
    if reason := key_obstacle(source.events):
        raise UnsupportedError(
            f"{reason}, and packed state needs simple keys. Use fields of it, or cast it to a string."
        )
    if reason := obstacle(source.events):
        raise UnsupportedError(f"packed state needs kernels, and {reason}. Use another aggregate.")
    check_packed(source)


def check_packed(source: Source) -> None:
    """Refuse a stream whose state cannot be packed, and say what to do."""
    if DELAY not in source.events.frame.schema[names.TIMESTAMP].metadata:
        time = source.query.time
        raise QueryError(f"the stream has no watermark. Add df.withWatermark({time!r}, '10 minutes').")
    if source.events.frame.sparkSession.conf.get(PROVIDER, "") != ROCKSDB:
        raise QueryError(f"columnar state needs RocksDB. Set spark.conf.set({PROVIDER!r}, {ROCKSDB!r}).")


def numbered(source: Source, rows: DataFrame, buckets: int, others: Iterable[str]) -> DataFrame:
    """Give the time, the number of the bucket, the keys and other columns of rows."""
    hashed = F.xxhash64(*source.events.keys) if source.events.keys else F.lit(0).cast("long")
    bucket = F.pmod(hashed, F.lit(buckets)).cast("int")
    return rows.select(names.TIME, bucket.alias(names.BUCKET_NUMBER), *source.events.keys, *others)


def sent(
    source: Source, rows: DataFrame, packing: Packing, shared: Mapping[str, str] = MappingProxyType({})
) -> DataFrame:
    """Send slices to the state of their buckets; where late rows are given back, the rows themselves."""
    if source.late_row is None:
        packed = mapped(rows, packed_at_source, packing, PACKED, shared)
    else:
        packed = mapped(rows, rows_at_source, RowPacking(packing.labels), PACKED, shared)
    return packed.withColumn(names.CHANGE, F.lit(None).cast("string"))


def buckets_for(
    source: Source,
    job: Any,
    step: Step,
    first: int,
    registry: WindowRegistry | None = None,
    packing: Packing | None = None,
) -> Buckets:
    """Give what a bucket does with what is sent; the packing tells what is in rows that are to be sliced there."""
    zone = session_zone(source.events.frame.sparkSession)
    if source.late_row is None:
        return Buckets(job, first, registry, step, zone)
    layout, items = (None, ()) if packing is None else (counting(packing.layout), packing.items)
    return Buckets(LateJob(job, step, source.carried, layout, items), first, registry, late_step, zone)


def given_rows(source: Source, given: DataFrame, schema: T.StructType, *, labelled: bool = False) -> DataFrame:
    """Give the rows of instances; late rows stand beside empty ones where they are asked for."""
    if source.late_row is None:
        return mapped(given.select(names.DATA), unpacked, labelled, schema)
    late_row = T.StructField(names.LATE_ROW, source.late_row)
    kinds = {names.INSTANCE: schema, names.LATE_ROW: source.late_row}
    nulls = (F.lit(None).cast(kind).alias(name) for name, kind in kinds.items())
    typed = given.select(names.DATA, names.MISSED, *nulls)
    return mapped(typed, unpacked_beside, labelled, T.StructType([*schema, late_row]))


def stepped(packed: DataFrame, buckets: Buckets) -> DataFrame:
    """Send messages to their buckets, count late rows and what is kept, and give packed instances and late rows."""
    grouped = packed.groupBy(names.BUCKET)
    if capabilities(packed.sparkSession).has(Feature.STATE_BY_ROWS):
        given = grouped.transformWithState(buckets, GIVEN, "append", "eventTime")
    else:
        frames = PandasBuckets(buckets, GIVEN.names)
        given = grouped.transformWithStateInPandas(frames, GIVEN, "append", "eventTime")
    return count_packed(given).select(names.DATA, names.MISSED)


def changes(source: Source, registry: WindowRegistry, labels: tuple[int, ...]) -> DataFrame:
    """Read the registry as a stream: every change reaches every bucket, in a micro-batch that the checkpoint knows."""
    spark = source.events.frame.sparkSession
    registry.check_links()
    registry.settle()
    files = spark.readStream.format("binaryFile").schema(FILE).option("pathGlobFilter", CHANGES)
    # Further folders are listed as well; without this, some stop the query: they may look like partitions.
    files = files.option("maxFileAge", EVER).option("recursiveFileLookup", "true")
    # Where a path has characters of patterns, Spark 4.3 reads each of n files n times; a change still counts once.
    paths = count_changes(files.load(pattern(registry.place)).select("path"))
    texts = mapped(paths, read_changes, registry, CHANGE)
    everywhere = F.explode(F.array(*map(F.lit, labels))).alias(names.BUCKET)
    nothing = {
        names.DATA: F.lit(None).cast("binary"),
        names.LATEST: F.lit(-FOREVER),
        names.GRIDS: F.lit(None).cast("string"),
    }
    return texts.select(everywhere, *(column.alias(name) for name, column in nothing.items()), names.CHANGE)


Step = Callable[[Any, Head | None, Store, News, int], Outcome]
"""What a bucket does in a micro-batch, given its job, head, segments, news and the watermark."""


class Buckets(StatefulProcessor):
    """Spark's side of a bucket: its state, its timer and its rows."""

    def __init__(
        self, job: Any, first: int, registry: WindowRegistry | None, step: Step = step, zone: str = "UTC"
    ) -> None:
        self.job, self.first, self.registry, self.step, self.zone = job, first, registry, step, zone

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state."""
        self.handle = handle
        self.head = handle.getValueState("head", _HEAD)
        self.segments = handle.getMapState("segments", _SEGMENT, _DATA)

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Take what the source and the registry have sent."""
        for timer in self.handle.listTimers():
            self.handle.deleteTimer(timer)
        return self._stepped(key, rows, timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Row]:  # noqa: N802, N803
        """Hear that the watermark has moved on."""
        return self._stepped(key, (), timerValues)

    def close(self) -> None:
        """Have nothing to close."""

    def read(self, number: int) -> bytes:
        """Give a segment."""
        kept = self.segments.getValue((number,))
        if kept is None:
            raise InternalError(f"segment {number} of a bucket is not in its state. Please report this.")
        return bytes(kept[0])

    def write(self, number: int, data: bytes) -> None:
        """Keep a segment."""
        self.segments.updateValue((number,), (data,))

    def remove(self, number: int) -> None:
        """Keep a segment no longer."""
        self.segments.removeKey((number,))

    @sentence_first
    def _stepped(self, key: Any, rows: Iterable[Row], timers: Any) -> Iterator[Row]:
        now, news = timers.getCurrentWatermarkInMs(), _news(rows, self.registry, self.zone)
        kept = self.head.get() if self.head.exists() else None
        before = Head.from_json(kept[0]).taken_up(self.job) if kept else None
        outcome = self.step(self.job, before, self, news, now * 1000)
        self.head.update((outcome.head.to_json(),))
        self.handle.registerTimer(now + 1)  # is due as soon as the watermark moves
        head = outcome.head
        if self.registry and key[0] == self.first:
            registry, query = self.registry, query_id()
            if before is None or head.terms != before.terms or news.changes or not registry.reported(query):
                registry.report(query, told(head.terms), head.newest, head.missing)
        yield Row(**_EMPTY | _told(outcome, self.registry, first=key[0] == self.first))
        for message in outcome.messages:
            yield Row(**_EMPTY | {names.DATA: message})


_EMPTY: dict[str, Any] = dict.fromkeys(GIVEN.names)


def _told(outcome: Outcome, registry: WindowRegistry | None, *, first: bool) -> dict[str, Any]:
    """Say what a bucket did and keeps, which query progress sums up. The first one speaks for all if that will do."""
    late = {window: rows for window, rows in outcome.late_by_window.items() if rows or first}
    skipping = registry if first and registry is not None and registry.skip_damaged else None
    return {
        names.LATE: outcome.late,
        names.DROPPED: outcome.dropped,
        names.LATE_BY_WINDOW: json.dumps(late) if late else None,
        names.KEPT: sum(segment.rows for segment in outcome.head.segments),
        names.NEWEST: None if registry is None else outcome.head.newest,
        names.MISSED: outcome.missed,
        names.DAMAGED: None if skipping is None else len(skipping.damaged()),
    }


def _news(rows: Iterable[Row], registry: WindowRegistry | None, zone: str) -> News:
    """Read what came for a bucket; landmarks of a wall clock become instants of the session's time zone."""
    slices: list[bytes] = []
    changes: list[Change] = []
    grids: set[str] = set()
    latest = -FOREVER
    most = MOST_INSTANCES if registry is None else registry.most_instances
    for row in rows:
        if row[names.CHANGE] is not None:
            changes.append(Change.from_json(row[names.CHANGE], most_instances=most).placed(zone))
            continue
        latest = max(latest, row[names.LATEST])
        if row[names.DATA]:
            slices.append(row[names.DATA])
            grids.add(row[names.GRIDS])
    cut = frozenset(tuple((slide, residue) for slide, residue in json.loads(text)) for text in grids)
    return News(tuple(slices), latest, tuple(changes), cut)


def query_id() -> str:
    """Give the id of the streaming query whose task this is; it stays the same over restarts from a checkpoint."""
    context = TaskContext.get()
    return (context and context.getLocalProperty("sql.streaming.queryId")) or ""
