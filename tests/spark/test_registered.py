"""Windows of a registry on a stream: what they mean, what a restart takes over, and what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.changes import Change
from muntin.spark.stream.metrics.families import samples
from tests.spark.streams import Event, Replay, by_instance, events

ZONE = "spark.sql.session.timeZone"
WEEK = 7 * 24 * 3600


def ask(windows: Any, **changes: Any) -> dict[str, Any]:
    asked = {"time": "ts", "by": "k", "windows": windows, "aggregates": mt.sum("v"), "watermark": "10 s"}
    return asked | changes


def flagged(*rows: Event) -> pa.Table:
    """Give events with columns that windows can watch."""
    table = events(*rows)
    table = table.append_column("odd", pc.equal(pc.bit_wise_and(table["v"], 1), 1))
    return table.append_column("high", pc.greater(table["v"], 9))


@pytest.fixture
def berlin(spark: SparkSession) -> Iterator[SparkSession]:
    before = spark.conf.get(ZONE)
    spark.conf.set(ZONE, "GMT+1")
    yield spark
    spark.conf.set(ZONE, str(before))


def test_a_registry_in_another_folder_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Changes have numbers, which say nothing in another folder."""
    registry, other = (mt.WindowRegistry(tmp_path / name) for name in ("windows", "others"))
    registry.add("1 min")
    for window in ("30 s", "20 s"):
        other.add(window)
    replay = Replay(spark, tmp_path).add(events((1, "a", 5)))
    replay.run(ask(registry), files=True)
    checkpoint = tmp_path / "kept" / "checkpoint"
    with pytest.raises(mt.QueryError, match=r"the registry was [0-9a-f]{32} and is [0-9a-f]{32}\. Use the registry"):
        mt.aggregate(replay.stream, **ask(other), checkpoint=checkpoint)
    replay.add(events((70, "a", 7)))
    with pytest.raises(StreamingQueryException, match="the checkpoint was made for another query: the registry was"):
        replay.run(ask(other), files=True)
    registry.path.rename(tmp_path / "moved")
    assert mt.aggregate(replay.stream, **ask(mt.WindowRegistry(tmp_path / "moved")), checkpoint=checkpoint).isStreaming


def test_changes_are_read_however_old_and_are_no_events(spark: SparkSession, tmp_path: Path) -> None:
    registry = mt.WindowRegistry(tmp_path / "windows")
    registry.add("1 min", id="minute")
    registry.add("30 s", id="half")
    first = registry.path / "00000001.json"
    os.utime(first, (first.stat().st_mtime - 2 * WEEK,) * 2)
    replay = Replay(spark, tmp_path).add(events((1, "a", 5), (31, "a", 7)), events((1000, "z", 0)))
    result = replay.run(ask(registry))
    rows = by_instance(result.rows.where("k = 'a'").collect())
    assert rows == {("minute", 0.0, "a"): (12,), ("half", 0.0, "a"): (5,), ("half", 30.0, "a"): (7,)}
    assert result.progress.rows_in == 3


@pytest.mark.parametrize("window", ["1 min", pytest.param(mt.session_window("35 s"), marks=pytest.mark.long)])
def test_a_query_goes_on_without_damaged_changes(spark: SparkSession, tmp_path: Path, window: Any) -> None:
    registry = mt.WindowRegistry(tmp_path / "windows")
    registry.add(window, id="first")
    replay = Replay(spark, tmp_path).add(events((1, "a", 5), (31, "a", 7)))
    out = mt.aggregate(replay.stream, **ask(registry))  # damage comes later than that
    (registry.path / "00000002.json").write_text("[" * 60_000)
    os.mkfifo(registry.path / "00000003.json")
    for name in ("00000004.json", "x=1"):
        (registry.path / name).mkdir()
        (registry.path / name / "00000007.json").write_text(Change(7).to_json())
    (registry.path / "00000005.json").write_text(Change(5, "last", mt.tumbling("40 s", id="last"), 0).to_json())
    (registry.path / "03000000.json").write_text(Change(3_000_000).to_json())
    with pytest.raises(StreamingQueryException, match=r"00000002\.json is damaged \(maximum recursion depth exceeded"):
        replay.write(out, files=True)
    skipping = mt.WindowRegistry(registry.path, skip_damaged=True)
    result = replay.add(events((1000, "z", 0))).run(ask(skipping), files=True)
    rows = result.rows.where("k = 'a'").select("window_id", "k", "sum_v").collect()
    assert sorted(map(tuple, rows)) == [("first", "a", 12), ("last", "a", 12)]
    assert (result.progress.change, result.progress.damaged) == (5, 4)
    assert "4 damaged changes skipped" in str(result.progress)
    assert ("muntin_damaged_changes", 4) in [(sample.family.name, sample.value) for sample in samples(result.progress)]
    assert [one.id for one in skipping.list()] == ["first", "last"]
    report = next(registry.path.glob("_queries/*.json"))
    assert json.loads(report.read_text())["missing"] == [[3, 4]]  # what Spark does not list, or lists as empty


