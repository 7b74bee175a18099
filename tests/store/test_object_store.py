"""A registry, a table and a checkpoint in an object store: writers at once, windows that come, rows of plain Spark."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.patience import patiently, to_the_end
from tests.spark.streams import Replay, by_instance, events
from tests.store.conftest import Store

WRITER = """
import json, sys, muntin as mt
registry = mt.WindowRegistry(sys.argv[1], options=json.loads(sys.argv[2]))
for n in range(1, 4):
    registry.add(mt.hopping(f"{n * 100 + int(sys.argv[3])} s", "1 s"), id=f"{sys.argv[3]}-{n}")
"""


def test_several_processes_write_at_once(store: Store) -> None:
    folder = store.folder()
    arguments = [sys.executable, "-c", WRITER, folder, json.dumps(store.options)]
    writers = [subprocess.Popen([*arguments, str(number)]) for number in range(3)]
    assert [writer.wait() for writer in writers] == [0] * 3
    registry = mt.WindowRegistry(folder, options=store.options)
    assert [change.version for change in registry.changes()] == list(range(1, 10))
    assert {one.id for one in registry.list()} == {f"{w}-{n}" for w in range(3) for n in range(1, 4)}


def test_windows_come_while_a_stream_runs(store: Store, spark: SparkSession, tmp_path: Path) -> None:
    """Workers read the registry through s3fs, and Spark reads its changes through s3a."""
    folder = store.folder()
    registry = mt.WindowRegistry(f"{folder}/registry", options=store.options)
    registry.add(mt.tumbling("1 minute"), id="minute")
    replay = Replay(spark, tmp_path).add(events(*((i / 2, f"k{i % 3}", i) for i in range(200))))
    stream = replay.stream.withWatermark("ts", "0 seconds")

    def run() -> None:
        out = mt.aggregate(stream, "ts", "k", registry, mt.sum("v"))
        writer = out.writeStream.format("parquet").option("path", f"{folder}/out").trigger(availableNow=True)
        # Moto answers larger uploads, as RocksDB makes them, with status 100; so this checkpoint is on the machine.
        patiently(writer.option("checkpointLocation", f"{tmp_path}/checkpoint").start, to_the_end)

    run()
    registry.add(mt.tumbling("7 seconds"), id="seven")
    replay.add(events(*((100 + i / 2, f"k{i % 3}", i) for i in range(200))), events((1000, "k0", 0)))
    run()
    states = {one.id: one for one in registry.list()}
    assert {id: one.state for id, one in states.items()} == {"minute": "running", "seven": "running"}
    since = states["seven"].since
    assert since is not None
    given = by_instance(spark.read.parquet(f"{folder}/out").collect())
    assert given == by_instance(_plain(replay.batch, since).collect())


def _plain(rows: DataFrame, since: int) -> DataFrame:
    """Give what plain Spark makes of both windows that have closed, of the second from when it counts."""
    latest = rows.agg(F.unix_micros(F.max("ts"))).collect()[0][0]
    minute = rows.groupBy(F.window("ts", "1 minute"), "k").agg(F.sum("v"))
    seven = rows.groupBy(F.window("ts", "7 seconds"), "k").agg(F.sum("v")).where(F.unix_micros("window.start") >= since)
    named = minute.select(F.lit("minute").alias("window_id"), "*").union(
        seven.select(F.lit("seven").alias("window_id"), "*")
    )
    return named.where(F.unix_micros("window.end") <= latest)


def test_a_table_of_current_values(store: Store, spark: SparkSession, tmp_path: Path) -> None:
    folder = store.folder()
    replay = Replay(spark, tmp_path).add(
        events((71, "a", 1), (75, "b", 2)), events((72, "a", 8), (200, None, 16)), events((201, None, 32))
    )
    table = mt.UpsertTable(f"{folder}/table", by="k")

    def run(checkpoint: str) -> None:
        asked = {"output": "update", "watermark": "10 min", "checkpoint": checkpoint, "strategy": "expand"}
        out = mt.aggregate(replay.stream, "ts", "k", "1 minute", mt.sum("v"), **asked)  # type: ignore[arg-type]
        writer = out.writeStream.outputMode("update").foreachBatch(table.write).trigger(availableNow=True)
        patiently(writer.option("checkpointLocation", checkpoint).start, to_the_end)

    def plain() -> object:
        grouped = replay.batch.groupBy(F.window("ts", "1 minute"), "k").agg(F.sum("v"))
        return by_instance(grouped.select(F.lit("1m").alias("window_id"), "*").collect())

    run(f"{folder}/checkpoint")
    assert by_instance(table.read(spark).collect()) == plain()
    table.compact(spark)
    replay.add(events((205, "a", 7)))
    run(f"{folder}/checkpoint")
    assert by_instance(table.read(spark).collect()) == plain()
    with pytest.raises(Exception, match="was written from another checkpoint"):
        run(f"{folder}/another")
