"""What a query keeps, told by window from its checkpoint, and tables of current values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin.cli import main
from tests.spark.patience import patiently, to_the_end
from tests.spark.streams import Replay, by_instance, events

TEN, MINUTE, HOPS = mt.tumbling("10 s"), mt.tumbling("60 s"), mt.hopping("1 min", "20 s", id="hops")
ASKED: dict[str, Any] = {"time": "ts", "by": "k", "windows": [TEN, MINUTE, HOPS], "aggregates": mt.sum("v")}
ROWS = [(71.0, "a", 1), (75.0, "b", 2), (83.0, "a", 4)]


@pytest.fixture
def replay(spark: SparkSession, tmp_path: Path) -> Replay:
    return Replay(spark, tmp_path).add(events(*ROWS))


@pytest.mark.parametrize(
    ("strategy", "kept"),
    [
        # open: 70–80 for both keys, 80–90; the minute for both; hops from 20, 40, 60 for both, from 80 for one
        ("independent", [(0, "10s", 3), (1, "1m", 7), (2, "1m", 2)]),
        ("expand", [(0, "10s", 3), (0, "1m", 7)]),  # an instance that two windows have is kept once
        ("chain", [(1, "slices", 3)]),
        ("columnar", [(0, "slices", 3), (0, "10s", 3), (0, "1m", 3), (0, "hops", 3)]),
    ],
)
def test_state_is_told_by_window(replay: Replay, strategy: str, kept: list[tuple[int, str, int]]) -> None:
    asked = ASKED | {"strategy": strategy, "watermark": "1 min"}
    result = replay.run(asked, files=True)
    checkpoint = replay.folder / "kept/checkpoint"
    assert [(each.operator, each.name, each.rows) for each in mt.state(checkpoint)] == kept
    told = mt.progress(result.reports, checkpoint=checkpoint)
    assert told.windows == mt.state(checkpoint, replay.spark)
    assert f" ({kept[0][1]} 3" in str(told)


def test_the_command_line_tells_state(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    replay.run(ASKED | {"strategy": "expand", "watermark": "1 min"}, files=True)
    monkeypatch.setattr("pyspark.sql.SparkSession.stop", lambda _: None)
    told = CliRunner().invoke(main, ["state", str(replay.folder / "kept/checkpoint")])
    assert told.output == "operator 0: 10s 3\noperator 0: 1m 7\n"


def test_paths_that_are_no_checkpoints_are_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setattr("muntin.spark.session", lambda **_: spark)
    monkeypatch.setattr("pyspark.sql.SparkSession.stop", lambda _: None)
    for path, problem in (
        (tmp_path / "file", "is a file"),
        ("file://host/checkpoint", "on another file system, which is not supported here"),
        (tmp_path / "typo", f"there is no folder {tmp_path}/typo"),
        (tmp_path, "is no checkpoint of a streaming query"),
    ):
        with pytest.raises(mt.QueryError, match=problem):
            mt.state(path, spark)
        told = CliRunner().invoke(main, ["state", str(path)])
        assert (told.exit_code, problem in told.output) == (2, True)


def test_state_is_read_from_any_path_or_through_a_link(replay: Replay) -> None:
    """Spark's reader of state quotes a path twice; when that is repaired, the refusal can go."""
    replay.run(ASKED | {"strategy": "expand", "watermark": "1 min"}, files=True)
    plain = replay.folder / "kept/checkpoint"
    wanted = mt.state(plain)
    assert mt.state(plain.rename(replay.folder / "star*ünï→:&")) == wanted
    place = replay.folder / "star*ünï→:&"
    assert mt.state(f"file://{place}") == wanted
    for name in ("[ab]", "{a,b}", "a b", "5%20", "#", "back\\slash"):
        place = place.rename(replay.folder / name)
        with pytest.raises(Exception, match="COMMITTED_BATCH_UNAVAILABLE"):
            replay.spark.read.format("statestore").load(f"file://{place}")
        with pytest.raises(mt.QueryError, match=r"Spark cannot read state from .*Make a symbolic link"):
            mt.state(place)
    plain.symlink_to(place)
    assert mt.state(plain) == wanted


def test_operators_of_others_are_left_out(replay: Replay) -> None:
    once = replay.stream.withWatermark("ts", "1 minute").dropDuplicatesWithinWatermark(["k"])
    replay.write(once, files=True)
    assert mt.state(replay.folder / "kept/checkpoint") == ()


@pytest.mark.long
def test_a_table_has_the_latest_row_of_every_instance(replay: Replay) -> None:
    """Micro-batches that come twice, restarts and compaction change nothing."""
    table = mt.UpsertTable(replay.folder / "table", by="k")

    def run() -> dict[tuple[Any, ...], tuple[Any, ...]]:
        def twice(rows: DataFrame, batch: int) -> None:
            table.write(rows.limit(1), batch)  # an attempt that failed
            table.write(rows, batch)

        out = mt.aggregate(replay.stream, **ASKED, output="update", watermark="1 min")
        writer = out.writeStream.outputMode("update").foreachBatch(twice)
        writer = writer.option("checkpointLocation", str(replay.folder / "c")).trigger(availableNow=True)
        patiently(writer.start, to_the_end)
        return by_instance(table.read(replay.spark).collect())

    def wanted() -> dict[tuple[Any, ...], tuple[Any, ...]]:
        return by_instance(mt.aggregate(replay.batch, **ASKED, strategy="independent").collect())

    with pytest.raises(mt.QueryError, match="has no rows yet"):
        table.read(replay.spark)
    assert run() == wanted()
    replay.add(events((72, "a", 8), (200, None, 16)), events((201, None, 32), (202, "b", 64)))
    assert run() == wanted()
    table.compact(replay.spark)
    assert len(list(table.path.glob("muntin_batch=*"))) == 2
    assert by_instance(table.read(replay.spark).collect()) == wanted()
    table.compact(replay.spark)
    replay.add(events((203, "a", 128)))
    assert run() == wanted()


def test_a_table_needs_the_keys_of_the_query(spark: SparkSession, tmp_path: Path) -> None:
    table = mt.UpsertTable(tmp_path, by=["device"])
    with pytest.raises(mt.QueryError, match=r"needs column 'device'\. There are 'window_id', 'window'"):
        table.write(spark.sql("select 'a' window_id, 1 window"), 0)
