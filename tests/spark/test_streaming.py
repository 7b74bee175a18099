"""mt.aggregate on streams: the rows of the batch result, whatever the strategy, order of arrival and restarts."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.spark.capabilities import Feature
from tests.spark.cases import assert_same, plain_spark, random_events, random_windows
from tests.spark.patience import LONG, patiently
from tests.spark.since import HERE
from tests.spark.streams import (
    BEGIN,
    EVERY_SHAPE,
    ONE_SHAPE,
    ROCKS_DB,
    SHAPES,
    Event,
    Replay,
    by_instance,
    events,
    flush,
    moved,
    out_of_order,
)

pytestmark = pytest.mark.smoke

DELAY = timedelta(seconds=30)
TEN, MINUTE = mt.tumbling("10 s"), mt.tumbling("60 s")


@pytest.fixture
def replay(spark: SparkSession, tmp_path: Path) -> Replay:
    return Replay(spark, tmp_path)


def ask(**changes: Any) -> dict[str, Any]:
    asked = {"time": "ts", "by": "k", "windows": [TEN, MINUTE], "aggregates": mt.sum("v"), "watermark": "10 s"}
    return asked | changes


@pytest.mark.parametrize("seed", [0, *(pytest.param(s, marks=pytest.mark.long) for s in (1, 2, 3))])
def test_streams_give_the_rows_of_batch(replay: Replay, seed: int) -> None:
    """Random windows, keys, types and aggregates; files in an order that the watermark allows."""
    r = random.Random(1000 + seed)
    frame, by, aggregates, plain = random_events(replay.spark, r, seed, holistic=seed % 2 == 0)
    windows = random_windows(r)
    table = moved(frame.toArrow())
    end = flush(table, timedelta(microseconds=max(int(window.range) for window in windows)) + 2 * DELAY)
    replay.add(*out_of_order(r, table, DELAY, 3), end)
    rows = replay.batch.where(F.col("ts").isNull() | (F.col("ts") < F.lit(end["ts"][0].as_py())))
    named = [column.alias(asked.name) for column, asked in zip(plain, aggregates, strict=True)]
    expected = plain_spark(rows, "ts", by, windows, named).cache()
    for strategy in ["independent", *SHAPES] if seed == 0 else SHAPES:  # plain Spark takes long
        asked = ask(by=by, windows=windows, aggregates=aggregates, watermark=DELAY, strategy=strategy)
        try:
            result = replay.run(asked)
        except mt.UnsupportedError:  # an aggregate without partials, or one that no kernel knows
            assert strategy in ("chain", "columnar")
            continue
        assert_same(result.rows, expected, by, (seed, strategy, windows), nullable=False)
        assert result.progress.late == 0
    expected.unpersist()


@pytest.mark.parametrize("strategy", [pytest.param("expand", marks=pytest.mark.long), "chain"])
def test_all_aggregates_are_kept(replay: Replay, strategy: str) -> None:
    """Sketches, sets, moments, orders and a user's own steps; windows with an instance in common, and an offset."""
    joined = mt.user_defined("path", "v", lift=str, combine=lambda a, b: f"{a} {b}", lower=str, returns="string")
    aggregates = [
        *(mt.min("v"), mt.max("v"), mt.sum("v"), mt.count(), mt.avg("v"), mt.stddev("v"), mt.covar_pop("v", "v")),
        *(mt.first("v"), mt.last("v"), mt.min_by("v", "ts"), mt.bool_or(F.col("v") > 3).alias("any")),
        *(mt.approx_count_distinct("v"), joined),
    ]
    aggregates += [mt.approx_quantile("v", 0.5)] if HERE.has(Feature.QUANTILE_SKETCHES) else []
    odd = F.expr("CASE WHEN v < 2 THEN double('NaN') WHEN v = 2 THEN -0.0D WHEN v = 3 THEN 0.0D ELSE double(v) END")
    distinct = [mt.count_distinct("v"), mt.count_distinct(odd).alias("odd")]
    aggregates += distinct if HERE.has(Feature.MERGED_SETS) or strategy == "expand" else []
    aggregates += [mt.median("v"), mt.mode("k")] if strategy == "expand" else []
    windows = [TEN, mt.hopping("20 s", "10 s"), mt.hopping("20 s", "4 s"), mt.hopping("25 s", "10 s", offset="3 s")]
    early = [(second, "ab"[second % 2] if second % 5 else None, second % 7) for second in range(60)]
    replay.add(events(*early[:35]), events(*early[35:]), events((1000, None, 0)))
    asked = ask(windows=windows, aggregates=aggregates, strategy=strategy)
    rows = replay.batch.where(F.col("ts") < F.lit(BEGIN + timedelta(seconds=900)))
    expected = mt.aggregate(rows, **(asked | {"strategy": "independent"}))
    assert_same(replay.run(asked).rows, expected, ["k"], nullable=False)


