"""Tables of current values: new checkpoints, micro-batches that are not complete, interrupted compaction, odd paths."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.current_values import plain, run, values
from tests.spark.streams import Replay, events

ARRIVING = [
    events((71, "a", 1), (75, "b", 2), (83, "a", 4)),
    events((72, "a", 8), (200, None, 16)),
    events((201, None, 32), (202, "b", 64)),
    events((203, "a", 128), (204, "a", 1)),
]


@pytest.fixture
def replay(spark: SparkSession, tmp_path: Path) -> Replay:
    return Replay(spark, tmp_path).add(*ARRIVING)


@pytest.mark.long
def test_a_new_checkpoint_begins_anew_or_is_refused(replay: Replay) -> None:
    """Its numbers begin at 0: rows of the old one would seem newer, whatever has come since."""
    table = mt.UpsertTable(replay.folder / "table", by="k")
    run(replay, table.write, "first")
    before = values(table, replay.spark)
    assert before == plain(replay)
    first, *_ = sorted(replay.files.iterdir())
    second = Replay(replay.spark, replay.folder / "corrected")
    second.add(events((71, "a", 3), (75, "b", 3)), *ARRIVING[1:])
    replay.replace(first, sorted(second.files.iterdir())[0].read_bytes())
    assert plain(replay) != before
    with pytest.raises(
        Exception, match=r"another checkpoint: it has micro-batch \d of query .* and this is 0 of query"
    ):
        run(replay, table.write, "second")
    assert values(table, replay.spark) == before
    shutil.rmtree(table.path)
    run(replay, table.write, "second")
    assert values(table, replay.spark) == plain(replay)
    replay.add(events((205, "a", 7)))
    run(replay, table.write, "second")
    assert values(table, replay.spark) == plain(replay)


def test_a_second_query_is_refused_whatever_its_numbers_are(replay: Replay) -> None:
    table = mt.UpsertTable(replay.folder / "table", by="k")
    run(replay, table.write, "first")
    with pytest.raises(Exception, match=r"written from another checkpoint"):
        run(replay, lambda rows, batch: table.write(rows, batch + 10), "second")
    assert values(table, replay.spark) == plain(replay)


def test_a_table_without_rows_belongs_to_nobody(replay: Replay) -> None:
    table = mt.UpsertTable(replay.folder / "table", by="k")

    def failing(rows: DataFrame, batch: int) -> None:
        table.write(rows.withColumn("sum_v", F.raise_error(F.lit("on purpose"))), batch)

    with pytest.raises(Exception, match="on purpose"):
        run(replay, failing, "first")
    with pytest.raises(mt.QueryError, match="has no rows yet"):
        table.read(replay.spark)
    run(replay, table.write, "second")
    assert values(table, replay.spark) == plain(replay)


def test_numbers_tell_a_new_checkpoint_where_there_is_no_id(spark: SparkSession, tmp_path: Path) -> None:
    """As in Spark Connect, or in a call by hand."""
    table = mt.UpsertTable(tmp_path / "table")
    rows = spark.sql("select 'w' window_id, 1 window, 7 n")
    for batch in (0, 1, 1, 2):
        table.write(rows, batch)
    with pytest.raises(
        mt.QueryError, match=r"it has micro-batch 2, and this is 1\. Use another folder, or remove this"
    ):
        table.write(rows, 1)


def test_only_complete_micro_batches_are_read(replay: Replay) -> None:
    table = mt.UpsertTable(replay.folder / "table", by="k")
    run(replay, table.write, "first")
    written = table.read(replay.spark).withColumn("sum_v", F.lit(-1).cast("long"))
    table.write(written, 9)
    (table.path / "muntin_batch=000000000009/_SUCCESS").unlink()  # as where an attempt was killed
    assert values(table, replay.spark) == plain(replay)
    table.compact(replay.spark)
    assert values(table, replay.spark) == plain(replay)


@contextmanager
def interrupted(monkeypatch: pytest.MonkeyPatch, calls: int) -> Iterator[None]:
    """Let only some calls into the file system succeed."""
    left = iter(range(calls))

    def limited(call: Callable[..., Any]) -> Callable[..., Any]:
        def guarded(*arguments: Any, **options: Any) -> Any:
            if next(left, None) is None:
                raise KeyboardInterrupt
            return call(*arguments, **options)

        return guarded

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", limited(Path.rename))
        patch.setattr(Path, "unlink", limited(Path.unlink))
        patch.setattr(shutil, "rmtree", limited(shutil.rmtree))
        yield


@pytest.mark.long
def test_compaction_may_be_interrupted_anywhere(replay: Replay, monkeypatch: pytest.MonkeyPatch) -> None:
    table = mt.UpsertTable(replay.folder / "table", by="k")
    run(replay, table.write, "first")
    wanted, whole, calls = plain(replay), replay.folder / "whole", 0
    table.path.rename(whole)
    while True:
        shutil.copytree(whole, table.path)
        with interrupted(monkeypatch, calls):
            try:
                table.compact(replay.spark)
                break
            except KeyboardInterrupt:
                pass
        assert values(table, replay.spark) == wanted, calls
        table.compact(replay.spark)
        assert values(table, replay.spark) == wanted, calls
        shutil.rmtree(table.path)
        calls += 4
    assert calls > 12
    assert values(table, replay.spark) == wanted
    replay.add(events((206, "b", 9)))
    run(replay, table.write, "first")
    assert values(table, replay.spark) == plain(replay)


@pytest.mark.parametrize("name", ["[ab]{a,b}", "back\\slash*? 5%20#ünï→"])
def test_a_table_may_have_any_path(replay: Replay, name: str) -> None:
    table = mt.UpsertTable(replay.folder / name, by="k")
    run(replay, table.write, "checkpoint")
    assert values(table, replay.spark) == plain(replay)
    table.compact(replay.spark)
    assert values(table, replay.spark) == plain(replay)


def test_paths_that_are_no_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path, problem in ((tmp_path / "file", "is a file"), ("file://host/table", "on another file system")):
        with pytest.raises(mt.QueryError, match=problem):
            mt.UpsertTable(path)
