"""Checkpoints that earlier versions made: this one goes on from them, and their rows are complete."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.fingerprint import BY_INSTANCE
from muntin.spark.stream.fingerprints import kept_fingerprints
from tests.spark.cases import assert_same, plain_spark
from tests.spark.kept_checkpoints import (
    EARLIER,
    FOLDER,
    FOLLOWING,
    FRAMED,
    REGISTERED,
    SHAPES,
    WINDOWS,
    ask,
    doubled,
    opened,
)
from tests.spark.patience import patiently, to_the_end
from tests.spark.streams import Replay

ARCHIVES = sorted(FOLDER.glob("format-*/*.zip"))
FOLLOWED = sorted(REGISTERED.glob("format-*/*.zip"))


def go_on(out: DataFrame, folder: Path) -> tuple[DataFrame, mt.Progress]:
    """Go on from a kept checkpoint to the end of the input."""
    writer = out.writeStream.format("parquet").option("path", str(folder / "rows"))
    writer = writer.option("checkpointLocation", str(folder / "kept" / "checkpoint")).trigger(availableNow=True)
    query = patiently(writer.start, to_the_end)
    rows = out.sparkSession.read.schema(out.schema).parquet(str(folder / "rows" / "*.parquet"))
    return rows, mt.progress(query)  # the sink's log begins later, and is not read


def test_there_are_checkpoints_of_every_shape() -> None:
    assert {archive.stem for archive in ARCHIVES} == set(SHAPES)


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: f"{archive.parent.name}-{archive.stem}")
def test_rows_from_before_and_after_are_counted_together(spark: SparkSession, tmp_path: Path, archive: Path) -> None:
    opened(archive, tmp_path)
    checkpoint = tmp_path / "kept" / "checkpoint"
    assert {kept.shape for kept in kept_fingerprints(spark, checkpoint)} == {archive.stem}
    assert mt.state(checkpoint)
    later = doubled((75, "A", 9), (40, "b", 2), (10_000, "z", 0))
    replay = Replay(spark, tmp_path).add(later)
    asked = ask(archive.stem) | {"strategy": "auto", "checkpoint": checkpoint}
    unknown = archive.stem in BY_INSTANCE
    with pytest.warns(mt.MuntinWarning, match="does not say what windows it counts") if unknown else nullcontext():
        out = mt.aggregate(replay.stream, **asked)
    rows, _ = go_on(out, tmp_path)
    whole = Replay(spark, tmp_path / "whole").add(EARLIER, later).batch
    whole = whole.withColumn("name", F.col("k")).withColumn("k", F.lower("k"))
    plain = [F.min("v").alias("low"), F.sum("v").alias("sum_v"), F.avg("v").alias("avg_v"), F.count("*").alias("count")]
    plain += [F.max("name").alias("last"), F.sum("d").alias("sum_d"), F.avg("d").alias("avg_d")]
    if archive.stem == "distinct":
        plain = [F.count_distinct("v").alias("count_distinct_v"), F.count_distinct("d").alias("ds")]
    wanted = plain_spark(whole, "ts", ["k"], WINDOWS, plain).where("k is distinct from 'z'")
    periodic = F.col("window_id").isin(*(window.label for window in WINDOWS))
    assert_same(rows.where(periodic).drop("window_begin", "window_end"), wanted, ["k"], nullable=False)
    if archive.stem == "ordered":
        session = F.session_window("ts", "50 seconds").alias("window")
        plain_sessions = whole.groupBy(session, "k").agg(*plain).where("k is distinct from 'z'")
        ours = rows.where(F.col("window_id") == FRAMED[0].label).select(*plain_sessions.columns)
        assert sorted(map(str, ours.collect())) == sorted(map(str, plain_sessions.collect()))
        assert rows.where("window_id = '2 rows'").select("k", "window_begin", "count").collect()


@pytest.mark.parametrize("archive", FOLLOWED, ids=lambda archive: f"{archive.parent.name}-{archive.stem}")
def test_windows_still_come_and_go(spark: SparkSession, tmp_path: Path, archive: Path) -> None:
    opened(archive, tmp_path)
    registry = mt.WindowRegistry(tmp_path / "kept" / "windows")
    registry.add(mt.tumbling("40 s"), id="new")
    later = doubled((75, "A", 9), (40, "b", 2), (10_000, "z", 0))
    replay = Replay(spark, tmp_path).add(later)
    asked = ask(archive.stem) | {"windows": registry, "strategy": "auto"}
    out = mt.aggregate(replay.stream, **asked | {"checkpoint": tmp_path / "kept" / "checkpoint"})
    given, progress = go_on(out, tmp_path)
    assert (progress.shape, progress.change) == (archive.stem, 5)
    whole = Replay(spark, tmp_path / "whole").add(EARLIER, later).batch.withColumn("k", F.lower("k"))
    plain = plain_spark(whole, "ts", ["k"], WINDOWS, [F.sum("v").alias("sum_v"), F.count("*").alias("count")])
    rows = given.select("window_id", "window", "k", "sum_v", "count")
    assert_same(rows, plain.where("k is distinct from 'z'"), ["k"], nullable=False)
    assert [(one.id, one.state) for one in registry.list()] == [
        *((window.label, "running") for window in WINDOWS),
        ("new", "running"),
    ]


def test_there_are_checkpoints_of_every_shape_that_follows_a_registry() -> None:
    assert {archive.stem for archive in FOLLOWED} == set(FOLLOWING)


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda archive: f"{archive.parent.name}-{archive.stem}")
def test_another_query_is_still_refused(spark: SparkSession, tmp_path: Path, archive: Path) -> None:
    opened(archive, tmp_path)
    replay = Replay(spark, tmp_path).add(doubled((75, "A", 9)))
    other = ask(archive.stem) | {"aggregates": mt.max("v"), "checkpoint": tmp_path / "kept" / "checkpoint"}
    if archive.stem == "distinct":
        other["aggregates"] = mt.count_distinct("k")
    with pytest.raises(
        mt.QueryError, match=r"aggregate 1 was (min|count_distinct)\(v bigint\) and is (max|count_dist)"
    ):
        mt.aggregate(replay.stream, **other)
