"""Distinct counts, percentiles and modes: shared over windows, and the rows are those of plain Spark."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

import muntin as mt
from muntin.plan.physical.shapes import Shape
from tests.spark.cases import VALUES, assert_same, plain_spark, random_windows
from tests.spark.streams import Replay
from tests.spark.streams import events as stream_events

PERCENTILES = ("i8", "i64", "f32", "odd", "money", "huge")
ITEMS = ("few", "text", "odd", "money", "day", "at", "flag", "bytes")
BASE = datetime(1969, 12, 31, 23, 50, tzinfo=UTC)


def events(spark: SparkSession, r: random.Random, keys: list[Any], names: tuple[str, ...]) -> DataFrame:
    """Give random rows with a hot key, ties, nulls in everything, and a number that tells them apart."""
    count = r.choice([1, 40, 400, 1000])
    span = r.choice([60, 3000])
    times = [None if r.random() < 0.02 else BASE + timedelta(seconds=r.randrange(span)) for _ in range(count)]
    data: dict[str, pa.Array] = {"ts": pa.array(times, pa.timestamp("us", "UTC"))}
    data["k"] = pa.array([keys[0] if r.random() < 0.7 else r.choice(keys) for _ in range(count)])
    for name in names:
        kind, value = VALUES[name]
        pool = [value(r) for _ in range(r.choice([3, 400]))]
        data[name] = pa.array([None if r.random() < 0.1 else r.choice(pool) for _ in range(count)], kind)
    data["row"] = pa.array(range(count))
    return spark.createDataFrame(pa.table(data)).repartition(3)


def holistic(r: random.Random) -> tuple[list[mt.Aggregate], list[Column]]:
    """Ask for some distinct counts and percentiles, of ours and of Spark's."""
    asked = [(mt.count_distinct(name), F.count_distinct(F.col(name))) for name in r.sample(ITEMS, 2)]
    for name in r.sample(PERCENTILES, 2):
        fraction = r.choice([0, 0.1, 0.25, 0.5, 0.99, 1])
        asked.append((mt.percentile(name, fraction), F.percentile(F.col(name), fraction)))
    asked.append((mt.median("f64"), F.median("f64")))
    return [ours for ours, _ in asked], [theirs.alias(ours.name) for ours, theirs in asked]


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(s, marks=pytest.mark.long) for s in range(4, 40))])
def test_same_rows_as_plain_spark(spark: SparkSession, seed: int) -> None:
    """Marks and kernels that read ranges, on random windows, types and data; one key has most rows."""
    r = random.Random(seed)
    names = tuple(dict.fromkeys((*PERCENTILES, *ITEMS, "f64")))
    keys: list[Any] = ["a", "b", None] if seed % 2 else [1.5, 0.0, -0.0, math.nan]
    df = events(spark, r, keys, names)
    by = [] if seed % 4 == 3 else ["k"]
    windows, (ours, plain) = random_windows(r), holistic(r)
    expected = plain_spark(df, "ts", by, windows, plain).cache()
    cut = mt.Statistics(rows=1000, keys=2, span=4 * max(window.range for window in windows) + 1)
    for strategy in ("auto", "marks", "ranges_kernel"):
        actual = mt.aggregate(df, "ts", by, windows, ours, strategy=strategy, statistics=cut)
        assert_same(actual, expected, by, (seed, strategy, windows))
    expected.unpersist()


def test_sums_and_medians_in_one_pass(spark: SparkSession) -> None:
    """A shape that reads ranges takes aggregates that are merged elsewhere, so that rows are sorted once."""
    df = events(spark, random.Random(5), ["a", "b"], ("f64", "few", "money"))
    windows = [mt.tumbling("1 min"), mt.hopping("2 min", "10 s"), mt.hopping("95 s", "40 s", offset="3 s")]
    ours = [mt.sum("money"), mt.median("f64"), mt.count(), mt.count_distinct("few"), mt.max("few")]
    texts = ["sum(money)", "median(f64)", "count(*)", "count(distinct few)", "max(few)"]
    plain = [F.expr(text).alias(asked.name) for asked, text in zip(ours, texts, strict=True)]
    plan = mt.explain(df, "ts", "k", windows, ours, strategy="ranges_kernel")
    assert isinstance(plan, mt.PhysicalPlan)
    assert [group.shape for group in plan.groups] == [Shape.RANGES_KERNEL]
    actual = mt.aggregate(df, "ts", "k", windows, ours, strategy="ranges_kernel")
    assert_same(actual, plain_spark(df, "ts", ["k"], windows, plain), ["k"], "together")


