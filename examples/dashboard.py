"""A dashboard over IoT readings: eight windows for every device, computed together.

python examples/dashboard.py
"""

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt

START = 1_767_225_600
"""The first reading: 2026-01-01 in UTC, in seconds since 1970."""
DAY = 86_400

WINDOWS = "5 minutes, 15 minutes, 30 minutes, 1 hour, 6 hours, 1 day, 1 hour every 5 minutes, 6 hours every 30 minutes"
AGGREGATES = [
    mt.count().alias("readings"),
    mt.min("temperature").alias("low"),
    mt.max("temperature").alias("high"),
    mt.avg("temperature").alias("mean"),
]


def readings(spark: SparkSession, rows: int) -> DataFrame:
    """Make two days of readings of twenty devices."""
    second = F.col("id") * (2 * DAY / rows)
    return spark.range(rows).select(
        F.timestamp_seconds(START + second).alias("ts"),
        F.format_string("device-%02d", F.col("id") * 7 % 20).alias("device"),
        F.round(15 + 8 * F.sin(second * 6.2832 / DAY) + F.randn(1), 2).alias("temperature"),
    )


def main(spark: SparkSession, rows: int = 500_000) -> None:
    """Compute the dashboard, show one device at one moment, and compare a window with plain Spark."""
    df = readings(spark, rows).cache()
    board = mt.aggregate(df, time="ts", by="device", windows=WINDOWS, aggregates=AGGREGATES).cache()

    now = F.timestamp_seconds(F.lit(START + DAY))
    device = board.where((F.col("device") == "device-07") & (F.col("window.end") == now))
    columns = ["readings", "low", "high", F.round("mean", 2).alias("mean")]
    print(f"device-07 after one day, out of {board.count():,} rows of all devices and windows:")
    device.orderBy("readings", "window_id").select("window_id", "window.start", *columns).show(truncate=False)

    hour = F.window("ts", "1 hour", "5 minutes").alias("window")
    plain = df.groupBy(hour, "device").agg(F.count("*"), F.min("temperature"), F.max("temperature"))
    ours = board.where("window_id = '1h/5m'").select("window", "device", "readings", "low", "high")
    assert ours.exceptAll(plain).isEmpty()
    assert plain.exceptAll(ours).isEmpty()
    print(f"The {ours.count():,} rows of 1h/5m are those of groupBy(window(...)) in plain Spark.\n")

    plan = mt.plan(WINDOWS, mt.min("temperature"), rate=f"{rows // 20}/2d")
    print(plan.explain())


if __name__ == "__main__":
    main(mt.session())
