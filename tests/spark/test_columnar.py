"""Columnar state on Spark: the rows of plain Spark in append mode, late rows, idle buckets and restarts included."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import muntin as mt
from muntin.aggregates import Aggregate
from muntin.paths import pattern
from muntin.registry import WindowRegistry
from muntin.spark.input.reading import prepare
from muntin.spark.sessions import PROVIDER, ROCKSDB
from muntin.spark.stream.columnar import columnar
from muntin.spark.stream.fingerprints import fingerprint
from muntin.spark.stream.observing import LATE_METRIC
from muntin.window import Window
from tests.spark.cases import KEYS, VALUES, assert_same, plain_spark, random_aggregates, random_windows
from tests.spark.patience import patiently, to_the_end

BASE = datetime(2024, 5, 1, tzinfo=UTC)
SECOND = 1_000_000


@pytest.fixture
def rocks(spark: SparkSession) -> Iterator[SparkSession]:
    spark.conf.set("spark.sql.exchange.reuse", "false")  # with it, branches of the plain union see no watermark
    yield spark
    spark.conf.unset("spark.sql.exchange.reuse")


def write(folder: Path, name: int, table: pa.Table) -> None:
    """Write one micro-batch; Spark reads files by their age."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name:03d}.parquet"
    pq.write_table(table, path)
    os.utime(path, (1_700_000_000 + name, 1_700_000_000 + name))


def events(spark: SparkSession, folder: Path, delay: str) -> DataFrame:
    schema = spark.read.parquet(str(folder)).schema
    frame = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))
    return frame.withWatermark("ts", delay)


def run(out: DataFrame, folder: Path, name: str) -> StreamingQuery:
    """Run a stream to the end of its input, and again from where it stopped when called again."""
    writer = (
        out.writeStream.format("parquet")
        .option("path", str(folder / name))
        .option("checkpointLocation", str(folder / f"{name}.checkpoint"))
        .trigger(availableNow=True)
    )
    return patiently(writer.start, to_the_end)


def asked(
    df: DataFrame, by: list[str], windows: list[Window] | WindowRegistry, aggregates: list[Aggregate], buckets: int = 2
) -> DataFrame:
    named = list(windows.windows()) if isinstance(windows, WindowRegistry) else windows
    source = prepare(df, "ts", by, named, aggregates)
    given = None if isinstance(windows, WindowRegistry) else source.query.periodic
    kept = fingerprint(source, "columnar", given, buckets if by else 1)
    return columnar(source, windows if isinstance(windows, WindowRegistry) else source.query.periodic, kept)


def simple(rows: Sequence[tuple[float, str | None, int]], base: datetime = BASE) -> pa.Table:
    """Make events of seconds, keys and values."""
    seconds, keys, values = zip(*rows, strict=True) if rows else ((), (), ())
    times = [base + timedelta(seconds=second) for second in seconds]
    return pa.table(
        {
            "ts": pa.array(times, pa.timestamp("us", "UTC")),
            "k": pa.array(keys, pa.string()),
            "v": pa.array(values, pa.int64()),
        }
    )


