"""Rows and times from the footers of Parquet files: exact where all rows are read, an estimate elsewhere."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.spark.input import footers

ROWS, STEP = 12_000, 7
"""Rows of a folder, and the seconds between two of them."""
SPAN = (ROWS - 1) * STEP * 10**6


def write(folder: Path, unit: str = "us", files: int = 3, **options: Any) -> Path:
    times = [datetime(1969, 12, 31, tzinfo=UTC) + timedelta(seconds=STEP * number) for number in range(ROWS)]
    each = -(-ROWS // files)
    for number in range(files):
        part = slice(number * each, (number + 1) * each)
        table = pa.table({"ts": pa.array(times[part], pa.timestamp(unit, "UTC")), "v": range(ROWS)[part]})
        pq.write_table(table, folder / f"{number:03}.parquet", row_group_size=1_500, **options)
    return folder


def statistics(events: DataFrame, time: str = "ts") -> mt.Statistics:
    return mt.explain(events, time, "v", "1 hour, 2 hours", mt.count()).statistics


def test_rows_and_times_are_those_of_the_footers(spark: SparkSession, tmp_path: Path) -> None:
    known = statistics(spark.read.parquet(str(write(tmp_path))))
    assert (known.rows, known.span) == (ROWS, SPAN)
    assert known.source == "the footers of 3 files and the first 4000 rows"


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_of_all_units_are_microseconds(tmp_path: Path, unit: str) -> None:
    write(tmp_path, unit, files=1)
    first, last = footers._range(pq.read_metadata(tmp_path / "000.parquet"), "ts") or (0, 0)
    assert first == -86_400 * 10**6
    assert last - first == SPAN


def test_a_clock_that_went_wrong_does_not_make_the_time_long(spark: SparkSession, tmp_path: Path) -> None:
    """Chunks of time would be as long, and one task would have all rows of a key."""
    write(tmp_path)
    far = pa.table({"ts": pa.array([datetime(1900, 1, 1, tzinfo=UTC)], pa.timestamp("us", "UTC")), "v": [1]})
    pq.write_table(far, tmp_path / "999.parquet")
    known = statistics(spark.read.parquet(str(tmp_path)))
    assert known.rows == ROWS + 1
    assert abs(known.span / SPAN - 1) < 0.2


def test_a_renamed_time_is_the_same_column(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.read.parquet(str(write(tmp_path))).withColumnRenamed("ts", "at").select("v", "at")
    assert statistics(events, "at").span == SPAN


def test_a_computed_time_is_not_that_of_the_files(spark: SparkSession, tmp_path: Path) -> None:
    events = spark.read.parquet(str(write(tmp_path))).withColumn("ts", F.expr("timestamp_micros(v * 1000000L)"))
    known = statistics(events)
    assert known.rows == ROWS
    assert known.span < SPAN / 3


def test_a_filter_leaves_an_upper_bound_of_rows(spark: SparkSession, tmp_path: Path) -> None:
    known = statistics(spark.read.parquet(str(write(tmp_path))).where(F.col("v") > 100))
    assert known.rows == ROWS
    assert known.source == "the footers of 3 files, before filters, and the first 4000 rows"
    assert known.span != SPAN


def test_times_of_96_bits_are_not_in_footers(spark: SparkSession, tmp_path: Path) -> None:
    known = statistics(spark.read.parquet(str(write(tmp_path, use_deprecated_int96_timestamps=True))))
    assert known.rows == ROWS
    assert abs(known.span / SPAN - 1) < 0.2, "the first rows tell"


def test_of_many_files_some_footers_are_read(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(footers, "MOST_FOOTERS", 4)
    known = statistics(spark.read.parquet(str(write(tmp_path, files=10))))
    assert known.source == "the footers of 4 of 10 files and the first 4000 rows"
    assert abs(known.rows / ROWS - 1) < 0.1
    assert SPAN / 4 < known.span <= SPAN


def test_columns_in_the_names_of_folders(spark: SparkSession, tmp_path: Path) -> None:
    for day in ("2024-01-01", "2024-01-02"):
        (tmp_path / f"day={day}").mkdir()
        write(tmp_path / f"day={day}")
    events = spark.read.parquet(str(tmp_path)).withColumn("ts", F.col("day").cast("timestamp"))
    assert statistics(events).rows == 2 * ROWS
    assert statistics(spark.read.parquet(str(tmp_path))).span == SPAN


@pytest.mark.parametrize("change", ["join", "union", "limit", "memory"])
def test_anything_else_is_estimated_by_spark(spark: SparkSession, tmp_path: Path, change: str) -> None:
    events = spark.read.parquet(str(write(tmp_path)))
    others = {
        "join": events.join(spark.range(3).withColumnRenamed("id", "v"), "v", "left"),
        "union": events.union(events),
        "limit": events.limit(9_000),
        "memory": spark.createDataFrame(events.toArrow()),
    }
    assert "footers" not in statistics(others[change]).source


def test_files_that_cannot_be_read_are_logged(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    events = spark.read.parquet(str(write(tmp_path)))
    damage = OSError("the file is damaged")
    monkeypatch.setattr(pq, "read_metadata", Mock(side_effect=damage))
    with caplog.at_level(logging.INFO, "muntin.spark"):
        assert statistics(events).source.startswith("Spark's estimate")
    assert "footers of Parquet files cannot be read: OSError" in caplog.text


def test_the_figures_of_many_queries_are_those_of_the_footers(spark: SparkSession, tmp_path: Path) -> None:
    queries = [
        mt.Query("ts", (), "1 hour, 2 hours", mt.count(), name="all"),
        mt.Query("ts", "v", "1 hour", mt.count(), where="v > 5", name="some"),
    ]
    plan = mt.explain(spark.read.parquet(str(write(tmp_path))), queries)
    assert "12,000 rows" in str(plan)
