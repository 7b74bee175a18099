"""Events from a topic: JSON and bytes, several partitions, one that is idle, and a broker that goes away."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import muntin as mt
from tests.kafka.topics import ASKED, Topic, as_json, expected, from_json, last_event, some_events
from tests.spark.cases import assert_same
from tests.spark.patience import patiently, to_the_end
from tests.spark.streams import Event
from tools.kafka.broker import PARTITIONS, Broker

RECORD = np.dtype([("micros", ">i8"), ("key", "S1"), ("v", ">i4")])
"""An event as bytes: 8 of its time, 1 of its key, 4 of its value."""


def run(events: DataFrame, folder: Path) -> StreamingQuery:
    """Evaluate what has not been read, into Parquet files."""
    out = mt.aggregate(events, **ASKED)
    writer = out.writeStream.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
    return patiently(lambda: writer.start(str(folder / "rows"), "parquet"), to_the_end)


def same_as_batch(spark: SparkSession, folder: Path, rows: list[Event], last: Event) -> None:
    """Compare what was written with what plain Spark gives for the same events, but for those that stay open."""
    given = spark.read.parquet(str(folder / "rows"))
    wanted = expected(spark, [row for row in rows if row[0] < last[0]])
    assert_same(given, wanted, ["k"], nullable=False)


def test_json_in_several_partitions(topic: Topic, tmp_path: Path) -> None:
    rows = some_events(topic.name, 2000)
    last = last_event(rows)
    topic.write([*rows, last], as_json())
    assert topic.batch().select("partition").distinct().count() == PARTITIONS
    query = run(from_json(topic.stream(maxOffsetsPerTrigger="600")), tmp_path)
    assert sum(report.numInputRows > 0 for report in query.recentProgress) > 2
    same_as_batch(topic.spark, tmp_path, rows, last)


def decode(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Read events from bytes, a batch at a time."""
    for batch in batches:
        records = np.frombuffer(b"".join(batch["value"].to_pylist()), RECORD)
        times = pa.array(records["micros"].astype("int64"), pa.int64()).cast(pa.timestamp("us", "UTC"))
        keys = pa.array([key.decode() for key in records["key"].tolist()])
        yield pa.RecordBatch.from_arrays([times, keys, pa.array(records["v"].astype("int64"))], ["ts", "k", "v"])


def test_bytes(topic: Topic, tmp_path: Path) -> None:
    rows: list[Event] = [(second, key or "z", abs(value)) for second, key, value in some_events(topic.name, 800)]
    last = last_event(rows)
    time_and_value = ("lpad(hex(unix_micros(ts)), 16, '0')", "lpad(hex(v), 8, '0')")
    packed = "concat(unhex({}), CAST(k AS BINARY), unhex({}))".format(*time_and_value)
    topic.write([*rows, last], F.expr(packed))
    assert topic.batch().where(f"length(value) <> {RECORD.itemsize}").isEmpty()
    run(topic.stream().select("value").mapInArrow(decode, "ts timestamp, k string, v long"), tmp_path)
    same_as_batch(topic.spark, tmp_path, rows, last)


def test_an_idle_partition_holds_nothing_back_and_may_come_too_late(topic: Topic, tmp_path: Path) -> None:
    """Spark has one watermark for all partitions, behind the latest event of any."""
    rows = some_events(topic.name, 600)
    last = last_event(rows)
    topic.write([*rows, last], as_json(), partitions=[0, 1])
    stream = from_json(topic.stream())
    query = run(stream, tmp_path)
    assert mt.progress(query).late == 0
    same_as_batch(topic.spark, tmp_path, rows, last)  # all windows are closed, though two partitions are idle

    in_time, too_late = (last[0] - 25, "b", 7), (50.0, "b", 1000)
    after = last_event([last])
    topic.write([in_time, too_late], as_json(), partitions=[3])
    topic.write([after], as_json(), partitions=[0])
    query = run(stream, tmp_path)
    assert mt.progress(query).late > 0
    same_as_batch(topic.spark, tmp_path, [*rows, last, in_time], after)  # one counts, the other does not


def test_a_broker_is_stopped_and_comes_back(topic: Topic, broker: Broker, tmp_path: Path) -> None:
    rows = some_events(topic.name, 1200)
    topic.write(rows[:600], as_json())
    out = mt.aggregate(from_json(topic.stream()), **ASKED)
    writer = out.writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
    query = patiently(lambda: writer.start(str(tmp_path / "rows"), "parquet"), StreamingQuery.processAllAvailable)
    try:
        run_id = query.runId
        broker.stop(kill=True)
        time.sleep(5)  # long enough for the query to notice
        assert query.isActive
        broker.start()
        last = last_event(rows)
        topic.write([*rows[600:], last], as_json())
        query.processAllAvailable()
        assert query.isActive
        assert query.runId == run_id
    finally:
        query.stop()
    same_as_batch(topic.spark, tmp_path, rows, last)