@pytest.mark.skipif(HERE.has(Feature.MERGED_SETS), reason="there the test above has distinct counts")
def test_sets_have_one_nan_and_one_zero(replay: Replay) -> None:
    replay.add(events(*((second, "a", second % 4) for second in range(20))), events((1000, None, 0)))
    odd = F.expr("CASE v WHEN 0 THEN double('NaN') WHEN 1 THEN -0.0D WHEN 2 THEN 0.0D ELSE double(v) END")
    both = F.array(odd, odd)
    asked = ask(
        windows=[TEN], aggregates=[mt.count_distinct(odd), mt.count_distinct(both).alias("pairs")], strategy="expand"
    )
    assert [tuple(row)[-2:] for row in replay.run(asked).rows.where("k = 'a'").collect()] == [(3, 3), (3, 3)]


LATE = [
    [(1, "a", 1), (35, "a", 2)],
    [(36, "a", 4)],  # its watermark is 25 s: the next micro-batch is judged by it
    [(12, "a", 8), (22, "a", 16)],
    [(1000, "a", 0)],
]


@pytest.mark.parametrize("strategy", EVERY_SHAPE)
def test_late_rows_count_as_documented(replay: Replay, strategy: str) -> None:
    """A row is late for [10 s, 20 s) but not for the minute; the chain drops it for both, the others for one."""
    replay.add(*(events(*rows) for rows in LATE))
    result = replay.run(ask(strategy=strategy))
    minute = 23 if strategy == "chain" else 31
    tens = {("10s", 0.0, "a"): (1,), ("10s", 20.0, "a"): (16,), ("10s", 30.0, "a"): (6,)}
    assert by_instance(result.rows.collect()) == tens | {("1m", 0.0, "a"): (minute,)}
    assert result.progress.late == 1
    assert str(result.progress).startswith("5 micro-batches, ")
    if strategy != "columnar":  # whose late rows are counted beside the state
        assert [state.late for state in mt.progress(result.reports[2]).state].count(1) == 1
    assert result.progress.watermark == BEGIN + timedelta(seconds=990)


