"""The benchmark of windows of other kinds: what it calls plain Spark gives as many rows as we do."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin_bench.experiments.frames import Case, asked, cases, plain
from muntin_bench.experiments.spark import events


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_plain_spark_gives_the_same(spark: SparkSession, tmp_path: Path, case: Case) -> None:
    df = events(spark, tmp_path, 4000, keys=4, per_second=0.4)
    theirs = told(plain(df, case.windows))
    assert theirs == told(mt.aggregate(df, "ts", "key", case.windows, asked()))
    assert len(theirs) >= len(case.windows)


def told(frame: DataFrame) -> list[tuple[object, ...]]:
    """Count the instances of every window and key, and the rows that they have."""
    groups = frame.groupBy("window_id", "key").agg(F.count("*").alias("n"), F.sum("count"), F.max("max_v"))
    return sorted(map(tuple, groups.collect()))
