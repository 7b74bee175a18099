"""mt.join on streams: the rows are those of plain Spark over all files, and the watermarks clear the state."""

from __future__ import annotations

import random
from datetime import timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.window import Window
from tests.spark.streams import BEGIN, Event, Replay, Result, events, out_of_order

DELAY = timedelta(seconds=40)
RANGES = ("20 s", "90 s", "5 minutes")
LAST = events((4800, "z", -1))
"""A row so late that the watermark passes all others. It has a key: Spark drops rows without before the watermark."""
WINDOWS = [mt.tumbling("1 minute"), mt.hopping("5 minutes", "2 minutes", offset="10 s")]


def random_side(r: random.Random, rows: int = 120) -> list[Event]:
    """Give rows of three keys, some of none, in twenty minutes; many at the same times."""
    return [(10.0 * r.randrange(120), r.choice(["a", "a", "b", "c", None]), number) for number in range(rows)]


class Sides:
    """Two streams of files, out of order but in time, and their rows in batch."""

    def __init__(self, spark: SparkSession, folder: Path, seed: int) -> None:
        r = random.Random(seed)
        self.replays, self.tables = [], []
        for name in ("left", "right"):
            table = events(*random_side(r))
            files = out_of_order(r, table, DELAY, files=3)
            self.replays.append(Replay(spark, folder / name).add(*files, LAST))
            self.tables.append(spark.createDataFrame(table))

    def batch(self) -> tuple[DataFrame, DataFrame]:
        return self.tables[0], self.tables[1].withColumnRenamed("v", "w")

    def streams(self) -> tuple[DataFrame, DataFrame]:
        left, right = (replay.stream.withWatermark("ts", f"{DELAY.seconds} seconds") for replay in self.replays)
        return left, right.withColumnRenamed("v", "w")

    def run(self, **asked: Any) -> Result:
        result = self.replays[0].write(mt.join(*self.streams(), "k", "ts", "ts", **asked))
        (operator,) = result.reports[-1]["stateOperators"][-1:]
        assert operator["numRowsTotal"] <= 8, "the state is not cleared"
        return result


def same(result: Result, expected: DataFrame, time: str = "left_ts") -> None:
    """Compare all rows but those of the last files, which only move the watermark."""
    known = result.rows.where(F.col(time) < F.lit(BEGIN + timedelta(minutes=30)))
    rows, wanted = (sorted(map(repr, map(tuple, frame.collect()))) for frame in (known, expected))
    assert rows == wanted
    assert wanted


def plain_within(left: DataFrame, right: DataFrame, how: str, *, forward: bool) -> DataFrame:
    def near(length: str) -> str:
        low = "l.ts" if forward else f"l.ts - INTERVAL {length}"
        return f"r.ts BETWEEN {low} AND l.ts + INTERVAL {length}"

    cases = [("20 seconds", "20s"), ("90 seconds", "1m30s"), ("5 minutes", "5m")]
    label = " ".join(f"WHEN {near(length)} THEN '{label}'" for length, label in cases)
    pairs = left.alias("l").join(right.alias("r"), F.expr(f"l.k = r.k AND {near('5 minutes')}"), how)
    columns = ["l.k", "l.ts AS left_ts", "l.v", "r.ts AS right_ts", "r.w"]
    return pairs.selectExpr(f"CASE {label} END AS within", *columns)


def plain_windows(left: DataFrame, right: DataFrame, windows: list[Window], how: str) -> DataFrame:
    branches = []
    for window in windows:
        lengths = [f"{length} microseconds" for length in window.period]
        one, other = (frame.withColumn("window", F.window("ts", *lengths)) for frame in (left, right))
        pairs = one.alias("l").join(other.alias("r"), F.expr("l.k = r.k AND l.window = r.window"), how)
        columns = ["l.window", "l.k", "l.ts AS left_ts", "l.v", "r.ts AS right_ts", "r.w"]
        branches.append(pairs.selectExpr(f"'{window.label}' AS window_id", *columns))
    return reduce(DataFrame.union, branches)


