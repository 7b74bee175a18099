"""A program that runs the README's blocks of Python in the current folder, with Muntin alone: tests/test_wheel.py."""

import re
import sys
from pathlib import Path
from typing import Any

import muntin as mt

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MINUTE = "timestamp'2024-05-01 09:00:00' + make_interval(0, 0, 0, 0, 0, id, 0)"
PATIENT = {"spark.network.timeout": "600s", "spark.python.authenticate.socketTimeout": "600s"}


def main(document: str) -> None:
    """Run every block that is whole; then run its first query on a stream, and wait for all streams."""
    spark = mt.session(config=PATIENT)
    readings = spark.range(240).selectExpr(
        f"{MINUTE} AS ts",
        "concat('d', 1 + id % 3) AS device",
        "if(id % 3 = 2, 'south', 'north') AS region",
        "if(id % 4 = 0, 'hot', 'ok') AS state",
        "20D + id % 7 AS temperature",
    )
    readings.write.parquet("readings")
    spark.range(60).selectExpr(
        f"{MINUTE} AS ts", "concat('c', id % 4) AS card", "10D + id % 7 AS amount"
    ).write.parquet("payments")
    scope: dict[str, Any] = {"mt": mt, "spark": spark, "readings": spark.read.parquet("readings")}
    blocks = [block for block in BLOCK.findall(Path(document).read_text(encoding="utf-8")) if "…\n" not in block]
    for block in blocks:
        exec(compile(block, document, "exec"), scope)  # noqa: S102 - our own document
    spark = scope["spark"]
    stream = spark.readStream.schema(scope["readings"].schema).parquet("readings")
    windows = [mt.tumbling("20 minutes"), mt.hopping("1 hour", "5 minutes")]
    out = mt.aggregate(
        stream, "ts", "device", windows, mt.min("temperature"), watermark="10 minutes", strategy="kernel"
    )
    out.writeStream.option("checkpointLocation", "of-wheel").start("given", format="parquet")
    ran = spark.streams.active
    for query in ran:
        query.processAllAvailable()
        query.stop()
    rows = spark.read.parquet("given").count()
    assert rows > 0
    print(f"blocks ran: {len(blocks)}, streams ran: {len(ran)}, rows: {rows}")  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
