"""What mt.aggregate asks of Spark before any row is read: few calls into its JVM, no more for more windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.cases import assert_same, plain_spark
from tests.spark.test_edges import SHAPES, setting

LARGE = mt.Statistics(rows=10**7, keys=100, span=10**12)
AGGREGATES = [mt.min("v"), mt.max("v"), mt.sum("v"), mt.count(), mt.avg("v")]
MOST = {
    "independent": 85,
    "expand": 160,
    "slices_explode": 205,
    "slices_kernel": 235,
    "source_slices_kernel": 230,
    "rows_kernel": 195,
    "source_kernel": 200,
    "ordered": 180,
    "tagged": 220,
}
"""Calls for twenty windows and five aggregates by one key."""


def windows(count: int) -> list[mt.Window]:
    return [mt.tumbling(f"{20 * (i + 1)} s") for i in range(count)]


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.range(2000).selectExpr("timestamp_micros(id * 1000000) ts", "id % 3 AS k", "CAST(id AS DOUBLE) AS v")


@pytest.fixture
def calls(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the commands that go to the JVM, as they go; those that let go of objects come when Python likes."""
    client = type(spark.sparkContext._gateway._gateway_client)  # type: ignore[union-attr]
    sent: list[str] = []
    send = client.send_command

    def watched(self: Any, command: str, *rest: Any, **options: Any) -> Any:
        if not command.startswith("m\nd\n"):
            sent.append(command)
        return send(self, command, *rest, **options)

    monkeypatch.setattr(client, "send_command", watched)
    return sent


def counted(calls: list[str], ask: Callable[[], object]) -> int:
    ask()  # what is asked of Spark only once per session or DataFrame is not counted
    calls.clear()
    ask()
    return len(calls)


@pytest.mark.parametrize("shape", MOST)
def test_calls_are_few_and_do_not_grow_with_windows(df: DataFrame, calls: list[str], shape: str) -> None:
    def ask(count: int) -> Callable[[], object]:
        return lambda: mt.aggregate(df, "ts", "k", windows(count), AGGREGATES, strategy=shape, statistics=LARGE)  # type: ignore[arg-type]

    many = counted(calls, ask(20))
    assert many <= MOST[shape]
    assert many == counted(calls, ask(5))


def test_the_wide_layout_takes_few_calls_for_each_column(df: DataFrame, calls: list[str]) -> None:
    def ask() -> object:
        return mt.aggregate(df, "ts", "k", windows(20), AGGREGATES, layout="wide", statistics=LARGE)

    assert counted(calls, ask) <= MOST["slices_kernel"] + 2 * 20 * 5 + 50


@pytest.mark.parametrize(
    "asked",
    [
        {"windows": windows(20), "strategy": "independent"},
        {"windows": windows(20), "strategy": "expand"},
        {"windows": windows(1)},
        {"windows": windows(1), "aggregates": mt.median("v")},
    ],
)
def test_no_sample_is_taken_where_it_could_change_nothing(
    df: DataFrame, monkeypatch: pytest.MonkeyPatch, asked: dict[str, Any]
) -> None:
    monkeypatch.setattr("muntin.spark.batch.choice.measure", lambda source: pytest.fail("a sample was taken"))
    mt.aggregate(df, "ts", "k", **{"aggregates": AGGREGATES, **asked})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("spark.sql.ansi.enforceReservedKeywords", "true"),
        ("spark.sql.ansi.enabled", "false"),
        pytest.param("spark.sql.ansi.doubleQuotedIdentifiers", "true", marks=pytest.mark.long),
        pytest.param("spark.sql.caseSensitive", "true", marks=pytest.mark.long),
        pytest.param("spark.sql.parser.quotedRegexColumnNames", "true", marks=pytest.mark.long),
    ],
)
def test_texts_mean_the_same_whatever_the_session_has_set(
    df: DataFrame, spark: SparkSession, name: str, value: str
) -> None:
    """Names of the input and of the result are never part of a text, so they may have all characters."""
    odd = df.select(F.col("ts").alias("at `now`.*"), F.col("k").alias("${spark.app.name}"), F.col("v").alias("(v)?+.+"))
    asked = [
        mt.avg("(v)?+.+").alias("a '${spark.master}' \\ \"b\" `c`"),
        mt.first("(v)?+.+").alias("select"),
        mt.count(),
    ]
    named = [mt.hopping("40 s", "15 s", id="'; ${spark.master} {rows} `"), mt.tumbling("20 s")]
    with setting(spark, name, value):
        plain = [F.avg("v").alias("a"), F.min_by("v", "ts").alias("first"), F.count("*").alias("count")]
        expected = plain_spark(df, "ts", ["k"], named, plain).cache()
        for shape in SHAPES:
            actual = mt.aggregate(
                odd, "at `now`.*", "${spark.app.name}", named, asked, strategy=shape, statistics=LARGE
            )
            assert actual.columns[2:] == ["${spark.app.name}", *(aggregate.name for aggregate in asked)]
            assert_same(actual.toDF(*expected.columns), expected, ["k"], (shape, name))


def test_a_cached_input_is_read_from_the_cache(df: DataFrame) -> None:
    cached = df.where("v > 100").cache()
    try:
        for shape in SHAPES:
            out = mt.aggregate(cached, "ts", "k", windows(2), AGGREGATES, strategy=shape, statistics=LARGE)
            assert "InMemoryTableScan" in out._jdf.queryExecution().executedPlan().toString(), shape
    finally:
        cached.unpersist()


def test_hundreds_of_windows_are_one_statement(spark: SparkSession, df: DataFrame) -> None:
    views = len(spark.catalog.listTables())
    out = mt.aggregate(df.limit(3), "ts", "k", windows(80), mt.count(), strategy="independent")
    assert out.groupBy("window_id").count().count() == 80
    assert len(spark.catalog.listTables()) == views
