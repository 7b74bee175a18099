"""Restarts from one checkpoint: what may change is taken over, and what may not is refused before a row is counted."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.query import StreamingQuery

import muntin as mt
from muntin.fingerprint import Computed, Fingerprint, Input
from muntin.plan.physical.stream import StreamShape
from muntin.spark.input.reading import prepare
from muntin.spark.stream.choice import taken_up
from muntin.spark.stream.fingerprints import fingerprint, of_window
from tests.spark.cases import assert_same, plain_spark
from tests.spark.patience import patiently, to_the_end, wait_until
from tests.spark.streams import ONE_SHAPE, Replay, events

MINUTE, HALF, PAIRS = mt.tumbling("1 min"), mt.tumbling("30 s"), mt.tumbling(mt.rows(2))
Change = tuple[dict[str, Any], str]


def ask(**changes: Any) -> dict[str, Any]:
    asked: dict[str, Any] = {
        "time": "ts",
        "by": [F.lower("k").alias("k")],
        "windows": [MINUTE, HALF],
        "aggregates": [mt.min("v").alias("a"), mt.max("v").alias("b")],
        "watermark": "10 s",
    }
    return asked | changes


def forbidden() -> dict[str, Change]:
    """Give what may not change, with what the error says of it."""
    low, high = mt.min("v"), mt.max("v")
    return {
        "aggregate": (
            {"aggregates": [high.alias("a"), high.alias("b")]},
            r"aggregate 1 was min\(v bigint\) and is max\(v bigint\)",
        ),
        "order": (
            {"aggregates": [high.alias("a"), low.alias("b")]},
            r"aggregate 1 was min\(v bigint\) and is max\(v bigint\); aggregate 2 was max",
        ),
        "input": (
            {"aggregates": [mt.min(F.col("v") + 1).alias("a"), high.alias("b")]},
            r"aggregate 1 was min\(v bigint\) and is min\(.*v.* 1.* bigint\)",
        ),
        "key": ({"by": [F.upper("k").alias("k")]}, r"key 1 was lower\(k\).* string and is upper\(k\).* string"),
        "time": ({"time": (F.col("ts") + F.expr("interval 1 hour")).alias("ts")}, "time was ts timestamp and is .*ts"),
    }


STARTED = {
    "expand": ["aggregate", "time"],
    "chain": ["order", "key"],
    "independent": ["input"],
    "columnar": ["key", "time"],
}
"""Changes that Spark itself is to refuse; all of them are compared where the checkpoint is given."""


def assert_all_rows(replay: Replay) -> None:
    """Compare what all runs wrote for two windows with plain Spark over all files, but the event that closes them."""
    rows = replay.spark.read.parquet(str(replay.folder / "kept" / "rows"))
    rows = rows.where(F.col("window_id").isin(MINUTE.label, HALF.label))
    plain = [F.min("v").alias("a"), F.max("v").alias("b")]
    batch = replay.batch.withColumn("k", F.lower("k"))
    assert_same(rows, plain_spark(batch, "ts", ["k"], [MINUTE, HALF], plain).where("k <> 'z'"), ["k"])


def first_run(replay: Replay, **changes: Any) -> str:
    """Run a query over the first file, and give its checkpoint."""
    replay.add(events((1, "a", 5), (31, "A", 7), (50, "b", 1)))
    replay.run(ask(**changes), files=True)
    return str(replay.folder / "kept" / "checkpoint")


def second_run(replay: Replay, **changes: Any) -> None:
    """Let more come, one event late and one that closes all windows, and run from the checkpoint."""
    replay.add(events((55, "a", 9), (70, "b", 3)), events((10_000, "z", 0)))
    replay.run(ask(**changes), files=True)


@pytest.mark.parametrize("strategy", ONE_SHAPE)
def test_what_may_not_change_is_refused_with_and_without_the_checkpoint(
    spark: SparkSession, tmp_path: Path, strategy: str
) -> None:
    replay = Replay(spark, tmp_path)
    checkpoint = first_run(replay, strategy=strategy)
    for changes, message in forbidden().values():
        with pytest.raises(mt.QueryError, match=f"^the checkpoint was made for another query: .*{message}.*new check"):
            mt.aggregate(replay.stream, **ask(**changes, strategy=strategy), checkpoint=checkpoint)
    for change in STARTED[strategy]:
        with pytest.raises(StreamingQueryException) as refused:
            second_run(replay, strategy=strategy, **forbidden()[change][0])
        if strategy == "columnar":
            assert "QueryError: the checkpoint was made for another query" in str(refused.value)
        else:
            assert "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE" in str(refused.value)
            assert '"function":"min"' in str(refused.value)
            assert "mt.aggregate(…, checkpoint=) says what changed" in str(refused.value)
    replay.run(ask(strategy=strategy), files=True)  # nothing was mixed: the first query goes on
    assert_all_rows(replay)


def test_lambda_functions_are_the_same_when_they_are_built_again(spark: SparkSession, tmp_path: Path) -> None:
    """Spark gives their variables new numbers."""

    def built() -> dict[str, Any]:
        parts = F.transform(F.split("k", ""), lambda part: F.lower(part))
        sum = F.aggregate(F.array("v", "v"), F.lit(0).cast("long"), lambda one, other: one + other)
        asked = ask(by=[F.array_join(parts, "").alias("k")], aggregates=[mt.min(sum), mt.max(sum)])
        return {name: given for name, given in asked.items() if name != "watermark"}

    replay = Replay(spark, tmp_path).add(events((1, "a", 5)))
    prepared = [prepare(replay.stream, **built()) for _ in range(2)]
    texts = [fingerprint(source, "expand", None, None).to_json() for source in prepared]
    assert texts[0] == texts[1]
    assert "x_1 -> lower(x_1)" in texts[0]


def test_independent_windows_may_come_in_another_order(spark: SparkSession, tmp_path: Path) -> None:
    replay = Replay(spark, tmp_path)
    checkpoint = first_run(replay, strategy="independent")
    second_run(replay, strategy="independent", windows=[HALF, MINUTE])
    assert_all_rows(replay)
    for windows in ([MINUTE], [MINUTE, HALF, mt.tumbling("2 min")], [MINUTE, mt.hopping("30 s", "10 s")]):
        with pytest.raises(mt.QueryError, match="the windows were ⟨30s,30s⟩, ⟨1m,1m⟩ and are"):
            mt.aggregate(replay.stream, **ask(windows=windows), strategy="independent", checkpoint=checkpoint)


def test_state_of_a_window_keeps_the_text_of_its_checkpoint() -> None:
    """Windows were once written as three numbers; the keys of their state have the digest of that."""
    now = Fingerprint("independent", Input("ts", "timestamp"), (), (Computed("count"),), (HALF, MINUTE))
    texts = [
        json.dumps(now.to_dict() | {"windows": [[*map(int, window.period)]]}, separators=(",", ":"))
        for window in (HALF, MINUTE)
    ]
    kept = tuple(map(Fingerprint.from_json, texts))
    together = taken_up(kept, now)
    assert [of_window(kept, together, window).to_json() for window in (HALF, MINUTE)] == texts
    assert of_window(kept, together, HALF).digest != of_window((), now, HALF).digest


@pytest.mark.parametrize("kept", ["expand", "chain", "columnar"])
def test_auto_keeps_the_shape_of_the_checkpoint(spark: SparkSession, tmp_path: Path, kept: str) -> None:
    """Statistics alone would choose others: one for dense streams, one for sparse ones."""
    replay = Replay(spark, tmp_path)
    checkpoint = first_run(replay, strategy=kept)
    for statistics in (mt.Statistics(10**9, keys=10, span=10**12), mt.Statistics(10**4, keys=10**4, span=10**12)):
        plan = mt.explain(replay.stream, **ask(), statistics=statistics, checkpoint=checkpoint)
        assert isinstance(plan, mt.StreamPlan)
        assert plan.shape is StreamShape[kept.upper()]
        assert f"the checkpoint has shape {kept}, so no other was weighed" in str(plan)
    second_run(replay, checkpoint=checkpoint)
    assert_all_rows(replay)


def test_a_query_keeps_its_shape_when_windows_are_left_out(spark: SparkSession, tmp_path: Path) -> None:
    """By itself it takes another: with fewer windows, slices do not pay."""
    asked = {"statistics": mt.Statistics(10**8, keys=10, span="1 hour"), "strategy": "native"}
    more = [MINUTE, HALF, mt.tumbling("7 s"), mt.tumbling("11 s")]
    replay = Replay(spark, tmp_path)
    checkpoint = first_run(replay, windows=more, **asked)
    shapes = []
    for changes in ({"windows": more}, {}, {"checkpoint": checkpoint}):
        plan = mt.explain(replay.stream, **ask(**asked, **changes))
        assert isinstance(plan, mt.StreamPlan)
        shapes.append(plan.shape)
    assert shapes[0] is shapes[2] is not shapes[1]
    with pytest.raises(StreamingQueryException) as refused:
        second_run(replay, **asked)
    assert "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA" in str(refused.value)
    replay.run(ask(**asked, checkpoint=checkpoint), files=True)
    assert_all_rows(replay)


@pytest.mark.parametrize("strategy", ["expand", "chain"])
def test_a_window_that_was_left_out_is_complete_when_it_is_back(
    spark: SparkSession, tmp_path: Path, strategy: str
) -> None:
    """Its state goes on, so every row that is given is the one of plain Spark."""
    replay = Replay(spark, tmp_path)
    asked = {"strategy": strategy, "checkpoint": first_run(replay, strategy=strategy)}
    replay.add(events((55, "a", 0), (59, "b", 9)))
    without = mt.explain(replay.stream, **ask(windows=HALF, **asked))
    assert "1m is not asked for now, and is counted all the same" in str(without)
    replay.run(ask(windows=HALF, **asked), files=True)
    second_run(replay, **asked)
    assert_all_rows(replay)


@pytest.mark.parametrize("strategy", ["expand", "chain"])
def test_a_window_that_is_new_is_refused(spark: SparkSession, tmp_path: Path, strategy: str) -> None:
    """Its first instances would lack the rows from before."""
    replay = Replay(spark, tmp_path)
    checkpoint = first_run(replay, strategy=strategy)
    new = {"windows": [MINUTE, HALF, mt.tumbling("2 min")], "strategy": strategy}
    message = (
        "the windows were ⟨30s,30s⟩, ⟨1m,1m⟩ and are ⟨30s,30s⟩, ⟨1m,1m⟩, ⟨2m,2m⟩. Use a new checkpoint; for windows"
    )
    with pytest.raises(mt.QueryError, match=message):
        mt.aggregate(replay.stream, **ask(**new), checkpoint=checkpoint)
    with pytest.raises(StreamingQueryException, match="STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"):
        second_run(replay, **new)


@pytest.mark.parametrize("strategy", ["expand", "independent"])
def test_another_output_mode_is_refused(spark: SparkSession, tmp_path: Path, strategy: str) -> None:
    """In update mode, an instance of append mode that gets no more rows would never be given."""
    replay = Replay(spark, tmp_path)
    checkpoint = first_run(replay, strategy=strategy)
    asked = ask(strategy=strategy, output="update")
    with pytest.raises(mt.QueryError, match=r"the output was append and is update\. Use output='append', or a new"):
        mt.aggregate(replay.stream, **asked, checkpoint=checkpoint)
    updates = mt.aggregate(replay.add(events((55, "a", 9))).stream, **asked).writeStream.outputMode("update")
    started = updates.format("noop").option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
    with pytest.raises(StreamingQueryException, match="STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE"):
        to_the_end(started)


@pytest.mark.parametrize("strategy", ["expand", pytest.param("independent", marks=pytest.mark.long)])
def test_another_mode_of_the_writer_is_refused_by_a_table_and_told_elsewhere(
    spark: SparkSession, tmp_path: Path, strategy: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The call is the same, so that only the query that runs can know. Spark takes the state over in silence."""
    replay = Replay(spark, tmp_path)
    checkpoint = first_run(replay, strategy=strategy)
    replay.add(events((55, "a", 9)))
    out = mt.aggregate(replay.stream, **ask(strategy=strategy), checkpoint=checkpoint)
    writer = out.writeStream.outputMode("update").option("checkpointLocation", checkpoint).trigger(availableNow=True)
    problem = r"written in update mode, and made for output='append': .*Use outputMode\('append'\), or output='update'"
    table = mt.UpsertTable(tmp_path / "table")
    query = patiently(writer.foreachBatch(table.write).start, _fail)
    assert re.search(f"^the query is {problem} and a new checkpoint", mt.progress(query).error)
    with caplog.at_level(logging.WARNING, "muntin"), mt.listen(spark):
        query = patiently(writer.queryName("updates").format("noop").start, to_the_end)
        wait_until(lambda: any(re.search(f"query updates is {problem}", text) for text in caplog.messages))
    assert re.search(problem, mt.progress(query).note)


