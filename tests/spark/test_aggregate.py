"""mt.aggregate beyond the random cases: expressions, layouts, chunks, statistics, explain."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.choices import AnyStrategy
from muntin.plan.physical.shapes import MERGING, Shape
from muntin.spark.capabilities import Feature
from tests.spark.cases import assert_same, plain_spark
from tests.spark.since import since

pytestmark = pytest.mark.smoke

SHAPES: list[Any] = [shape.name.lower() for shape in (*MERGING, Shape.ORDERED)]
WINDOWS = [mt.tumbling("20 minutes", id="20 min"), mt.hopping("1 hour", "20 minutes", id="1 h")]


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> Iterator[DataFrame]:
    """Give three thousand readings over two days, some before the epoch."""
    rows = spark.range(0, 3000, 1, 3).select(
        F.timestamp_micros((F.col("id") - 1000) * 61_000_000).alias("ts"),
        F.concat(F.lit("d"), F.col("id") % 5).alias("device"),
        F.round(F.sin(F.col("id")) * 100, 3).alias("v"),
    )
    yield rows.cache()
    rows.unpersist()


@pytest.mark.parametrize("strategy", SHAPES)
def test_expressions_as_time_key_and_value(df: DataFrame, strategy: AnyStrategy) -> None:
    key = F.upper("device").alias("Device.Name")
    later = F.col("ts") + F.expr("interval 7 minutes")
    actual = mt.aggregate(df, later, key, WINDOWS, [mt.max(F.col("v") * 2).alias("m"), mt.count()], strategy=strategy)
    changed = df.select(later.alias("at"), key, "v")
    plain = [F.max(F.col("v") * 2).alias("m"), F.count("*").alias("count")]
    assert_same(actual, plain_spark(changed, "at", ["Device.Name"], WINDOWS, plain), ["Device.Name"])


@pytest.mark.parametrize("strategy", SHAPES)
def test_short_chunks_give_every_instance_once(df: DataFrame, strategy: AnyStrategy) -> None:
    """A wrong estimate of the span cuts the data into many more chunks than needed, and changes nothing."""
    windows = [mt.hopping("7 minutes", "2 minutes"), mt.tumbling("5 minutes"), mt.hopping("11 minutes", "3 minutes")]
    statistics = mt.Statistics(rows=100, keys=1, span=1000)
    asked = [mt.sum("v"), mt.first("v"), mt.count()]
    actual = mt.aggregate(df, "ts", "device", windows, asked, strategy=strategy, statistics=statistics)
    plain = [F.sum("v").alias("sum_v"), F.min_by("v", "ts").alias("first_v"), F.count("*").alias("count")]
    assert_same(actual, plain_spark(df, "ts", ["device"], windows, plain), ["device"])


@pytest.mark.parametrize("strategy", ["independent", "native", "kernel", "auto"])
def test_user_defined_aggregates(df: DataFrame, strategy: AnyStrategy) -> None:
    """A user's own steps run in every strategy, in the order of time."""
    joined = mt.user_defined("path", "v", lift=str, combine=lambda a, b: f"{a} {b}", lower=str, returns="string")
    actual = mt.aggregate(df, "ts", (), mt.tumbling("10 minutes"), joined, strategy=strategy).collect()
    rows = sorted((row["ts"], row["v"]) for row in df.collect())
    begin = datetime(1970, 1, 1)
    for row in actual:
        inside = [str(v) for ts, v in rows if row["window"]["start"] <= ts < row["window"]["end"]]
        assert row["path_v"] == " ".join(inside)
        assert (row["window"]["start"] - begin) % timedelta(minutes=10) == timedelta(0)


@since(Feature.QUANTILE_SKETCHES)
def test_approximate_quantiles_are_close_in_rank(df: DataFrame) -> None:
    asked = [mt.approx_quantile("v", 0.5), mt.median("v")]
    for strategy in ("native", "independent"):
        rows = mt.aggregate(df, "ts", (), mt.tumbling("1 day"), asked, strategy=strategy).collect()
        for row in rows:
            assert abs(row["approx_quantile_50_v"] - row["median_v"]) < 10


def test_wide_layout_has_one_row_per_key_and_end(df: DataFrame) -> None:
    low = mt.min("v").alias("low")
    long = mt.aggregate(df, "ts", "device", WINDOWS, [low, mt.count()])
    wide = mt.aggregate(df, "ts", "device", WINDOWS, [low, mt.count()], layout="wide")
    assert wide.columns == ["window_end", "device", "low_20min", "low_1h", "count_20min", "count_1h"]
    cells = {(row["device"], row["window_end"]): row for row in wide.collect()}
    rows = long.collect()
    assert len(cells) == len({(row["device"], row["window"]["end"]) for row in rows}) == wide.count()
    for row in rows:
        suffix = "".join(row["window_id"].split())
        cell = cells[row["device"], row["window"]["end"]]
        assert (cell[f"low_{suffix}"], cell[f"count_{suffix}"]) == (row["low"], row["count"])
    filled = sum(value is not None for row in cells.values() for value in (row["count_20min"], row["count_1h"]))
    assert filled == len(rows)


