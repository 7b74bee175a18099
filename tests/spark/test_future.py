"""future= on streams: a row far ahead of the clock closes no window, counts in none, and is counted itself."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import muntin as mt
from tests.spark.patience import to_the_end
from tests.spark.streams import BEGIN, ONE_SHAPE, Event, Replay, by_instance, events

TEN, MINUTE = mt.tumbling("10 s"), mt.tumbling("60 s")
YEAR = 365 * 86_400


@pytest.fixture
def replay(spark: SparkSession, tmp_path: Path) -> Replay:
    return Replay(spark, tmp_path)


def ask(**changes: Any) -> dict[str, Any]:
    asked = {"time": "ts", "by": "k", "windows": [TEN, MINUTE], "aggregates": mt.sum("v"), "watermark": "10 s"}
    return asked | {"future": "1 hour"} | changes


def minutes_ago(minutes: int) -> int:
    """Give the begin of a minute, in seconds of test events."""
    now = int((datetime.now(UTC) - BEGIN).total_seconds())
    return now - now % 60 - 60 * minutes


def arriving(begin: int) -> list[list[Event]]:
    """Give four micro-batches; the second has a row from next year."""
    return [
        [(begin + 5, "a", 1), (begin + 15, "a", 2)],
        [(begin + YEAR, "a", 64), (begin + 25, "b", 4)],
        [(begin + 28, "a", 8), (begin + 61, "b", 16)],
        [(begin + 200, "b", 32)],
    ]


@pytest.mark.parametrize("strategy", ONE_SHAPE)
def test_what_is_far_ahead_is_set_aside(replay: Replay, strategy: str) -> None:
    """The rows are those of plain Spark over the input without it, in the windows that the others have closed."""
    begin = minutes_ago(30)
    replay.add(*(events(*rows) for rows in arriving(begin)))
    result = replay.run(ask(strategy=strategy))
    present = replay.batch.where(F.col("v") != 64)
    plain = [
        present.groupBy(F.window("ts", length), "k").agg(F.sum("v")).select(F.lit(name), "*").collect()
        for name, length in (("10s", "10 seconds"), ("1m", "1 minute"))
    ]
    closed = BEGIN + timedelta(seconds=begin + 200 - 10)
    wanted = {
        (name, (window["start"].replace(tzinfo=UTC) - BEGIN).total_seconds(), key): (value,)
        for rows in plain
        for name, window, key, value in rows
        if window["end"].replace(tzinfo=UTC) <= closed
    }
    assert len(wanted) == 8
    assert by_instance(result.rows.collect()) == wanted
    assert (result.progress.future, result.progress.late) == (1, 0)
    assert ", 1 ahead of the clock, " in str(result.progress)
    assert result.progress.watermark == closed


def test_without_it_one_row_closes_everything(replay: Replay) -> None:
    """What the documentation warns of: the next micro-batch is the last that counts, and all later ones are late."""
    replay.add(*(events(*rows) for rows in arriving(minutes_ago(30))))
    result = replay.run(ask(strategy="expand", future=None))
    assert sorted(value for (value,) in by_instance(result.rows.collect()).values()) == [1, 2, 4, 4, 8, 11, 16, 16]
    assert (result.progress.future, result.progress.late) == (0, 2)
    assert "ahead" not in str(result.progress)


def test_two_aggregations_in_one_query(replay: Replay) -> None:
    """Each counts under a name of its own."""
    begin = minutes_ago(30)
    replay.add(*(events(*rows) for rows in arriving(begin)))
    both = mt.aggregate(replay.stream, **ask(strategy="expand")).union(
        mt.aggregate(replay.stream, **ask(strategy="expand"))
    )
    result = replay.write(both)
    assert result.rows.count() == 2 * 8
    assert result.progress.future == 2


def test_a_repeated_micro_batch_goes_by_the_clock_of_its_first_attempt(replay: Replay) -> None:
    """Spark logs the clock with a micro-batch's offsets; here the log is put back by two hours in between."""
    begin = minutes_ago(180)
    replay.add(events((begin, "a", 1), (begin + 7200, "a", 2)))
    out = mt.aggregate(replay.stream, **ask(windows=TEN, strategy="expand", future="1 minute", output="update"))
    given: list[int] = []
    fails = True

    def take(rows: DataFrame, number: int) -> None:
        given.extend(row["sum_v"] for row in rows.collect())
        if fails:
            raise RuntimeError("the sink fails")

    def start() -> StreamingQuery:
        writer = out.writeStream.outputMode("update").foreachBatch(take).trigger(availableNow=True)
        return writer.option("checkpointLocation", str(replay.folder / "checkpoint")).start()

    with pytest.raises(StreamingQueryException, match="the sink fails"):
        to_the_end(start())
    assert sorted(given) == [1, 2]
    log = replay.folder / "checkpoint/offsets/0"
    version, told, *offsets = log.read_text().splitlines()
    metadata = json.loads(told)
    earlier = metadata | {"batchTimestampMs": metadata["batchTimestampMs"] - 2 * 3_600_000}
    log.with_name(".0.crc").unlink()
    log.write_text("\n".join([version, json.dumps(earlier), *offsets]))
    given.clear()
    fails = False
    query = start()
    to_the_end(query)
    assert given == [1]
    assert mt.progress(query).future == 1


def test_a_watermark_of_the_input_comes_too_early_for_it(replay: Replay) -> None:
    marked = replay.add(events((1, "a", 1))).stream.withWatermark("ts", "5 seconds")
    message = r"future='1h' could set them aside. Leave withWatermark out and add watermark='5s'."
    with pytest.raises(mt.QueryError, match=message):
        mt.aggregate(marked, **ask(watermark=None))


def test_the_plan_tells_it(replay: Replay) -> None:
    stream = replay.add(events((1, "a", 1))).stream
    assert "\nrows more than 1h ahead of the clock are set aside\n" in str(mt.explain(stream, **ask()))
    assert "ahead" not in str(mt.explain(stream, **ask(future=None)))
    assert "future is for streams: this input is read to its end" in str(mt.explain(replay.batch, **ask()))
    assert mt.aggregate(replay.batch, **ask()).count() == 2


@pytest.mark.parametrize("future", ["soon", -1, "-1 s", True, 2.5, float("nan"), [], "3 months"])
def test_what_is_no_length_of_time(replay: Replay, future: Any) -> None:
    with pytest.raises(mt.QueryError):
        mt.aggregate(replay.add(events((1, "a", 1))).stream, **ask(future=future))
