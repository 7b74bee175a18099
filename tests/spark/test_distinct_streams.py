"""Exact distinct counts over streams: the rows of plain Spark in batch, late rows and restarts included."""

from __future__ import annotations

import math
import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.plan.physical.stream import StreamShape
from muntin.window import Window
from muntin_bench.experiments.distinct_stream import plain, windows
from tests.spark.cases import assert_same, plain_spark
from tests.spark.streams import BEGIN, Replay, by_instance, events, flush, out_of_order

DELAY = timedelta(seconds=20)
TYPES = {"user": pa.int64(), "text": pa.string(), "odd": pa.float64(), "day": pa.date32()}


def random_table(r: random.Random, rows: int) -> pa.Table:
    """Give events of two keys, with few and many values of several types, and nulls among all of them."""

    def column(values: list[Any], type: pa.DataType) -> pa.Array:
        return pa.array([None if r.random() < 0.15 else r.choice(values) for _ in range(rows)], type)

    return pa.table(
        {
            "ts": pa.array(
                [BEGIN + timedelta(seconds=r.choice([r.uniform(0, 400), r.randint(0, 40) * 10])) for _ in range(rows)],
                pa.timestamp("us", "UTC"),
            ),
            "k": column(["a", "b", "c"], pa.string()),
            "n": column([0.0, -0.0, math.nan, 2.5], pa.float64()),
            "user": column(list(range(40)), TYPES["user"]),
            "text": column(["", "a", "é", "x" * 30], TYPES["text"]),
            "odd": column([0.0, -0.0, math.nan, math.inf, 1.5], TYPES["odd"]),
            "day": column([1, 2, 20_000], TYPES["day"]),
        }
    )


