"""Where the figures of a plan are from: given, measured on a DataFrame that is given, sampled or assumed."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt

WINDOWS = [mt.tumbling(f"{n} min") for n in (10, 20, 60)]
ASKED: dict[str, Any] = {"time": "ts", "by": "k", "windows": WINDOWS, "aggregates": mt.sum("v"), "watermark": "1 min"}


def rows(spark: SparkSession, count: int, keys: int, apart: int) -> DataFrame:
    """Give events so many seconds apart."""
    return spark.range(0, count, 1, 2).select(
        F.timestamp_micros(F.col("id") * apart * 1_000_000).alias("ts"),
        (F.col("id") % keys).alias("k"),
        F.col("id").alias("v"),
    )


@pytest.fixture(scope="module")
def rate(spark: SparkSession) -> DataFrame:
    """Give a stream that cannot be sampled, and never runs."""
    frame = spark.readStream.format("rate").load()
    return frame.select(F.col("timestamp").alias("ts"), (F.col("value") % 3).alias("k"), F.col("value").alias("v"))


def test_a_stream_is_measured_on_its_history(spark: SparkSession, rate: DataFrame) -> None:
    plan = mt.explain(rate, **ASKED, statistics=rows(spark, 2000, 50, 60))
    statistics = plan.statistics
    assert (statistics.rows, statistics.keys, statistics.span) == (2000, 50, 1999 * 60_000_000)
    assert "2,000 rows, 50 keys over 33.3 hours (all rows of the DataFrame given)" in str(plan)
    long = mt.explain(rate, **ASKED, statistics=rows(spark, 100_000, 50, 60)).statistics
    assert long.source == "Spark's estimate and the first 4000 rows of the DataFrame given"
    assert long.rows == pytest.approx(100_000, rel=0.5)
    assert long.rate == pytest.approx(1 / (50 * 60_000_000), rel=0.1)
    assert mt.aggregate(rate, **ASKED, statistics=rows(spark, 2000, 50, 60)).isStreaming


def test_batch_and_rolling_take_a_sample(spark: SparkSession) -> None:
    events, sample = rows(spark, 500, 5, 60), rows(spark, 100, 5, 60)
    plan = mt.explain(events, **ASKED, statistics=sample)
    assert plan.statistics.rows == 100
    assert "(all rows of the DataFrame given)" in str(plan)
    assert "(given)" in str(mt.explain(events, **ASKED, statistics=mt.Statistics(rows=1e6, span="1 day")))
    keys = (key for key in ["k"])  # is read once, for both DataFrames
    out = mt.aggregate(events, "ts", keys, iter(WINDOWS), mt.sum("v"), statistics=sample)
    plain = mt.aggregate(events, "ts", "k", WINDOWS, mt.sum("v"), strategy="independent")
    assert sorted(out.collect()) == sorted(plain.collect())
    rolled = mt.rolling(events, "ts", "k", "1 hour", mt.sum("v"), statistics=sample)
    assert sorted(rolled.collect()) == sorted(
        mt.rolling(events, "ts", "k", "1 hour", mt.sum("v"), strategy="independent").collect()
    )


@pytest.mark.parametrize("given", [{"rows": 10}, 1_000_000, "1 day", (10, 1), True, mt.Statistics])
def test_what_are_no_statistics(spark: SparkSession, rate: DataFrame, given: Any) -> None:
    events = rows(spark, 5, 1, 1)
    for call in (
        lambda: mt.aggregate(rate, **ASKED, statistics=given),
        lambda: mt.explain(events, **ASKED, statistics=given),
        lambda: mt.rolling(events, "ts", "k", "1 hour", mt.sum("v"), statistics=given, strategy="independent"),
    ):
        with pytest.raises(
            mt.QueryError, match=r"are no statistics. Use mt.Statistics\(rows=…, keys=…, span='1 day'\)"
        ):
            call()


def test_a_history_must_fit_the_query(spark: SparkSession, rate: DataFrame) -> None:
    with pytest.raises(mt.QueryError, match="given as statistics does not fit the query: no column 'k' in the input"):
        mt.explain(rate, **ASKED, statistics=rows(spark, 5, 1, 1).drop("k"))
    with pytest.raises(mt.QueryError, match=r"is a stream, which cannot be measured. Use spark.read."):
        mt.explain(rate, **ASKED, statistics=rate)


def test_a_registry_checks_statistics_too(rate: DataFrame, tmp_path_factory: pytest.TempPathFactory) -> None:
    registry = mt.WindowRegistry(tmp_path_factory.mktemp("windows"))
    with pytest.raises(mt.QueryError, match="are no statistics"):
        mt.aggregate(rate, "ts", "k", registry, mt.sum("v"), watermark="1 s", statistics={})  # type: ignore[arg-type]