@pytest.mark.parametrize(
    ("how", "direction"),
    [("inner", "both"), ("left", "forward"), *(pytest.param(*p, marks=pytest.mark.long) for p in [("left", "both")])],
)
def test_pairs_within_ranges(spark: SparkSession, tmp_path: Path, how: str, direction: str) -> None:
    sides = Sides(spark, tmp_path, seed=1)
    result = sides.run(within=RANGES, how=how, direction=direction)
    same(result, plain_within(*sides.batch(), how, forward=direction == "forward"))


@pytest.mark.parametrize("how", ["inner", "left"])
def test_pairs_in_instances_of_windows(spark: SparkSession, tmp_path: Path, how: str) -> None:
    sides = Sides(spark, tmp_path, seed=2)
    same(sides.run(windows=WINDOWS, how=how), plain_windows(*sides.batch(), WINDOWS, how))


@pytest.mark.long
@pytest.mark.parametrize("how", [pytest.param("inner", marks=pytest.mark.long), "left"])
def test_aggregates_of_pairs(spark: SparkSession, tmp_path: Path, how: str) -> None:
    sides = Sides(spark, tmp_path, seed=3)
    asked = [mt.count(), mt.sum("right.w").alias("w"), mt.max("left.v").alias("v"), mt.count("right.w").alias("n")]
    result = sides.run(windows=WINDOWS, how=how, aggregates=asked)
    plain = [F.count("*"), F.sum("w"), F.max("v"), F.count("w")]
    expected = plain_windows(*sides.batch(), WINDOWS, how).groupBy("window_id", "window", "k").agg(*plain)
    same(result, expected, "window.start")


def test_a_left_row_without_a_time_comes_at_once(spark: SparkSession, tmp_path: Path) -> None:
    left, right = (Replay(spark, tmp_path / name).add(events((0, "a", 1))) for name in ("left", "right"))
    stream = left.stream.withColumn("ts", F.expr("nullif(ts, ts)")).withWatermark("ts", "1 second")
    out = mt.join(stream, right.stream.withWatermark("ts", "1 second"), "k", "ts", "ts", within="1 hour", how="left")
    assert [tuple(row) for row in left.write(out).rows.collect()] == [(None, "a", None, 1, None, None)]


def test_a_stream_and_a_batch_input(spark: SparkSession, tmp_path: Path) -> None:
    """Spark joins each micro-batch with all batch rows, and keeps nothing."""
    sides = Sides(spark, tmp_path, seed=4)
    (left, right), (stream, later) = sides.batch(), sides.streams()
    out = mt.join(stream, right, "k", "ts", "ts", within=RANGES, how="left")
    result = sides.replays[0].write(out)
    same(result, plain_within(left, right, "left", forward=False))
    assert not result.reports[-1]["stateOperators"]
    with pytest.raises(mt.UnsupportedError, match=r"the right side alone is a stream. Use how='inner'"):
        mt.join(left, later, "k", "ts", "ts", within="1 h", how="left")
    with pytest.raises(mt.UnsupportedError, match="aggregates of a stream with a batch input"):
        mt.join(stream, right, "k", "ts", "ts", windows="1 h", aggregates=mt.count())


def test_streams_that_would_be_kept_for_ever_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    replay = Replay(spark, tmp_path).add(events((0, "a", 1)))
    marked = replay.stream.withWatermark("ts", "1 minute")
    with pytest.raises(mt.QueryError, match="the right side is a stream whose right_time has no watermark"):
        mt.join(marked, replay.stream, "k", "ts", "ts", within="1 h")
    wall = replay.stream.withColumn("ts", F.col("ts").cast("timestamp_ntz"))
    with pytest.raises(mt.QueryError, match="left_time of the stream is of type timestamp_ntz"):
        mt.join(wall, wall, "k", "ts", "ts", within="1 h")
    with pytest.raises(mt.UnsupportedError, match="an aggregate needs the pairs themselves"):
        mt.join(marked, marked, "k", "ts", "ts", windows="1 h", aggregates=mt.median("left.v"))