def counts(columns: list[str]) -> list[Any]:
    return [F.count_distinct(column).alias(f"count_distinct_{column}") for column in columns]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(max(1, metafunc.config.getoption("--cases") // 25)))


def test_random_streams_give_the_rows_of_plain_spark(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    """Random windows, keys and columns, in an order of arrival that the watermark allows, with a restart halfway."""
    r = random.Random(seed)
    replay = Replay(spark, tmp_path)
    asked_windows = r.sample(
        [
            mt.tumbling("10 s"),
            mt.hopping("60 s", "10 s"),
            mt.hopping("25 s", "10 s", offset="3 s"),
            mt.hopping("70 s", "30 s"),
            mt.tumbling("2 min", offset="7 s"),
        ],
        3,
    )
    by = r.choice([[], ["k"], ["k", "n"]])
    columns = r.sample(list(TYPES), seed % 3 + 1)
    table = random_table(r, 400)
    first, *rest = out_of_order(r, table, DELAY, 4)
    asked = {
        "time": "ts",
        "by": by,
        "windows": asked_windows,
        "aggregates": [mt.count_distinct(column) for column in columns],
        "watermark": DELAY,
        "strategy": "distinct",
    }
    replay.add(first, rest[0]).run(asked, files=True)
    end = flush(table, timedelta(seconds=500))
    result = replay.add(*rest[1:], end).run(asked, files=True)
    rows = replay.batch.where(F.col("ts") < F.lit(end["ts"][0].as_py()))
    assert_same(
        result.rows,
        plain_spark(rows, "ts", by, asked_windows, counts(columns)),
        by,
        (seed, asked_windows),
        nullable=False,
    )


LATE = [
    [(1, "a", 1), (35, "a", 2)],
    [(36, "a", 1)],  # its watermark is 25 s: the next micro-batch is judged by it
    [(12, "a", 8), (22, "a", 2)],
    [(1000, "a", 0)],
]


def ask(**changes: Any) -> dict[str, Any]:
    windows = [mt.tumbling("10 s"), mt.tumbling("60 s")]
    asked = {"time": "ts", "by": "k", "windows": windows, "aggregates": mt.count_distinct("v"), "watermark": "10 s"}
    return asked | {"strategy": "distinct"} | changes


def test_late_rows_count_for_the_windows_that_are_open(spark: SparkSession, tmp_path: Path) -> None:
    replay = Replay(spark, tmp_path).add(*(events(*rows) for rows in LATE))
    result = replay.run(ask(late="exact"))
    tens = {("10s", 0.0, "a"): (1,), ("10s", 20.0, "a"): (1,), ("10s", 30.0, "a"): (2,)}
    assert by_instance(result.rows.collect()) == tens | {("1m", 0.0, "a"): (3,)}
    assert result.progress.late == 1


@pytest.fixture(scope="module")
def stream(spark: SparkSession) -> DataFrame:
    """Give a stream that never runs."""
    rate = spark.readStream.format("rate").load()
    return rate.select(F.col("timestamp").alias("ts"), (F.col("value") % 3).alias("k"), F.col("value").alias("v"))


DAYS: list[Window] = [mt.tumbling("1 day"), mt.hopping("7 days", "1 day"), mt.hopping("30 days", "1 day")]
ACTIVE = mt.Statistics(rows=2_000_000, keys=5, span="60 days", batch=40_000)


def planned(stream: DataFrame, **asked: Any) -> mt.StreamPlan:
    plan = mt.explain(stream, **asked)
    assert isinstance(plan, mt.StreamPlan)
    return plan


def test_plans(stream: DataFrame) -> None:
    """Active users are counted by latest occurrences; what else is asked for, or how, leads elsewhere."""
    asked = ask(windows=DAYS, statistics=ACTIVE, strategy="auto")
    plan = planned(stream, **asked)
    assert (plan.shape, plan.forest) == (StreamShape.DISTINCT, None)
    assert "latest occurrences of items packed together" in str(plan)
    assert plan.alternatives[0][0] == "distinct"
    assert planned(stream, **(asked | {"strategy": "kernel"})).shape is StreamShape.DISTINCT
    assert planned(stream, **(asked | {"output": "update"})).shape in (StreamShape.EXPAND, StreamShape.INDEPENDENT)
    both = planned(stream, **(asked | {"aggregates": [mt.count_distinct("v"), mt.sum("v")]}))
    assert "distinct" not in [name for name, _ in both.alternatives]
    assert not [note for note in both.notes if note.startswith("distinct")]


def test_what_cannot_be_counted_so_is_refused(stream: DataFrame, tmp_path: Path) -> None:
    with pytest.raises(mt.UnsupportedError, match=r"'distinct' needs kernels, and sum\(v\) is no exact distinct count"):
        mt.explain(stream, **ask(aggregates=[mt.count_distinct("v"), mt.sum("v")]))
    pairs = stream.withColumn("v", F.array("v"))
    with pytest.raises(mt.UnsupportedError, match=r"no kernel compares 'v', which is of type array<bigint>"):
        mt.explain(pairs, **ask())
    with pytest.raises(mt.QueryError, match="has no output='update'"):
        mt.explain(stream, **ask(output="update"))
    registry = mt.WindowRegistry(tmp_path / "registry")
    with pytest.raises(mt.QueryError, match="strategy 'distinct' cannot follow a registry"):
        mt.explain(stream, **ask(windows=registry))


def test_a_checkpoint_keeps_its_shape_and_refuses_another_query(spark: SparkSession, tmp_path: Path) -> None:
    replay = Replay(spark, tmp_path).add(events((1, "a", 1), (2, "a", 2), (15, "b", 1)))
    replay.run(ask(), files=True)
    checkpoint = str(tmp_path / "kept" / "checkpoint")
    plan = planned(replay.stream, **ask(strategy="auto"), checkpoint=checkpoint)
    assert plan.shape is StreamShape.DISTINCT
    assert "the checkpoint has shape distinct" in str(plan)
    with pytest.raises(
        mt.QueryError, match=r"aggregate 1 was count_distinct\(v bigint\) and is count_distinct\(k string"
    ):
        mt.explain(replay.stream, **ask(aggregates=mt.count_distinct("k")), checkpoint=checkpoint)
    assert ("slices", 3) in [(kept.name, kept.rows) for kept in mt.state(checkpoint, spark)]


def test_the_benchmark_compares_like_with_like(spark: SparkSession) -> None:
    """What it calls plain Spark gives the rows of exact distinct counts."""
    rows = [(BEGIN + timedelta(hours=5 * n), n * n % 11, f"country {n % 2}") for n in range(200)]
    df = spark.createDataFrame(rows, "ts timestamp, user bigint, country string")
    assert_same(plain(df), plain_spark(df, "ts", ["country"], windows(), counts(["user"])), ["country"], nullable=False)
