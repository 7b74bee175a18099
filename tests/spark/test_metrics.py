"""mt.listen over running streams: figures that can be counted by hand, the same for all shapes."""

from __future__ import annotations

import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import muntin as mt
from tests.spark.patience import TOO_SLOW, patiently, to_the_end, wait_until
from tests.spark.streams import EVENTS, ROCKS_DB, Replay, events
from tests.spark.test_deployments import run
from tests.test_metrics import fetched, parsed, values

FILES = [
    events((1, "a", 1), (2, "b", 2), (25, "a", 3)),
    events((45, "a", 4)),
    events((46, "a", 5), (3, "new", 7), (21, "b", 1)),  # 3 is too late for 10 s, by the watermark 20
    events((130, "a", 6)),
    events((131, "a", 6)),
    events((5, "b", 100), (6, "b", 3), (59, "n", 1)),  # three rows that are too late for all, by the watermark 125
    events((500, None, 1)),
]
ROWS = sum(table.num_rows for table in FILES)
WINDOWS = ["10 s", "60 s"]
SHAPES = ["independent", "expand", "chain", "columnar", "distinct", "ordered"]
DEFAULT = ("chain", "columnar")


@pytest.fixture
def replay(spark: SparkSession, tmp_path: Path) -> Replay:
    for name, value in ROCKS_DB.items():
        spark.conf.set(name, value)
    return Replay(spark, tmp_path).add(*FILES)


def look_at(rows: DataFrame, batch: int) -> None:
    """Be a sink that does not count its rows."""
    rows.collect()


def write(out: DataFrame, folder: Path, name: str) -> None:
    """Write a stream to its end under a name, from where it stopped."""
    writer = out.writeStream.queryName(name).option("checkpointLocation", str(folder / f"{name} checkpoint"))
    start = writer.foreachBatch(look_at).trigger(availableNow=True).start
    patiently(start, to_the_end)


@pytest.mark.parametrize(
    "shape", [one if one in DEFAULT else pytest.param(one, marks=pytest.mark.long) for one in SHAPES]
)
def test_figures_mean_the_same_for_all_shapes(replay: Replay, shape: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "muntin")
    aggregates = [mt.count_distinct("v")] if shape == "distinct" else [mt.sum("v"), mt.count()]
    asked: dict[str, Any] = {
        "time": "ts",
        "by": "k",
        "windows": WINDOWS,
        "aggregates": aggregates,
        "watermark": "5 seconds",
    }
    with mt.listen(replay.spark, port=0) as listening:
        write(mt.aggregate(replay.stream, **asked, strategy=shape), replay.folder, shape)
        wait_until(lambda: values(listening.text(), query=shape).get("muntin_query_up") == 0)
        assert listening.url is not None
        text = fetched(listening.url)[1]
    told = values(text, query=shape, shape=shape)
    assert told["muntin_input_rows_total"] == ROWS
    assert told["muntin_batches_total"] == len(FILES) + 1  # the last one closes windows
    assert told["muntin_output_rows_total"] == {"chain": 9, "ordered": 9}.get(shape, 10)
    assert told["muntin_state_rows"] == {"independent": 2, "expand": 2}.get(shape, 1)  # the row at 500
    assert told["muntin_state_memory_bytes"] > 0
    assert told["muntin_watermark_timestamp_seconds"] == 1704067200 + 495
    assert values(text, step="triggerExecution")["muntin_step_seconds_total"] > 0
    late = {sample.labels["window"]: sample.value for sample in _samples(text, "muntin_late_rows")}
    if shape in ("independent", "expand", "chain"):
        assert told["muntin_late_groups_total"] == {"chain": 3}.get(shape, 5)
        assert not late
    else:
        assert late == ({"10s": 4, "1m": 4} if shape == "ordered" else {"10s": 4, "1m": 3})
        assert told["muntin_missed_rows_total"] == (4 if shape == "ordered" else 3)
    assert f"{shape}> by strategy '{shape}'" in caplog.text
    assert f"query {shape} runs" in caplog.text
    assert f"query {shape} has ended" in caplog.text
    assert caplog.text.count("came too late") == 2


BALANCED = [
    events((1, "a", 1), (2, "b", 2), (100, "a", 3)),
    pa.concat_tables([events((101, "a", 4), (4, "b", 5)), pa.Table.from_pylist([{"k": "a", "v": 1}], schema=EVENTS)]),
    events((3, "a", 6), (15, "b", 7), (99, "b", 8), (10**10, "a", 9), (500, "a", 10)),
]
"""By the watermark 95, two rows come too late. One row has no time, one is ahead, and the last stays open."""
HOPPING = "20 s every 10 s"
"""The second window: every row lies in two of its instances."""
LATE_GROUPS = {"independent": 6, "expand": 6, "chain": 2}
"""A group for each late row and instance, or for each late row and slice."""
EVERY_SHAPE = [
    *((shape, False, False) for shape in ("independent", "expand", "chain", "distinct", "columnar")),
    ("ordered", True, False),
    ("columnar", False, True),
]
OTHERS = [
    *((shape, late_rows, True) for shape in ("columnar", "ordered") for late_rows in (False, True)),
    *((shape, True, False) for shape in ("columnar", "distinct")),
    ("ordered", False, False),
]