def test_time_zones_do_not_change_the_rows(df: DataFrame, spark: SparkSession) -> None:
    """Wall-clock times are taken as they stand, also where the session's clock is set forward."""
    zone = spark.conf.get("spark.sql.session.timeZone")
    spark.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        wall = spark.range(0, 600).select(
            (F.expr("timestamp_ntz'2024-03-10 00:30:00'") + F.expr("make_dt_interval(0, 0, id)")).alias("ts"),
            F.col("id").alias("v"),
        )
        for frame in (wall, wall.withColumn("ts", F.col("ts").cast("timestamp"))):
            expected = plain_spark(frame, "ts", [], WINDOWS, [F.sum("v").alias("s")])
            for strategy in SHAPES:
                assert_same(mt.aggregate(frame, "ts", (), WINDOWS, mt.sum("v").alias("s"), strategy=strategy), expected)
    finally:
        spark.conf.set("spark.sql.session.timeZone", str(zone))


@pytest.mark.parametrize("strategy", SHAPES)
def test_tiny_and_huge_windows(spark: SparkSession, strategy: AnyStrategy) -> None:
    frame = spark.sql(
        "select timestamp_micros(id * 3) ts, id v from range(50) union all "
        "select timestamp'5000-01-01' ts, 1L v union all select timestamp'1200-01-01' ts, 2L v"
    )
    windows = [
        mt.hopping("5 us", "2 us"),
        mt.tumbling("7 us"),
        mt.tumbling("200000 days"),
        mt.hopping("400 days", "90 days"),
    ]
    expected = plain_spark(frame, "ts", [], windows, [F.sum("v").alias("s")])
    assert_same(mt.aggregate(frame, "ts", (), windows, mt.sum("v").alias("s"), strategy=strategy), expected)


def test_explain_tells_the_choice_and_its_costs(df: DataFrame) -> None:
    statistics = mt.Statistics(rows=10**8, keys=5, span=10**13)
    many = [*WINDOWS, *(mt.tumbling(f"{n} seconds") for n in (10, 20, 30, 40, 50))]
    plan = mt.explain(df, "ts", "device", many, mt.sum("v"), statistics=statistics)
    text = plan.explain()
    assert isinstance(plan, mt.PhysicalPlan)
    assert plan.groups[0].shape.uses_kernel
    assert "100,000,000 rows, 5 keys over 115.7 days" in text
    assert all(shape.name.lower() in text for shape in MERGING)
    assert "⟨20m,20m⟩ '20 min'" in text
    alternatives = dict(plan.alternatives)
    assert plan.cost == min(alternatives.values()) < alternatives["independent"]
    assert "evaluates sum(v)" in text
    assert "unit model of the factor-windows paper (not the costs above)" in text
    native = mt.explain(df, "ts", "device", many, mt.sum("v"), statistics=statistics, strategy="native", layout="wide")
    assert " factor " not in str(native)
    assert "this plan follows no forest" in str(native)
    assert "layout wide puts the rows of one key and window end side by side" in str(native)


def test_small_inputs_are_not_shared_at_any_price(df: DataFrame) -> None:
    """One window over few rows is what Spark does best."""
    plan = mt.explain(df, "ts", "device", WINDOWS[:1], mt.sum("v"))
    assert isinstance(plan, mt.PhysicalPlan)
    assert [group.shape for group in plan.groups] in ([Shape.INDEPENDENT], [Shape.EXPAND])


def test_holistic_aggregates_say_so_and_do_not_hold_others_back(df: DataFrame) -> None:
    asked = [mt.sum("v"), mt.median("v")]
    plan = mt.explain(df, "ts", (), WINDOWS, asked, strategy="slices_explode")
    assert isinstance(plan, mt.PhysicalPlan)
    shapes = {aggregate.name: group.shape for group in plan.groups for aggregate in group.aggregates}
    assert shapes == {"sum_v": Shape.SLICES_EXPLODE, "median_v": Shape.EXPAND}
    together = mt.explain(df, "ts", (), WINDOWS, asked, strategy="kernel")
    assert isinstance(together, mt.PhysicalPlan)
    assert together.groups[-1].shape is Shape.RANGES_KERNEL
    nested = df.withColumn("span", F.expr("make_dt_interval(0, 0, 0, v)"))
    plain = mt.explain(nested, "ts", (), WINDOWS, mt.median("span"), strategy="kernel")
    assert "median(span) is evaluated from the rows of every window" in plain.explain()


def test_sessions_without_our_settings_are_told_what_would_help(df: DataFrame, spark: SparkSession) -> None:
    name = "spark.sql.execution.arrow.maxBytesPerBatch"
    kept = spark.conf.get(name)
    spark.conf.unset(name)
    try:
        assert any(name in note for note in mt.explain(df, "ts", (), WINDOWS, mt.sum("v")).notes)
    finally:
        spark.conf.set(name, str(kept))
