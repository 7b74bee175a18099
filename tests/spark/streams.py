"""Streams for tests: events as files, one micro-batch each, replayed through mt.aggregate."""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

import muntin as mt
from tests.spark.patience import patiently, to_the_end

ROCKS_DB = {
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    )
}
SHAPES = ["expand", "chain", "columnar"]
"""Our own shapes of streams."""
EVERY_SHAPE = [pytest.param("independent", marks=pytest.mark.long), *SHAPES]
"""The same, and with --long plain Spark, which passes the same tests."""
ONE_SHAPE = [*(pytest.param(shape, marks=pytest.mark.long) for shape in ("independent", "expand", "chain")), "columnar"]
"""One shape, and with --long the others, for what hardly depends on the shape."""
Event = tuple[float, str | None, int]
BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
EVENTS = pa.schema([("ts", pa.timestamp("us", "UTC")), ("k", pa.string()), ("v", pa.int64())])


@dataclass(frozen=True)
class Replay:
    """A folder of event files in the order of their arrival, and a checkpoint."""

    spark: SparkSession
    folder: Path

    @property
    def files(self) -> Path:
        return self.folder / "events"

    def add(self, *tables: pa.Table) -> Replay:
        """Let tables arrive, one micro-batch each."""
        self.files.mkdir(parents=True, exist_ok=True)
        for table in tables:
            number = len(list(self.files.iterdir()))
            path = self.files / f"{number:04}.parquet"
            pq.write_table(table, path)
            os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
        return self

    def replace(self, path: Path, content: bytes) -> None:
        """Change a file but not its place among the others, which is by time of change."""
        arrived = path.stat().st_mtime
        path.write_bytes(content)
        os.utime(path, (arrived, arrived))

    @property
    def batch(self) -> DataFrame:
        return self.spark.read.parquet(str(self.files))

    @property
    def stream(self) -> DataFrame:
        return self.spark.readStream.schema(self.batch.schema).option("maxFilesPerTrigger", 1).parquet(str(self.files))

    def run(self, asked: dict[str, Any], *, mode: str = "append", files: bool = False) -> Result:
        """Run a query over all files that have not been read; with files, from where an earlier run stopped."""
        return self.write(mt.aggregate(self.stream, **asked), mode=mode, files=files)

    def write(self, out: DataFrame, *, mode: str = "append", files: bool = False) -> Result:
        """Write a stream to memory, or to files that keep what earlier runs gave."""
        name = f"t{uuid.uuid4().hex}"
        place = self.folder / ("kept" if files else name)
        sink = out.writeStream.format("parquet").option("path", str(place / "rows"))
        writer = sink if files else out.writeStream.format("memory").queryName(name)
        writer = writer.outputMode(mode).option("checkpointLocation", str(place / "checkpoint"))
        start = writer.trigger(availableNow=True).start
        query = patiently(start, to_the_end, forget=None if files else place / "checkpoint")
        rows = self.spark.read.schema(out.schema).parquet(str(place / "rows")) if files else self.spark.table(name)
        return Result(rows, query.recentProgress, query)


@dataclass(frozen=True)
class Result:
    rows: DataFrame
    reports: list[StreamingQueryProgress]
    query: StreamingQuery

    @property
    def progress(self) -> mt.Progress:
        return mt.progress(self.reports)


def events(*rows: Event) -> pa.Table:
    """Give events at some seconds, with a key and a value."""
    named = [{"ts": BEGIN + timedelta(seconds=second), "k": key, "v": value} for second, key, value in rows]
    return pa.Table.from_pylist(named, schema=EVENTS)


def out_of_order(r: random.Random, table: pa.Table, delay: timedelta, files: int) -> list[pa.Table]:
    """Cut a table into files such that no row comes later than a watermark of that delay allows."""
    seconds = delay.total_seconds()
    times = [time.timestamp() if time else 0.0 for time in table["ts"].to_pylist()]
    order = sorted(range(len(times)), key=lambda row: times[row] + r.uniform(0, seconds))
    cuts = sorted(r.randint(0, len(order)) for _ in range(files - 1))
    return [table.take(pa.array(order[a:b], pa.int64())) for a, b in zip([0, *cuts], [*cuts, len(order)], strict=True)]


def moved(table: pa.Table, begin: datetime = BEGIN) -> pa.Table:
    """Move all times of a table so that they begin at some time: Spark takes all before 1970 for late."""
    times = table["ts"].cast(EVENTS[0].type).to_pylist()
    known = [time for time in times if time is not None]
    shift = begin - min(known, default=begin)
    later = [None if time is None else time + shift for time in times]
    return table.set_column(table.column_names.index("ts"), "ts", pa.array(later, EVENTS[0].type))


def flush(table: pa.Table, after: timedelta) -> pa.Table:
    """Give one event so much later than all others that it closes all their windows."""
    known = [time for time in table["ts"].to_pylist() if time is not None]
    last = max(known) if known else BEGIN
    row: dict[str, Any] = {name: [None] for name in table.column_names} | {"ts": [last + after]}
    return pa.table([pa.array(row[field.name], field.type) for field in table.schema], schema=table.schema)


def by_instance(rows: Iterable[Any], keys: Sequence[str] = ("k",)) -> dict[tuple[Any, ...], Any]:
    """Give the value of every window id, start in seconds and key."""
    result: dict[tuple[Any, ...], Any] = {}
    for row in rows:
        start = row["window"]["start"].replace(tzinfo=UTC) - BEGIN
        name = (row["window_id"], start.total_seconds(), *(row[key] for key in keys))
        assert name not in result, f"{name} twice"
        result[name] = tuple(row)[2 + len(keys) :]
    return result
