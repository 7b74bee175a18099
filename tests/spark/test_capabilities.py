"""What an older Spark lacks: left out of plans that say so, refused where it was asked for, and done in another way."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

import pyspark
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.spark.capabilities import Capabilities, Feature, capabilities
from tests.spark.cases import assert_same, plain_spark
from tests.spark.streams import Replay, events, flush

WINDOWS = [mt.tumbling("10 minutes"), mt.tumbling("20 minutes"), mt.hopping("1 hour", "10 minutes")]


@pytest.fixture
def old_client(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make this process one of Spark 4.0: a session can do what both its server and its client can."""
    monkeypatch.setattr(pyspark, "__version__", "4.0.5")


def test_a_session_can_do_what_its_server_can(spark: SparkSession) -> None:
    assert capabilities(spark).version == spark.version


@pytest.mark.usefixtures("old_client")
def test_an_older_client_counts(spark: SparkSession) -> None:
    assert not any(capabilities(spark).has(feature) for feature in Feature)


def test_sets_are_there_or_named_as_missing(spark: SparkSession) -> None:
    for function, feature in (
        ("collect_union", Feature.MERGED_SETS),
        ("kll_sketch_agg_double", Feature.QUANTILE_SKETCHES),
    ):
        assert spark.catalog.functionExists(function) == Capabilities(spark.version).has(feature)


@pytest.mark.usefixtures("old_client")
def test_sketches_that_are_missing_are_refused(spark: SparkSession) -> None:
    df = spark.range(3).selectExpr("timestamp_seconds(id) AS ts", "id AS v")
    message = "sketches of quantiles (kll_sketch_agg) need Spark 4.1; this session has 4.0.5. Use mt.percentile"
    with pytest.raises(mt.UnsupportedError, match=re.escape(message)):
        mt.aggregate(df, "ts", (), WINDOWS, mt.approx_quantile("v", 0.5))


@pytest.mark.usefixtures("old_client")
def test_plans_say_that_sets_are_not_merged(spark: SparkSession) -> None:
    df = spark.range(3000).selectExpr("timestamp_seconds(id * 10) AS ts", "id % 7 AS v")
    asked = [mt.count_distinct("v"), mt.sum("v")]
    plan = mt.explain(df, "ts", (), WINDOWS, asked, strategy="slices_explode")
    reason = "merged sets (collect_union) need Spark 4.3; this session has 4.0.5"
    assert f"slices of count_distinct(v) are not merged: {reason}" in plan.notes
    plain = [F.count_distinct("v").alias("count_distinct_v"), F.sum("v").alias("sum_v")]
    assert_same(mt.aggregate(df, "ts", (), WINDOWS, asked), plain_spark(df, "ts", (), WINDOWS, plain))


@pytest.mark.usefixtures("old_client")
def test_streams_leave_out_the_chain_and_say_so(spark: SparkSession, tmp_path: Path) -> None:
    stream = Replay(spark, tmp_path).add(events((0, "a", 1))).stream
    reason = "merged sets (collect_union) need Spark 4.3; this session has 4.0.5"
    plan = mt.explain(stream, "ts", (), WINDOWS, mt.count_distinct("v"), watermark="1 minute")
    assert f"chain is left out: it merges partials, and {reason}" in plan.notes
    with pytest.raises(mt.UnsupportedError, match=re.escape(reason)):
        mt.aggregate(stream, "ts", (), WINDOWS, mt.count_distinct("v"), watermark="1 minute", strategy="chain")


@pytest.mark.long
@pytest.mark.usefixtures("old_client")
def test_columnar_state_takes_frames_where_spark_gives_no_rows(spark: SparkSession, tmp_path: Path) -> None:
    files = [events(*((60 * (10 * file + i), "ab"[i % 2], i) for i in range(12))) for file in range(4)]
    replay = Replay(spark, tmp_path).add(*files, flush(files[-1], timedelta(hours=3)))
    asked = {"time": "ts", "by": ["k"], "windows": WINDOWS, "aggregates": [mt.sum("v").alias("s"), mt.count()]}
    given = replay.run(asked | {"watermark": "30 minutes", "strategy": "columnar"})
    plain = [F.sum("v").alias("s"), F.count("*").alias("count")]
    expected = plain_spark(replay.batch.where("k IS NOT NULL"), "ts", ["k"], WINDOWS, plain)
    assert_same(given.rows, expected, ["k"], nullable=False)
