"""Streaming queries over a topic in a process of its own, for tests that kill it.

usage: python -m tests.kafka.job SERVERS TOPIC FOLDER JARS
Reads TOPIC. Writes the rows of closed windows to FOLDER/rows and to the topic TOPIC-rows, and the current values of
open ones to the table FOLDER/current. Each query keeps its checkpoint in FOLDER/checkpoints.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import muntin as mt
from tests.kafka.topics import ASKED, Topic, from_json
from tests.spark.patience import PATIENT, patiently, to_the_end

ROWS_OF_A_BATCH = 400
KEYS = ("window_id", "window", "k")


def as_messages(rows: DataFrame) -> DataFrame:
    """Write a window instance's row as a message, whose key is the instance."""
    values = [name for name in rows.columns if name not in KEYS]
    return rows.select(
        F.to_json(F.struct(*KEYS)).alias("key"),
        F.to_json(F.struct(*KEYS, *values)).alias("value"),
    )


def starts(topic: Topic, folder: Path) -> Iterator[Callable[[], StreamingQuery]]:
    """Yield how each query is started."""
    events = from_json(topic.stream(maxOffsetsPerTrigger=str(ROWS_OF_A_BATCH)))
    closed = mt.aggregate(events, **ASKED)
    current = mt.aggregate(events, **ASKED, output="update")
    place = {"kafka.bootstrap.servers": topic.servers, "topic": f"{topic.name}-rows"}
    table = mt.UpsertTable(folder / "current", by="k")
    writers = {
        "rows": closed.writeStream.format("parquet").option("path", str(folder / "rows")),
        "topic": as_messages(closed).writeStream.format("kafka").options(**place),
        "current": current.writeStream.outputMode("update").foreachBatch(table.write),
    }
    for name, writer in writers.items():
        checkpoint = str(folder / "checkpoints" / name)
        yield writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start


def main(servers: str, name: str, folder: Path, jars: str) -> None:
    """Run all queries side by side, to the end of the topic."""
    config = PATIENT | {"spark.jars": jars, "spark.sql.shuffle.partitions": "2"}
    spark = mt.session(app="kafka job", master="local[2]", config=config)
    with ThreadPoolExecutor() as threads:
        for _ in threads.map(lambda start: patiently(start, to_the_end), starts(Topic(spark, servers, name), folder)):
            pass
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]), sys.argv[4])
