"""A long run of a stream at great speed: neither heap nor state may grow."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from tempfile import TemporaryDirectory
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.choices import AnyStrategy
from muntin_bench.experiments.spark import Progress
from muntin_bench.experiments.stream import stream_session, tumbling
from muntin_bench.record import Row

ROWS_PER_BATCH = 20_000
STEP = 30 * 60_000
"""Milliseconds of stream time in a micro-batch; there is one every second if the machine keeps up."""
BEGIN = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1000)


def soak(
    minutes: float,
    progress: Progress,
    strategies: tuple[AnyStrategy, ...] = ("columnar", "chain", "independent"),
) -> Iterator[Row]:
    """Yield state and heap after every ten micro-batches of a stream that runs for some minutes."""
    spark = stream_session()
    for strategy in strategies:
        with TemporaryDirectory(ignore_cleanup_errors=True) as place:  # state is written in the background
            query = _started(spark, strategy, place)
            end, last = time.monotonic() + 60 * minutes, -10
            while time.monotonic() < end and query.isActive:
                time.sleep(1)
                latest = query.lastProgress
                if latest is None or latest["batchId"] < last + 10:
                    continue
                last = latest["batchId"]
                progress(f"{strategy}: batch {last}, {mt.progress(query)}")
                yield _row(spark, strategy, latest)
            query.stop()


def _started(spark: SparkSession, strategy: AnyStrategy, place: str) -> Any:
    source = (
        spark.readStream.format("rate-micro-batch")
        .option("rowsPerBatch", ROWS_PER_BATCH)
        .option("advanceMillisPerBatch", STEP)
        .option("startTimestamp", BEGIN)
        .load()
    )
    spread = F.unix_millis("timestamp") + F.pmod(F.col("value"), F.lit(ROWS_PER_BATCH)) * (STEP // ROWS_PER_BATCH)
    events = source.select(
        F.timestamp_millis(spread).alias("ts"),
        F.pmod(F.hash("value"), F.lit(100)).alias("key"),
        F.sin("value").alias("v"),
    )
    aggregates = [mt.min("v"), mt.sum("v"), mt.count()]
    out = mt.aggregate(events, "ts", "key", list(tumbling(10)), aggregates, strategy=strategy, watermark="1 minute")
    writer = out.writeStream.format("noop").outputMode("append").option("checkpointLocation", place)
    return writer.trigger(processingTime="1 second").start()


def _row(spark: SparkSession, strategy: str, latest: Any) -> Row:
    gc.collect()
    runtime = spark._jvm.java.lang.Runtime.getRuntime()  # type: ignore[union-attr]
    spark._jvm.java.lang.System.gc()  # type: ignore[union-attr]
    return {
        "strategy": strategy,
        "batch": latest["batchId"],
        "heap_bytes": runtime.totalMemory() - runtime.freeMemory(),
        "state_rows": sum(op["numRowsTotal"] for op in latest["stateOperators"]),
        "state_bytes": sum(op["memoryUsedBytes"] for op in latest["stateOperators"]),
        "milliseconds": latest["durationMs"]["triggerExecution"],
    }
