"""Topics for tests: events written to chosen partitions, and read as a batch or as a stream."""

from __future__ import annotations

import random
import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.cases import plain_spark
from tests.spark.patience import LONG
from tests.spark.streams import BEGIN, Event
from tools.kafka.broker import PARTITIONS

SCHEMA = "ts timestamp, k string, v long"
WINDOWS = [mt.tumbling("20 s"), mt.hopping("1 min", "20 s"), mt.tumbling("90 s", id="long")]
ASKED: dict[str, Any] = {
    "time": "ts",
    "by": "k",
    "windows": WINDOWS,
    "aggregates": [mt.count().alias("n"), mt.sum("v").alias("total"), mt.min("v").alias("low")],
    "watermark": "30 seconds",
}
LAST = timedelta(minutes=10)
"""How much later than all others the event is that closes their windows."""
WAITS = {"kafka.default.api.timeout.ms": "900000"}
"""A query waits so long for a broker that does not answer."""


@dataclass(frozen=True)
class Topic:
    """A topic of a broker."""

    spark: SparkSession
    servers: str
    name: str

    @property
    def place(self) -> dict[str, str]:
        """Say where it is, as the source takes it."""
        return {"kafka.bootstrap.servers": self.servers, "subscribe": self.name, "startingOffsets": "earliest"}

    def create(self) -> None:
        """Make it, and wait until every partition takes messages.

        A producer that makes a topic by its first message may miss the leader of a partition until it gives up.
        """
        java: Any = self.spark._jvm
        settings = java.java.util.Properties()
        settings.put("bootstrap.servers", self.servers)
        client = java.org.apache.kafka.clients.admin.Admin.create(settings)
        default = java.java.util.Optional.empty()
        asked = java.org.apache.kafka.clients.admin.NewTopic(self.name, default, default)
        client.createTopics(java.java.util.List.of(asked)).all().get()
        deadline = time.monotonic() + LONG
        while not self._leads(client.describeTopics(java.java.util.List.of(self.name)).allTopicNames().get()):
            assert time.monotonic() < deadline, f"{self.name} has a partition without a leader"
            time.sleep(0.1)
        client.close()

    def _leads(self, described: Any) -> bool:
        partitions = described[self.name].partitions()
        return len(partitions) == PARTITIONS and all(one.leader() is not None for one in partitions)

    def write(self, rows: list[Event], value: Column, partitions: Iterable[int] = range(PARTITIONS)) -> None:
        """Write events in their order, each to one of the partitions."""
        chosen = list(partitions)
        frame = event_frame(self.spark, rows).withColumn("row", F.monotonically_increasing_id())
        places = F.get(F.array(*map(F.lit, chosen)), (F.col("row") % len(chosen)).cast("int"))
        messages = frame.select(F.col("k").alias("key"), value.alias("value"), places.alias("partition"))
        messages.write.format("kafka").options(**{"kafka.bootstrap.servers": self.servers, "topic": self.name}).save()

    def batch(self) -> DataFrame:
        """Read all that is there."""
        return self.spark.read.format("kafka").options(**self.place).load()

    def stream(self, **options: str) -> DataFrame:
        """Read what is there and what comes."""
        return self.spark.readStream.format("kafka").options(**self.place, **WAITS, **options).load()


def some_events(seed: str, count: int, begin: float = 20) -> list[Event]:
    """Give events out of order within the watermark, in whole milliseconds, as JSON has them."""
    r = random.Random(seed)
    return [
        (round(begin + number * 0.2 - r.uniform(0, 12), 3), r.choice(["a", "b", "c", None]), r.randint(-99, 99))
        for number in range(count)
    ]


def last_event(rows: list[Event]) -> Event:
    """Give an event that closes the windows of all others."""
    return max(row[0] for row in rows) + LAST.total_seconds(), "a", 0


def event_frame(spark: SparkSession, rows: list[Event]) -> DataFrame:
    """Give events as a batch, in one part, so that their order is kept."""
    named = [(BEGIN + timedelta(seconds=second), key, value) for second, key, value in rows]
    return spark.createDataFrame(named, SCHEMA).coalesce(1)


def expected(spark: SparkSession, rows: list[Event]) -> DataFrame:
    """Give what a union of window aggregations gives for events, as a Spark user writes it."""
    plain = [F.count(F.lit(1)).alias("n"), F.sum("v").alias("total"), F.min("v").alias("low")]
    return plain_spark(event_frame(spark, rows), "ts", ["k"], WINDOWS, plain)


def as_json() -> Column:
    """Write an event as JSON."""
    return F.to_json(F.struct("ts", "k", "v"))


def from_json(messages: DataFrame) -> DataFrame:
    """Read events from JSON."""
    return messages.select(F.from_json(F.col("value").cast("string"), SCHEMA).alias("event")).select("event.*")
