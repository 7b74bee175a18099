"""A streaming query in a process of its own, for tests that kill it.

usage: python -m tests.spark.stream_job FOLDER STRATEGY MASTER
Reads FOLDER/events, writes FOLDER/rows, keeps FOLDER/checkpoint.
"""

import sys
from pathlib import Path
from typing import Any, cast

import muntin as mt
from muntin.choices import AnyStrategy
from tests.spark.patience import PATIENT, patiently, to_the_end

WINDOWS = [mt.tumbling("20 s"), mt.hopping("1 min", "20 s"), mt.tumbling("90 s", id="long")]
FRAMED = [mt.session_window("10 s"), mt.hopping(mt.rows(20), mt.rows(7)), mt.cumulating("2 min", "1 min")]
"""Windows of other kinds, which the ordered shape takes beside the others."""
AGGREGATES = [mt.count(), mt.sum("v"), mt.min("v"), mt.avg("v")]
ASKED: dict[str, Any] = {"time": "ts", "by": "k", "windows": WINDOWS, "aggregates": AGGREGATES}
WATERMARK = "30 seconds"
CONFIG = PATIENT | {"spark.sql.shuffle.partitions": "2"}


def main(folder: Path, strategy: AnyStrategy, master: str) -> None:
    spark = mt.session(app="stream job", master=master, config=CONFIG)
    registry = folder / "windows"
    asked = ASKED | ({"windows": mt.WindowRegistry(registry)} if registry.exists() else {})
    asked |= {"windows": [*WINDOWS, *FRAMED], "order_by": "v"} if strategy == "ordered" else {}
    events = spark.readStream.schema("ts timestamp, k string, v long").option("maxFilesPerTrigger", 1)
    out = mt.aggregate(
        events.parquet(str(folder / "events")),
        **asked,
        strategy=strategy,
        watermark=WATERMARK,
    )
    writer = out.writeStream.format("parquet").option("path", str(folder / "rows"))
    writer = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
    patiently(writer.start, to_the_end)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), cast(AnyStrategy, sys.argv[2]), sys.argv[3])