@pytest.mark.parametrize("value", ["few", "text", "day"])
def test_a_mode_is_a_most_frequent_value(spark: SparkSession, value: str) -> None:
    """Spark gives any of the most frequent ones, so ours has to be as frequent as the most frequent there."""
    df = events(spark, random.Random(11), ["a", "b", None], (value,))
    windows = [mt.tumbling("1 min"), mt.hopping("3 min", "20 s")]
    modes = mt.aggregate(df, "ts", "k", windows, mt.mode(value), strategy="ranges_kernel")
    frequent = plain_spark(df, "ts", ["k", value], windows, [F.count(value).alias("times")])
    times: dict[Any, dict[Any, int]] = {}
    for label, window, key, one, count in frequent.collect():
        times.setdefault((label, window, key), {})[one] = count
    ours = {(label, window, key): mode for label, window, key, mode in modes.collect()}
    assert ours.keys() == times.keys()
    assert len(times) == modes.count()
    assert all(times[at].get(mode, 0) == max(times[at].values()) for at, mode in ours.items())


@pytest.mark.parametrize("seed", range(3))
def test_distinct_items_with_their_latest_time(spark: SparkSession, seed: int) -> None:
    r = random.Random(seed)
    df = events(spark, r, ["a", "b", None], ("few", "odd"))
    windows = random_windows(r)
    expected = plain_spark(df, "ts", ["k", "few", "odd"], windows, [F.max("ts").alias("latest")])
    actual = mt.distinct(df, "ts", "k", ["few", "odd"], windows)
    assert_same(actual, expected, ["k", "few", "odd"], (seed, windows))


def test_the_latest_occurrence_is_kept(spark: SparkSession) -> None:
    """Items 3, 5, 3, 7, 3, 5 at 1, 2, 4, 6, 9, 11 under ranges of 4 and 10, at 8 and at 11."""
    items = [(1, 3), (2, 5), (4, 3), (6, 7), (9, 3), (11, 5)]
    df = spark.createDataFrame(items, "t int, v int").selectExpr("timestamp_seconds(t) AS ts", "v")
    rows = mt.distinct(df, "ts", (), "v", [mt.hopping("4 s", "1 s", id="4"), mt.hopping("10 s", "1 s", id="10")])
    seconds = rows.selectExpr("window_id", "unix_seconds(window.end) - 1 AS now", "v", "unix_seconds(latest) AS at")

    def at(now: int, window: str) -> dict[int, int]:
        return {row["v"]: row["at"] for row in seconds.where(f"now = {now} AND window_id = '{window}'").collect()}

    assert at(8, "4") == {7: 6}
    assert at(8, "10") == {3: 4, 5: 2, 7: 6}
    assert at(11, "4") == {3: 9, 5: 11}
    assert at(11, "10") == {7: 6, 3: 9, 5: 11}


def test_distinct_items_of_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    """The items of closed instances, as in batch."""
    rows = [((i * 37) % 300, ["a", "b", None][i % 3], i * i % 5) for i in range(120)]
    rows.sort()
    replay = Replay(spark, tmp_path).add(
        stream_events(*rows[:60]), stream_events(*rows[60:]), stream_events((9000, "z", 0))
    )
    windows = [mt.tumbling("1 minute"), mt.hopping("2 minutes", "1 minute")]
    given = replay.write(mt.distinct(replay.stream, "ts", "k", "v", windows, watermark="10 seconds")).rows
    closed = replay.batch.where("k IS NULL OR k != 'z'")
    expected = plain_spark(closed, "ts", ["k", "v"], windows, [F.max("ts").alias("latest")])
    assert_same(given, expected, ["k", "v"], "stream")


@pytest.mark.parametrize("by", [[], ["k"]])
def test_rolling_frames(spark: SparkSession, by: list[str]) -> None:
    """Distinct counts, percentiles and medians of what came before every row, by a join of the rows with themselves."""
    df = events(spark, random.Random(3), ["a", "b", None], ("f64", "odd", "few", "text")).where("ts IS NOT NULL")
    ours = [mt.count_distinct("text"), mt.median("f64"), mt.percentile("odd", 0.3), mt.sum("few"), mt.mode("few")]
    ranges = {"7s": 7, "2m": 120}
    actual = mt.rolling(df, "ts", by, list(ranges), ours, rows=[3])
    cut = mt.Statistics(rows=1000, keys=1, span="5 minutes")
    chunked = mt.rolling(df, "ts", by, list(ranges), ours, statistics=cut)
    mine, others = df.alias("mine"), df.alias("others")
    for label, seconds in ranges.items():
        before = F.col("others.ts").between(F.col("mine.ts") - F.expr(f"INTERVAL {seconds} SECONDS"), F.col("mine.ts"))
        for key in by:
            before &= F.col(f"mine.{key}").eqNullSafe(F.col(f"others.{key}"))
        joined = mine.join(others, before).groupBy("mine.row")
        expected = joined.agg(
            F.count_distinct("others.text").alias("users"),
            F.median("others.f64").alias("median"),
            F.percentile("others.odd", 0.3).alias("third"),
            F.sum("others.few").alias("sum"),
        )
        wanted = {row["row"]: list(row)[1:] for row in expected.collect()}
        names = ["count_distinct_text", "median_f64", "percentile_30_odd", "sum_few"]
        for frame in (actual, chunked):
            for row in frame.select("row", *(f"{name}_{label}" for name in names)).collect():
                theirs = wanted[row["row"]]
                assert repr(list(row)[1:]) == repr(theirs), (label, row, theirs)
    latest = actual.select("ts", "k", "text", "count_distinct_text_3rows").collect()
    assert all(0 <= row["count_distinct_text_3rows"] <= 3 for row in latest)
    types = {field.name: field.dataType.simpleString() for field in actual.schema}
    assert types["mode_few_2m"] == "int"
    assert types["count_distinct_text_7s"] == "bigint"


