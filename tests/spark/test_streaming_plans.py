"""Plans of streams: what is chosen and why, and what is refused before a query starts."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.plan.physical.stream import StreamShape
from muntin.spark.sessions import PROVIDER, ROCKSDB
from muntin.spark.stream import choice
from muntin.spark.stream.watermark import REUSE
from tests.spark.cases import assert_same
from tests.spark.streams import Replay, events

WINDOWS = [mt.tumbling(f"{n} min") for n in range(1, 11)]
DENSE = mt.Statistics(rows=10**8, keys=100, span=10**12)
ASKED = (mt.sum("v"), mt.min("v"))
SPARSE = mt.Statistics(rows=10**5, keys=10**5, span=10**12)


@pytest.fixture(scope="module")
def stream(spark: SparkSession) -> DataFrame:
    """Give a stream that never runs."""
    rate = spark.readStream.format("rate").load()
    return rate.select(F.col("timestamp").alias("ts"), (F.col("value") % 3).alias("k"), F.col("value").alias("v"))


def explain(stream: DataFrame, **changes: Any) -> mt.StreamPlan:
    asked: dict[str, Any] = {
        "time": "ts",
        "by": "k",
        "windows": WINDOWS,
        "aggregates": mt.sum("v"),
        "watermark": "10 minutes",
        "statistics": DENSE,
    }
    plan = mt.explain(stream, **(asked | changes))
    assert isinstance(plan, mt.StreamPlan)
    return plan


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"watermark": None}, "time column 'ts' of the stream has no watermark"),
        ({"watermark": None}, "Add watermark='10 minutes', or call withWatermark"),
        ({"watermark": "soon"}, "cannot read 'soon' as a duration"),
        ({"watermark": "-1 s"}, "watermark -1s is negative. Use a duration such as"),
        ({"watermark": "1 us"}, "watermark 1us is not a whole number of milliseconds"),
        ({"watermark": 1.5}, "watermark 1.5 is not a length of time. Use a duration such as '10 minutes'"),
        ({"late": "keep"}, "unknown late 'keep'. Use 'drop' or 'exact'"),
        ({"output": "complete"}, "unknown output 'complete'. Use 'append' or 'update'"),
        (
            {"strategy": "rows_kernel"},
            "unknown strategy 'rows_kernel'. Use 'auto', 'independent', 'native' or 'kernel'",
        ),
        (
            {"strategy": "chain", "late": "exact"},
            "strategy 'chain' drops late rows with their slice, and has no late='exact'. Use strategy='auto'",
        ),
        ({"strategy": "chain", "output": "update"}, "has no output='update'"),
        ({"strategy": "kernel", "output": "update"}, "has no output='update'"),
        ({"aggregates": mt.sum("w")}, "no column 'w' in the input"),
        ({"time": "v"}, "time column 'v' is of type bigint"),
        ({"windows": []}, "no windows were given"),
    ],
)
def test_what_is_wrong_is_said_before_the_query_starts(
    stream: DataFrame, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(mt.QueryError) as error:
        explain(stream, **changes)
    assert message in str(error.value)


def test_times_without_a_zone_are_refused(stream: DataFrame) -> None:
    with pytest.raises(mt.QueryError, match=r"is of type timestamp_ntz; .* Use time=F.col\('at'\).cast\('timestamp'\)"):
        explain(stream, time=F.col("ts").cast("timestamp_ntz").alias("at"))


def test_two_watermarks_are_refused(stream: DataFrame) -> None:
    marked = stream.withWatermark("ts", "5 seconds")
    with pytest.raises(mt.QueryError, match="has a watermark of 5s already, and watermark='10m' is given"):
        explain(marked)
    assert explain(marked, watermark=None).options.watermark == 5_000_000
    for mark in (None, "10 s"):
        with pytest.raises(
            mt.QueryError, match="has a watermark, but not on time column 'at', and Spark keeps one only"
        ):
            explain(
                marked.select("k", "v", (F.col("ts") + F.expr("interval 1 hour")).alias("at")),
                time="at",
                watermark=mark,
            )


@pytest.mark.parametrize("strategy", ["kernel", "columnar"])
def test_a_named_shape_is_that_shape_or_an_error(spark: SparkSession, stream: DataFrame, strategy: str) -> None:
    with pytest.raises(mt.UnsupportedError, match=f"strategy '{strategy}' merges partials, and median\\(v\\) has none"):
        explain(stream, strategy=strategy, aggregates=[mt.sum("v"), mt.median("v")])
    with pytest.raises(
        mt.UnsupportedError, match=f"strategy '{strategy}' needs kernels, and no kernel knows count_dist"
    ):
        explain(stream, strategy=strategy, aggregates=[mt.count_distinct("v"), mt.sum("v")])
    spark.conf.set(PROVIDER, ROCKSDB.replace("RocksDB", "HDFSBacked"))
    try:
        with pytest.raises(mt.QueryError, match=rf"strategy '{strategy}' needs RocksDB .* Set spark\.conf\.set\("):
            explain(stream, strategy=strategy)
        assert "columnar is left out: it needs RocksDB" in str(explain(stream))
    finally:
        spark.conf.set(PROVIDER, ROCKSDB)
    with pytest.raises(mt.UnsupportedError, match="strategy 'chain' merges partials"):
        explain(stream, strategy="chain", aggregates=mt.median("v"))


@pytest.mark.parametrize("marks", [("5 minutes", "10 minutes"), ("10 minutes", "5 minutes")])
def test_a_watermark_over_another_is_refused(spark: SparkSession, tmp_path: Path, marks: tuple[str, str]) -> None:
    """Spark starts the query and ends it after a micro-batch. When the end fails, Spark has changed its mind."""
    replay = Replay(spark, tmp_path).add(events((1, "a", 1)), events((1000, "a", 0)))
    twice = replay.stream.withWatermark("ts", marks[0]).withWatermark("ts", marks[1])
    for frame in (twice, replay.stream.withWatermark("ts", "1 hour").where("v >= 0").withWatermark("ts", "1 minute")):
        with pytest.raises(mt.QueryError, match=r"withWatermark twice.* Call it once, on time column 'ts'"):
            explain(frame, watermark=None)
    apart = replay.stream.withWatermark("ts", marks[0]).union(replay.stream.withWatermark("ts", marks[0]))
    assert explain(apart, watermark=None).shape in StreamShape
    with pytest.raises(StreamingQueryException, match="Redefining watermark is disallowed"):
        replay.write(twice.groupBy(F.window("ts", "1 minute")).count())


def test_sets_that_spark_does_not_keep_are_refused(stream: DataFrame) -> None:
    maps = stream.withColumn("v", F.create_map("k", "v"))
    with pytest.raises(
        mt.UnsupportedError, match=r"count_distinct\(v\) is over a type .* Use mt.approx_count_distinct"
    ):
        explain(maps, aggregates=mt.count_distinct("v"))


def test_wide_streams_are_refused_with_a_remedy(stream: DataFrame) -> None:
    with pytest.raises(mt.UnsupportedError, match="layout='long'"):
        explain(stream, layout="wide")


def test_the_cheapest_shape_that_the_terms_allow(stream: DataFrame) -> None:
    assert explain(stream, strategy="native").shape is StreamShape.CHAIN
    assert explain(stream, strategy="native", late="exact").shape is StreamShape.EXPAND
    assert explain(stream, output="update").shape is StreamShape.EXPAND
    assert explain(stream, aggregates=mt.median("v"), strategy="native").shape is StreamShape.EXPAND
    assert explain(stream, strategy="independent").shape is StreamShape.INDEPENDENT
    assert explain(stream, strategy="native", statistics=SPARSE, windows=WINDOWS[:1]).shape is StreamShape.EXPAND


def test_explain_tells_the_state_and_the_alternatives(stream: DataFrame) -> None:
    plan = explain(stream, strategy="native")
    text = str(plan)
    assert "100,000,000 rows, 100 keys over 11.6 days" in text
    assert "watermark 10m, output append, late rows are dropped with their slice" in text
    assert "slices begin at multiples of 1m" in text
    assert [name for name, _ in plan.alternatives] == ["chain", "expand"]
    assert plan.cost == min(dict(plan.alternatives).values())
    assert [state.name for state in plan.states] == ["slices", "windows"]
    assert plan.state_rows < plan.alternative_rows[1] / 2
    assert repr(plan) == "<stream plan of 10 windows: chain>"
    exact = explain(stream, strategy="native", late="exact")
    assert "chain is left out: it drops late rows with their slice" in str(exact)
    assert "assumed" in str(explain(stream, statistics=None))
    assert "median(v) is evaluated from the rows of every window" in str(explain(stream, aggregates=mt.median("v")))


def test_explain_shows_the_forest_that_columnar_state_follows(stream: DataFrame) -> None:
    windows = [mt.tumbling("20 min"), mt.tumbling("30 min")]
    sums, least = (explain(stream, strategy="kernel", windows=windows, aggregates=asked) for asked in ASKED)
    assert "⟨10m,10m⟩ factor" not in str(sums) + str(least)
    assert [node.parent for node in sums.forest.nodes] == [None, None]  # type: ignore[union-attr]
    hops = [mt.hopping("20 min", "10 min"), mt.hopping("30 min", "10 min")]
    sums, least = (explain(stream, strategy="kernel", windows=hops, aggregates=asked) for asked in ASKED)
    assert "└─ ⟨30m,10m⟩" in str(least)
    assert "from 2 × ⟨20m,10m⟩" in str(least)
    assert "from" not in str(sums).partition("weighed")[0]


def test_explain_takes_a_registry(stream: DataFrame, tmp_path: Path) -> None:
    registry = mt.WindowRegistry(tmp_path / "registry")
    empty = explain(stream, windows=registry)
    assert (empty.windows, empty.shape) == ((), StreamShape.COLUMNAR)
    assert "the registry has no windows now: rows count from when one is added" in str(empty)
    assert not registry.path.exists()  # to look changes nothing
    registry.add(mt.tumbling("1 min"), id="minute")
    registry.add(mt.tumbling("1 hour"))
    plan = explain(stream, windows=registry)
    assert plan.strategy == "auto"
    assert "⟨1m,1m⟩ 'minute'" in str(plan)
    assert "from 60 × ⟨1m,1m⟩" in str(plan)
    assert "windows of a registry may come and go while the query runs" in str(plan)
    listed = explain(stream, windows=registry.windows(), strategy="columnar")
    assert (plan.cost, plan.states, plan.grids) == (listed.cost, listed.states, listed.grids)
    registry.remove("1h")
    assert explain(stream, windows=registry).windows == (mt.tumbling("1 min"),)
    with pytest.raises(mt.QueryError, match="cannot follow a registry of windows"):
        explain(stream, windows=registry, strategy="native")
    with pytest.raises(mt.UnsupportedError, match=r"packed state needs kernels, and no kernel knows median\(v\)"):
        explain(stream, windows=registry, aggregates=mt.median("v"))


@pytest.mark.parametrize(
    ("role", "expression", "message"),
    [
        ("by", "struct(k)", "is of type struct<k:bigint>, and packed state needs simple keys. Use fields of it"),
        ("order_by", "struct(k, v)", "and streams do not sort by struct<k:bigint,v:bigint>. Use a simple type, such"),
        ("order_by", "array(k)", "and streams do not sort by array<bigint>. Use a simple type"),
        ("order_by", "collate(string(k), 'UNICODE_CI')", "do not sort by string collate UNICODE_CI. Use a simple type"),
    ],
)
def test_what_windows_in_order_need_on_a_stream(stream: DataFrame, role: str, expression: str, message: str) -> None:
    with pytest.raises(mt.UnsupportedError, match=re.escape(message)):
        explain(stream, windows=mt.session_window("1 min"), **{role: F.expr(expression).alias("s")})


def test_a_watermark_is_no_matter_for_batch(spark: SparkSession) -> None:
    df = spark.sql("select timestamp'2024-01-01' ts, 1 k, 2 v")
    with_mark = mt.aggregate(df, "ts", "k", WINDOWS, mt.sum("v"), watermark="1 s", late="exact", output="update")
    assert_same(with_mark, mt.aggregate(df, "ts", "k", WINDOWS, mt.sum("v")), ["k"])
    assert "watermark is for streams" in str(mt.explain(df, "ts", "k", WINDOWS, mt.sum("v"), watermark="1 s"))
    with pytest.raises(mt.QueryError, match="unknown late"):
        mt.aggregate(df, "ts", "k", WINDOWS, mt.sum("v"), late="never")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"strategy": "native"}, "strategy 'native' cannot follow a registry of windows. Use strategy='auto'"),
        ({"output": "update"}, "output 'update' cannot follow a registry of windows. Use output='append'"),
    ],
)
def test_a_registry_needs_columnar_state(
    stream: DataFrame, tmp_path: Path, changes: dict[str, str], message: str
) -> None:
    registry = mt.WindowRegistry(tmp_path / "windows")
    with pytest.raises(mt.QueryError, match=re.escape(message)):
        mt.aggregate(stream, "ts", "k", registry, mt.sum("v"), watermark="1 s", **changes)  # type: ignore[arg-type]


def test_an_empty_registry_is_no_error_but_batch_input_is(
    spark: SparkSession, stream: DataFrame, tmp_path: Path
) -> None:
    registry = mt.WindowRegistry(tmp_path / "windows")
    out = mt.aggregate(stream, "ts", "k", registry, mt.sum("v"), watermark="1 s")
    assert out.columns == ["window_id", "window", "k", "sum_v"]
    batch = spark.sql("select timestamp'2024-01-01' ts, 'a' k, 1 v")
    with pytest.raises(mt.QueryError, match="a registry of windows is for streams"):
        mt.aggregate(batch, "ts", "k", registry, mt.sum("v"))


def test_progress_of_what_has_none() -> None:
    assert mt.progress([]).state_rows == 0
    assert str(mt.progress([])).startswith("0 micro-batches, 0 rows in")
    for nothing in (None, "query", 3):
        with pytest.raises(mt.QueryError, match="has no progress"):
            mt.progress(nothing)  # type: ignore[arg-type]


def test_shared_exchanges_are_refused(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Spark 4.3 gives operators above a reused exchange no watermark. When the end fails, Spark has mended it."""
    replay = Replay(spark, tmp_path).add(events((1, "a", 1)), events((1000, "a", 0)))
    shuffled = replay.stream.withWatermark("ts", "10 seconds").repartition("k")
    asked: dict[str, Any] = {"time": "ts", "by": "k", "windows": WINDOWS[:2], "aggregates": mt.sum("v")}
    assert mt.aggregate(replay.stream.repartition("k"), **asked, watermark="10 s", strategy="independent").isStreaming
    with pytest.raises(mt.UnsupportedError, match=r"spark.sql.exchange.reuse.*before the query starts"):
        mt.aggregate(shuffled, **asked, strategy="independent")
    kept = spark.conf.get(REUSE)
    spark.conf.set(REUSE, "false")
    try:
        assert replay.write(mt.aggregate(shuffled, **asked, strategy="independent")).rows.count() == 2
    finally:
        spark.conf.set(REUSE, str(kept))
    assert replay.write(mt.aggregate(shuffled, **asked, strategy="native")).rows.count() == 2
    monkeypatch.setattr(choice, "shares_a_shuffle", lambda frame: False)
    broken = replay.write(mt.aggregate(shuffled, **asked, strategy="independent"))
    assert broken.rows.count() == 1
    assert broken.progress.state_rows == 3
