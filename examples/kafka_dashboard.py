"""A dashboard over a Kafka topic: the current values of several windows, in a table and in a topic of their own.

    make kafka      # a broker on 127.0.0.1:9092; with docker: docker compose -f examples/compose.yaml up
    python examples/kafka_dashboard.py --jars "$(make -s kafka-jars)" --produce

--produce writes two hours of readings to the topic `readings` first. Started again, the program goes on where it was.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import muntin as mt

READINGS, BOARD = "readings", "dashboard"
"""The topics that are read and written."""
COLUMNS = "ts TIMESTAMP, device STRING, temperature DOUBLE"
WINDOWS = [mt.tumbling("1 minute"), mt.tumbling("15 minutes"), mt.hopping("1 hour", "5 minutes")]
INSTANCE = "window_id, window, device"


def produce(spark: SparkSession, servers: str) -> None:
    """Write two hours of readings: five devices, a reading each every ten seconds."""
    readings = spark.range(5 * 720).selectExpr(
        "timestamp '2024-05-01 09:00:00' + make_interval(0, 0, 0, 0, 0, 0, 10 * (id DIV 5)) AS ts",
        "concat('device-', id % 5) AS device",
        "round(20 + 3 * sin(id / 700) + id % 5, 2) AS temperature",
    )
    messages = readings.selectExpr("device AS key", "to_json(struct(*)) AS value")
    messages.write.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", READINGS).save()


def read(spark: SparkSession, servers: str) -> DataFrame:
    """Read the topic from its begin, as a stream of readings."""
    messages = spark.readStream.format("kafka").option("kafka.bootstrap.servers", servers)
    messages = messages.option("subscribe", READINGS).option("startingOffsets", "earliest")
    parsed = messages.load().selectExpr(f"from_json(CAST(value AS STRING), '{COLUMNS}') AS reading")
    return parsed.select("reading.*")


def current(readings: DataFrame) -> DataFrame:
    """Give the values of every window instance that has changed, in each micro-batch."""
    return mt.aggregate(
        readings,
        time="ts",
        by=["device"],
        windows=WINDOWS,
        aggregates=[mt.avg("temperature").alias("mean"), mt.max("temperature").alias("high"), mt.count()],
        watermark="10 minutes",
        output="update",
    )


def publish(table: mt.UpsertTable, servers: str) -> Callable[[DataFrame, int], None]:
    """Put every micro-batch into the table, and into a topic whose keys are the window instances."""

    def write(rows: DataFrame, batch: int) -> None:
        rows.persist()
        table.write(rows, batch)
        messages = rows.selectExpr(f"to_json(struct({INSTANCE})) AS key", "to_json(struct(*)) AS value")
        messages.write.format("kafka").option("kafka.bootstrap.servers", servers).option("topic", BOARD).save()
        rows.unpersist()

    return write


def main() -> None:
    """Read what is in the topic, and show the last hour of each device."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", default="localhost:9092", help="the brokers (localhost:9092)")
    parser.add_argument("--jars", required=True, help="the connector's jars, as spark.jars takes them")
    parser.add_argument("--folder", type=Path, default=Path("dashboard"), help="where table and checkpoint are kept")
    parser.add_argument("--produce", action="store_true", help="write readings to the topic first")
    asked = parser.parse_args()

    spark = mt.session(app="kafka dashboard", config={"spark.jars": asked.jars})
    if asked.produce:
        produce(spark, asked.servers)
    table = mt.UpsertTable(asked.folder / "current", by=["device"])
    board = current(read(spark, asked.servers)).writeStream.outputMode("update")
    board = board.foreachBatch(publish(table, asked.servers)).trigger(availableNow=True)
    query = board.option("checkpointLocation", str(asked.folder / "checkpoint")).start()
    query.awaitTermination()
    print(mt.progress(query))
    hours = table.read(spark).where("window_id = '1h/5m' AND window.end = timestamp '2024-05-01 11:00:00'")
    hours.select("device", "mean", "high", "count").orderBy("device").show()
    spark.stop()


if __name__ == "__main__":
    main()
