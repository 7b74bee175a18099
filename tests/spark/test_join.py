"""mt.join in batch: the rows are those of plain Spark, written by hand, for every range and window."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import reduce
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.window import Window
from tests.pairing import expiries
from tests.spark.cases import assert_same
from tests.test_pairing import LEFT, RESULTS, RIGHT, WINDOWS, as_paper

RANGES = {"90 s": "1m30s", "5 minutes": "5m", "1 hour": "1h"}
PERIODIC = [
    [mt.tumbling("5 minutes"), mt.tumbling("1 hour")],
    [mt.tumbling("5 minutes"), mt.hopping("20 minutes", "5 minutes")],
    [mt.hopping("10 minutes", "4 minutes"), mt.tumbling("90 s", offset="20 s", id="short")],
    [mt.hopping("20 minutes", "10 minutes"), mt.hopping("7 minutes", "2 minutes", offset="1 minute")],
]
BEGIN = datetime(1969, 12, 31, 23, tzinfo=UTC)


def side(spark: SparkSession, r: random.Random, name: str, *, zoned: bool, unique: bool) -> DataFrame:
    """Give random rows of a few keys, one of them hot, many at equal times and at distances that are ranges."""
    rows = r.choice([60, 120])
    ticks = r.sample(range(0, 7200, 5), rows) if unique else [30 * r.randrange(240) for _ in range(rows)]
    times: list[datetime | None] = [BEGIN + timedelta(seconds=tick) for tick in ticks]
    times = [None if r.random() < 0.05 else time if zoned else time and time.replace(tzinfo=None) for time in times]

    def some(value: Any) -> Any:
        return None if r.random() < 0.1 else value

    data = {
        "user": pa.array([some(r.choice(["hot"] * 4 + list("abcd"))) for _ in range(rows)], pa.string()),
        "ts": pa.array(times, pa.timestamp("us", "UTC" if zoned else None)),
        "part": pa.array([some(r.choice([0.0, -0.0, 1.5])) for _ in range(rows)], pa.float64()),
        f"{name} unique": pa.array(range(rows), pa.int64()),
        "i": pa.array([some(r.randint(-999, 999)) for _ in range(rows)], pa.int32()),
        "money": pa.array([some(Decimal(r.randint(0, 10**9)).scaleb(-2)) for _ in range(rows)], pa.decimal128(15, 2)),
        "huge": pa.array([some(Decimal(r.randint(0, 10**20)).scaleb(-6)) for _ in range(rows)], pa.decimal128(30, 6)),
        "f": pa.array([some(r.gauss(10, 3)) for _ in range(rows)], pa.float64()),
        "flag": pa.array([some(r.random() < 0.5) for _ in range(rows)], pa.bool_()),
    }
    return spark.createDataFrame(pa.table(data)).repartition(r.choice([1, 3]), F.rand(1))


def both_sides(spark: SparkSession, seed: int) -> tuple[DataFrame, DataFrame, list[str]]:
    r = random.Random(seed)
    zoned, unique = seed % 3 != 2, seed % 2 == 1
    left, right = (side(spark, r, name, zoned=zoned, unique=unique) for name in ("left", "right"))
    return left, right, r.choice([["user"], ["user", "part"]])


def few(left: DataFrame, right: DataFrame, on: list[str]) -> tuple[DataFrame, DataFrame]:
    """Leave columns out that pairs would only carry."""
    return left.select(*on, "ts", "left unique", "i"), right.select(*on, "ts", "right unique", "i")


def plain_pairs(left: DataFrame, right: DataFrame, on: list[str], near: Column, how: str) -> DataFrame:
    """Join with a condition, as a Spark user writes it, and name the columns as mt.join does."""
    equal = [F.col(f"l.`{key}`") == F.col(f"r.`{key}`") for key in on]
    return left.alias("l").join(right.alias("r"), reduce(Column.__and__, [*equal, near]), how)


def named(on: list[str]) -> list[Column]:
    own = ["ts", "{} unique", "i"]
    keys = [F.col(f"l.`{key}`").alias(key) for key in on]
    sides = {"left": "l", "right": "r"}
    columns = [
        F.col(f"{alias}.`{name.format(side)}`").alias(f"{side}_{name}" if "{" not in name else name.format(side))
        for side, alias in sides.items()
        for name in own
    ]
    return [*keys, *columns]


def plain_within(left: DataFrame, right: DataFrame, on: list[str], how: str, *, forward: bool) -> DataFrame:
    def near(length: str) -> Column:
        low = "l.ts" if forward else f"l.ts - INTERVAL {length}"
        return F.expr(f"r.ts BETWEEN {low} AND l.ts + INTERVAL {length}")

    label = F.when(near("90 seconds"), "1m30s").when(near("5 minutes"), "5m").when(near("1 hour"), "1h")
    return plain_pairs(left, right, on, near("1 hour"), how).select(label.alias("within"), *named(on))


def plain_windows(left: DataFrame, right: DataFrame, on: list[str], windows: Sequence[Window], how: str) -> DataFrame:
    branches = []
    for window in windows:
        lengths = [f"{length} microseconds" for length in window.period]
        one, other = (frame.withColumn("window", F.window("ts", *lengths)) for frame in (left, right))
        pairs = plain_pairs(one, other, on, F.expr("l.window = r.window"), how)
        branches.append(pairs.select(F.lit(window.label).alias("window_id"), F.col("l.window"), *named(on)))
    return reduce(DataFrame.union, branches)


def same_rows(actual: DataFrame, expected: DataFrame, context: object = "") -> int:
    """Compare schemas and rows, however often each comes; give how many there are."""
    ours, theirs = ([(f.name, f.dataType.simpleString()) for f in frame.schema] for frame in (actual, expected))
    assert ours == theirs, context
    rows, wanted = (sorted(map(repr, frame.collect())) for frame in (actual, expected))
    assert rows == wanted, context
    return len(rows)


STRATEGIES = ["stretches", "auto", "stretches", "stretches"]
"""So few rows would all meet by key."""
SEEDS = [0, 1, 2, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(3, 12))]


@pytest.mark.parametrize("seed", SEEDS)
def test_pairs_within_ranges(spark: SparkSession, seed: int) -> None:
    """Both directions, inner and left; null keys and times, ties, a hot key, wall-clock times."""
    left, right, on = both_sides(spark, seed)
    one, other = (frame.cache() for frame in few(left, right, on))
    within = list(RANGES)[:: -1 if seed % 2 else 1]
    counts: list[int] = []
    for how, direction in (("inner", "both"), ("inner", "forward"), ("left", "both"), ("left", "forward")):
        asked: Any = {"within": within, "how": how, "direction": direction, "strategy": STRATEGIES[len(counts)]}
        expected = plain_within(one, other, on, how, forward=direction == "forward")
        counts.append(same_rows(mt.join(one, other, on, "ts", "ts", **asked), expected, (seed, asked)))
    assert counts[0] > counts[1] > 0
    assert counts[2] > counts[0]


@pytest.mark.parametrize("seed", [*SEEDS[:3], 3, *SEEDS[4:]])
def test_pairs_in_instances_of_windows(spark: SparkSession, seed: int) -> None:
    left, right, on = both_sides(spark, 100 + seed)
    one, other = (frame.cache() for frame in few(left, right, on))
    windows = PERIODIC[seed % len(PERIODIC)]
    hows: list[Any] = ["inner", "left"]
    for how in hows:
        actual = mt.join(one, other, on, "ts", "ts", windows=windows, how=how, strategy="stretches")
        assert same_rows(actual, plain_windows(one, other, on, windows, how), (seed, how))


Table = dict[str, tuple[Any, Callable[[], Column]]]

DERIVED: Table = {
    "n": (mt.count(), lambda: F.count("*")),
    "ni": (mt.count("right.i"), lambda: F.count("r.i")),
    "si": (mt.sum("right.i"), lambda: F.sum("r.i")),
    "sl": (mt.sum("left.i"), lambda: F.sum("l.i")),
    "sf": (mt.sum("left.f"), lambda: F.sum("l.f")),
    "sm": (mt.sum("right.money"), lambda: F.sum("r.money")),
    "ai": (mt.avg("right.i"), lambda: F.avg("r.i")),
    "am": (mt.avg("left.money"), lambda: F.avg("l.money")),
    "ml": (mt.min("left.money"), lambda: F.min("l.money")),
    "xr": (mt.max("right.f"), lambda: F.max("r.f")),
    "ci": (mt.count_if("right.flag"), lambda: F.count_if("r.flag")),
    "bo": (mt.bool_or("right.flag"), lambda: F.bool_or("r.flag")),
    "cd": (mt.count_distinct("right.i"), lambda: F.count_distinct("r.i")),
    "xb": (mt.max_by("right.i", "right.right unique"), lambda: F.max_by("r.i", "r.right unique")),
    "ex": (lambda: mt.sum(F.col("right.i") * 2), lambda: F.sum(F.col("r.i") * 2)),
    "sp": (lambda: F.sum("left.i"), lambda: F.sum("l.i")),
}
"""Aggregates of pairs that need no pairs, asked of Muntin and of Spark."""
OF_PAIRS: Table = {
    "sh": (mt.sum("right.huge"), lambda: F.sum("r.huge")),
    "md": (mt.median("right.i"), lambda: F.median("r.i")),
    "variance": (mt.variance("left.f"), lambda: F.variance("l.f")),
    "lr": (lambda: mt.sum(F.col("left.i") * F.col("right.i")), lambda: F.sum(F.expr("l.i * r.i"))),
    "fi": (mt.first("right.user"), lambda: F.min_by("r.user", "r.ts")),
    **{name: DERIVED[name] for name in ("n", "ni", "sm", "cd")},
}


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.long) for s in (1, 2))])
def test_aggregates_of_pairs(spark: SparkSession, seed: int) -> None:
    """Derived from each side where that is exact, and of the pairs themselves where not."""
    left, right, on = both_sides(spark, 200 + seed)
    left, right = left.cache(), right.cache()
    windows = PERIODIC[(seed + 1) % len(PERIODIC)]
    for how in ("inner", "left"):
        for table in (DERIVED, OF_PAIRS):
            asked = [(one() if callable(one) else one).alias(name) for name, (one, _) in table.items()]
            plain = [column().alias(name) for name, (_, column) in table.items()]
            actual = mt.join(left, right, on, "ts", "ts", windows=windows, how=how, aggregates=asked)
            branches = []
            for window in windows:
                lengths = [f"{length} microseconds" for length in window.period]
                one, other = (frame.withColumn("window", F.window("ts", *lengths)) for frame in (left, right))
                pairs = plain_pairs(one, other, on, F.expr("l.window = r.window"), how)
                keys = [F.col(f"l.`{key}`").alias(key) for key in on]
                groups = pairs.groupBy(F.col("l.window").alias("window"), *keys).agg(*plain)
                branches.append(groups.select(F.lit(window.label).alias("window_id"), "*"))
            assert_same(actual, reduce(DataFrame.union, branches), on, (seed, how))


def test_the_papers_join(spark: SparkSession) -> None:
    left, right = (
        spark.createDataFrame(rows, "t long, k string").select("k", "t", F.timestamp_seconds("t").alias("at"))
        for rows in (LEFT, RIGHT)
    )
    within = [f"{window - 1} seconds" for window in WINDOWS]
    rows = mt.join(left, right, "k", "at", "at", within=within).collect()
    pairs = [(row["left_t"], row["right_t"]) for row in rows]
    assert as_paper(pairs) == sorted(RESULTS)
    levels = {f"{window - 1}s": level for level, window in enumerate(WINDOWS)}
    for row, pair in zip(rows, pairs, strict=True):
        assert next(expiries(*pair, WINDOWS))[0] == levels[row["within"]]


def test_times_may_be_expressions_and_names_anything(spark: SparkSession) -> None:
    left = spark.createDataFrame([("a", 0, 1), ("b", 0, 2)], "`the key` string, `sec.s` long, `a``b` int")
    right = spark.createDataFrame([("a", 30, 5)], "`the key` string, at long, `A``b` int")
    times = F.timestamp_seconds(F.col("`sec.s`")), F.timestamp_seconds("at")
    out = mt.join(left, right, ["the key"], *times, within="1 minute", how="left")
    assert out.columns == ["within", "the key", "sec.s", "left_a`b", "at", "right_A`b"]
    assert sorted(map(tuple, out.collect()), key=repr) == [("1m", "a", 0, 1, 30, 5), (None, "b", 0, 2, None, None)]
    made = mt.join(left, right, ["the key"], *times, windows="1 minute", aggregates=mt.sum("right.at"))
    assert made.columns == ["window_id", "window", "the key", "sum_right_at"]
    assert [row["sum_right_at"] for row in made.collect()] == [30]
