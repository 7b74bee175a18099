"""Rare inputs and settings, each once a wrong row or a crash."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

import muntin as mt
from muntin.aggregates import Aggregate
from muntin.plan.physical.shapes import MERGING, Shape
from muntin.spark.input.checking import expression
from muntin.spark.input.reading import prepare, read
from tests.spark.cases import assert_same, plain_spark

SHAPES: list[Any] = [shape.name.lower() for shape in (*MERGING, Shape.ORDERED)]
WINDOWS = [mt.tumbling("10 s"), mt.hopping("20 s", "10 s")]
SMALL = mt.Statistics(rows=400, keys=1, span=1)


@contextmanager
def setting(spark: SparkSession, name: str, value: str) -> Iterator[None]:
    kept = spark.conf.get(name, None)
    spark.conf.set(name, value)
    try:
        yield
    finally:
        spark.conf.unset(name) if kept is None else spark.conf.set(name, kept)


def events(spark: SparkSession, values: list[Any], kind: str) -> DataFrame:
    start = datetime(2024, 1, 1)
    return spark.createDataFrame([(start + timedelta(seconds=i), v) for i, v in values], f"ts timestamp, v {kind}")


def same_in_all_shapes(df: DataFrame, ours: Aggregate, theirs: Column, by: list[str] | None = None) -> None:
    expected = plain_spark(df, "ts", by or [], WINDOWS, [theirs.alias("a")])
    for shape in SHAPES:
        actual = mt.aggregate(df, "ts", by or [], WINDOWS, ours.alias("a"), strategy=shape, statistics=SMALL)
        assert_same(actual, expected, by or [], shape)


@pytest.mark.long
def test_deviations_of_infinity_and_nan(spark: SparkSession) -> None:
    """Every set of values has an hour of its own."""
    sets = [[math.nan], [math.inf, 1.0], [1.0, math.nan, 2.0], [5.0], [-math.inf, -math.inf]]
    df = events(
        spark, [(3600 * hour + i, v) for hour, values in enumerate(sets) for i, v in enumerate(values)], "double"
    )
    same_in_all_shapes(df, mt.var_pop("v"), F.var_pop("v"))
    same_in_all_shapes(df, mt.variance("v"), F.variance("v"))
    same_in_all_shapes(df, mt.covar_pop("v", "v"), F.covar_pop("v", "v"))


def test_texts_that_are_no_numbers_do_not_count(spark: SparkSession) -> None:
    with setting(spark, "spark.sql.ansi.enabled", "false"):
        same_in_all_shapes(events(spark, [(0, "1"), (1, "x"), (2, "3")], "string"), mt.avg("v"), F.avg("v"))


def test_overflow_follows_the_session(spark: SparkSession) -> None:
    df = events(spark, [(0, 2**63 - 1), (1, 1), (12, 3)], "long")
    nines = Decimal("9" * 38)
    wide = events(spark, [(0, nines), (1, nines), (12, Decimal(7))], "decimal(38,0)")
    with setting(spark, "spark.sql.ansi.enabled", "false"):
        same_in_all_shapes(df, mt.sum("v"), F.sum("v"))
        same_in_all_shapes(wide, mt.sum("v"), F.sum("v"))
    with setting(spark, "spark.sql.ansi.enabled", "True"):
        for shape in SHAPES:
            with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
                mt.aggregate(df, "ts", (), WINDOWS, mt.sum("v"), strategy=shape, statistics=SMALL).collect()


def test_columns_that_are_the_same_travel_once(spark: SparkSession) -> None:
    """Least, greatest, sum and average of one column need that column once, and counts of what is not null one more.

    The average has no partials of its own: it is made of those of the sum and of the count.
    """
    df = events(spark, [(i, i % 7 + 0.5) for i in range(100)], "double")
    asked = [mt.min("v"), mt.max("v"), mt.sum("v"), mt.avg("v"), mt.count("v"), mt.count()]
    source = prepare(df, "ts", (), WINDOWS, asked).events
    assert source.partials == ["p0", "p1", "p2", "p3", "p4"]
    assert source.lifted.columns == ["t", "p0", "p3", "p4"]
    assert source.shared == {"p1": "p0", "p2": "p0"}
    rolling = read(df, expression(df, "ts", "time"), [expression(df, "v", "by")], (mt.max("v"),), carry=True)
    assert rolling.shared == {"c1": "p0"}
    plain = [F.min("v"), F.max("v"), F.sum("v"), F.avg("v"), F.count("v"), F.count("*")]
    named = [column.alias(aggregate.name) for column, aggregate in zip(plain, asked, strict=True)]
    wanted = plain_spark(df, "ts", [], WINDOWS, named)
    for shape in SHAPES:
        assert_same(mt.aggregate(df, "ts", (), WINDOWS, asked, strategy=shape, statistics=SMALL), wanted, context=shape)


def test_types_that_sets_do_not_take_are_evaluated_from_rows(spark: SparkSession) -> None:
    df = events(spark, [(i, "aAb"[i % 3]) for i in range(40)], "string").withColumn("v", F.collate("v", "UTF8_LCASE"))
    same_in_all_shapes(df, mt.count_distinct("v"), F.count_distinct("v"))
    maps = df.select("ts", F.create_map(F.lit(1), F.length("v")).alias("v"))
    same_in_all_shapes(maps, mt.count_distinct("v"), F.count_distinct("v"))


def test_keys_that_are_never_null_stay_so(spark: SparkSession) -> None:
    df = events(spark, [(i, i) for i in range(40)], "long").withColumn("k", F.coalesce(F.col("v") % 3, F.lit(0)))
    same_in_all_shapes(df, mt.sum("v"), F.sum("v"), ["k"])


def test_maps_as_keys(spark: SparkSession) -> None:
    df = events(spark, [(i, i) for i in range(40)], "long").withColumn("k", F.create_map(F.lit("n"), F.col("v") % 3))
    expected = mt.aggregate(df, "ts", "k", WINDOWS, mt.sum("v"), strategy="independent")
    actual = mt.aggregate(df, "ts", "k", WINDOWS, mt.sum("v"))
    assert sorted(map(str, actual.collect())) == sorted(map(str, expected.collect()))


def test_sizes_beyond_belief_still_give_a_plan(spark: SparkSession) -> None:
    """Spark takes the size of a join for the product of its sides."""
    side = spark.range(10**5).withColumnRenamed("id", "k").withColumn("x", F.lit(1))
    df = spark.range(2 * 10**8).withColumn("k", F.col("id") % 1000).join(F.broadcast(side), "k")
    df = df.select(F.timestamp_micros(F.col("id") * 60_000_000).alias("ts"), "k", "x")
    windows = [mt.tumbling(f"{n} s") for n in (7, 11, 13, 14, 22, 26)]
    for shape in SHAPES:
        assert mt.aggregate(df, "ts", "k", windows, mt.sum("x"), strategy=shape).columns[-1] == "sum_x"
    few = events(spark, [(i, i) for i in range(40)], "long")
    absurd = mt.Statistics(rows=10**12, keys=10**11, span=10**22)
    with setting(spark, "spark.muntin.mostResultRows", str(10**15)):
        assert mt.aggregate(few, "ts", (), WINDOWS, mt.sum("v"), strategy="kernel", statistics=absurd).count() > 0


def test_settings_with_units_are_read(spark: SparkSession) -> None:
    df = events(spark, [(0, 1)], "long")
    with setting(spark, "spark.sql.execution.arrow.maxBytesPerBatch", "64m"):
        assert mt.explain(df, "ts", (), WINDOWS, mt.sum("v"), statistics=SMALL).notes


def test_a_column_twice_in_a_users_aggregate(spark: SparkSession) -> None:
    df = events(spark, [(0, 2), (1, 3)], "long")
    squares = mt.user_defined("f", "v", "v", lift=lambda a, b: a * b, combine=lambda a, b: a + b, lower=float)
    for strategy in ("independent", "native"):
        rows = mt.aggregate(df, "ts", (), WINDOWS[:1], squares, strategy=strategy).collect()
        assert [row[2] for row in rows] == [13.0]
    wrong = mt.user_defined("f", "v", lift=int, combine=max, lower=int, returns="nonsense")
    with pytest.raises(mt.QueryError, match="does not take column"):
        mt.aggregate(df, "ts", (), WINDOWS, wrong)


def test_expressions_that_give_several_rows_are_refused(spark: SparkSession) -> None:
    df = events(spark, [(0, [1, 2])], "array<int>")
    with pytest.raises(mt.QueryError, match="cannot be read"):
        mt.aggregate(df, "ts", (), WINDOWS, [mt.sum(F.explode("v")), mt.count()])


def test_names_that_differ_in_case_only(spark: SparkSession) -> None:
    df = events(spark, [(0, 2), (1, 3)], "long")
    asked = [mt.sum("V"), mt.max("v")]
    row = mt.aggregate(df, "TS", (), mt.tumbling("10 s"), asked, layout="wide").collect()[0]
    assert list(row)[1:] == [5, 3]


@pytest.mark.parametrize("strategy", ["native", "kernel"])
def test_windows_split_into_several_slicings(spark: SparkSession, strategy: str) -> None:
    """Three families without a common divisor are sliced apart, and the result is their union."""
    windows = [mt.tumbling(f"{n} s") for n in sorted({b * k for b in (4, 7, 11) for k in range(1, 9)})]
    statistics = mt.Statistics(rows=10**7, keys=1, span=10**13)
    asked: dict[str, Any] = {"strategy": "slices_explode" if strategy == "native" else strategy}
    df = spark.range(300).select(F.timestamp_micros(F.col("id") * 1_000_000).alias("ts"), F.col("id").alias("v"))
    plan = mt.explain(df, "ts", (), windows, mt.sum("v"), statistics=statistics, **asked)
    assert isinstance(plan, mt.PhysicalPlan)
    assert len(plan.groups) == (3 if strategy == "native" else 1)
    actual = mt.aggregate(df, "ts", (), windows, mt.sum("v").alias("a"), statistics=statistics, **asked)
    assert_same(actual, plain_spark(df, "ts", [], windows, [F.sum("v").alias("a")]))


FICKLE = {
    "key": ("ts", "cast(rand(7) * 3 as int)"),
    "key that is a float": ("ts", "floor(rand(7) * 3) - 1.0D"),
    "time": ("timestamp_seconds(floor(rand(5) * 90))", "v"),
    "wall-clock time": ("cast(timestamp_seconds(floor(rand(5) * 90)) as timestamp_ntz)", "v"),
}


@pytest.mark.parametrize("name", FICKLE)
def test_keys_and_times_that_are_not_deterministic(spark: SparkSession, name: str) -> None:
    """Spark groups by them, evaluated once for every row; so do all shapes."""
    time, key = FICKLE[name]
    df = spark.range(0, 400, 1, 3).select(F.timestamp_seconds("id").alias("ts"), (F.col("id") % 7).alias("v"))
    drawn = df.selectExpr(f"{time} as ts", "v", f"{key} as k")
    expected = plain_spark(drawn, "ts", ["k"], WINDOWS, [F.sum("v").alias("a"), F.count("*").alias("n")])
    asked = [mt.sum("v").alias("a"), mt.count().alias("n")]
    for shape in SHAPES:
        by = F.expr(key).alias("k")
        actual = mt.aggregate(df, F.expr(time), by, WINDOWS, asked, strategy=shape, statistics=SMALL)
        assert_same(actual, expected, ["k"], shape)


def test_times_that_are_not_deterministic_are_evaluated_once(spark: SparkSession) -> None:
    """A time evaluated twice would lie outside the window that it is counted in."""
    draw = F.udf(lambda: __import__("random").randrange(10**6), "long").asNondeterministic()
    df = spark.range(0, 200, 1, 2)
    source = prepare(df, F.timestamp_seconds(draw()), (), WINDOWS, mt.count())
    times = source.events.frame.select(F.unix_micros("ts") == F.col("t")).distinct().collect()
    assert [row[0] for row in times] == [True]


def test_rolling_over_values_that_are_not_deterministic(spark: SparkSession) -> None:
    """Spark takes them over such windows, unlike in an aggregation."""
    df = spark.range(0, 100, 1, 2).select(F.timestamp_seconds("id").alias("ts"), F.col("id").alias("i"))
    value, key = F.floor(F.rand(3) * 100), F.floor(F.rand(4) * 3)
    drawn = df.select("*", value.alias("v"), key.alias("k"))
    over = Over.partitionBy("k").orderBy(F.unix_micros("ts")).rangeBetween(-9_000_000, 0)
    expected = {row["i"]: row["s"] for row in drawn.select("i", F.sum("v").over(over).alias("s")).collect()}
    for strategy in ("independent", "kernel"):
        actual = mt.rolling(df, "ts", key, "9 s", mt.sum(value).alias("s"), strategy=strategy)
        assert {row["i"]: row["s_9s"] for row in actual.collect()} == expected


@pytest.mark.long
def test_maps_in_a_users_aggregate(spark: SparkSession) -> None:
    """What Spark cannot sort is put into the order of time all the same; of one time, into that of its text."""
    rows = [(i % 50, {"a": i, "b": -i} if i % 7 else None) for i in range(200)]
    df = events(spark, rows, "map<string, long>").repartition(5)
    keys: dict[str, Any] = {"combine": lambda a, b: a + b, "returns": "array<bigint>"}
    listed = mt.user_defined("listed", "v", lift=lambda m: [m["a"]], lower=list, **keys)

    @F.udf("array<bigint>")
    def plainly(rows: list[Any]) -> list[int]:
        return [row["v"]["a"] for row in sorted(rows, key=lambda row: (row["ts"], row["text"])) if row["v"]]

    theirs = plainly(F.collect_list(F.struct("ts", "v", F.struct("v").cast("string").alias("text"))))
    same_in_all_shapes(df, listed, theirs)


@pytest.mark.parametrize("value", ["parse_json(v)", "array(map(v, 1))", "named_struct('m', map(v, v))", "v"])
def test_values_without_an_order_in_a_users_aggregate(spark: SparkSession, value: str) -> None:
    df = events(spark, [(i % 30, str(i)) for i in range(100)], "string").repartition(3)
    df = df.select("ts", F.expr(value).alias("v"))
    texts = mt.user_defined(
        "texts", "v", lift=lambda v: [str(v)], combine=lambda a, b: a + b, lower="|".join, returns="string"
    )
    expected = mt.aggregate(df, "ts", (), WINDOWS, texts, strategy="independent").collect()
    for shape in ("expand", "slices_explode"):
        actual = mt.aggregate(df, "ts", (), WINDOWS, texts, strategy=shape, statistics=SMALL).collect()
        assert sorted(map(str, actual)) == sorted(map(str, expected))
    assert sum(len(row["texts_v"].split("|")) for row in expected) == 300
