"""Where the figures of a plan are from: given, measured on a DataFrame that is given, sampled or assumed."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.plan.physical.stream import StreamShape

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
            mt.QueryError, match=r"are not statistics. Use mt.Statistics\(rows=…, keys=…, span='1 day'\)"
        ):
            call()


def test_a_history_must_fit_the_query(spark: SparkSession, rate: DataFrame) -> None:
    with pytest.raises(mt.QueryError, match="given as statistics does not fit the query: no column 'k' in the input"):
        mt.explain(rate, **ASKED, statistics=rows(spark, 5, 1, 1).drop("k"))
    with pytest.raises(mt.QueryError, match=r"is a stream, which cannot be measured. Use spark.read."):
        mt.explain(rate, **ASKED, statistics=rate)


def test_a_registry_checks_statistics_too(rate: DataFrame, tmp_path_factory: pytest.TempPathFactory) -> None:
    registry = mt.WindowRegistry(tmp_path_factory.mktemp("windows"))
    with pytest.raises(mt.QueryError, match="are not statistics"):
        mt.aggregate(rate, "ts", "k", registry, mt.sum("v"), watermark="1 s", statistics={})  # type: ignore[arg-type]


def written(frame: DataFrame, folder: Path, files: int) -> Path:
    """Write rows in so many files, in the order of time."""
    frame.repartitionByRange(files, "ts").sortWithinPartitions("ts").write.parquet(str(folder))
    return folder


def streamed(spark: SparkSession, folder: Path, schema: str = "ts timestamp, k long, v long") -> DataFrame:
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def test_a_stream_of_files_is_sampled(spark: SparkSession, tmp_path: Path) -> None:
    """Figures come near the true ones, and so does the choice; only the first files are opened."""
    folder = written(rows(spark, 50_000, 25_000, 60), tmp_path / "events", 8)
    sorted(folder.glob("*.parquet"))[-1].write_bytes(b"no parquet")
    stream = streamed(spark, folder)
    plan = mt.explain(stream, **ASKED)
    assert plan.statistics.source == "the first 4,000 rows of 8 files"
    assert "(the first 4,000 rows of 8 files)" in str(plan)
    assert 0.25 < (plan.statistics.batch or 0) / (50_000 / 8) < 4  # Spark's estimate of rows is rough
    assert "rows a micro-batch (the first" in str(plan)
    assert plan.statistics.rows / plan.statistics.span == pytest.approx(1 / 60_000_000, rel=0.1)
    sampled, true = replace(plan.statistics, batch=None), mt.Statistics(rows=1e6, keys=5e5, span=60e12)
    shapes = [mt.explain(stream, **ASKED, statistics=known).shape for known in (sampled, true)]
    assert shapes == [StreamShape.COLUMNAR] * 2


def test_what_is_done_to_the_rows_is_done_to_the_sample(spark: SparkSession, tmp_path: Path) -> None:
    """The time is computed, the key is an expression, and three rows of four are left out."""
    folder = written(rows(spark, 20_000, 64, 60), tmp_path / "events", 2)
    stream = streamed(spark, folder).where("v % 4 = 0")
    stream = stream.select((F.col("ts") + F.expr("interval 1 day")).alias("at"), "k", "v")
    asked = ASKED | {"time": F.col("at"), "by": (F.col("k") % 10).alias("ten")}
    statistics = mt.explain(stream, **asked, future="1 hour").statistics
    assert statistics.source == "the first 4,000 rows of 2 files"
    assert statistics.keys == 5
    assert statistics.rows / statistics.span == pytest.approx(1 / 240_000_000, rel=0.1)


def test_folders_that_are_columns_and_other_formats(spark: SparkSession, tmp_path: Path) -> None:
    events = rows(spark, 9_000, 3, 1).withColumn("day", F.col("k").cast("string"))
    events.write.partitionBy("day").csv(str(tmp_path / "events"), header=True)
    schema = "ts timestamp, k long, v long, day string"
    stream = spark.readStream.schema(schema).option("header", True).csv(str(tmp_path / "events"))
    statistics = mt.explain(stream, **(ASKED | {"by": ["k", "day"]})).statistics
    assert statistics.batch is None  # nobody said how many files a micro-batch has
    assert statistics.source.startswith("the first 4,000 rows of ")
    assert statistics.rows >= 1_000_000
    assert 1 <= statistics.keys <= 3


def test_few_rows_tell_the_pace_of_many(spark: SparkSession, tmp_path: Path) -> None:
    """A stream goes on: its first rows are priced as a million at their pace."""
    statistics = mt.explain(streamed(spark, written(rows(spark, 100, 4, 60), tmp_path / "a", 2)), **ASKED).statistics
    assert statistics.source == "the first 100 rows of 2 files"
    assert (statistics.rows, statistics.keys) == (1_000_000, 4)
    assert statistics.span == pytest.approx(1_000_000 * 60_000_000, rel=0.02)
    fresh = mt.explain(streamed(spark, written(rows(spark, 100, 1000, 60), tmp_path / "b", 2)), **ASKED).statistics
    assert fresh.keys == 500_000


def test_why_files_cannot_be_sampled_is_logged(
    rate: DataFrame, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for error, reason in ((OSError("no such bucket\nat …"), "no such bucket"), (ValueError(), "ValueError")):
        caplog.clear()
        monkeypatch.setattr("muntin.spark.input.sampling.file_source", Mock(side_effect=error))
        with caplog.at_level(logging.WARNING, "muntin"):
            assert mt.aggregate(rate, **ASKED).isStreaming
        assert [record.getMessage() for record in caplog.records] == [
            f"figures of a stream are assumed, since its files cannot be sampled: {reason}"
        ]


def test_what_cannot_be_sampled_is_assumed(spark: SparkSession, rate: DataFrame, tmp_path: Path) -> None:
    """Whatever is wrong with the files is the stream's to say."""
    empty = tmp_path / "empty"
    empty.mkdir()
    assert mt.explain(streamed(spark, empty), **ASKED).statistics.source.endswith("; no file has come yet")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad/0.parquet").write_bytes(b"no parquet")
    assert "its files cannot be sampled: " in mt.explain(streamed(spark, tmp_path / "bad"), **ASKED).statistics.source
    folder = written(rows(spark, 100, 4, 60), tmp_path / "events", 1)
    stream = streamed(spark, folder)
    none = mt.explain(stream.where("v < 0"), **ASKED).statistics
    assert none.source.endswith("; the first 4,000 rows of its files give none")
    joined = stream.join(rows(spark, 4, 4, 60).select("k").distinct(), "k")
    for frame in (joined, stream.dropDuplicates(["k"]), rate):
        statistics = mt.explain(frame, **ASKED).statistics
        assert statistics.source == "assumed; statistics= says better"
        assert (statistics.rows, statistics.keys) == (1_000_000, 100)


def test_where_there_is_no_choice_a_stream_is_sampled_only_to_show_its_costs(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = streamed(spark, written(rows(spark, 100, 4, 60), tmp_path / "events", 1))
    assert mt.explain(stream, **ASKED, strategy="columnar").statistics.source.startswith("the first")
    monkeypatch.setattr("muntin.spark.input.sampling.file_source", lambda frame: pytest.fail("a sample was taken"))
    assert mt.aggregate(stream, **ASKED, strategy="columnar").isStreaming
