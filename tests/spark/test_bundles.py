"""Aggregates that no one shape can evaluate together: each set in its own, side by side in the end, as plain Spark."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.spark.capabilities import Feature
from tests.spark.cases import assert_same, plain_spark
from tests.spark.since import HERE

SMALL = mt.Statistics(rows=10**7, keys=3, span="2 days")
WINDOWS = [mt.tumbling("10 s"), mt.tumbling("1 min"), mt.hopping("1 min", "10 s"), mt.hopping("95 s", "30 s")]


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    number = F.col("id")
    return spark.range(0, 3000, 1, 3).select(
        F.timestamp_micros(number * 190_000).alias("ts"),
        F.when(number % 4 > 0, number % 4).alias("k"),
        F.when(number % 11 > 0, F.sin(number)).alias("v"),
        *((number * (7 + place) % 101).cast("decimal(9,2)").alias(f"d{place}") for place in range(4)),
        (number % 13).cast("string").alias("u"),
    )


ASKED = {
    mt.median("v").alias("median"): "median(v)",
    mt.sum("d0"): "sum(d0)",
    mt.count_distinct("u").alias("users"): "count(distinct u)",
    mt.percentile("v", 0.25).alias("quarter"): "percentile(v, 0.25)",
    mt.max("u"): "max(u)",
    mt.avg("d1"): "avg(d1)",
    mt.sum("d1"): "sum(d1)",
    mt.sum("d2"): "sum(d2)",
    mt.sum("d3"): "sum(d3)",
    mt.count(): "count(*)",
}


@pytest.mark.parametrize("strategy", ["auto", "native", "kernel"])
def test_sums_beside_a_median_and_a_distinct_count(df: DataFrame, strategy: Any) -> None:
    """Classes stand in any order in the query, and results in that of the query."""
    ours, theirs = list(ASKED), [F.expr(text).alias(asked.name) for asked, text in ASKED.items()]
    expected = plain_spark(df, "ts", ["k"], WINDOWS, theirs)
    actual = mt.aggregate(df, "ts", "k", WINDOWS, ours, strategy=strategy, statistics=SMALL)
    assert actual.schema.names == expected.schema.names
    assert_same(actual, expected, ["k"], strategy)
    plan = mt.explain(df, "ts", "k", WINDOWS, ours, strategy=strategy, statistics=SMALL)
    assert isinstance(plan, mt.PhysicalPlan)
    assert strategy == "auto" or len(plan.bundles) > 1  # auto takes plain Spark where little is saved
    assert sorted(asked.name for bundle in plan.bundles for asked in bundle) == sorted(asked.name for asked in ours)


def test_the_wide_layout_of_several_bundles(df: DataFrame) -> None:
    ours = [mt.median("v"), mt.sum("d0"), mt.count_distinct("u"), mt.count()]
    windows = [mt.tumbling("10 s"), mt.hopping("1 min", "10 s")]
    together = mt.aggregate(df, "ts", "k", windows, ours, strategy="kernel", layout="wide", statistics=SMALL)
    alone = mt.aggregate(df, "ts", "k", windows, ours, strategy="independent", layout="wide")
    assert sorted(map(str, together.collect())) == sorted(map(str, alone.collect()))


def test_nothing_gives_nothing(df: DataFrame) -> None:
    none = df.where("false")
    ours = [mt.median("v"), mt.sum("d0")]
    assert mt.aggregate(none, "ts", "k", WINDOWS, ours, strategy="kernel", statistics=SMALL).collect() == []


def test_partials_are_kept_once(df: DataFrame) -> None:
    """The average of a column is made of its sum and its count; quantiles of one column are read from one sketch."""
    from muntin.spark.input.reading import prepare

    def partials(*asked: mt.Aggregate) -> int:
        return len(prepare(df, "ts", (), WINDOWS, asked).events.partials)

    assert partials(mt.sum("v"), mt.avg("v"), mt.count("v")) == 2
    assert partials(mt.stddev("v"), mt.variance("v"), mt.var_pop("v")) == 3
    if HERE.has(Feature.QUANTILE_SKETCHES):
        assert partials(mt.approx_quantile("v", 0.5), mt.approx_quantile("v", 0.9)) == 1
    assert partials(mt.sum("d0"), mt.avg("d0")) == 2
    assert partials(mt.sum("v"), mt.sum("d0")) == 2


def test_integers_have_two_sums(spark: SparkSession) -> None:
    """Spark's sum adds BIGINTs and its avg doubles: a sum that overflows has an average."""
    from muntin.spark.input.reading import prepare

    df = spark.range(0, 60, 1, 2).selectExpr("timestamp_seconds(id) ts", f"{2**62} + id % 2 v")
    asked = [mt.sum("v"), mt.avg("v")]
    assert len(prepare(df, "ts", (), WINDOWS, asked).events.partials) == 3
    for strategy in ("rows_kernel", "slices_explode"):
        rows = mt.aggregate(df, "ts", (), WINDOWS[:2], asked[1:], strategy=strategy)
        assert_same(rows, plain_spark(df, "ts", [], WINDOWS[:2], [F.avg("v").alias("avg_v")]), [], strategy)
