"""What Spark knows of a column beside its type is kept in every shape: that it is a window, comments, attributes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.cases import plain_spark
from tests.spark.test_edges import SHAPES

WINDOWS = [mt.tumbling("10 s", id="ten"), mt.hopping("20 s", "10 s", id="twenty")]
LARGE = mt.Statistics(rows=10**7, keys=5, span=10**12)
BY = ["k", "f", "fixed"]

SOME = ["independent", "slices_explode", "rows_kernel", "ordered"]
"""Shapes that end in plain Spark, in SQL and in Python."""


@pytest.fixture(scope="module", params=["timestamp", "timestamp_ntz"])
def df(spark: SparkSession, request: pytest.FixtureRequest) -> Iterator[DataFrame]:
    """Give events whose columns all have metadata, of the kinds that are met."""
    number = F.col("id")
    made = spark.range(0, 300, 1, 3).select(
        F.timestamp_seconds(number).cast(request.param).alias("ts", metadata={"comment": "when"}),
        (number % 3).cast("int").alias("k", metadata={"comment": "which", "ml_attr": {"vals": ["a", "b", "c"]}}),
        F.when(number % 2 == 0, 0.5).alias("f", metadata={"unit": "m"}),
        F.lit("ab").alias("fixed", metadata={"__CHAR_VARCHAR_TYPE_STRING": "varchar(5)"}),
        number.alias("v", metadata={"comment": "value"}),
    )
    yield made.cache()
    made.unpersist()


def shared(df: DataFrame, shape: str, **changes: Any) -> DataFrame:
    asked: dict[str, Any] = {"by": BY, "windows": WINDOWS, "aggregates": [mt.sum("v"), mt.max("v")]} | changes
    return mt.aggregate(df, "ts", **asked, strategy=shape, statistics=LARGE)  # type: ignore[arg-type]


def plain(df: DataFrame, by: list[str] = BY) -> DataFrame:
    return plain_spark(df, "ts", by, WINDOWS, [F.sum("v").alias("sum_v"), F.max("v").alias("max_v")])


def rows(frame: DataFrame) -> list[str]:
    return sorted(map(str, frame.collect()))


@pytest.mark.parametrize("shape", SHAPES)
def test_the_schema_is_that_of_the_plain_union(df: DataFrame, shape: str) -> None:
    """Names, types, nullability and metadata; only that Spark's hopping windows may be null, and ours never are."""
    expected = plain(df).schema
    assert expected["window"].metadata == {"comment": "when", "spark.timeWindow": True}
    assert expected["k"].metadata["ml_attr"] == {"vals": ["a", "b", "c"]}
    assert fields(shared(df, shape)) == fields(plain(df))


def fields(frame: DataFrame) -> list[dict[str, Any]]:
    """Give all that Spark says of columns, without whether the window may be null."""
    described: list[dict[str, Any]] = frame.schema.jsonValue()["fields"]
    return [{**field, "nullable": field["name"] == "window" or field["nullable"]} for field in described]


def of_windows(frame: DataFrame) -> list[str]:
    """Use a result where Spark wants a window: F.window_time, and F.window of a window."""
    timed = frame.select("*", F.window_time("window").alias("at"))
    again = frame.groupBy("window_id", "k", F.window("window", "1 minute").alias("window")).agg(F.sum("sum_v"))
    return rows(timed) + rows(again)


@pytest.fixture(scope="module")
def plainly_of_windows(df: DataFrame) -> list[str]:
    return of_windows(plain(df, ["k"]))


@pytest.mark.parametrize("shape", SOME)
def test_windows_of_windows(df: DataFrame, plainly_of_windows: list[str], shape: str) -> None:
    assert of_windows(shared(df, shape, by=["k"])) == plainly_of_windows


@pytest.mark.parametrize("shape", SOME)
def test_keys_of_the_wide_layout(df: DataFrame, shape: str) -> None:
    """A pivot by hand, over the plain union, keeps the metadata of what it groups by."""
    cells = [
        F.any_value(F.when(F.col("window_id") == label, F.col(name)), ignoreNulls=True).alias(f"{name}_{label}")
        for name in ("sum_v", "max_v")
        for label in ("ten", "twenty")
    ]
    wanted = plain(df).groupBy(F.col("window.end").alias("window_end"), *BY).agg(*cells)
    actual = shared(df, shape, layout="wide")
    assert actual.schema.jsonValue() == wanted.schema.jsonValue()


@pytest.mark.parametrize("shape", SOME)
def test_keys_that_are_expressions(df: DataFrame, shape: str) -> None:
    """A field of a struct has metadata of its own, and an alias may give some; a computed key has none."""
    nested = df.select("*", F.struct("k", "f").alias("st"))
    keys = [F.col("st.k"), (F.col("v") % 2).alias("odd", metadata={"about": "parity"}), F.upper("fixed").alias("up")]
    expected = reduce(DataFrame.union, [grouped(nested, keys, window) for window in WINDOWS])
    actual = shared(nested, shape, by=keys, aggregates=mt.sum("v"))
    assert [field.metadata for field in actual.schema] == [field.metadata for field in expected.schema]


def grouped(df: DataFrame, keys: list[Column], window: mt.Window) -> DataFrame:
    """Write one window aggregation by expressions, as a Spark user does."""
    lengths = (f"{length} microseconds" for length in window.period)
    frame = df.groupBy(F.window("ts", *lengths).alias("window"), *keys).agg(F.sum("v").alias("sum_v"))
    return frame.select(F.lit(window.label).alias("window_id"), *frame.columns)


@pytest.mark.parametrize("strategy", ["independent", "kernel"])
def test_rolling_carries_metadata(df: DataFrame, strategy: str) -> None:
    actual = mt.rolling(df, "ts", BY, "30 s", [mt.sum("v"), mt.max("v")], strategy=strategy)  # type: ignore[arg-type]
    fields = actual.schema.jsonValue()["fields"]
    assert fields[: len(df.columns)] == df.schema.jsonValue()["fields"]
    assert [field["metadata"] for field in fields[len(df.columns) :]] == [{}, {}]