@pytest.mark.parametrize("cases", [EVERY_SHAPE, pytest.param(OTHERS, marks=pytest.mark.long)], ids=["shapes", "others"])
def test_every_row_counts_or_is_late_or_ahead(replay: Replay, cases: list[tuple[Any, bool, bool]]) -> None:
    feed = Replay(replay.spark, replay.folder / "balanced").add(*BALANCED)
    with ThreadPoolExecutor(3) as pool:
        for case in [pool.submit(assert_balanced, feed, *case) for case in cases]:
            case.result()


def assert_balanced(feed: Replay, shape: Any, late_rows: bool, registered: bool) -> None:
    """Compare the rows that arrived with what became of them; independent reads every row once for each window."""
    windows: Any = ["10 s", HOPPING]
    if registered:
        windows = mt.WindowRegistry(feed.folder / f"{shape} {late_rows}")
        windows.add("10 s")
        windows.add(HOPPING)
    aggregate = mt.count_distinct("v") if shape == "distinct" else mt.count()
    out = mt.aggregate(
        *(feed.stream, "ts", "k", windows, aggregate.alias("n")),
        watermark="5 seconds",
        future="1 day",
        strategy=shape,
        late_rows=late_rows,
    )
    result = feed.write(out)
    progress = result.progress
    counts = {
        row["window_id"]: row["n"] for row in result.rows.groupBy("window_id").agg(F.sum("n").alias("n")).collect()
    }
    counted, in_two = counts["10s"], counts["20s/10s"]
    late, scans = 2, 2 if shape == "independent" else 1
    assert (progress.scans, counted, in_two, progress.future) == (scans, 6, 12, 1), shape
    assert progress.missed == (None if shape in LATE_GROUPS else late), shape
    assert progress.late_groups == LATE_GROUPS.get(shape, 0), shape
    if late_rows:
        assert result.rows.where("late_row IS NOT NULL").count() == late
    without_time, still_open = 1, 1
    rows = counted + late + progress.future + without_time + still_open
    assert progress.rows_in == scans * rows, shape


def _samples(text: str, family: str) -> list[Any]:
    return parsed(text)[family].samples if family in parsed(text) else []


@pytest.mark.long
def test_several_queries_restarts_and_queries_of_others(replay: Replay) -> None:
    """Counters go up over a restart from a checkpoint, and a plain query of Spark has the general numbers."""
    theirs = replay.stream.groupBy("k").agg(F.count("*"))
    with mt.listen(replay.spark) as listening:
        assert listening.url is None
        ours = mt.aggregate(replay.stream, "ts", "k", WINDOWS, mt.count(), watermark="5 s", strategy="expand")
        write(ours, replay.folder, "ours")
        replay.add(events((510, "a", 1)))
        write(ours, replay.folder, "ours")
        name = "theirs"
        writer = theirs.writeStream.outputMode("complete").format("memory").queryName(name)
        to_the_end(writer.trigger(availableNow=True).start())
        wait_until(lambda: values(listening.text(), query=name).get("muntin_query_up") == 0)
        text = listening.text()
    told = values(text, query="ours")
    assert told["muntin_query_starts_total"] >= 2
    assert told["muntin_input_rows_total"] == ROWS + 1
    told = values(text, query=name, shape="")
    assert told["muntin_input_rows_total"] == ROWS + 1
    assert told["muntin_state_rows"] == 5  # a, b, new, n and null
    assert "muntin_watermark_lag_seconds" not in told
    assert listening.text() == text, "a listener that was stopped hears nothing"
    listening.stop()


STOPPED = """
import muntin as mt

def ups():
    lines = listening.text().splitlines()
    return [line.split()[-1] for line in lines if line.startswith("muntin_query_up{")]

spark = mt.session(master="local[1]", config={"spark.ui.enabled": "false"})
listening = mt.listen(spark, port=0)
writer = spark.readStream.format("rate").load().writeStream.format("noop").queryName("rates")
query = writer.option("checkpointLocation", "checkpoint").start()
assert query.isActive
print("before:", ups())
spark.stop()
print("after:", ups())
"""


def test_queries_end_with_a_session_that_is_stopped(tmp_path: Path) -> None:
    """In a process of its own, since the session of the tests goes on. Spark tells listeners nothing then."""
    assert run(STOPPED, tmp_path).splitlines() == ["before: ['1']", "after: ['0']"]


def test_a_failed_query_is_told_by_its_sentence(
    replay: Replay, tmp_path: Path, caplog: pytest.LogCaptureFixture, spark: SparkSession
) -> None:
    """In mt.progress and in the log: nothing of the traces of Spark and of its Python worker."""
    much = replay.stream.withColumn("v", F.lit(2**62).cast("long"))
    out = mt.aggregate(much, "ts", (), "1 hour", mt.sum("v"), watermark="10 s", strategy="columnar")
    sentence = "long overflow in a sum. Cast the column to decimal."
    with caplog.at_level(logging.ERROR, "muntin"), mt.listen(spark):
        writer = out.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "state"))
        query = patiently(writer.start, _fail)
        wait_until(lambda: any(sentence in record.getMessage() for record in caplog.records))
    assert mt.progress(query).error == sentence
    assert str(mt.progress(query)).endswith(f"; failed: {sentence}")
    assert caplog.records[-1].getMessage() == f"query {query.id} failed: {sentence}"


def _fail(query: StreamingQuery) -> None:
    """Wait until a query fails; raise what it fails with if its worker was too slow."""
    with pytest.raises(StreamingQueryException, match="STREAM_FAILED") as failure:
        query.processAllAvailable()
    if TOO_SLOW in str(failure.value):
        raise failure.value