def test_what_kernels_cannot_sort_goes_the_plain_way(spark: SparkSession) -> None:
    """Items that are arrays are counted by marks, and maps as plain Spark does."""
    rows = [(i * 7 % 50, [i % 3], {"a": i % 2}) for i in range(60)]
    df = spark.createDataFrame(rows, "t int, list array<int>, map map<string,int>")
    df = df.selectExpr("timestamp_seconds(t) AS ts", "list", "map")
    windows = [mt.tumbling("10 s"), mt.hopping("30 s", "10 s"), mt.hopping("50 s", "10 s")]
    expected = plain_spark(df, "ts", [], windows, [F.count_distinct("list").alias("n")])
    asked = mt.count_distinct("list").alias("n")
    assert_same(mt.aggregate(df, "ts", (), windows, asked, strategy="marks"), expected, [], "marks")
    assert_same(mt.aggregate(df, "ts", (), windows, asked, strategy="kernel"), expected, [], "kernel")


ODD_BITS = np.array([0x7FF8000000000001, 0xFFF8000000000000], np.uint64).view(np.float64).tolist()
ZEROS = {
    "two ones": [0.0, -0.0, -0.0, 1.0, 1.0],
    "three ones": [-0.0, 0.0, -0.0, 0.0, 1.0, 1.0, 1.0],
    "negative": [-0.0, -0.0],
    "in turn": [-0.0, -0.0, 0.0],
    "both sides": [-1.0, -0.0, 0.0, 1.0],
    "one more": [-0.0, 0.0, -0.0, 0.0, 5.0],
    "not numbers": [math.nan, *ODD_BITS, 1.0, 1.0],
}


@pytest.fixture(scope="module")
def zeros(spark: SparkSession) -> DataFrame:
    """Zeros of both signs and NaNs of several bits, whose modes are not ambiguous."""
    rows = [(name, value) for name, values in ZEROS.items() for value in values]
    table = {
        "k": pa.array([name for name, _ in rows]),
        "t": pa.array(range(len(rows))),
        "v": pa.array(np.array([value for _, value in rows])),
    }
    made = "timestamp_seconds(t) AS ts", "*", "float(v) AS f", "struct(v) AS pair", "array(array(v)) AS list"
    return spark.createDataFrame(pa.table(table)).selectExpr(*made, "map('a', t % 3) AS map")


@pytest.mark.parametrize("value", ["v", "f"])
def test_zeros_and_nans_are_those_of_plain_spark(spark: SparkSession, zeros: DataFrame, value: str) -> None:
    """To the sign of a zero: modes have one zero and one NaN, percentiles sort -0.0 before 0.0."""
    windows = [mt.tumbling("1 hour"), mt.hopping("2 hours", "1 hour")]
    fractions = [0, 0.4, 0.5, 1]
    ours = [mt.mode(value), mt.count_distinct(value), *(mt.percentile(value, fraction) for fraction in fractions)]
    plain = [F.mode(value), F.count_distinct(value), *(F.percentile(value, fraction) for fraction in fractions)]
    expected = plain_spark(zeros, "ts", ["k"], windows, plain).collect()
    for strategy in ("auto", "ranges_kernel"):
        actual = mt.aggregate(zeros, "ts", "k", windows, ours, strategy=strategy).collect()
        assert sorted(repr(tuple(row)) for row in actual) == sorted(repr(tuple(row)) for row in expected), strategy


