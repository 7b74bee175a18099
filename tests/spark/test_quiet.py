"""A query that needs only its first rows prints those rows, and nothing of how Spark stops the others."""

from __future__ import annotations

import subprocess
import sys

import pytest

SESSION = """
import sys
import muntin as mt
from pyspark.sql import functions as F

small = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": 2}
batches = {"spark.sql.execution.arrow.maxRecordsPerBatch": 2000}
spark = mt.session(master="local[2]", config=small | batches)
number = F.col("id")
df = spark.range(0, 200_000, 1, 2).select(
    F.timestamp_seconds(number).alias("ts"), (number % 3).alias("device"), (number % 977).alias("v")
)

def look(frame):
    frame.show(3)
    assert len(frame.limit(5).collect()) == 5
"""

QUIET = """
windows = [mt.hopping("1 minute", "5 seconds"), mt.tumbling("1 minute"), mt.tumbling("1 day")]
for shape in ("rows_kernel", "source_slices_kernel"):
    print("now", shape, file=sys.stderr)
    look(mt.aggregate(df, "ts", "device", windows, [mt.min("v"), mt.avg("v")], strategy=shape))
print("now rolling", file=sys.stderr)
look(mt.rolling(df, "ts", "device", ["1 hour", "1 day"], [mt.sum("v"), mt.max("v")], strategy="kernel"))
"""

LOUD = """
look(df.mapInArrow(lambda batches: batches, df.schema))
print("now an error", file=sys.stderr)
look(mt.aggregate(df, "ts", (), mt.tumbling("1 day"), mt.sum(F.lit(2**62)), strategy="rows_kernel"))
"""


def ran(script: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", SESSION + script]
    return subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)


@pytest.mark.long
def test_the_first_rows_come_quietly() -> None:
    run = ran(QUIET)
    assert run.returncode == 0, run.stderr
    assert run.stdout.count("only showing top 3 rows") == 3
    assert "Traceback" not in run.stderr, run.stderr
    assert "Error" not in run.stderr, run.stderr


@pytest.mark.long
def test_plain_pyspark_is_not_quiet_and_errors_are_reported() -> None:
    """PySpark 4.3 reports a broken pipe for an identity function; when it no longer does, leaving.py can go."""
    run = ran(LOUD)
    plain, ours = run.stderr.split("now an error")
    assert "BrokenPipeError" in plain or "ConnectionResetError" in plain
    assert run.returncode != 0
    assert "ARITHMETIC_OVERFLOW" in ours
