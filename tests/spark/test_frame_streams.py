"""Windows of every kind on streams: the rows of batch, in any order within the watermark, through restarts."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.streams import BEGIN, Replay, out_of_order

SCHEMA = pa.schema(
    [
        ("ts", pa.timestamp("us", "UTC")),
        ("k", pa.string()),
        ("n", pa.int64()),
        ("v", pa.int64()),
        ("km", pa.float64()),
        ("flag", pa.bool_()),
        ("price", pa.int64()),
    ]
)
DELAY = timedelta(seconds=30)
FLUSH = timedelta(hours=2)


def windows() -> list[Any]:
    """Give a window, at least, of every kind."""
    return [
        mt.hopping("5 minutes", "2 minutes"),
        mt.session_window("30 s"),
        mt.session_window("2 minutes"),
        mt.session_window("40 s", longest="2 minutes"),
        mt.tumbling(mt.rows(4)),
        mt.hopping(mt.rows(7), mt.rows(3)),
        mt.hopping(10, 5, on="km"),
        mt.hopping(mt.rows(3), "1 minute"),
        mt.hopping("3 minutes", mt.rows(4)),
        mt.punctuated("flag"),
        mt.punctuated("flag", ends=True),
        mt.cumulating("10 minutes", "5 minutes"),
        mt.landmark(since="2024-01-01", step="10 minutes"),
        mt.snapshot(),
        mt.while_(F.col("price") > 3, id="dear"),
        mt.delta("price", 3),
        mt.until(mt.sum("price"), 15),
        mt.user_window(every_third, initial=0),
    ]


def every_third(state: int, time: int) -> tuple[int, int, int]:
    """Begin a window every third row, and end the one before."""
    return state + 1, int(state % 3 == 0), int(state % 3 == 0 and state > 0)


def events(rng: random.Random, keys: list[str | None]) -> pa.Table:
    """Give events of some keys, with ties, gaps and nulls, and one for each that ends what is open before it."""
    rows: list[dict[str, Any]] = []
    for key in keys:
        time, km = 0, 0.0
        for _ in range(rng.randrange(5, 40)):
            time += rng.choice([0, 0, 5, 20, 29, 30, 40, 130])
            km += rng.choice([0.0, 0.5, 2.5, 12.0])
            row = {"ts": BEGIN + timedelta(seconds=time), "k": key, "v": rng.randrange(100), "km": km}
            rows.append(row | {"flag": rng.choice([True, False, None]), "price": rng.choice([None, *range(8)])})
    for number, row in enumerate(rows):
        row["n"] = number
    return pa.Table.from_pylist(rows, schema=SCHEMA)


def flushes(table: pa.Table, keys: list[str | None]) -> list[pa.Table]:
    """Give a late event for every key, and one much later that lets the watermark pass it."""
    last = max(table["ts"].to_pylist())
    row = {"n": 10**6, "v": 0, "km": 1e6, "flag": True, "price": 1000}
    first = [row | {"ts": last + FLUSH, "k": key} for key in keys]
    return [
        pa.Table.from_pylist(first, schema=SCHEMA),
        pa.Table.from_pylist([row | {"ts": last + 2 * FLUSH, "k": "flush"}], schema=SCHEMA),
        pa.Table.from_pylist([row | {"ts": last + 3 * FLUSH, "k": "flush"}], schema=SCHEMA),
    ]


def asked(some: list[Any], **more: Any) -> dict[str, Any]:
    return {
        "time": "ts",
        "by": "k",
        "windows": some,
        "aggregates": [mt.sum("v"), mt.count(), mt.min("price"), mt.max("n").alias("last_n")],
        "order_by": "n",
        "watermark": f"{int(DELAY.total_seconds())} seconds",
    } | more


def before_flush(frame: DataFrame) -> list[str]:
    """Give the rows of instances that have no flushing event."""
    return sorted(map(str, frame.where("last_n < 1000000").collect()))


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.long] if seed > 1 else []) for seed in range(8)]
)
def test_streams_give_the_rows_of_batch(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    """Batch is compared with plain definitions elsewhere; sessions are compared with plain Spark here, too."""
    rng = random.Random(seed)
    keys: list[str | None] = ["a", "b", None][: rng.randrange(1, 4)]
    table = events(rng, keys)
    replay = Replay(spark, tmp_path).add(*out_of_order(rng, table, DELAY, 6), *flushes(table, keys))
    out = replay.run(asked(windows()))
    batch = mt.aggregate(replay.batch, **asked(windows()))
    assert before_flush(out.rows) == before_flush(batch)
    assert out.progress.late == 0
    gaps = [window for window in windows() if window.kind == "session" and window.longest is None]
    for gap in gaps:
        plain = replay.batch.groupBy("k", F.session_window("ts", f"{int(gap.gap)} microseconds").alias("window")).agg(
            F.sum("v"), F.count("*"), F.min("price"), F.max("n").alias("last_n")
        )
        ours = out.rows.where(F.col("window_id") == gap.label).select(
            "k", F.struct("window.start", "window.end"), "sum_v", "count", "min_price", "last_n"
        )
        rows = {tuple(map(str, row)) for row in plain.where("last_n < 1000000").collect()}
        assert {tuple(map(str, row)) for row in ours.where("last_n < 1000000").collect()} == rows


def test_a_query_goes_on_from_its_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    """State is kept by what windows are, not by the order in which they are listed."""
    rng = random.Random(7)
    table = events(rng, ["a", "b"])
    parts = out_of_order(rng, table, DELAY, 6)
    replay = Replay(spark, tmp_path)
    listed = windows()
    for part in parts:
        replay.add(part).run(asked(listed), files=True)
        rng.shuffle(listed)
    result = replay.add(*flushes(table, ["a", "b"])).run(asked(listed), files=True)
    batch = mt.aggregate(replay.batch, **asked(windows()))
    assert before_flush(result.rows) == before_flush(batch)
