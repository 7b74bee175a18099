"""What results materialise is their own: a new call reads anew, and releasing one takes nothing from another."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt

BEGIN = datetime(2024, 5, 1, 12, tzinfo=UTC)
FEW = mt.Statistics(rows=10, keys=1, span="1 minute")
QUERIES = [
    mt.Query("ts", "k", "1 hour", [mt.count().alias("n"), mt.sum("v")], where="v >= 0", name="by key"),
    mt.Query("ts", (), "1 hour", mt.count().alias("n"), name="all"),
]
STATEMENTS = """
    -- name: by key
    SELECT k, count(*) AS n FROM ev WHERE v >= 0 GROUP BY k, window(ts, '1 hour');
    -- name: all
    SELECT count(*) AS n FROM ev GROUP BY window(ts, '1 hour')
"""
CALLS = ("conditions", "fragments", "branches", "sql")


def grow(folder: Path, rows: int) -> Path:
    """Add a file as another process does: Spark hears nothing of it."""
    folder.mkdir(exist_ok=True)
    times = [BEGIN + timedelta(seconds=place) for place in range(rows)]
    table = pa.table({"ts": pa.array(times, pa.timestamp("us", "UTC")), "k": ["a"] * rows, "v": list(range(rows))})
    pq.write_table(table, folder / f"{len(list(folder.iterdir()))}.parquet")
    return folder


def evaluate(events: DataFrame, call: Any) -> mt.Results:
    if call == "sql":
        results: mt.Results = mt.sql(STATEMENTS, ev=events, strategy="conditions")
        return results
    return mt.evaluate(events, QUERIES, strategy=call, statistics=FEW)


def counted(rows: DataFrame) -> int:
    return int(rows.agg(F.sum("n")).collect()[0][0])


def cached(spark: SparkSession) -> int:
    return len(spark.sparkContext._jsc.getPersistentRDDs())


@pytest.mark.parametrize("call", CALLS)
def test_a_new_call_reads_files_that_were_added(spark: SparkSession, tmp_path: Path, call: str) -> None:
    def anew() -> mt.Results:
        return evaluate(spark.read.parquet(str(tmp_path / "events")), call)

    grow(tmp_path / "events", 10)
    before = cached(spark)
    with anew() as first:
        assert counted(first["all"]) == 10
        own = cached(spark) - before
        assert own > 0
        grow(tmp_path / "events", 5)
        with anew() as second:
            assert spark.read.parquet(str(tmp_path / "events")).count() == 15
            assert counted(second["all"]) == 15
            assert cached(spark) == before + 2 * own
            first.release()
            assert cached(spark) == before + own, "the other result keeps its own"
            assert counted(second["by key"]) == 15
    assert cached(spark) == before


@pytest.mark.parametrize("call", ["conditions", "sql"])
def test_what_a_user_has_cached_is_read_and_stays(spark: SparkSession, tmp_path: Path, call: str) -> None:
    folder = grow(tmp_path / "events", 10)
    before = cached(spark)
    events = spark.read.parquet(str(folder)).cache()
    assert events.count() == 10
    (folder / "0.parquet").unlink()
    with evaluate(events, call) as results:
        assert counted(results["all"]) == 10, "the file is gone, so the rows come from the cache"
    assert cached(spark) == before + 1
    assert events.count() == 10
    events.unpersist()


def test_late_rows_leave_the_cache_of_a_user(spark: SparkSession) -> None:
    before = cached(spark)
    rows = spark.sql("SELECT id AS n, IF(id < 3, named_struct('id', id), NULL) AS late_row FROM range(10)").cache()
    assert rows.count() == 10
    counts: list[int] = []
    mt.split_late(lambda rows, batch: counts.append(rows.count()), lambda rows, batch: counts.append(rows.count()))(
        rows, 0
    )
    assert counts == [7, 3]
    assert cached(spark) == before + 1
    rows.unpersist()
