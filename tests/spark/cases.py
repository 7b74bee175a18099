"""Random queries over random data, and the plain Spark plan written by hand: what every strategy is compared with."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, Row, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.aggregates import Aggregate
from muntin.window import Window

Value = Callable[[random.Random], Any]

VALUES: dict[str, tuple[pa.DataType, Value]] = {
    "i8": (pa.int8(), lambda r: r.randint(-128, 127)),
    "i16": (pa.int16(), lambda r: r.randint(-999, 999)),
    "i32": (pa.int32(), lambda r: r.randint(-(10**6), 10**6)),
    "i64": (pa.int64(), lambda r: r.randint(-(10**15), 10**15)),
    "f32": (pa.float32(), lambda r: r.choice([0.5, -1.25, 3.0, 100.0, -0.0, 0.0])),
    "f64": (pa.float64(), lambda r: r.gauss(1000, 3)),
    "odd": (pa.float64(), lambda r: r.choice([math.nan, math.inf, -math.inf, -0.0, 0.0, 1.5, r.gauss(0, 1)])),
    "small": (pa.decimal128(5, 2), lambda r: Decimal(r.randint(-99999, 99999)).scaleb(-2)),
    "money": (pa.decimal128(18, 4), lambda r: Decimal(r.randint(-(10**17), 10**17)).scaleb(-4)),
    "huge": (pa.decimal128(30, 6), lambda r: Decimal(r.randint(-(10**26), 10**26)).scaleb(-6)),
    "day": (pa.date32(), lambda r: date(1965, 1, 1) + timedelta(days=r.randint(0, 20_000))),
    "at": (
        pa.timestamp("us", "UTC"),
        lambda r: datetime(1960, 1, 1, tzinfo=UTC) + timedelta(0, r.randint(0, 10**9), r.randint(0, 999_999)),
    ),
    "text": (pa.string(), lambda r: "".join(r.choices("abcé√z😀", k=r.randint(0, 4)))),
    "flag": (pa.bool_(), lambda r: r.random() < 0.5),
    "few": (pa.int32(), lambda r: r.randint(0, 5)),
    "bytes": (pa.binary(), lambda r: bytes(r.choices(range(256), k=r.randint(0, 3)))),
}

KEYS: dict[str, tuple[pa.DataType, Value]] = {
    "k int": (pa.int32(), lambda r: r.randint(0, 3)),
    "k`text": (pa.string(), lambda r: r.choice(["", "a", "b.c", "é"])),
    "k.double": (pa.float64(), lambda r: r.choice([math.nan, 0.0, -0.0, 1.5])),
    "k'date": (pa.date32(), lambda r: date(2024, 1, r.randint(1, 3))),
    'k"flag': (pa.bool_(), lambda r: r.random() < 0.5),
    "k-decimal": (pa.decimal128(12, 2), lambda r: Decimal(r.randint(0, 2))),
    "k bytes": (pa.binary(), lambda r: bytes([r.randint(0, 2)])),
    "k time": (pa.timestamp("us", "UTC"), lambda r: datetime(2024, 1, r.randint(1, 2), tzinfo=UTC)),
    "k array": (pa.list_(pa.int32()), lambda r: [r.randint(0, 1), 7]),
    "k long": (pa.int64(), lambda r: r.randint(0, 200)),
}

NUMBERS = ("i8", "i16", "i32", "i64", "f32", "f64", "odd", "small", "money", "huge")
ORDERED = (*NUMBERS, "day", "at", "text", "flag", "bytes")
AGGREGATES: dict[str, tuple[Callable[..., Aggregate], Callable[..., Column], tuple[str, ...]]] = {
    "min": (mt.min, F.min, ORDERED),
    "max": (mt.max, F.max, ORDERED),
    "sum": (mt.sum, F.sum, NUMBERS),
    "count": (mt.count, F.count, ORDERED),
    "count_if": (mt.count_if, F.count_if, ("flag",)),
    "avg": (mt.avg, F.avg, NUMBERS),
    "variance": (mt.variance, F.variance, NUMBERS),
    "var_pop": (mt.var_pop, F.var_pop, ("i32", "f64")),
    "stddev": (mt.stddev, F.stddev, ("i32", "f64", "few")),
    "stddev_pop": (mt.stddev_pop, F.stddev_pop, ("f32", "f64", "small")),
    "bool_and": (mt.bool_and, F.bool_and, ("flag",)),
    "bool_or": (mt.bool_or, F.bool_or, ("flag",)),
    "count_distinct": (mt.count_distinct, F.count_distinct, ("few", "text", "odd", "small", "day")),
    "median": (mt.median, F.median, ("i32", "f64")),
    "approx_count_distinct": (
        mt.approx_count_distinct,
        lambda c: F.hll_sketch_estimate(F.hll_sketch_agg(c, F.lit(12))),
        ("few", "text", "i64"),
    ),
}
BY_ORDER = {"min_by": (mt.min_by, F.min_by), "max_by": (mt.max_by, F.max_by)}
PAIRS = {
    "covar_samp": (mt.covar_samp, F.covar_samp),
    "covar_pop": (mt.covar_pop, F.covar_pop),
    "corr": (mt.corr, F.corr),
}
LOOSE = ("variance", "var_pop", "stddev", "stddev_pop", "covar_samp", "covar_pop", "corr")
"""Functions of squared deviations, whose own rounding is amplified far from zero."""


@dataclass(frozen=True)
class Case:
    """One random query: how to ask it of Muntin, and the same of Spark."""

    frame: DataFrame
    by: list[str]
    windows: list[Window]
    aggregates: list[Aggregate]
    plain: list[Column]

    def oracle(self) -> DataFrame:
        return plain_spark(self.frame, "ts", self.by, self.windows, self.plain)


def quoted(name: str) -> Column:
    return F.col("`" + name.replace("`", "``") + "`")


def plain_spark(
    df: DataFrame, time: str, by: Iterable[str], windows: Iterable[Window], plain: list[Column]
) -> DataFrame:
    """Write what a Spark user writes today."""
    branches = []
    for window in windows:
        r, s, o = (f"{length} microseconds" for length in window.period)
        grouped = df.groupBy(*(quoted(key).alias(key) for key in by), F.window(quoted(time), r, s, o).alias("window"))
        result = grouped.agg(*plain)
        rest = [quoted(name) for name in result.columns if name != "window"]
        branches.append(result.select(F.lit(window.label).alias("window_id"), "window", *rest))
    return reduce(DataFrame.union, branches)


def random_windows(r: random.Random) -> list[Window]:
    unit = r.choice([1_000_000, 60_000_000, 250_000])
    windows: dict[Window, None] = {}
    base = r.choice([1, 1, 2, 5])
    for _ in range(r.randint(1, 5)):
        slide = base * r.randint(1, 12)
        kind = r.random()
        length = slide if kind < 0.4 else slide * r.randint(2, 5) if kind < 0.75 else slide + r.randint(0, 3 * slide)
        offset = r.choice([0, 0, 0, r.randint(0, slide), -r.randint(0, slide)])
        windows[mt.Window(length * unit, slide * unit, offset * unit).timed()] = None
    return list(windows)


def random_case(spark: SparkSession, seed: int) -> Case:
    r = random.Random(seed)
    frame, by, aggregates, plain = random_events(spark, r, seed, holistic=r.random() < 0.3)
    named = [column.alias(asked.name) for column, asked in zip(plain, aggregates, strict=True)]
    return Case(frame, by, random_windows(r), aggregates, named)


def random_events(
    spark: SparkSession, r: random.Random, seed: int, *, holistic: bool, unique_times: bool | None = None
) -> tuple[DataFrame, list[str], list[Aggregate], list[Column]]:
    """Give random events with keys and aggregates of them, asked of Muntin and of Spark."""
    rows = r.choice([0, 1, 5, 60, 60, 300, 300, 900])
    by = r.sample(list(KEYS), r.choice([0, 1, 1, 1, 2, 3]))
    unique_times = r.random() < 0.5 if unique_times is None else unique_times
    span = r.choice([60, 600, 5000])
    base = datetime(r.choice([2024, 1969, 1601]), 12, 31, 23, 50, tzinfo=UTC)
    ticks = r.sample(range(span * 1000), rows) if unique_times else [r.randrange(span) * 1000 for _ in range(rows)]
    if r.random() < 0.5:
        ticks.sort()
    zone = "UTC" if r.random() < 0.7 else None
    times: list[datetime | None] = [base + timedelta(milliseconds=tick) for tick in ticks]
    if zone is None:
        times = [time and time.replace(tzinfo=None) for time in times]
    times = [None if r.random() < 0.03 else time for time in times]
    aggregates, plain, columns = random_aggregates(r, unique_times, holistic)
    nulls = r.choice([0.0, 0.2, 0.9])
    data: dict[str, pa.Array] = {"ts": pa.array(times, pa.timestamp("us", zone))}
    for name in by:
        kind, value = KEYS[name]
        data[name] = pa.array([None if r.random() < nulls / 3 else value(r) for _ in range(rows)], kind)
    for name in columns:
        kind, value = VALUES[name]
        data[name] = pa.array([None if r.random() < nulls else value(r) for _ in range(rows)], kind)
    data["unique"] = pa.array(r.sample(range(10 * rows), rows), pa.int64())
    frame = spark.createDataFrame(pa.table(data)).repartition(r.choice([1, 3]), F.rand(seed))
    return frame, by, aggregates, plain


def random_aggregates(
    r: random.Random, unique_times: bool, holistic: bool
) -> tuple[list[Aggregate], list[Column], set[str]]:
    asked, plain, columns = [], [], set()
    choices = [*AGGREGATES, *BY_ORDER, *PAIRS, *(["first", "last"] if unique_times else []), "rows"]
    simple = [name for name in choices if name not in ("median", "count_distinct", "approx_count_distinct")]
    pool = choices if holistic else simple
    for place, name in enumerate(r.sample(pool, r.randint(1, 5))):
        alias = f"{name} {place}"
        if name in AGGREGATES:
            ours, theirs, takes = AGGREGATES[name]
            inputs = [r.choice(takes)]
        elif name in BY_ORDER:
            ours, theirs = BY_ORDER[name]
            inputs = [r.choice(ORDERED), "unique"]
        elif name in PAIRS:
            ours, theirs = PAIRS[name]
            inputs = ["f64", r.choice(["i32", "few", "f64"])]
        elif name == "rows":
            ours, theirs, inputs = mt.count, lambda: F.count("*"), []
        else:
            ours = mt.first if name == "first" else mt.last
            by = F.min_by if name == "first" else F.max_by
            theirs, inputs = (lambda c, by=by: by(c, F.col("ts"))), [r.choice(ORDERED)]
        columns |= {column for column in inputs if column != "unique"}
        asked.append(ours(*inputs).alias(alias))
        plain.append(theirs(*map(F.col, inputs)))
    return asked, plain, columns


def assert_same(
    actual: DataFrame, expected: DataFrame, by: Iterable[str] = (), context: object = "", *, nullable: bool = True
) -> None:
    """Compare rows and schemas; floats to 1e-9, functions of squares as far as their own rounding allows."""
    ours, theirs = actual.schema, expected.schema
    assert [(f.name, f.dataType.simpleString()) for f in ours] == [(f.name, f.dataType.simpleString()) for f in theirs]
    if nullable:
        assert [f.nullable for f in ours][2:] == [f.nullable for f in theirs][2:], f"nullability: {ours} {theirs}"
    keys = list(by)
    rows, wanted = (sorted(frame.collect(), key=lambda row: _identity(row, keys)) for frame in (actual, expected))
    assert [_identity(row, keys) for row in rows] == [_identity(row, keys) for row in wanted], context
    for one, other in zip(rows, wanted, strict=True):
        for name in ours.names[2 + len(keys) :]:
            loose = 1e-6 if name.split(" ")[0] in LOOSE else 1e-9
            assert equal(one[name], other[name], loose), (
                f"{name}: {one[name]!r} != {other[name]!r} in {other} {context}"
            )


def _identity(row: Row, keys: list[str]) -> tuple[str, ...]:
    return (str(row["window_id"]), str(row["window"]), *(repr(row[key]) for key in keys))


def equal(a: Any, b: Any, tolerance: float) -> bool:
    """Compare two values; NaN equals NaN."""
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=tolerance, abs_tol=tolerance)
    return bool(a == b) and type(a) is type(b)
