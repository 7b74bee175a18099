"""Many queries over one stream: one read, a sink for each, and every micro-batch counted once."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.cases import assert_same, plain_spark, quoted
from tests.spark.patience import patiently, to_the_end
from tests.spark.query_sets import random_set, random_table
from tests.spark.streams import Replay, events, flush, moved, out_of_order

LONG = pytest.mark.long
DELAY = timedelta(minutes=2)
ALL_AT_ONCE = {"availableNow": True}


def run(results: mt.Results, sinks: dict[str, Any], checkpoint: Path) -> None:
    patiently(lambda: results.start(sinks, checkpoint, ALL_AT_ONCE), to_the_end)


def rows_of(spark: SparkSession, folder: Path, expected: DataFrame) -> DataFrame:
    """Read what a sink has taken; a query without any row has written empty files or none."""
    read = spark.read.schema(expected.schema).parquet(str(folder / "*"))
    return read.select(*map(quoted, expected.columns))


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=LONG) for seed in range(1, 40))])
def test_every_query_of_a_stream_has_the_rows_that_it_has_alone(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    r = random.Random(seed)
    table = moved(random_table(r, r.choice([60, 300])))
    files = out_of_order(r, table, DELAY, 3)
    replay = Replay(spark, tmp_path).add(*files, flush(table, timedelta(days=60)))
    queries = random_set(r, keys=["k int", "k`text", "k.double"])
    stream = replay.stream.withWatermark("ts", "2 minutes")
    results = mt.evaluate(stream, [alone.query for alone in queries])
    folders = {str(alone.query.name): tmp_path / f"sink {place}" for place, alone in enumerate(queries)}
    run(results, dict(folders), tmp_path / "checkpoint")
    batch = spark.createDataFrame(table)
    for alone in queries:
        expected = alone.oracle(batch)
        actual = rows_of(spark, folders[str(alone.query.name)], expected)
        assert_same(actual, expected, map(str, alone.query.by), alone.query, nullable=False)


def test_a_failed_micro_batch_counts_once(spark: SparkSession, tmp_path: Path) -> None:
    seconds = range(0, 400, 7)
    tables = [events(*((100 * part + second / 4, "ab"[second % 2], second) for second in seconds)) for part in range(4)]
    replay = Replay(spark, tmp_path).add(*tables, events((10_000, "a", 0)))
    queries = [
        mt.Query("ts", "k", "1 minute", [mt.sum("v"), mt.count()], where="v > 50", name="large"),
        mt.Query("ts", (), "1 minute, 2 minutes", mt.max("v"), name="all"),
    ]
    stream = replay.stream.withWatermark("ts", "30 seconds")
    failing = {"left": 1}

    def fails_once(rows: DataFrame, batch: int) -> None:
        if rows.count() and failing["left"]:
            failing["left"] -= 1
            raise RuntimeError("the sink is down")
        mt.UpsertTable(tmp_path / "all").write(rows, batch)

    with pytest.raises(Exception, match="the sink is down"):
        mt.evaluate(stream, queries).start(
            {"large": tmp_path / "large", "all": fails_once}, tmp_path / "checkpoint", ALL_AT_ONCE
        ).awaitTermination()
    run(mt.evaluate(stream, queries), {"large": tmp_path / "large", "all": fails_once}, tmp_path / "checkpoint")
    batch = spark.read.parquet(str(replay.files)).where("ts < '2024-01-01 01:00:00+00:00'")
    sums = [F.sum("v").alias("sum_v"), F.count("*").alias("count")]
    large, everything = queries[0].periodic, queries[1].periodic
    expected = {
        "large": plain_spark(batch.where("v > 50"), "ts", ["k"], large, sums),
        "all": plain_spark(batch, "ts", [], everything, [F.max("v").alias("max_v")]),
    }
    for name, alone in expected.items():
        keys = ["k"] if name == "large" else []
        assert_same(rows_of(spark, tmp_path / name, alone), alone, keys, nullable=False)


def test_what_start_refuses(spark: SparkSession, tmp_path: Path) -> None:
    replay = Replay(spark, tmp_path).add(events((1, "a", 1)))
    query = mt.Query("ts", "k", "1 minute", mt.count(), name="hourly")
    results = mt.evaluate(replay.stream, query, watermark="1 minute")
    cases: list[tuple[mt.Results, dict[str, Any], str]] = [
        (results, {}, "no sinks are given"),
        (results, {"hourl": tmp_path}, "Did you mean 'hourly'"),
        (results, {"hourly": 3}, "Use a function of rows and a number, or a folder"),
        (mt.evaluate(replay.batch, query), {"hourly": tmp_path}, "is not a stream"),
    ]
    for given, sinks, message in cases:
        with pytest.raises(mt.QueryError, match=message):
            given.start(sinks, tmp_path / "checkpoint")
    with pytest.raises(mt.QueryError, match="no watermark"):
        mt.evaluate(replay.stream, query)


def test_a_changed_set_is_refused_at_its_old_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    replay = Replay(spark, tmp_path).add(events((1, "a", 1), (2, "b", 2)))
    first = mt.Query("ts", "k", "1 minute", mt.count(), where="v > 1", name="first")
    second = mt.Query("ts", "v", "1 minute", mt.count(), name="second")
    third = mt.Query("ts", ("k", "v"), "1 minute", mt.count(), name="third")

    def start(queries: list[mt.Query]) -> None:
        results = mt.evaluate(replay.stream, queries, watermark="1 minute")
        folders = {name: tmp_path / name for name in results}
        results.start(folders, tmp_path / "checkpoint", ALL_AT_ONCE).awaitTermination()

    start([first, second, third])
    lower = mt.Query("ts", "k", "1 minute", mt.count(), where="v > 0", name="first")
    changes = {
        r"query 3 is missing: time ts; by k, v; windows .*1m.*; aggregates count\(\)": [first, second],
        "query 1 was .*where v > 1 and is .*where v > 0": [lower, second, third],
        "query 1 was .*by k; .* and is .*by v; ": [second, first, third],
    }
    for message, queries in changes.items():
        with pytest.raises(mt.QueryError, match=message):
            start(queries)
        with pytest.raises(mt.QueryError, match=message):
            mt.evaluate(replay.stream, queries, watermark="1 minute", checkpoint=tmp_path / "checkpoint")
    replay.add(events((3, "a", 3)))
    start([first, second, third])
