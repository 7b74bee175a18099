"""Equal expressions are read, lifted and kept once; different ones that Spark writes alike stay apart."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.spark.input.reading import prepare

WINDOWS = [mt.tumbling("10 s"), mt.tumbling("20 s"), mt.hopping("1 min", "10 s")]


def events(spark: SparkSession) -> DataFrame:
    number = F.col("id")
    return spark.range(0, 300, 1, 2).select(
        F.timestamp_micros(number * 900_000).alias("ts"),
        F.when(number % 7 > 0, number % 31 * 0.25).alias("v"),
        (number % 5).cast("string").alias("a"),
        F.struct((number % 3).alias("b")).alias("s"),
        (number % 4).alias("s.b"),
    )


def partials(df: DataFrame, *asked: mt.Aggregate) -> int:
    return len(prepare(df, "ts", (), WINDOWS, asked).events.partials)


def values(df: DataFrame, *asked: mt.Aggregate) -> int:
    """Count the columns that aggregates read."""
    return sum(name[0] == "v" for name in prepare(df, "ts", (), WINDOWS, asked).events.frame.columns)


def check_equals(df: DataFrame) -> None:
    """Assert that what means the same is one, and gives the rows of plain Spark."""
    assert partials(df, mt.sum(F.col("v")), mt.avg(F.col("v"))) == 2  # the sum is one of the two
    assert values(df, mt.sum(F.col("v")), mt.avg(F.col("v"))) == 1
    assert values(df, mt.sum(F.col("v") * 2 + 1), mt.max(F.col("v") * 2 + 1), mt.min(F.expr("v + 1"))) == 2
    assert values(df, mt.min(df.v), mt.max(df.v)) == 1
    asked = [F.sum(F.col("v") * 2), F.avg(F.col("v") * 2), F.max(F.col("v") * 2)]
    assert_plain(df, asked)


def check_look_alikes(df: DataFrame) -> None:
    """Assert that columns that are only written alike stay apart, and give the rows of plain Spark."""
    pairs: list[tuple[Column, Column]] = [
        (F.lit("a"), F.col("a")),
        (F.concat(F.col("a"), F.lit(1)), F.concat(F.col("a"), F.lit("1.0"))),
        (F.col("a") == F.lit("1"), F.col("a") == F.lit(1)),
        (F.col("v") / F.lit(2), F.col("v") / F.lit("2")),
        (F.col("v") * 1, F.col("v") * 1.0),
        (F.col("v") * 0.0, F.col("v") * -0.0),
        (F.col("s.b"), F.col("`s.b`")),
        (F.col("v").cast("int"), F.col("v").cast("long")),
    ]
    for one, other in pairs:
        assert values(df, mt.min(one).alias("one"), mt.min(other).alias("other")) == 2, (one, other)
        assert_plain(df, [F.min(one).alias("one"), F.min(other).alias("other")])


def assert_plain(df: DataFrame, asked: list[Column]) -> None:
    for strategy in ("independent", "rows_kernel", "slices_explode"):
        actual = mt.aggregate(df, "ts", (), WINDOWS[:1], asked, strategy=strategy).drop("window_id")
        expected = df.groupBy(F.window("ts", "10 seconds")).agg(*asked)
        assert actual.columns == expected.columns
        assert sorted(map(str, actual.collect())) == sorted(map(str, expected.collect()))


def test_equal_expressions_are_one(spark: SparkSession) -> None:
    check_equals(events(spark))


def test_look_alikes_stay_apart(spark: SparkSession) -> None:
    check_look_alikes(events(spark))


def test_functions_and_subqueries_stay_apart(spark: SparkSession) -> None:
    df = events(spark)
    once, twice = (F.udf(function, "double") for function in (lambda v: v, lambda v: None if v is None else v * 2))
    assert_plain(df, [F.max(once("v")).alias("one"), F.max(twice("v")).alias("other")])
    few, many = (spark.range(count).agg(F.max("id")).scalar() for count in (3, 30))
    assert str(few) == str(many)
    assert values(df, mt.max(F.col("v") + few).alias("one"), mt.max(F.col("v") + many).alias("other")) == 2


def test_what_is_not_deterministic_is_evaluated_for_each(spark: SparkSession) -> None:
    df = events(spark)
    asked = [mt.sum(F.expr("rand()")).alias("one"), mt.sum(F.expr("rand()")).alias("other")]
    with pytest.raises(mt.QueryError, match="not deterministic"):
        mt.aggregate(df, "ts", (), WINDOWS, asked)
    rolled = mt.rolling(df, "ts", (), "1 s", asked).collect()
    assert any(row["one_1s"] != row["other_1s"] for row in rolled)


CONNECTED = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
from pyspark.sql import SparkSession
from tests.spark import test_equality as cases

spark = SparkSession.builder.remote("local[1]").config("spark.sql.shuffle.partitions", "1").getOrCreate()
cases.check_equals(cases.events(spark))
cases.check_look_alikes(cases.events(spark))
print("connected")
"""


@pytest.mark.long
def test_the_same_on_spark_connect() -> None:
    environment = os.environ | {"SPARK_TESTING": "1"}  # a free port: other tests may have a server, too
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", CONNECTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=root, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "connected" in done.stdout
