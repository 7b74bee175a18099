"""A query in update mode whose current values a table keeps, and what plain Spark makes of the same events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.patience import patiently, to_the_end
from tests.spark.streams import Replay, by_instance

LENGTHS = ("10 seconds", "1 minute")
ASKED: dict[str, Any] = {
    "time": "ts",
    "by": "k",
    "windows": [mt.tumbling(length, id=length) for length in LENGTHS],
    "aggregates": [mt.sum("v"), mt.max("v")],
}
Values = dict[tuple[Any, ...], Any]
Write = Callable[[DataFrame, int], None]


def plain(replay: Replay) -> Values:
    """Give what plain Spark makes of all events in batch."""
    asked = (F.sum("v").alias("sum_v"), F.max("v").alias("max_v"))
    grouped = [replay.batch.groupBy(F.window("ts", length), "k").agg(*asked) for length in LENGTHS]
    named = [one.select(F.lit(id).alias("window_id"), "*") for id, one in zip(LENGTHS, grouped, strict=True)]
    return by_instance(named[0].union(named[1]).collect())


def run(replay: Replay, write: Write, checkpoint: str, **changes: Any) -> None:
    """Run the query over what it has not read yet, from a checkpoint."""
    out = mt.aggregate(replay.stream, **ASKED | changes, output="update", watermark="10 min", strategy="expand")
    writer = out.writeStream.outputMode("update").foreachBatch(write)
    writer = writer.option("checkpointLocation", str(replay.folder / checkpoint)).trigger(availableNow=True)
    patiently(writer.start, to_the_end)


def values(table: mt.UpsertTable, spark: SparkSession) -> Values:
    """Give what a table keeps."""
    return by_instance(table.read(spark).collect())
