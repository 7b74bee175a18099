"""How long after the event that closes a window its rows come out: Flink record by record, Spark in micro-batches.

A producer sends events to a Kafka topic at a steady pace, each with the time at which it is sent. Both engines write
the rows of closed windows to another topic. A window is closed by the first event whose time is not before its end plus
the watermark's delay, so its rows' latency is the time of their messages less that time.
"""

from __future__ import annotations

import math
import subprocess
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin_bench.experiments.flink import EVERY, Flink
from muntin_bench.experiments.spark import Progress
from muntin_bench.record import Row

PACED = Path(__file__).with_name("flink_paced.py")
DELAY = 1
"""Seconds of the watermark's delay."""
RATE, KEYS = 1000, 100
WINDOWS = tuple(mt.tumbling(f"{seconds} s") for seconds in range(2, 22, 2))
AFTER = 5
"""Seconds that an engine gets for its last rows."""
LEAST = 100
"""Rows that tell a latency."""
STRATEGIES = ("auto", "expand")


def flink_latency(servers: str, jars: str, flink_folder: Path, seconds: int, progress: Progress) -> Iterator[Row]:
    """Yield the latency of rows of each engine, one after the other, for the same windows at the same pace."""
    flink = Flink(flink_folder)
    spark: SparkSession = mt.session(app="muntin bench", config={"spark.driver.memory": "4g", "spark.jars": jars})
    for name in ("flink", *STRATEGIES):
        topic = f"{name}-{uuid.uuid4().hex}"
        with (
            TemporaryDirectory(ignore_cleanup_errors=True) as place,
            _paced(flink, servers, topic, seconds) as producer,
        ):
            begin = time.time()
            running = (
                _flink(flink, servers, topic, place) if name == "flink" else _muntin(spark, servers, topic, place, name)
            )
            with running as report:
                producer.wait()
                time.sleep(AFTER)
        row = {"engine": name, "seconds": seconds, "rate": RATE, "windows": len(WINDOWS), **report}
        row |= _latency(spark, servers, f"{topic}-rows", begin + seconds / 2)
        progress(f"{name}: p50 {row['p50_ms']} ms, p99 {row['p99_ms']} ms")
        yield row


@contextmanager
def _paced(flink: Flink, servers: str, topic: str, seconds: int) -> Iterator[subprocess.Popen[bytes]]:
    """Send events, from the first that has arrived, as long as the engine runs and no longer than that."""
    size = [str(number) for number in (RATE, seconds, KEYS)]
    producer = subprocess.Popen([str(flink.python), str(PACED), servers, topic, *size], stdout=subprocess.PIPE)
    assert producer.stdout is not None  # it is a pipe
    try:
        if not producer.stdout.readline():
            raise RuntimeError(f"no event can be sent to {servers}. Is there a broker? make kafka starts one.")
        yield producer
    finally:
        producer.kill()
        producer.communicate()


@contextmanager
def _flink(flink: Flink, servers: str, topic: str, place: str) -> Iterator[Row]:
    """Run Flink, with checkpoints, until the events have been sent."""
    at = {"connector": "kafka", "properties.bootstrap.servers": servers, "format": "json"}
    first = {"scan.startup.mode": "earliest-offset", "json.timestamp-format.standard": "SQL"}
    request = flink.request(
        WINDOWS,
        "RocksDB, checkpoints",
        Path(place),
        watermark=DELAY,
        source={**at, **first, "topic": topic},
        sink={**at, "topic": f"{topic}-rows"},
    )
    log = Path(place) / "log"
    with flink.jobs(log) as jobs:
        assert jobs.stdin is not None  # it is a pipe
        jobs.stdin.write(request)
        jobs.stdin.flush()
        yield {"checkpoints": EVERY}
        if jobs.poll() is not None:
            raise RuntimeError(f"Flink has ended: {log.read_text()[-2000:]}")


@contextmanager
def _muntin(spark: SparkSession, servers: str, topic: str, place: str, strategy: Any) -> Iterator[Row]:
    """Run a query, a micro-batch after the other, until the events have been sent."""
    out = mt.aggregate(
        _events(spark, servers, topic),
        time="ts",
        by="key",
        windows=WINDOWS,
        aggregates=[mt.min("v").alias("low"), mt.sum("v").alias("total"), mt.count().alias("n")],
        watermark=f"{DELAY} seconds",
        strategy=strategy,
    )
    rows = out.select(F.to_json(F.struct(F.unix_seconds("window.end").alias("until"), "key", "n")).alias("value"))
    at = {"kafka.bootstrap.servers": servers, "topic": f"{topic}-rows", "checkpointLocation": f"{place}/state"}
    query = rows.writeStream.format("kafka").options(**at).start()
    report: Row = {"checkpoints": "every micro-batch"}
    try:
        yield report
        if (error := query.exception()) is not None:
            raise error
        busy = [each["durationMs"]["triggerExecution"] for each in query.recentProgress if each["numInputRows"]]
        report["batch_p50_ms"] = round(median(busy)) if busy else None
    finally:
        query.stop()


def _events(spark: SparkSession, servers: str, topic: str) -> DataFrame:
    at = {"kafka.bootstrap.servers": servers, "subscribe": topic, "startingOffsets": "earliest"}
    messages = spark.readStream.format("kafka").options(**at).load()
    event = F.from_json(F.col("value").cast("string"), "ts timestamp, key int, v double")
    return messages.select(event.alias("event")).select("event.*")


def _latency(spark: SparkSession, servers: str, topic: str, since: float) -> Row:
    """Read when rows came out, and take off when their windows were closed.

    Windows that end earlier than since are left out: until then the engine starts and catches up.
    """
    at = {"kafka.bootstrap.servers": servers, "subscribe": topic}
    messages = spark.read.format("kafka").options(**at).load()
    until = F.get_json_object(F.col("value").cast("string"), "$.until").cast("long")
    late = F.unix_millis("timestamp") - (until + DELAY) * 1000
    wanted = until >= math.ceil(since)
    each = [row[0] for row in messages.where(wanted).select(late).collect()]
    if len(each) < LEAST:
        raise RuntimeError(f"only {len(each)} rows came out, which tells little. Give more --seconds.")
    cuts = quantiles(each, n=100)
    return {"rows": len(each), "p50_ms": round(cuts[49]), "p99_ms": round(cuts[98]), "most_ms": max(each)}