def _fail(query: StreamingQuery) -> None:
    with pytest.raises(StreamingQueryException):
        to_the_end(query)


def test_another_order_of_rows_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """Rows that wait have the column that they were to be ordered by."""
    replay = Replay(spark, tmp_path)
    checkpoint = first_run(replay, windows=PAIRS, order_by="v")
    for order, text in (("k", "k string ASC NULLS FIRST"), (F.desc("v"), "v bigint DESC NULLS LAST"), ((), "none")):
        with pytest.raises(mt.QueryError, match=f"the order was v bigint ASC NULLS FIRST and is {text}. Ask for"):
            mt.aggregate(replay.stream, **ask(windows=PAIRS, order_by=order), checkpoint=checkpoint)


def test_a_checkpoint_of_another_shape_is_refused_with_the_remedy(spark: SparkSession, tmp_path: Path) -> None:
    replay = Replay(spark, tmp_path)
    checkpoint = first_run(replay, strategy="expand")
    with pytest.raises(
        mt.QueryError, match=r"the shape was expand and is .* Use strategy='expand', or a new checkpoint"
    ):
        mt.aggregate(replay.stream, **ask(), strategy="columnar", checkpoint=checkpoint)
    with pytest.raises(mt.QueryError, match=r"the checkpoint's shape 'columnar' gives a window when it closes"):
        mt.aggregate(
            replay.stream,
            **ask(),
            output="update",
            checkpoint=first_run(Replay(spark, tmp_path / "other"), strategy="columnar"),
        )


