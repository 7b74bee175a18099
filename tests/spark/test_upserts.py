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
from muntin.cli.queries.writing import FolderSink
from muntin.files import LocalFiles
from muntin.spark.input.origins import Origins, described
from muntin.spark.stream.batch_folder import BatchFolder
from tests.spark.current_values import plain, run, values
from tests.spark.streams import Replay, by_instance, events

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
    table = mt.UpsertTable(tmp_path / "table", by=())
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


def test_a_renamed_result_keeps_its_values(replay: Replay) -> None:
    table = mt.UpsertTable(replay.folder / "table")
    run(replay, table.write, "checkpoint")
    replay.add(events((205, "a", 7)), events((206, "b", 9)))
    key, aggregates = F.col("k").alias("key"), [mt.sum("v").alias("total"), mt.max("v").alias("sum_v")]
    run(replay, table.write, "checkpoint", by=key, aggregates=aggregates)  # one name is that of another result before
    wanted = plain(replay)
    for _ in range(2):
        rows = table.read(replay.spark)
        assert rows.columns == ["window_id", "window", "key", "total", "sum_v"]
        assert by_instance(rows.collect(), ["key"]) == wanted
        mt.UpsertTable(table.path).compact(replay.spark)
    assert len(list(table.path.glob("muntin_batch=*"))) == 2


def test_the_keys_are_those_of_the_query(replay: Replay) -> None:
    table = mt.UpsertTable(replay.folder / "table")
    run(replay, table.write, "checkpoint")
    assert values(table, replay.spark) == plain(replay)
    table.compact(replay.spark)
    assert values(table, replay.spark) == plain(replay)


def instances(spark: SparkSession, *values: str) -> DataFrame:
    """Return rows of one window with the columns that are named in SQL."""
    return spark.sql(" UNION ALL ".join(f"SELECT 'w' window_id, 1 window, {value}" for value in values))


def current(table: mt.UpsertTable, spark: SparkSession) -> list[tuple[Any, ...]]:
    """Return the rows of a table without the window, in the order of their keys."""
    return sorted(tuple(row)[2:] for row in table.read(spark).collect())


def write_as_before(rows: DataFrame, folder: Path, batch: int) -> None:
    """Write a micro-batch as versions did that kept no schemas."""
    rows.write.parquet(str(folder / f"muntin_batch={batch:012d}"))


def test_rows_that_share_their_keys_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    table = mt.UpsertTable(tmp_path / "table", by=())
    with pytest.raises(mt.QueryError, match=r"has 2 rows with the same 'window_id', 'window'.*Name all keys"):
        table.write(instances(spark, "'a' k, 1 n", "'b' k, 2 n"), 0)
    with pytest.raises(mt.QueryError, match="has no rows yet"):
        table.read(spark)
    keyed = mt.UpsertTable(tmp_path / "table", by="k")
    keyed.write(instances(spark, "'a' k, 1 n", "'b' k, 2 n"), 0)
    assert current(mt.UpsertTable(tmp_path / "table"), spark) == [("a", 1), ("b", 2)], "the table knows its keys"
    with pytest.raises(mt.QueryError, match=r"has the keys 'window_id', 'window', 'k'.*Leave by= out"):
        mt.UpsertTable(tmp_path / "table", by="n").read(spark)
    with pytest.raises(mt.QueryError, match=r"has the keys .*'k', and this micro-batch 'window_id', 'window'\."):
        table.write(instances(spark, "'a' k, 1 n"), 1)


def test_no_key_of_the_query_may_be_left_out(spark: SparkSession, tmp_path: Path) -> None:
    rows = described(instances(spark, "'a' k, 1 n"), Origins(("k",), ("n",)))
    for by, problem in (("n", "lacks 'k', a key of the query"), (["k", "n"], "by='n' is a result")):
        with pytest.raises(mt.QueryError, match=problem):
            mt.UpsertTable(tmp_path / "table", by=by).write(rows, 0)
    with pytest.raises(mt.QueryError, match=r"the query's 'k' has another name now\. Name all keys with by="):
        mt.UpsertTable(tmp_path / "table").write(rows.withColumnRenamed("k", "key"), 0)
    two = described(instances(spark, "'a' k, 'b' room, 1 n"), Origins(("k", "room"), ("n",)))
    for other in (two.withColumnRenamed("room", "r"), two.drop("room")):
        with pytest.raises(mt.QueryError, match=r"has as keys 'k', and the query has 'k', 'room': .*Keep all keys"):
            mt.UpsertTable(tmp_path / "table", by="k").write(other, 0)


def test_keys_that_nobody_knows_have_to_be_named(spark: SparkSession, tmp_path: Path) -> None:
    """In two micro-batches, one row for each key would look like two values of one instance."""
    table, rows = mt.UpsertTable(tmp_path / "table"), instances(spark, "'a' k, 1 n")
    with pytest.raises(mt.QueryError, match=r"which of 'k', 'n' are keys: .*Name all keys with by=; by=\(\) if there"):
        table.write(rows, 0)
    BatchFolder(tmp_path / "folder").write(rows, 0)
    BatchFolder(tmp_path / "folder").write(instances(spark, "'b' k, 2 n"), 1)
    with pytest.raises(mt.QueryError, match=r"folder .* does not say which of 'k', 'n' are keys\. Name all keys"):
        mt.UpsertTable(tmp_path / "folder").read(spark)
    assert current(mt.UpsertTable(tmp_path / "folder", by="k"), spark) == [("a", 1), ("b", 2)]
    table.write(described(rows, Origins()), 0)
    mt.UpsertTable(tmp_path / "alone").write(rows.drop("k", "n"), 0)
    assert repr(mt.UpsertTable("t", by=())).endswith("by=[])")