def test_a_landmark_is_told_by_the_clock_of_the_session(berlin: SparkSession, tmp_path: Path) -> None:
    registry = mt.WindowRegistry(tmp_path / "windows")
    registry.add(mt.landmark("2024-01-01T01:00:10", "1 min"), id="since")
    replay = Replay(berlin, tmp_path).add(events((1, "a", 5), (31, "a", 7), (80, "a", 9)), events((1000, "z", 0)))
    rows = replay.run(ask(registry)).rows.where("k = 'a'").select("window_id", "window.*", "sum_v")
    plain = replay.batch.where("ts >= timestamp'2024-01-01 01:00:10' and k = 'a'")
    start = F.expr("timestamp'2024-01-01 01:00:10'")
    ends = [F.expr(f"timestamp'2024-01-01 01:0{minute}:10'") for minute in (1, 2)]
    wanted = [
        row
        for end in ends
        for row in plain.where(F.col("ts") < end).agg(F.lit("since"), start, end, F.sum("v")).collect()
    ]
    assert sorted(map(tuple, rows.collect())) == sorted(map(tuple, wanted))


def test_a_landmark_whose_moment_is_past_is_listed_as_missed(spark: SparkSession, tmp_path: Path) -> None:
    registry = mt.WindowRegistry(tmp_path / "windows")
    registry.add(mt.session_window("30 s"), id="visits")
    replay = Replay(spark, tmp_path).add(events((100, "a", 5)))
    replay.run(ask(registry), files=True)
    registry.add(mt.landmark("2024-01-01T00:00:10Z", "1 min"), id="past")
    registry.add(mt.landmark("2024-01-01T00:03:00Z", "1 min"), id="coming")
    rows = replay.add(events((200, "a", 1)), events((1000, "z", 0))).run(ask(registry), files=True).rows
    assert {row["window_id"] for row in rows.collect()} == {"visits", "coming"}
    assert {one.id: one.state for one in registry.list()} == {
        "visits": "running",
        "past": "missed",
        "coming": "running",
    }


@pytest.mark.parametrize("window", ["1 min", mt.session_window("35 s")], ids=str)
def test_links_to_folders_are_refused_before_a_query_starts(spark: SparkSession, tmp_path: Path, window: Any) -> None:
    """With two of them that lead back, Spark would list files without end."""
    registry = mt.WindowRegistry(tmp_path / "windows", skip_damaged=True)
    registry.add(window)
    for name in ("a", "b"):
        (registry.path / name).symlink_to(".")
    replay = Replay(spark, tmp_path).add(events((1, "a", 5)))
    with pytest.raises(mt.QueryError, match=r"windows/[ab]' is a link to a folder.* Remove the link"):
        mt.aggregate(replay.stream, **ask(registry))


def test_a_window_on_a_column_that_is_not_read_is_refused_at_every_start(spark: SparkSession, tmp_path: Path) -> None:
    registry = mt.WindowRegistry(tmp_path / "windows")
    registry.add(mt.while_("odd"), id="odd")
    replay = Replay(spark, tmp_path).add(flagged((1, "a", 5), (100, "a", 7)))
    replay.run(ask(registry), files=True)
    registry.add(mt.while_("high"), id="high")
    replay.add(flagged((101, "a", 12)))
    for _ in range(2):
        with pytest.raises(StreamingQueryException, match="'high' of the registry watches 'high', which the query did"):
            replay.run(ask(registry), files=True)
    (registry.path / "00000002.json").unlink()  # as the error says
    rows = replay.add(flagged((200, "a", 2)), flagged((1000, "z", 0))).run(ask(registry), files=True).rows
    given = rows.where("k = 'a'").drop("window_begin", "window_end").collect()
    assert by_instance(given) == {("odd", 1.0, "a"): (12,)}