def test_random_streams(rocks: SparkSession, tmp_path: Path, seed: int) -> None:
    """Random windows, keys, types and values, late rows, gaps and files without rows, and a restart halfway."""
    r = random.Random(seed)
    windows = [Window(w.range, w.slide, w.offset).timed() for w in random_windows(r)][:3]
    flat = [name for name in KEYS if name != "k array"]
    by = r.sample(flat, r.choice([0, 1, 2]))
    columns = {"huge"}
    while "huge" in columns:  # no kernel adds up so many digits
        aggregates, plain, columns = random_aggregates(r, True, False)
    named = [column.alias(one.name) for column, one in zip(plain, aggregates, strict=True)]
    now, unit = 0.0, max(w.range for w in windows) / SECOND
    files = 5
    for name in range(files):
        now += unit * r.choice([0, 0.3, 1, 1, 3])
        rows = r.choice([0, 1, 40, 150])
        seconds = [now + unit * (r.random() - r.choice([0, 0, 0, 1, 4])) for _ in range(rows)]
        data = {"ts": pa.array([BASE + timedelta(seconds=s) for s in seconds], pa.timestamp("us", "UTC"))}
        for key in by:
            kind, value = KEYS[key]
            data[key] = pa.array([None if r.random() < 0.1 else value(r) for _ in range(rows)], kind)
        for column in columns:
            kind, value = VALUES[column]
            data[column] = pa.array([None if r.random() < 0.2 else value(r) for _ in range(rows)], kind)
        data["unique"] = pa.array(r.sample(range(1000 * name, 1000 * (name + 1)), rows), pa.int64())
        write(tmp_path / "in", name, pa.table(data))
        if name == files // 2 or name == files - 1:
            stream = events(rocks, tmp_path / "in", f"{int(unit * 1000) // 3} milliseconds")
            ours = asked(stream, by, windows, aggregates)
            plain_rows = plain_spark(stream, "ts", by, windows, named)
            pairs = list(zip(ours.schema, plain_rows.schema, strict=True))[2:]
            assert all(theirs.nullable or not mine.nullable for mine, theirs in pairs)
            run(ours, tmp_path, "ours")
            run(plain_rows, tmp_path, "plain")
    given, wanted = (rocks.read.schema(ours.schema).parquet(str(tmp_path / name)) for name in ("ours", "plain"))
    assert_same(given, wanted, by, (seed, windows))


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(max(1, metafunc.config.getoption("--cases") // 13)))


def both(
    spark: SparkSession, folder: Path, batches: list[pa.Table], windows: list[Window], delay: str, buckets: int = 4
) -> tuple[list[Any], list[Any], StreamingQuery]:
    """Run ours and plain Spark over the same files, and give the rows of both."""
    for name, table in enumerate(batches):
        write(folder / "in", name, table)
    stream = events(spark, folder / "in", delay)
    query = run(asked(stream, ["k"], windows, [mt.sum("v"), mt.count()], buckets), folder, "ours")
    plain = [F.sum("v").alias("sum_v"), F.count("*").alias("count")]
    run(plain_spark(stream, "ts", ["k"], windows, plain), folder, "plain")
    rows = [sorted(spark.read.parquet(str(folder / name)).collect(), key=str) for name in ("ours", "plain")]
    return rows[0], rows[1], query


@pytest.mark.long
def test_late_rows_and_idle_buckets(rocks: SparkSession, tmp_path: Path) -> None:
    """A key that was never seen comes late, with the others long since gone on: plain Spark drops it, and so do we."""
    windows = [mt.tumbling("10 s"), mt.tumbling("60 s"), mt.hopping("30 s", "10 s")]
    batches = [
        simple([(1, "a", 1), (2, "b", 2), (25, "a", 3)]),
        simple([(45, "a", 4)]),
        simple([(46, "a", 5), (3, "new", 7), (21, "b", 1), (44, "c", 9)]),  # 3: too late for 10 s only
        simple([(130, "a", 6)]),
        simple([(131, "a", 6)]),
        simple([(5, "b", 100), (59, "newer", 100), (121, "b", 1)]),  # 5 and 59: too late for everything
        simple([(500, None, 1)]),
    ]
    ours, plain, query = both(rocks, tmp_path, batches, windows, "5 seconds")
    assert ours == plain
    assert len(ours) > 10
    late = [
        row for p in query.recentProgress for name, row in p.observedMetrics.items() if name.startswith(LATE_METRIC)
    ]
    assert sum(row["late"] for row in late) == 3
    assert sum(row["dropped"] for row in late) == 2


def test_times_before_1970_are_dropped_as_spark_drops_them(rocks: SparkSession, tmp_path: Path) -> None:
    batches = [simple([(-25, "a", 1), (-3, "a", 1), (7, "a", 3)], datetime(1970, 1, 1, tzinfo=UTC)) for _ in range(2)]
    ours, plain, _ = both(rocks, tmp_path, batches, [mt.tumbling("10 s"), mt.hopping("20 s", "10 s")], "0 seconds")
    assert ours == plain


@pytest.mark.long
def test_state_shrinks_back(rocks: SparkSession, tmp_path: Path) -> None:
    windows = [mt.tumbling("10 s"), mt.tumbling("60 s")]
    batches = [simple([(100 * i + j / 10, f"k{j % 50}", j) for j in range(600)]) for i in range(3)]
    batches.append(simple([(100_000, "z", 1)]))
    ours, plain, query = both(rocks, tmp_path, batches, windows, "5 seconds")
    assert ours == plain
    state = [p.stateOperators[0].numRowsTotal for p in query.recentProgress]
    assert max(state) > state[-1] == 5  # a head in each of four buckets, and the last event


def test_needs_rocksdb_and_a_watermark(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "in", 0, simple([(1, "a", 1)]))
    schema = spark.read.parquet(str(tmp_path / "in")).schema
    stream = spark.readStream.schema(schema).parquet(str(tmp_path / "in"))
    with pytest.raises(mt.QueryError, match=r"no watermark\. Add df\.withWatermark"):
        asked(stream, ["k"], [mt.tumbling("10 s")], [mt.count()])
    spark.conf.set(PROVIDER, ROCKSDB.replace("RocksDB", "HDFSBacked"))
    try:
        with pytest.raises(mt.QueryError, match=r"needs RocksDB\. Set spark\.conf\.set"):
            asked(stream.withWatermark("ts", "1 second"), ["k"], [mt.tumbling("10 s")], [mt.count()])
    finally:
        spark.conf.set(PROVIDER, ROCKSDB)


def test_windows_come_and_go_while_the_query_runs(rocks: SparkSession, tmp_path: Path) -> None:
    """A finer window is added and another removed between micro-batches of one run, and again over a restart."""
    registry = WindowRegistry(tmp_path / "registry")
    registry.add(mt.tumbling("60 s"), id="minute")
    (registry.path / "00000001.json~").write_text((registry.path / "00000001.json").read_text())  # an editor's copy
    rows = [(i / 2, f"k{i % 3}", i) for i in range(1200)]
    write(tmp_path / "in", 0, simple(rows[:200]))
    stream = events(rocks, tmp_path / "in", "0 seconds")
    out = asked(stream, ["k"], registry, [mt.sum("v"), mt.count()], 2)
    writer = (
        out.writeStream.format("parquet")
        .option("path", str(tmp_path / "ours"))
        .option("checkpointLocation", str(tmp_path / "ours.checkpoint"))
    )
    query = patiently(writer.start, lambda query: query.processAllAvailable())
    registry.add(mt.hopping("20 s", "5 s"), id="fine")
    query.processAllAvailable()
    write(tmp_path / "in", 1, simple(rows[200:500]))
    query.processAllAvailable()
    fine = next(one for one in registry.list() if one.id == "fine")
    assert (fine.state, fine.since) == ("running", int(BASE.timestamp()) * SECOND + 99_500_001)
    query.stop()
    registry.remove("minute")
    registry.add(mt.tumbling("7 s"), id="seven")
    write(tmp_path / "in", 2, simple(rows[500:]))
    write(tmp_path / "in", 3, simple([(10_000, "k0", 0)]))
    run(asked(stream, ["k"], registry, [mt.sum("v"), mt.count()], 2), tmp_path, "ours")
    frame = rocks.createDataFrame(simple(rows).to_pandas())
    windows = [mt.tumbling("60 s", id="minute"), mt.hopping("20 s", "5 s", id="fine"), mt.tumbling("7 s", id="seven")]
    whole = plain_spark(frame, "ts", ["k"], windows, [F.sum("v").alias("sum_v"), F.count("*").alias("count")])
    seconds = {"fine": (99.5, 10_000), "seven": (249.5, 10_000), "minute": (-1, 249.5)}
    wanted = [
        row
        for row in whole.collect()
        if seconds[row["window_id"]][0] < (row["window"]["start"].replace(tzinfo=UTC) - BASE).total_seconds()
        and (row["window"]["end"].replace(tzinfo=UTC) - BASE).total_seconds() <= seconds[row["window_id"]][1]
    ]
    given = rocks.read.parquet(str(tmp_path / "ours")).collect()
    assert sorted(map(str, given)) == sorted(map(str, wanted))
    assert [(one.id, one.state) for one in registry.list()] == [("fine", "running"), ("seven", "running")]


def plain_rows(spark: SparkSession, rows: Sequence[tuple[float, str | None, int]], windows: list[Window]) -> list[str]:
    """Give what plain Spark makes of rows in batch, as text."""
    named = [F.sum("v").alias("sum_v"), F.count("*").alias("count")]
    whole = plain_spark(spark.createDataFrame(simple(rows).to_pandas()), "ts", ["k"], windows, named)
    return sorted(map(str, whole.collect()))


@pytest.mark.long
@pytest.mark.parametrize("settled", [pytest.param("by the restart", marks=pytest.mark.long), "by the next change"])
def test_a_damaged_change_is_removed_by_hand(rocks: SparkSession, tmp_path: Path, settled: str) -> None:
    """Spark has logged the damaged file: it never reads its name again, and fails where the file is gone."""
    registry = WindowRegistry(tmp_path / "registry")
    registry.add(mt.tumbling("60 s"), id="minute")
    registry.add(mt.tumbling("7 s"), id="lost")
    damaged = registry.path / "00000002.json"
    damaged.write_text(damaged.read_text()[:40])
    rows = [(i / 2, f"k{i % 3}", i) for i in range(400)]
    write(tmp_path / "in", 0, simple(rows[:200]))
    stream = events(rocks, tmp_path / "in", "0 seconds")
    aggregates = [mt.sum("v"), mt.count()]
    minute = prepare(stream, "ts", ["k"], [mt.tumbling("60 s")], aggregates)
    with pytest.raises(Exception, match=r"00000002\.json is damaged"):
        run(columnar(minute, registry, fingerprint(minute, "columnar", None, 2)), tmp_path, "ours")
    assert (tmp_path / "ours.checkpoint/offsets/0").exists()
    damaged.unlink()
    if settled == "by the next change":
        assert registry.add(mt.tumbling("10 s"), id="ten").version == 3
    run(asked(stream, ["k"], registry, aggregates), tmp_path, "ours")
    if settled == "by the restart":
        assert registry.add(mt.tumbling("10 s"), id="ten").version == 3
    write(tmp_path / "in", 1, simple(rows[200:]))
    write(tmp_path / "in", 2, simple([(10_000, "k0", 0)]))
    run(asked(stream, ["k"], registry, aggregates), tmp_path, "ours")
    assert [(one.id, one.state) for one in registry.list()] == [("minute", "running"), ("ten", "running")]
    given = rocks.read.parquet(str(tmp_path / "ours"))
    minutes = given.where("window_id = 'minute'").collect()
    assert sorted(map(str, minutes)) == plain_rows(rocks, rows, [mt.tumbling("60 s", id="minute")])
    later = [row for row in rows if row[0] >= 110]
    tens = (
        given.where(F.unix_seconds("window.start") >= int(BASE.timestamp()) + 110).where("window_id = 'ten'").collect()
    )
    assert sorted(map(str, tens)) == plain_rows(rocks, later, [mt.tumbling("10 s", id="ten")])


def test_a_query_with_late_rows_names_the_file_of_a_damaged_change(rocks: SparkSession, tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path / "registry")
    registry.add(mt.tumbling("60 s"))
    write(tmp_path / "in", 0, simple([(1, "a", 1)]))
    stream = events(rocks, tmp_path / "in", "0 seconds")
    out = mt.aggregate(stream, "ts", "k", registry, mt.count(), late_rows=True)
    damaged = registry.path / "00000001.json"
    damaged.write_text(damaged.read_text()[:40])
    with pytest.raises(Exception, match=r"00000001\.json is damaged"):
        run(out, tmp_path, "ours")


@pytest.mark.parametrize("name", ["[ab]{a,b} back\\slash*? 5%20#ünï→"])
def test_a_registry_may_have_any_path(rocks: SparkSession, tmp_path: Path, name: str) -> None:
    registry = WindowRegistry(tmp_path / name)
    windows = [mt.tumbling("60 s", id="minute"), mt.hopping("20 s", "5 s", id="fine")]
    for window in windows:
        registry.add(window)
    rows = [(i / 2, f"k{i % 3}", i) for i in range(400)]
    write(tmp_path / "in", 0, simple(rows))
    write(tmp_path / "in", 1, simple([(10_000, "k0", 0)]))
    stream = events(rocks, tmp_path / "in", "0 seconds")
    run(asked(stream, ["k"], registry, [mt.sum("v"), mt.count()]), tmp_path, "ours")
    assert [one.state for one in registry.list()] == ["running", "running"]
    given = rocks.read.parquet(str(tmp_path / "ours")).collect()
    assert sorted(map(str, given)) == plain_rows(rocks, rows, windows)


def test_spark_reads_files_of_such_paths_several_times(rocks: SparkSession, tmp_path: Path) -> None:
    """A defect of Spark 4.3 that columnar._changes speaks of; when it is gone, so is the comment."""
    (tmp_path / "[ab]").mkdir()
    for name in range(3):
        (tmp_path / "[ab]" / f"{name}.txt").write_text("text")
    stream = rocks.readStream.schema("text string").text(pattern(tmp_path / "[ab]"))
    run(stream, tmp_path, "texts")
    assert rocks.read.parquet(str(tmp_path / "texts")).count() == 9


@pytest.mark.long
def test_a_damaged_report_is_written_again(rocks: SparkSession, tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path / "registry")
    windows = [mt.tumbling("60 s", id="minute"), mt.tumbling("7 s", id="seven")]
    for window in windows:
        registry.add(window)
    rows = [(i / 2, f"k{i % 3}", i) for i in range(400)]
    write(tmp_path / "in", 0, simple(rows[:200]))
    stream = events(rocks, tmp_path / "in", "0 seconds")
    run(asked(stream, ["k"], registry, [mt.sum("v"), mt.count()]), tmp_path, "ours")
    before = registry.list()
    report, *others = (registry.path / "_queries").glob("*.json")
    assert not others
    report.write_text(report.read_text()[:30])
    write(tmp_path / "in", 1, simple(rows[200:]))
    write(tmp_path / "in", 2, simple([(10_000, "k0", 0)]))
    run(asked(stream, ["k"], registry, [mt.sum("v"), mt.count()]), tmp_path, "ours")
    assert registry.list() == before
    given = rocks.read.parquet(str(tmp_path / "ours")).collect()
    assert sorted(map(str, given)) == plain_rows(rocks, rows, windows)
