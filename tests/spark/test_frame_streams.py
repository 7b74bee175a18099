"""Windows of every kind on streams: the rows of batch, in any order within the watermark, through restarts."""

from __future__ import annotations

import random
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
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
        mt.session_window("40 s", longest="2 minutes", aligned=True),
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


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(1, 8))])
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
    parts = out_of_order(rng, table, DELAY, 3)
    replay = Replay(spark, tmp_path)
    listed = windows()
    for part in parts:
        replay.add(part).run(asked(listed), files=True)
        rng.shuffle(listed)
    result = replay.add(*flushes(table, ["a", "b"])).run(asked(listed), files=True)
    batch = mt.aggregate(replay.batch, **asked(windows()))
    assert before_flush(result.rows) == before_flush(batch)


def rows_of(*rows: tuple[float, str, int]) -> pa.Table:
    """Give events at some seconds, with a key and a value; the distance never falls but where a value is negative."""
    return pa.Table.from_pylist(
        [
            {
                "ts": BEGIN + timedelta(seconds=second),
                "k": key,
                "n": place,
                "v": value,
                "km": second if value >= 0 else -1,
            }
            for place, (second, key, value) in enumerate(rows)
        ],
        schema=SCHEMA,
    )


@pytest.mark.long
def test_late_rows_are_dropped_and_counted(spark: SparkSession, tmp_path: Path) -> None:
    """A row behind the watermark is late for counts; a session takes it as long as it would be open, as in Spark."""
    replay = Replay(spark, tmp_path).add(
        rows_of((0, "a", 1), (100, "a", 2)),
        rows_of((101, "b", 0)),  # the watermark stands at 70 s
        rows_of((60, "a", 4), (5, "a", 8)),
        rows_of((1000, "b", 0)),
        rows_of((2000, "b", 0)),
    )
    asked_for = asked([mt.session_window("30 s"), mt.tumbling(mt.rows(2))], order_by=(), watermark="30 seconds")
    out = replay.run(asked_for)
    sessions = out.rows.where("window_id = 'session 30s' and k = 'a'").select("sum_v").collect()
    plain = (
        replay.stream.withWatermark("ts", "30 seconds")
        .groupBy("k", F.session_window("ts", "30 seconds").alias("window"))
        .agg(F.sum("v").alias("sum_v"))
    )
    by_spark = replay.write(plain).rows.where("k = 'a'").select("sum_v").collect()
    assert sorted(sessions) == sorted(by_spark) == [(1,), (2,), (4,)]
    counts = out.rows.where("window_id = '2 rows' and k = 'a'").select("sum_v").collect()
    assert counts == []  # the row that would end the first two never comes
    assert out.progress.late == 2


@pytest.mark.long
def test_a_measure_that_falls_ends_the_query_which_goes_on_once_it_is_repaired(
    spark: SparkSession, tmp_path: Path
) -> None:
    replay = Replay(spark, tmp_path).add(rows_of((0, "a", 1), (10, "a", 2)), rows_of((20, "a", -1)))
    replay.add(rows_of((1000, "a", 1)), rows_of((2000, "a", 1)))
    windows = [mt.tumbling(5, on="km")]
    with pytest.raises(Exception, match=r"window '5 km': 'km' falls from 10.0 to -1.0 at row 2 of key"):
        replay.run(asked(windows), files=True)
    wrong = sorted(replay.files.iterdir())[1]
    right = tmp_path / "right.parquet"
    pq.write_table(rows_of((20, "a", 1)), right)
    replay.replace(wrong, right.read_bytes())
    rows = replay.run(asked(windows), files=True).rows
    assert sorted(row["window_begin"] for row in rows.collect()) == [0.0, 10.0, 20.0]


def test_what_rows_in_order_do_not_do(spark: SparkSession, tmp_path: Path) -> None:
    stream = Replay(spark, tmp_path).add(rows_of((0, "a", 1))).stream
    window = mt.session_window("30 s")
    for more, message in (
        ({"output": "update"}, "is given when it has ended"),
        ({"late": "exact"}, "takes rows in order, and has no late='exact'"),
        ({"strategy": "chain"}, "strategy 'chain' is for windows on a grid of time"),
        ({"aggregates": mt.median("v")}, "no kernel knows median"),
    ):
        with pytest.raises(mt.MuntinError, match=message):
            mt.aggregate(stream, **asked([window], **more))


def test_a_checkpoint_of_another_version_of_a_user_window_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    replay = Replay(spark, tmp_path).add(rows_of((0, "a", 1)))
    replay.run(asked([mt.user_window(every_third, initial=0)]), files=True)
    checkpoint = tmp_path / "kept" / "checkpoint"
    later = asked([mt.user_window(every_third, initial=0, version=2)], checkpoint=checkpoint)
    with pytest.raises(mt.QueryError, match="another query: version of window 'every_third' was 1 and is 2"):
        mt.aggregate(replay.stream, **later)
    plan = mt.explain(replay.stream, **asked([mt.user_window(every_third, initial=0)], checkpoint=checkpoint))
    assert "rows wait for the watermark, packed" in str(plan)
    assert {kept.rows for kept in mt.state(checkpoint)} == {1}


@pytest.mark.long
def test_windows_of_every_kind_come_and_go(spark: SparkSession, tmp_path: Path) -> None:
    registry = mt.WindowRegistry(tmp_path / "windows")
    registry.add(mt.session_window("30 s"), id="visits")
    registry.add(mt.tumbling("1 minute"), id="minute")
    registry.add(mt.while_("flag"), id="flagged")
    replay = Replay(spark, tmp_path).add(rows_of((0, "a", 1), (10, "a", 2), (100, "a", 4)))
    question = asked([]) | {"windows": registry}
    assert "rows wait for the watermark, packed" in str(mt.explain(replay.stream, **question))
    replay.run(question, files=True)
    registry.add(mt.tumbling(mt.rows(2)), id="pairs")
    registry.remove("minute")
    replay.add(rows_of((101, "a", 8), (102, "a", 16), (103, "a", 32)), rows_of((1000, "b", 0)), rows_of((2000, "b", 0)))
    rows = replay.run(question, files=True).rows.where("k = 'a'").orderBy("window_id", "window.start")
    given = [(row["window_id"], row["window_begin"], row["sum_v"]) for row in rows.collect()]
    assert given == [("minute", None, 3), ("pairs", 0.0, 24), ("visits", None, 3), ("visits", None, 60)]
    assert {one.id for one in registry.list() if one.state == "running"} == {"visits", "flagged", "pairs"}
    with pytest.raises(mt.UnsupportedError, match="watches an expression, which a registry does not keep"):
        registry.add(mt.while_(F.col("v") > 3))
    with pytest.raises(mt.UnsupportedError, match="is code, which a registry does not keep"):
        registry.add(mt.user_window(every_third))
