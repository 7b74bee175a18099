"""Numbers at the edge of their types, and settings that change what Spark makes of them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal, localcontext
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

import muntin as mt
from muntin.spark.capabilities import Capabilities
from muntin.spark.input.recipes import recipe
from tests.spark.cases import assert_same, equal, plain_spark
from tests.spark.streams import BEGIN, ONE_SHAPE, Replay
from tests.spark.test_edges import SHAPES, setting

WINDOWS = [mt.tumbling("10 s"), mt.hopping("20 s", "10 s")]
SMALL = mt.Statistics(rows=400, keys=1, span=1)
LOSS, ANSI = "spark.sql.decimalOperations.allowPrecisionLoss", "spark.sql.ansi.enabled"
LEGACY = "spark.sql.legacy.statisticalAggregate"
SETTINGS = [("true", "true"), ("false", "true"), ("false", "false")]
FEW_SETTINGS = [SETTINGS[0], *(pytest.param(*each, marks=pytest.mark.long) for each in SETTINGS[1:])]

ASKED = [
    *(ours("x").alias(ours.__name__) for ours in (mt.var_pop, mt.variance, mt.stddev)),
    *(ours("x", "y").alias(ours.__name__) for ours in (mt.covar_pop, mt.covar_samp, mt.corr)),
]


@contextmanager
def settings(spark: SparkSession, **values: str) -> Iterator[None]:
    with ExitStack() as stack:
        for name, value in values.items():
            stack.enter_context(setting(spark, {"loss": LOSS, "ansi": ANSI, "legacy": LEGACY}[name], value))
        yield


def plain() -> dict[str, Column]:
    """Give the same aggregates as Spark's own."""
    pairs = {"covar_pop": F.covar_pop, "covar_samp": F.covar_samp, "corr": F.corr}
    single = {"var_pop": F.var_pop, "variance": F.variance, "stddev": F.stddev}
    return {name: f("x") for name, f in single.items()} | {name: f("x", "y") for name, f in pairs.items()}


def by_hand(df: DataFrame, windows: list[mt.Window] = WINDOWS) -> DataFrame:
    return plain_spark(df, "ts", [], windows, [column.alias(name) for name, column in plain().items()])


def rolled_by_hand(df: DataFrame, seconds: int) -> DataFrame:
    time = Window.partitionBy().orderBy(F.unix_micros("ts")).rangeBetween(-seconds * 1_000_000, Window.currentRow)
    return df.select("*", *(column.over(time).alias(f"{name}_{seconds}s") for name, column in plain().items()))


def assert_same_rows(actual: DataFrame, expected: DataFrame) -> None:
    for one, other in zip(sorted(actual.collect()), sorted(expected.collect()), strict=True):
        assert all(equal(a, b, 1e-9) for a, b in zip(one, other, strict=True)), (one, other)


@pytest.mark.parametrize(("loss", "ansi"), FEW_SETTINGS)
def test_averages_of_many_near_maximal_decimals(spark: SparkSession, loss: str, ansi: str) -> None:
    """A total of 600 000 of them, in units of the average's last digit, has some forty digits."""
    df = spark.range(600_000).select(
        F.timestamp_micros(F.col("id") * 30).alias("ts"),
        F.lit(Decimal("99999999.9999999999")).alias("v"),
        F.when(F.col("id") % 3 == 0, Decimal("-0.99999999999999")).otherwise(Decimal("0.99999999999998")).alias("w"),
    )
    with settings(spark, loss=loss, ansi=ansi):
        expected = plain_spark(df, "ts", [], WINDOWS, [F.avg("v").alias("avg_v"), F.avg("w").alias("avg_w")]).cache()
        others = ["expand", "rows_kernel"] if (loss, ansi) == ("false", "true") else []
        for shape in ["slices_explode", *others]:
            actual = mt.aggregate(df, "ts", (), WINDOWS, [mt.avg("v"), mt.avg("w")], strategy=shape, statistics=SMALL)  # type: ignore[arg-type]
            assert_same(actual, expected, context=shape)


