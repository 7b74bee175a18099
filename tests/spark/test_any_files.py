"""Paths of other file systems: Hadoop's viewfs, which every Spark has, stands for a store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.cli.queries.outputs import batch_outputs, stream_outputs
from muntin.cli.queries.writing import FolderSink, write
from muntin.files import LocalFiles
from muntin.spark.hadoop import HadoopFiles, files_with
from tests.spark.patience import patiently, to_the_end
from tests.spark.streams import Replay, by_instance, events

ARRIVING = [events((71, "a", 1), (75, "b", 2)), events((72, "a", 8), (200, None, 16)), events((201, None, 32))]


@pytest.fixture
def store(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """Give a folder that only Hadoop knows the way to."""
    mount = "spark.hadoop.fs.viewfs.mounttable.muntin.link./data"
    settings = spark.sparkContext._jsc.hadoopConfiguration()
    (tmp_path / "mounted").mkdir()
    settings.set(mount.removeprefix("spark.hadoop."), f"file://{tmp_path}/mounted")
    settings.set("fs.viewfs.impl.disable.cache", "true")
    yield "viewfs://muntin/data"
    settings.unset(mount.removeprefix("spark.hadoop."))


@pytest.mark.parametrize("scheme", ["file", "viewfs"])
def test_hadoop_does_what_python_does(spark: SparkSession, tmp_path: Path, store: str, scheme: str) -> None:
    place = store if scheme == "viewfs" else f"file://{tmp_path}/mounted"
    files, here = HadoopFiles(spark), LocalFiles()
    mounted = f"{tmp_path}/mounted"
    assert files.list(f"{place}/none") == {}
    assert not files.exists(f"{place}/none")
    files.make(f"{place}/inner")
    files.put(f"{place}/inner/a", "first ü")
    files.put(f"{place}/inner/a", "second ü")
    assert files.read(f"{place}/inner/a") == here.read(f"{mounted}/inner/a") == "second ü"
    assert set(files.list(f"{place}/inner")) == {"a"}
    files.move(f"{place}/inner/a", f"{place}/inner/b")
    with pytest.raises(FileNotFoundError):
        files.read(f"{place}/inner/a")
    assert files.exists(f"{place}/inner/b")
    files.remove(f"{place}/inner")
    assert here.list(mounted) == {}


def test_a_path_says_who_reads_it(spark: SparkSession, store: str) -> None:
    assert isinstance(files_with(spark, "/data"), LocalFiles)
    assert isinstance(files_with(spark, store), HadoopFiles)


def test_tables_and_checkpoints_of_a_store(spark: SparkSession, tmp_path: Path, store: str) -> None:
    replay = Replay(spark, tmp_path).add(*ARRIVING)
    table = mt.UpsertTable(f"{store}/table", by="k")
    with pytest.raises(mt.UnsupportedError, match="is not a folder of this machine"):
        _ = table.path
    windows, sums = [mt.tumbling("1 minute")], [mt.sum("v")]

    def run() -> None:
        asked = {"output": "update", "watermark": "10 min", "checkpoint": f"{store}/checkpoint"}
        out = mt.aggregate(replay.stream, "ts", "k", windows, sums, **asked)  # type: ignore[arg-type]
        writer = out.writeStream.outputMode("update").foreachBatch(table.write).trigger(availableNow=True)
        patiently(writer.option("checkpointLocation", f"{store}/checkpoint").start, to_the_end)

    def plain() -> object:
        grouped = replay.batch.groupBy(F.window("ts", "1 minute"), "k").agg(F.sum("v"))
        return by_instance(grouped.select(F.lit("1m").alias("window_id"), "*").collect())

    with pytest.raises(mt.QueryError, match=r"there is no folder viewfs://muntin/data/checkpoint"):
        mt.state(f"{store}/checkpoint", spark)
    run()
    assert by_instance(table.read(spark).collect()) == plain()
    assert sum(kept.rows for kept in mt.state(f"{store}/checkpoint", spark)) > 0
    table.compact(spark)
    replay.add(events((205, "a", 7)))
    run()  # from what the checkpoint says
    assert by_instance(table.read(spark).collect()) == plain()
    with pytest.raises(mt.QueryError, match="the checkpoint was made for another query"):
        mt.aggregate(
            replay.stream, "ts", "k", windows, [mt.max("v")], watermark="10 min", checkpoint=f"{store}/checkpoint"
        )
    with pytest.raises(mt.QueryError, match=r"viewfs://muntin/data/table was written from another checkpoint"):
        table.write(replay.batch.selectExpr("'1m' window_id", "window(ts, '1 minute') window", "k", "v sum_v"), 0)


def test_results_of_the_command_line_in_a_store(spark: SparkSession, tmp_path: Path, store: str) -> None:
    files, rows = HadoopFiles(spark), spark.range(3)
    places = batch_outputs(f"{store}/out", ["low"], files=files, overwrite=False)
    assert places.folders == {"low": "viewfs://muntin/data/out/low"}
    for _ in range(2):
        assert write(rows, places.folders["low"], "parquet", places.files) == 3
    assert spark.read.parquet(places.folders["low"]).count() == 3
    assert set(files.list(f"{store}/out")) == {"low"}
    with pytest.raises(mt.QueryError, match=r"viewfs://muntin/data/out/low exists"):
        batch_outputs(f"{store}/out", ["low"], files=files, overwrite=False)
    with pytest.raises(mt.QueryError, match="is where input viewfs://muntin/data/out/low/in is read from"):
        batch_outputs(f"{store}/out", ["low"], [f"{store}/out/low/in"], files, overwrite=True)
    batch_outputs(f"{store}/out", ["low"], files=files, overwrite=True).clear()
    assert files.list(f"{store}/out") == {}
    sink = FolderSink(stream_outputs(f"{store}/out", ["low"], files=files).folders["low"], "parquet", files)
    for batch in (0, 1, 1):
        sink(rows, batch)
    assert spark.read.parquet(sink.place).count() == 6
    assert (tmp_path / "mounted/out/low/_query").exists()
