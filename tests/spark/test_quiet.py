"""A query that needs only its first rows prints those rows, and nothing of how Spark stops the others."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

SCRIPT = """
import sys
import muntin as mt
from pyspark.sql import functions as F

spark = mt.session(master="local[2]", config={"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": 2})
number = F.col("id")
df = spark.range(0, 400_000, 1, 4).select(
    F.timestamp_seconds(number).alias("ts"), (number % 3).alias("device"), (number % 977).alias("v")
)

def few(frame):
    frame.show(3)
    assert len(frame.limit(5).collect()) == 5
    assert frame.first() is not None
    assert len(frame.take(2)) == 2

if sys.argv[1] == "plain":
    few(df.mapInArrow(lambda batches: batches, df.schema))
elif sys.argv[1] == "rolling":
    few(mt.rolling(df, "ts", "device", ["1 hour", "1 day"], [mt.sum("v"), mt.max("v")], strategy="kernel"))
elif sys.argv[1] == "error":
    few(mt.aggregate(df, "ts", (), mt.tumbling("1 day"), mt.sum(F.lit(2**62)), strategy="rows_kernel"))
else:
    windows = [mt.tumbling("1 minute"), mt.hopping("1 hour", "1 minute"), mt.tumbling("1 day")]
    few(mt.aggregate(df, "ts", "device", windows, [mt.min("v"), mt.avg("v")], strategy=sys.argv[1]))
"""


def ran(case: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", SCRIPT, case]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, env=os.environ, check=False)


@pytest.mark.parametrize("shape", ["rolling", "rows_kernel", "slices_kernel", "source_slices_kernel", "source_kernel"])
def test_the_first_rows_come_quietly(shape: str) -> None:
    run = ran(shape)
    assert run.returncode == 0, run.stderr
    assert "only showing top 3 rows" in run.stdout
    assert "Traceback" not in run.stderr
    assert "Error" not in run.stderr


def test_errors_of_kernels_are_still_reported() -> None:
    run = ran("error")
    assert run.returncode != 0
    assert "ARITHMETIC_OVERFLOW" in run.stderr


def test_plain_pyspark_is_not_quiet() -> None:
    """PySpark 4.3 prints a broken pipe for an identity function; when it no longer does, leaving.py can go."""
    run = ran("plain")
    assert run.returncode == 0, run.stderr
    assert "BrokenPipeError" in run.stderr or "ConnectionResetError" in run.stderr