def judged(batches: list[list[Event]], marks: list[datetime], *, with_slice: bool) -> dict[tuple[Any, ...], Any]:
    """Add up, in plain Python, what counts: rows whose window, or whose slice, ends after the mark."""
    total: dict[tuple[Any, ...], int] = {}
    for rows, mark in zip(batches, marks, strict=True):
        for second, key, value in rows:
            for length in (10, 60):
                end = second // length * length + length
                limit = min(end, second // 10 * 10 + 10) if with_slice else end
                if BEGIN + timedelta(seconds=limit) > mark:
                    name = (f"{TEN if length == 10 else MINUTE}", end - length, key)
                    total[name] = total.get(name, 0) + value
    return total


@pytest.mark.long
def test_very_late_rows_at_random(replay: Replay) -> None:
    r = random.Random(7)
    batches: list[list[Event]] = [
        [(max(0, 40 * batch + r.randint(-120, 30)), r.choice("ab"), 2 ** r.randint(0, 20)) for _ in range(30)]
        for batch in range(5)
    ]
    batches.append([(2000, "a", 0)])
    replay.add(*(events(*rows) for rows in batches))
    for strategy in SHAPES:
        result = replay.run(ask(strategy=strategy))
        reports = [datetime.fromisoformat(report.eventTime["watermark"]) for report in result.reports]
        marks = [datetime.fromtimestamp(0, UTC), *reports][: len(batches)]
        wanted = judged(batches, marks, with_slice=strategy == "chain")
        labels = {TEN.label: str(TEN), MINUTE.label: str(MINUTE)}
        rows = by_instance(result.rows.collect())
        ours = {(labels[name], int(start), key): value for (name, start, key), (value,) in rows.items()}
        assert ours == {name: value for name, value in wanted.items() if name[1] < 1900}, strategy
        assert result.progress.late > 0


@pytest.mark.parametrize("strategy", [pytest.param("independent", marks=pytest.mark.long), "native"])
def test_update_gives_changed_windows(replay: Replay, strategy: str) -> None:
    replay.add(*(events(*rows) for rows in LATE))
    result = replay.run(ask(strategy=strategy, output="update"), mode="update")
    given = [(row["window_id"], row["window"]["start"].second, row["sum_v"]) for row in result.rows.collect()]
    minutes = [value for name, _, value in given if name == "1m"]
    assert sorted(minutes) == [0, 3, 7, 31]
    assert sorted((start, value) for name, start, value in given if name == "10s") == [
        *((0, 1), (20, 16), (30, 2), (30, 6), (40, 0))
    ]


@pytest.mark.long
def test_update_mode_of_a_query_that_was_asked_for_append(replay: Replay) -> None:
    """Spark's aggregations give updates all the same, columnar state every instance when it closes, the chain nothing.

    When the chain's error is another, the documentation has to say so.
    """
    replay.add(*(events(*rows) for rows in LATE))
    updates = sorted(map(str, replay.run(ask(strategy="expand", output="update"), mode="update").rows.collect()))
    for strategy in ("independent", "expand"):
        assert sorted(map(str, replay.run(ask(strategy=strategy), mode="update").rows.collect())) == updates
    appended = by_instance(replay.run(ask(strategy="columnar")).rows.collect())
    result = replay.run(ask(strategy="columnar"), mode="update")
    assert by_instance(result.rows.collect()) == appended
    assert str(mt.progress(result.query)).endswith("gives a window once, when it closes: add output='update'")
    assert result.progress.note == ""  # reports do not tell the mode
    with pytest.raises(AnalysisException, match="Detected pattern of possible 'correctness' issue"):
        replay.run(ask(strategy="chain"), mode="update")


@pytest.mark.parametrize("strategy", [pytest.param("expand", marks=pytest.mark.long), "chain"])
def test_state_shrinks_to_what_is_open(replay: Replay, strategy: str) -> None:
    """Bursts, empty files and a gap of a month leave no state but that of the last event."""
    month = 30 * 86_400
    burst = [(second, str(second), 1) for second in range(200)]
    replay.add(events(*burst), events(), events((month, "a", 1)), events(), events((month + 500, "a", 1)))
    result = replay.run(ask(strategy=strategy))
    rows = by_instance(result.rows.collect())
    assert len(rows) == 402
    assert set(rows.values()) == {(1,)}
    most = max(mt.progress(report).state_rows for report in result.reports)
    assert most == (400 if strategy == "expand" else 200)
    assert result.progress.state_rows == (2 if strategy == "expand" else 1)


@pytest.mark.parametrize("strategy", [pytest.param("chain", marks=pytest.mark.long), "columnar"])
def test_an_idle_source(replay: Replay, tmp_path: Path, strategy: str) -> None:
    """Nothing comes for a while: the query goes on where it was, and windows close without new data."""
    replay.add(events((1, "a", 1)), events((45, "a", 2)))
    out = mt.aggregate(replay.stream, **ask(strategy=strategy))
    idle = f"idle_{strategy}"
    writer = out.writeStream.format("memory").queryName(idle).option("checkpointLocation", str(tmp_path / "c"))
    start = writer.trigger(processingTime="200 milliseconds").start
    query = patiently(start, lambda query: query.processAllAvailable(), forget=tmp_path / "c")
    try:
        deadline = time.monotonic() + LONG
        while replay.spark.table(idle).count() < 1 and time.monotonic() < deadline:
            time.sleep(0.2)
        assert by_instance(replay.spark.table(idle).collect()) == {("10s", 0.0, "a"): (1,)}
        time.sleep(1)
        replay.add(events((200, "a", 4)))
        query.processAllAvailable()
        assert by_instance(replay.spark.table(idle).collect())["1m", 0.0, "a"] == (3,)
        assert mt.progress(query).rows_in == 3
    finally:
        query.stop()


@pytest.mark.long
@pytest.mark.parametrize("strategy", ONE_SHAPE)
def test_files_that_come_twice(replay: Replay, strategy: str) -> None:
    """A file written again under its name has been read; a copy under another name counts, as in Spark."""
    replay.add(events((1, "a", 1)), events((5, "a", 2)))
    replay.run(ask(strategy=strategy), files=True)
    again = replay.files / "0001.parquet"
    again.write_bytes(again.read_bytes())
    replay.add(events((5, "a", 2)), events((100, "a", 4)), events((1000, "a", 0)))
    rows = by_instance(replay.run(ask(strategy=strategy), files=True).rows.collect())
    assert {name: value for name, value in rows.items() if name[1] < 60} == {
        ("10s", 0.0, "a"): (5,),
        ("1m", 0.0, "a"): (5,),
    }


@pytest.mark.long
@pytest.mark.parametrize("strategy", ONE_SHAPE)
def test_another_aggregation_may_follow(replay: Replay, strategy: str) -> None:
    """The window carries the watermark, so Spark's own operators close after it what they keep."""
    replay.add(*(events((second, "a", 1)) for second in (1, 25, 70, 130, 1000, 2000)))
    out = mt.aggregate(replay.stream, **ask(strategy=strategy))
    spans = F.window(F.window_time("window"), "2 minutes").alias("span")
    given = replay.write(out.groupBy("window_id", spans).agg(F.sum("sum_v").alias("sum"), F.count("*").alias("n")))
    rows = {(row["window_id"], row["span"]["start"].minute): (row["sum"], row["n"]) for row in given.rows.collect()}
    tens = {("10s", 0): (3, 3), ("10s", 2): (1, 1), ("10s", 16): (1, 1)}
    assert rows == tens | {("1m", 0): (3, 2), ("1m", 2): (1, 1), ("1m", 16): (1, 1)}


@pytest.mark.long
def test_restart_with_windows_in_another_order(replay: Replay) -> None:
    """Columnar state tells windows by number, and numbers are of one run only."""
    replay.add(events((1, "a", 1), (25, "b", 2)), events((70, "a", 4)))
    replay.run(ask(strategy="columnar"), files=True)
    replay.add(events((75, "a", 8), (118, "b", 16)), events((1000, "a", 0)))
    again = replay.run(ask(strategy="columnar", windows=[MINUTE, TEN]), files=True)
    asked = {name: value for name, value in ask().items() if name != "watermark"}
    wanted = by_instance(mt.aggregate(replay.batch, **asked, strategy="independent").collect())
    assert by_instance(again.rows.collect()) == {name: value for name, value in wanted.items() if name[1] < 900}


def test_the_other_state_store(replay: Replay) -> None:
    replay.add(*(events(*rows) for rows in LATE))
    kept = {name: replay.spark.conf.get(name) for name in ROCKS_DB}
    for name, value in ROCKS_DB.items():
        replay.spark.conf.set(name, value)
    try:
        assert len(by_instance(replay.run(ask()).rows.collect())) == 4
    finally:
        for name, before in kept.items():
            replay.spark.conf.set(name, str(before))
