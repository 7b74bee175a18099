"""Late rows beside the results: with the rows that counted they are all rows, once each, through failures too."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryProgress

import muntin as mt
from muntin.spark.stream.batch_folder import BatchFolder
from tests.spark.patience import TOO_SLOW, to_the_end
from tests.spark.streams import BEGIN, ROCKS_DB, Event, Replay, events

DELAY = 5
LONGEST = 60
WINDOWS = ["10 s", "20 s", "1 minute"]
"""The longest window of a row ends last of all."""


@pytest.fixture
def rocks(spark: SparkSession) -> SparkSession:
    for name, value in ROCKS_DB.items():
        spark.conf.set(name, value)
    return spark


def late_stream(r: random.Random, files: int) -> list[list[Event]]:
    """Give files of events of which many come late, some of them very late; every row has a number of its own."""
    serial = iter(range(10_000))
    return [
        [(moment(r, 25 * file), r.choice(["a", "b", None]), next(serial)) for _ in range(r.randint(3, 20))]
        for file in range(1, files + 1)
    ]


def moment(r: random.Random, until: int) -> float:
    return max(0, until - r.choice([r.randint(0, 9), r.randint(0, 200)]))


def missed(files: list[list[Event]], reports: list[StreamingQueryProgress], ordered: bool) -> dict[int, float]:
    """Say by plain arithmetic which rows miss all windows, and the watermark that they miss.

    A row is judged by the watermark of the micro-batch before its own. The longest window ends last of all, unless rows
    must be in order.
    """
    marks = {report.batchId: datetime.fromisoformat(report.eventTime["watermark"]) for report in reports}
    batches = sorted(report.batchId for report in reports if report.numInputRows)
    late: dict[int, float] = {}
    for batch, rows in zip(batches, files, strict=True):
        mark = (marks[batch - 1] - BEGIN).total_seconds() if batch else float("-inf")
        late |= {v: mark for t, _, v in rows if (t if ordered else t // LONGEST * LONGEST + LONGEST) <= mark - ordered}
    return late


def run_to_the_end(
    out: DataFrame, checkpoint: Path, sink: Callable[[DataFrame, int], None]
) -> list[StreamingQueryProgress]:
    """Run a stream until all is read, once more after each failure of its sink; give all reports."""
    reports: list[StreamingQueryProgress] = []
    for _ in range(10):
        writer = out.writeStream.foreachBatch(sink).option("checkpointLocation", str(checkpoint))
        query = writer.trigger(availableNow=True).start()
        try:
            to_the_end(query)
        except StreamingQueryException as error:
            if "the sink fails" not in str(error) and TOO_SLOW not in str(error):
                raise
            reports += query.recentProgress
        else:
            return [*reports, *query.recentProgress]
    raise AssertionError("the query does not end")


class Failing:
    """A folder for late rows whose writer dies once, after it has written a micro-batch."""

    def __init__(self, folder: Path, batch: int) -> None:
        self.folder, self.batch, self.failures = BatchFolder(folder), batch, 0

    def __call__(self, rows: DataFrame, batch: int) -> None:
        self.folder.write(rows, batch)
        if batch == self.batch and not self.failures:
            self.failures += 1
            raise RuntimeError("the sink fails")


def asked(shape: str) -> dict[str, Any]:
    aggregates = [mt.count_distinct("v").alias("n")] if shape == "distinct" else [mt.count().alias("n"), mt.max("v")]
    return {"time": "ts", "by": "k", "windows": WINDOWS, "aggregates": aggregates, "watermark": f"{DELAY} s"}


@pytest.mark.parametrize(
    "shape",
    ["columnar", pytest.param("distinct", marks=pytest.mark.long), pytest.param("ordered", marks=pytest.mark.long)],
)
def test_late_rows_and_rows_that_counted_are_all_rows(rocks: SparkSession, tmp_path: Path, shape: Any) -> None:
    files = late_stream(random.Random(shape), 9)
    replay = Replay(rocks, tmp_path).add(*(events(*rows) for rows in files[:5]))
    flush: list[Event] = [(100_000.0, "a", 99_999)]
    sink = Failing(tmp_path / "late", batch=3)

    def go_on() -> list[StreamingQueryProgress]:
        out = mt.aggregate(replay.stream, **asked(shape), strategy=shape, late_rows=True)
        return run_to_the_end(out, tmp_path / "checkpoint", mt.split_late(tmp_path / "results", sink))

    reports = go_on()  # fails once in between
    replay.add(*(events(*rows) for rows in files[5:]), events(*flush))
    reports += go_on()  # goes on from the checkpoint
    assert sink.failures == 1
    late = rocks.read.parquet(str(tmp_path / "late")).collect()
    wanted = missed([*files, flush], reports, ordered=shape == "ordered")
    rows = {v: (t, k) for file in files for t, k, v in file}
    told = {row["v"]: (seconds(row["ts"]), row["k"]) for row in late}
    assert len(late) == len(told), "a late row is there twice"
    assert told == {v: rows[v] for v in wanted}
    assert {row["v"]: seconds(row["watermark"]) for row in late} == wanted
    assert 10 < len(late) < len(rows) - 10
    results = rocks.read.parquet(str(tmp_path / "results"))
    assert "late_row" not in results.columns
    counted = results.where("window_id = '1m'").agg(F.sum("n")).first()
    assert counted is not None
    assert counted[0] + len(late) == len(rows)
    dropped = mt.progress(reports).missed
    assert dropped == len(late)


def seconds(time: datetime) -> float:
    return (time.replace(tzinfo=UTC) - BEGIN).total_seconds()


@pytest.mark.long
def test_plain_spark_drops_the_same_rows(rocks: SparkSession, tmp_path: Path) -> None:
    """Spark counts what it drops as groups of one micro-batch, key and instance: the late rows make just those."""
    files = late_stream(random.Random(7), 7)
    replay = Replay(rocks, tmp_path).add(*(events(*rows) for rows in files))
    out = mt.aggregate(replay.stream, **asked("columnar") | {"windows": "1 minute"}, late_rows=True)
    run_to_the_end(out, tmp_path / "ours", mt.split_late(tmp_path / "results", tmp_path / "late"))
    marked = replay.stream.withWatermark("ts", f"{DELAY} seconds")
    plain = marked.groupBy("k", F.window("ts", "1 minute")).count()
    reports = run_to_the_end(plain, tmp_path / "plain", BatchFolder(tmp_path / "counts").write)
    dropped = sum(operator.numRowsDroppedByWatermark for report in reports for operator in report.stateOperators)
    of_file = {v: number for number, rows in enumerate(files) for _, _, v in rows}
    late = rocks.read.parquet(str(tmp_path / "late")).collect()
    groups = {(of_file[row["v"]], row["k"], seconds(row["ts"]) // LONGEST) for row in late}
    assert len(groups) == dropped > 2


@pytest.mark.long
def test_late_rows_may_be_asked_for_at_a_restart(rocks: SparkSession, tmp_path: Path) -> None:
    """State is the same with late rows and without, so a query may begin to give them, and end to."""
    files = late_stream(random.Random(11), 6)
    replay = Replay(rocks, tmp_path)
    sink = mt.split_late(tmp_path / "results", tmp_path / "late")
    plain = BatchFolder(tmp_path / "results")
    for place, late_rows in ((0, False), (2, True), (4, False)):
        replay.add(*(events(*rows) for rows in files[place : place + 2]))
        query = asked("columnar") | {"windows": "10 s"}
        out = mt.aggregate(replay.stream, **query, strategy="columnar", late_rows=late_rows)
        run_to_the_end(out, tmp_path / "checkpoint", sink if late_rows else plain.write)
    written = {row["v"] for row in rocks.read.parquet(str(tmp_path / "late")).collect()}
    assert written
    assert written <= {v for rows in files[2:4] for _, _, v in rows}


def test_what_has_no_late_rows_says_what_to_do(rocks: SparkSession, tmp_path: Path) -> None:
    replay = Replay(rocks, tmp_path).add(events((1, "a", 1)))
    query = asked("columnar") | {"late_rows": True}
    shape: Any
    for shape in ("independent", "expand", "chain", "native"):
        with pytest.raises(mt.UnsupportedError, match=rf"{shape}.*no late_rows=True. Use strategy='auto' or 'kernel'"):
            mt.aggregate(replay.stream, **query, strategy=shape)
    assert mt.explain(replay.stream, **query).shape.name == "COLUMNAR"
    with pytest.raises(mt.QueryError, match="late_rows=True is for streams"):
        mt.aggregate(replay.batch, **query)
    with pytest.raises(mt.QueryError, match=r"late_rows=True is not for output='update'. Use output='append'"):
        mt.aggregate(replay.stream, **query, output="update")
    with pytest.raises(mt.QueryError, match=r"Sinks are given to mt.split_late"):
        mt.aggregate(replay.stream, **query | {"late_rows": "late"})
    with pytest.raises(mt.UnsupportedError, match=r"median\(v\) has none. Leave late_rows=True out"):
        mt.aggregate(replay.stream, **query | {"aggregates": mt.median("v")})
    renamed = replay.stream.withColumnRenamed("v", "Watermark")
    with pytest.raises(mt.QueryError, match="late rows would have two columns"):
        mt.aggregate(renamed, **query | {"aggregates": mt.count()})
    with pytest.raises(mt.QueryError, match="results 3 is no sink"):
        mt.split_late(3, "late")  # type: ignore[arg-type]
    write = mt.split_late("results", "late")
    with pytest.raises(mt.QueryError, match=r"has no column 'late_row'. Add late_rows=True"):
        write(replay.batch, 0)