def test_distinct_maps_of_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    replay = Replay(spark, tmp_path).add(
        stream_events((1, "a", 1), (2, "b", 2), (9, "a", 1)), stream_events((9000, "z", 0))
    )
    map = F.create_map(F.lit("v"), "v")
    stream, batch = (df.withColumn("v", map) for df in (replay.stream, replay.batch.where("k != 'z'")))
    given = replay.write(mt.distinct(stream, "ts", "k", "v", "1 minute", watermark="10 seconds")).rows
    expected = plain_spark(batch, "ts", ["k", "v"], [mt.tumbling("1 minute")], [F.max("ts").alias("latest")])
    assert_same(given, expected, ["k", "v"], "stream", nullable=False)
    assert given.count() == 2


def test_zeros_and_nans_of_rolling_windows_are_those_of_plain_spark(zeros: DataFrame) -> None:
    over = Over.partitionBy("k").orderBy("t").rowsBetween(-9, 0)
    plain = {"mode_v": F.mode("v"), "percentile_50_v": F.percentile("v", 0.5), "min_v": F.min("v"), "max_f": F.max("f")}
    plain |= {"min_by_t_v": F.min_by("t", "v"), "max_by_t_f": F.max_by("t", "f")}
    expected = zeros.select("k", "t", *(column.over(over).alias(name) for name, column in plain.items()))
    ours = [mt.mode("v"), mt.percentile("v", 0.5), mt.min("v"), mt.max("f"), mt.min_by("t", "v"), mt.max_by("t", "f")]
    rolled = mt.rolling(zeros, "ts", "k", (), ours, rows=10, strategy="kernel")
    last = "t IN (4, 11, 13, 16, 20, 25, 30)"  # the last of each key: until then a mode may be ambiguous
    actual = rolled.where(last).select("k", "t", *(f"{name}_10rows" for name in plain))
    assert sorted(map(repr, map(tuple, actual.collect()))) == sorted(
        map(repr, map(tuple, expected.where(last).collect()))
    )


@pytest.mark.parametrize("item", ["v", "pair", "list", "map"])
def test_items_are_what_spark_groups_by(zeros: DataFrame, item: str) -> None:
    """Zeros within structs and arrays too; and maps, which Spark does not sort by."""
    windows = [mt.tumbling("1 minute"), mt.hopping("1 hour", "30 minutes")]
    expected = plain_spark(zeros, "ts", ["k", item], windows, [F.max("ts").alias("latest")])
    assert_same(mt.distinct(zeros, "ts", "k", item, windows), expected, ["k", item], item, nullable=False)


def test_variants_are_not_counted(zeros: DataFrame) -> None:
    """Spark plans such a count, and then fails in every task."""
    df = zeros.selectExpr("ts", "parse_json('1') AS v", "array(parse_json('1')) AS list")
    for name in ("v", "list"):
        with pytest.raises(mt.QueryError, match=rf"'{name}' is of type .*variant.*to_json\('{name}'\)"):
            mt.aggregate(df, "ts", (), "1 hour", mt.count_distinct(name))
    counted = mt.aggregate(df, "ts", (), "1 hour", mt.count_distinct(F.to_json("v")).alias("n"))
    assert [row["n"] for row in counted.collect()] == [1]


def test_a_refusal_of_rolling_windows_names_what_kernels_do_not_take(zeros: DataFrame) -> None:
    asked = [mt.count_distinct("v"), mt.min("list")]
    with pytest.raises(
        mt.UnsupportedError, match=r"only kernels evaluate count_distinct\(v\).* no kernel knows min\(list\)"
    ):
        mt.rolling(zeros, "ts", (), "1 hour", asked)
    with pytest.raises(mt.UnsupportedError, match=r"only kernels evaluate count_distinct\(v\).* key 'list'"):
        mt.rolling(zeros, "ts", "list", "1 hour", mt.count_distinct("v"))
    with pytest.raises(mt.UnsupportedError, match=r"Spark does not evaluate count_distinct\(v\).*strategy='auto'"):
        mt.rolling(zeros, "ts", (), "1 hour", mt.count_distinct("v"), strategy="independent")


def test_bad_input(spark: SparkSession) -> None:
    df = spark.createDataFrame([(datetime(2024, 1, 1), 1)], "ts timestamp, v int")
    with pytest.raises(mt.QueryError, match="no columns were given"):
        mt.distinct(df, "ts", (), (), ["1 hour"])
    with pytest.raises(mt.QueryError, match="nothing"):
        mt.distinct(df, "ts", (), "nothing", ["1 hour"])
    with pytest.raises(mt.QueryError, match="latest"):
        mt.distinct(df.withColumnRenamed("v", "latest"), "ts", (), "latest", ["1 hour"])
    with pytest.raises(mt.UnsupportedError, match="count_distinct"):
        mt.rolling(df, "ts", (), "1 hour", mt.count_distinct("v"), strategy="independent")
