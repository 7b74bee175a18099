"""A stream whose windows come and go: a window is added between two runs, and no state is lost.

python examples/stream_registry.py
"""

import tempfile
from pathlib import Path

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import muntin as mt

START = 1_767_225_600
"""The first reading: 2026-01-01 in UTC, in seconds since 1970."""
SCHEMA = "ts TIMESTAMP, device STRING, temperature DOUBLE"


def arrive(spark: SparkSession, folder: Path, hours: range, rows: int) -> None:
    """Write a file of readings for every hour."""
    for hour in hours:
        second = START + 3600 * hour + F.col("id") * 3600 / rows
        made = spark.range(0, rows, 1, 1).select(
            F.timestamp_seconds(second).alias("ts"),
            F.format_string("device-%d", F.col("id") % 5).alias("device"),
            (F.col("id") % 10 + hour).cast("double").alias("temperature"),
        )
        made.write.mode("append").parquet(str(folder / "readings"))


def run(spark: SparkSession, folder: Path, registry: mt.WindowRegistry) -> None:
    """Take what has arrived, and stop; the checkpoint remembers the rest."""
    readings = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder / "readings"))
    means = mt.aggregate(
        readings, "ts", "device", registry, [mt.avg("temperature"), mt.count()], watermark="10 minutes"
    )
    writer = means.writeStream.format("parquet").option("checkpointLocation", str(folder / "checkpoint"))
    writer.trigger(availableNow=True).start(str(folder / "means")).awaitTermination()


def show(spark: SparkSession, folder: Path, registry: mt.WindowRegistry) -> None:
    """Print the registry, and what every window has given."""
    for window in registry.list():
        print(f"  {window}")
    given = spark.read.parquet(str(folder / "means"))
    spans = given.groupBy("window_id").agg(
        F.count("*").alias("rows"), F.min("window.start").alias("first"), F.max("window.end").alias("last")
    )
    spans.orderBy("window_id").show(truncate=False)


def main(spark: SparkSession, rows: int = 1_000) -> None:
    """Run a stream with one window, add another, and run it again."""
    with tempfile.TemporaryDirectory() as path:
        folder = Path(path)
        registry = mt.WindowRegistry(folder / "windows")
        registry.add(mt.tumbling("30 minutes"))
        arrive(spark, folder, range(4), rows)
        run(spark, folder, registry)
        print("After four hours of readings:")
        show(spark, folder, registry)

        registry.add(mt.hopping("1 hour", "15 minutes"))
        arrive(spark, folder, range(4, 8), rows)
        run(spark, folder, registry)
        print("1h/15m was added, and starts with its next complete instance:")
        show(spark, folder, registry)

        given = spark.read.parquet(str(folder / "means"))
        batch = mt.aggregate(
            spark.read.parquet(str(folder / "readings")),
            *("ts", "device", "30 minutes, 1 hour every 15 minutes", [mt.avg("temperature"), mt.count()]),
        )
        assert given.exceptAll(batch).isEmpty()
        print("Every row is one that batch gives for the same readings.")


if __name__ == "__main__":
    main(mt.session())