def test_columns_may_come_and_go_but_not_change_names(spark: SparkSession, tmp_path: Path) -> None:
    """Names are all that is known of rows that were made by hand."""
    table = mt.UpsertTable(tmp_path / "table", by="k")
    table.write(instances(spark, "'a' k, 1 n", "'b' k, 1 n", "'c' k, 1 n"), 0)
    table.write(instances(spark, "'b' k, 2 n, 2 m", "'c' k, 2 n, 2 m"), 1)
    table.write(instances(spark, "'c' k, 3 n"), 2)
    for columns, problem in (("3 x", "has 'n', and this micro-batch has 'x' instead"), ("3L n", "'n' .* was int")):
        with pytest.raises(mt.QueryError, match=problem):
            table.write(instances(spark, f"'c' k, {columns}"), 3)
    wanted = [("a", 1, None), ("b", 2, 2), ("c", 3, None)]
    assert current(table, spark) == wanted
    table.write(instances(spark, "'d' k, 4 n"), 3)
    table.compact(spark)
    assert [file.stem for file in (table.path / "_schemas").iterdir()] == [f"_{2:012d}"]
    assert current(table, spark) == [*wanted, ("d", 4, None)]
    table.write(instances(spark, "'d' k, 5 n"), 4)
    table.compact(spark)
    assert current(table, spark) == [*wanted, ("d", 5, None)]


def test_folders_of_earlier_versions_are_read(spark: SparkSession, tmp_path: Path) -> None:
    write_as_before(instances(spark, "'a' k, 1 n", "'b' k, 1 n"), tmp_path, 0)
    write_as_before(instances(spark, "'b' k, 2 n", "'c' k, 2 n"), tmp_path, 1)
    with pytest.raises(mt.QueryError, match=r"does not say which of 'k', 'n' are keys\. Name all keys with by="):
        mt.UpsertTable(tmp_path).read(spark)
    with pytest.raises(mt.QueryError, match="has 2 rows with the same 'window_id', 'window'"):
        mt.UpsertTable(tmp_path, by=()).read(spark)
    table = mt.UpsertTable(tmp_path, by="k")
    assert current(table, spark) == [("a", 1), ("b", 2), ("c", 2)]
    table.write(described(instances(spark, "'c' k, 3 n"), Origins(("k",), ("n",))), 2)
    mt.UpsertTable(tmp_path).compact(spark)
    assert current(table, spark) == [("a", 1), ("b", 2), ("c", 3)]


def test_renamed_columns_of_earlier_versions_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    write_as_before(instances(spark, "'a' k, 1 n"), tmp_path, 0)
    write_as_before(instances(spark, "'b' k, 2 total"), tmp_path, 1)
    write_as_before(instances(spark, "'b' k, 3 total"), tmp_path, 2)
    table = mt.UpsertTable(tmp_path, by="k")
    before = sorted(tmp_path.rglob("*.parquet"))
    calls: list[Callable[[], object]] = [
        lambda: table.read(spark),
        lambda: table.write(instances(spark, "'b' k, 4 total"), 3),
        lambda: table.compact(spark),
    ]
    for call in calls:
        with pytest.raises(mt.QueryError, match=r"newest micro-batch has no column 'n': what it is called now"):
            call()
    assert sorted(tmp_path.rglob("*.parquet")) == before


def test_a_compaction_removes_nothing_that_it_has_not_written(spark: SparkSession, tmp_path: Path) -> None:
    table = mt.UpsertTable(tmp_path, by="k")
    for batch in range(3):
        table.write(instances(spark, f"'a' k, {batch} n"), batch)
    more = instances(spark, "'b' k, 7 n, 7 more")
    more.write.mode("append").parquet(str(tmp_path / "muntin_batch=000000000000"))
    before = sorted(tmp_path.glob("muntin_batch=*/*.parquet"))
    with pytest.raises(mt.QueryError, match=r"have the column 'more'.*Nothing was removed"):
        table.compact(spark)
    assert sorted(tmp_path.glob("muntin_batch=*/*.parquet")) == before


def test_a_folder_that_anybody_reads_keeps_its_names(spark: SparkSession, tmp_path: Path) -> None:
    """Spark's reader would not know that a column has another name since."""
    folder = BatchFolder(tmp_path / "folder")
    folder.write(described(instances(spark, "'a' k, 1 n"), Origins(("k",), ("n",))), 0)
    with pytest.raises(mt.QueryError, match="has 'n', and this micro-batch has 'total' instead"):
        folder.write(described(instances(spark, "'a' k, 1 total"), Origins(("k",), ("total",))), 1)
    folder.write(instances(spark, "'a' k, 1 n, 2 more", "'b' k, 1 n, 2 more"), 1)
    assert current(mt.UpsertTable(folder.path, by="k"), spark) == [("a", 1, 2), ("b", 1, 2)]
    with pytest.raises(mt.QueryError, match="has 2 rows with the same"):
        mt.UpsertTable(folder.path, by=()).read(spark)
    sink = FolderSink(str(tmp_path / "output"), "csv", LocalFiles())
    sink(instances(spark, "'a' k, 1 n"), 0)
    with pytest.raises(mt.QueryError, match="has 'n', and this micro-batch has 'total' instead"):
        sink(instances(spark, "'a' k, 1 total"), 1)