def test_names_of_results_may_change(spark: SparkSession, tmp_path: Path) -> None:
    replay = Replay(spark, tmp_path)
    checkpoint = first_run(replay, strategy="chain")
    renamed = {"aggregates": [mt.min("v").alias("low"), mt.max("v").alias("high")]}
    for name in ("device", "the device"):
        asked = ask(**renamed, by=[F.lower("k").alias(name)])
        out = mt.aggregate(replay.stream, **asked, strategy="auto", checkpoint=checkpoint)
        assert out.columns[-3:] == [name, "low", "high"]


def test_a_checkpoint_that_is_not_there_yet_is_no_error(spark: SparkSession, tmp_path: Path) -> None:
    replay = Replay(spark, tmp_path).add(events((1, "a", 5)))
    assert mt.aggregate(replay.stream, **ask(), checkpoint=tmp_path / "new").isStreaming


def test_a_registry_compares_all_but_windows(spark: SparkSession, tmp_path: Path) -> None:
    replay = Replay(spark, tmp_path)
    registry = mt.WindowRegistry(tmp_path / "windows")
    registry.add(MINUTE)
    checkpoint = first_run(replay, windows=registry)
    registry.add(HALF)
    assert mt.aggregate(replay.stream, **ask(windows=registry), checkpoint=checkpoint).isStreaming
    with pytest.raises(mt.QueryError, match="aggregate 1 was min"):
        mt.aggregate(replay.stream, **ask(**forbidden()["aggregate"][0], windows=registry), checkpoint=checkpoint)
    with pytest.raises(mt.QueryError, match="the windows were those of a registry and are ⟨30s,30s⟩, ⟨1m,1m⟩"):
        mt.aggregate(replay.stream, **ask(), checkpoint=checkpoint)


@pytest.mark.long
def test_two_alike_in_one_query(spark: SparkSession, tmp_path: Path) -> None:
    """Two columnar aggregations that ask for the same have names of their own in the query's progress."""
    replay = Replay(spark, tmp_path).add(events((1, "a", 5), (200, "z", 0)))
    one, other = (mt.aggregate(replay.stream, **ask(), strategy="columnar") for _ in range(2))
    assert replay.write(one.union(other)).rows.count() == 4