@pytest.mark.parametrize(("loss", "ansi"), SETTINGS)
def test_averages_of_decimals_of_every_type_round_half_up(spark: SparkSession, loss: str, ansi: str) -> None:
    """Totals and counts, divided as every shape divides them, against Python's decimals."""
    texts, wanted = [], []
    for precision in range(1, 19):
        for scale in {0, 1, min(precision, 28 - precision)}:
            given = T.DecimalType(precision, scale)
            lower = recipe(mt.avg("v"), ["v"], [given], "t", legacy=False, able=Capabilities("4.3.0")).lower
            assert lower is not None
            last = Decimal(1).scaleb(-scale - 4)
            for count in (2, 3, 600_000, 10**10 - 1):
                for value in (Decimal(10**precision - 1), Decimal(-(10**precision) // 2)):
                    with localcontext(prec=80):
                        total = (value * count + (count > 3)).scaleb(-scale)
                        wanted.append((total / count).quantize(last, ROUND_HALF_UP))
                    typed = f"CAST('{total:f}' AS DECIMAL({precision + 10}, {scale}))"
                    texts.append(str(lower(typed, f"{count}L")))
    with settings(spark, loss=loss, ansi=ansi):
        rows = [spark.range(1).selectExpr(*texts[at : at + 400]).collect()[0] for at in range(0, len(texts), 400)]
    assert [value for row in rows for value in row] == wanted


def at_seconds(spark: SparkSession, values: list[tuple[float, float, float]]) -> DataFrame:
    """Give values at some seconds, in one partition: Spark's own answer may depend on the order of rows."""
    rows = [(datetime(2024, 1, 1) + timedelta(seconds=second), x, y) for second, x, y in values]
    return spark.createDataFrame(rows, "ts timestamp, x double, y double").coalesce(1)


SINGLE = [(0.0, 5.0, 1.0), (10.0, 2.0, 3.0), (11.0, 4.0, 5.0), (40.0, 7.0, 7.0), (60.0, 3.0, 4.0), (61.0, 3.0, 4.0)]


@pytest.mark.parametrize("legacy", ["true", pytest.param("false", marks=pytest.mark.long)])
def test_deviations_of_a_single_value_follow_the_session(spark: SparkSession, legacy: str) -> None:
    df = at_seconds(spark, SINGLE)
    with settings(spark, legacy=legacy):
        expected = by_hand(df).cache()
        for shape in SHAPES:
            actual = mt.aggregate(df, "ts", (), WINDOWS, ASKED, strategy=shape, statistics=SMALL)
            assert_same(actual, expected, context=shape)


@pytest.mark.parametrize("strategy", ["independent", "kernel"])
def test_deviations_of_a_single_value_in_rolling_windows(spark: SparkSession, strategy: str) -> None:
    df = at_seconds(spark, SINGLE)
    with settings(spark, legacy="true"):
        actual = mt.rolling(df, "ts", ranges=["10 s"], aggregates=ASKED, strategy=strategy, statistics=SMALL)  # type: ignore[arg-type]
        assert_same_rows(actual, rolled_by_hand(df, 10))


@pytest.mark.parametrize("strategy", ONE_SHAPE)
def test_deviations_of_a_single_value_in_streams(spark: SparkSession, strategy: str, tmp_path: Path) -> None:
    rows = [(BEGIN + timedelta(seconds=second), x, y) for second, x, y in [*SINGLE, (900.0, 0.0, 0.0)]]
    columns = [pa.array(column) for column in zip(*rows, strict=True)]
    columns[0] = columns[0].cast(pa.timestamp("us", "UTC"))
    replay = Replay(spark, tmp_path).add(pa.table(columns, names=["ts", "x", "y"]))
    asked = {"time": "ts", "windows": WINDOWS, "aggregates": ASKED, "watermark": "1 s", "strategy": strategy}
    with settings(spark, legacy="true"):
        streamed = replay.run(asked).rows
        closed = replay.batch.where(F.col("x") > 0)
        assert_same(streamed, by_hand(closed), context=strategy, nullable=False)


LARGE = {
    "one": [1e308],
    "equal": [1e308, 1e308, 1e308, 1e308],
    "alike": [1.7e308, 1.7e308, 1.6e308, 1.5e308, 1.6e308],
    "far apart": [8e307, -8e307, 8e307, 1.0],
    "squares too large": [1e160, -1e160, 2e160],
    "squares just fit": [1e153, -1e153, 3e153],
    "opposite": [1e308, -1e308],
}


@pytest.mark.parametrize("apart", [1.0, 10.0], ids=["in one slice", "in slices of their own"])
def test_deviations_of_values_near_the_largest(spark: SparkSession, apart: float) -> None:
    """Every set of values has an hour of its own."""
    rows = [
        (3600.0 * hour + apart * i, x, 1e-5 * (i * i + 1))
        for hour, values in enumerate(LARGE.values())
        for i, x in enumerate(values)
    ]
    df = at_seconds(spark, rows)
    windows = [mt.tumbling("10 s"), mt.hopping("1 min", "10 s")]
    expected = by_hand(df, windows).cache()
    for shape in SHAPES:
        actual = mt.aggregate(df, "ts", (), windows, ASKED, strategy=shape, statistics=SMALL)
        assert_same(actual, expected, context=shape)
    rolled = mt.rolling(df, "ts", ranges=["20 s"], aggregates=ASKED, strategy="kernel", statistics=SMALL)
    assert_same_rows(rolled, rolled_by_hand(df, 20))


def test_many_values_near_the_largest(spark: SparkSession) -> None:
    """The sum of a slice is infinite, its mean is not."""
    df = spark.range(40_000).select(
        F.timestamp_micros(F.col("id") * 1000).alias("ts"),
        ((F.col("id") * 7919 % 1000 - 200) * 1.7e305).alias("x"),
        (F.col("id") * 104729 % 1000 * 1e-9).alias("y"),
    )
    expected = plain_spark(df, "ts", [], WINDOWS, [F.covar_pop("x", "y").alias("c")]).cache()
    for shape in SHAPES:
        asked = mt.covar_pop("x", "y").alias("c")
        actual = mt.aggregate(df, "ts", (), WINDOWS, asked, strategy=shape, statistics=SMALL)
        assert_same(actual, expected, context=shape)
