"""Many queries over one input: every query has the rows that plain Spark gives it alone."""

from __future__ import annotations

import gc
import random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.cases import KEYS, assert_same
from tests.spark.query_sets import frame_of, random_set, random_table

LONG = pytest.mark.long
WAYS = ["branches", "auto", "fragments", "conditions", "apart"]


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=LONG) for seed in range(3, 200))])
def test_every_query_has_the_rows_that_it_has_alone(spark: SparkSession, seed: int) -> None:
    r = random.Random(seed)
    df = frame_of(spark, random_table(r), r.choice([1, 3])).cache()
    keys = [*r.sample([key for key in KEYS if key != "k array"], 2), "k int"]
    queries = random_set(r, keys=keys, holistic=r.random() < 0.2)
    expected = {alone.query.name: alone.oracle(df).cache() for alone in queries}
    for way in WAYS if seed < 3 else r.sample(WAYS, 2):
        with mt.evaluate(df, [alone.query for alone in queries], strategy=way) as results:  # type: ignore[arg-type]
            for alone in queries:
                name, by = str(alone.query.name), list(map(str, alone.query.by))
                assert_same(results[name], expected[name], by, f"{way} {alone.query}", nullable=False)


def test_what_a_filter_protects_stays_protected(spark: SparkSession) -> None:
    rows = [
        ("2024-05-01 09:01", "a", 4, 2, "7"),
        ("2024-05-01 09:02", "a", 4, 0, "none"),
        ("2024-05-01 09:31", "b", 1, 0, "-"),
    ]
    df = spark.createDataFrame(rows, "at string, k string, v int, n int, text string")
    df = df.withColumn("ts", F.to_timestamp("at"))
    each = F.col("v") / F.col("n")
    queries = [
        mt.Query("ts", "k", "1 hour", mt.sum(each).alias("each"), where="n > 0", name="divided"),
        mt.Query("ts", F.expr("10 % n").alias("rest"), "1 hour", mt.count(), where=F.col("n") > 0, name="by rest"),
        mt.Query("ts", "k", "1 hour", mt.sum("text").alias("texts"), where="text = '7'", name="texts"),
        mt.Query("ts", (), "30 minutes", mt.count(), name="all"),
    ]
    for way in WAYS:
        with mt.evaluate(df, queries, strategy=way) as results:  # type: ignore[arg-type]
            told = {
                name: sorted(map(tuple, rows.drop("window_id", "window").collect())) for name, rows in results.items()
            }
            assert results["by rest"].columns == ["window_id", "window", "rest", "count"]
        assert told == {"divided": [("a", 2.0)], "by rest": [(0, 1)], "texts": [("a", 7.0)], "all": [(1,), (2,)]}, way


def test_windows_and_functions_of_any_kind(spark: SparkSession) -> None:
    rows = [(second, "ab"[second % 2], second) for second in (0, 1, 2, 3, 20, 21, 22, 60, 61, 62, 63)]
    df = spark.createDataFrame(rows, "at long, k string, v long").withColumn("ts", F.timestamp_seconds("at"))
    longest = mt.user_defined("longest", "v", lift=int, combine=max, lower=int, returns="long")
    queries = [
        mt.Query(
            "ts", "k", mt.session_window("5 seconds"), [mt.sum("v"), mt.count()], where="v != 21", name="sessions"
        ),
        mt.Query("ts", "k", mt.session_window("5 seconds"), mt.max("v"), where="v != 21", name="the same"),
        mt.Query("ts", "k", "1 minute", mt.median("v"), where="v > 1", name="medians"),
        mt.Query("ts", "k", "1 minute", longest, where="v > 1", name="own"),
        mt.Query("ts", (), "1 minute", mt.count_distinct("k").alias("keys"), name="keys"),
        mt.Query("ts", (), "1 minute, 30 seconds", mt.sum("v"), name="sums"),
        mt.Query("ts", "k", "30 seconds", mt.sum("v"), where="k = 'a'", name="sums of a"),
    ]
    minute, plain = F.window("ts", "1 minute"), df.where("v > 1").groupBy("k", F.window("ts", "1 minute"))
    session = df.where("v != 21").groupBy("k", F.session_window("ts", "5 seconds").alias("window"))
    expected = {
        "sessions": session.agg(F.sum("v"), F.count("*")),
        "the same": session.agg(F.max("v")),
        "medians": plain.agg(F.median("v")),
        "own": plain.agg(F.max("v")),
        "keys": df.groupBy(minute).agg(F.count_distinct("k")),
        "sums": df.groupBy(minute).agg(F.sum("v")).union(df.groupBy(F.window("ts", "30 seconds")).agg(F.sum("v"))),
        "sums of a": df.where("k = 'a'").groupBy("k", F.window("ts", "30 seconds")).agg(F.sum("v")),
    }
    for way in WAYS:
        with mt.evaluate(df, queries, strategy=way) as results:  # type: ignore[arg-type]
            for name, alone in expected.items():
                keys = [key for key in ("k",) if key in alone.columns]
                ours = results[name].select("window", *keys, *results[name].columns[2 + len(keys) :])
                theirs = alone.select("window", *keys, *alone.columns[1 + len(keys) :])
                assert _rows(ours) == _rows(theirs), f"{name} {way}"


def _rows(df: DataFrame) -> list[str]:
    return sorted(str(tuple(row)) for row in df.collect())


def test_what_queries_have_in_common_is_kept_once_and_released(spark: SparkSession) -> None:
    df = frame_of(spark, random_table(random.Random(3), 300), 2)
    counts = [mt.Query("ts", "k int", "1 minute", mt.count(), where=f"few = {few}", name=str(few)) for few in range(4)]

    def kept() -> int:
        return len(spark.sparkContext._jsc.getPersistentRDDs())

    before = kept()
    results = mt.evaluate(df, counts, strategy="conditions")
    assert kept() == before, "nothing is materialised before it is used"
    rows = {name: _rows(one) for name, one in results.items()}
    assert kept() == before + 1
    again = results["1"]
    results.release()
    assert kept() == before
    assert _rows(again) == rows["1"]
    one = mt.evaluate(df, counts, strategy="conditions")["2"]
    gc.collect()
    assert _rows(one) == rows["2"]
    assert kept() == before + 1, "a DataFrame that somebody holds keeps what it reads"
    del one
    gc.collect()
    assert kept() == before, "results that nobody holds keep nothing"


def test_the_plan_says_who_shares_what(spark: SparkSession) -> None:
    df = spark.createDataFrame([], "ts timestamp, device string, region string, v double, state string")
    queries = [
        mt.Query("ts", ("device", "region"), "1 minute, 1 hour", [mt.avg("v"), mt.count()], name="devices"),
        mt.Query("ts", "region", "1 hour", mt.max("v"), where="state = 'hot'", name="hot"),
        mt.Query("ts", "region", "1 hour", mt.median("v"), name="medians"),
    ]
    many = mt.Statistics(10_000_000, keys=100, span="1 day")
    for way in ("fragments", "conditions", "branches"):
        plan = mt.explain(df, queries, strategy=way, statistics=many)
        assert [(share.way, len(share.queries)) for share in plan.shares] == [(way, 2), ("apart", 1)]
        text = plan.explain()
        assert "query hot" in text
        assert "where state = 'hot'" in text
        assert "partials in common" in text
        assert "its rows are needed" in text
        assert all(plan.to_dict()[name] for name in ("core_microseconds", "steps"))
        assert plan.to_mermaid().startswith("flowchart")
        assert "query hot" in plan.to_html()


def test_queries_with_nothing_in_common_stay_apart(spark: SparkSession) -> None:
    df = spark.createDataFrame([], "ts timestamp, a string, b string, v double")
    queries = [
        mt.Query("ts", "a", "7 minutes", mt.sum("v"), where="v < 0", name="a"),
        mt.Query("ts", "b", "11 minutes", mt.max("v"), where="v > 0", name="b"),
    ]
    plan = mt.explain(df, queries, statistics=mt.Statistics(10_000, keys=5_000, span="1 day"))
    assert [share.way for share in plan.shares] == ["apart", "apart"]
    one_by_one = mt.explain(df, (query for query in queries), statistics=plan.statistics)
    assert one_by_one.explain() == plan.explain(), "mt.evaluate takes generators, too"


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (lambda q: [], "no queries"),
        (lambda q: [q(where="v >")], "cannot be read"),
        (lambda q: [q(where="nothing > 1")], "cannot be read"),
        (lambda q: [q(where="v + 1")], "of type int. Use a condition"),
        (lambda q: [q(name="a"), q(name="a", where="v > 1")], "two queries of one set are called 'a'"),
        (lambda q: [q(), mt.Query("at", (), "1 hour", mt.count())], "different event times"),
        (lambda q: [q(name="")], "is not a query name"),
        (lambda q: [mt.Query("ts", "kk", "1 hour", mt.count())], "no column 'kk'"),
        (lambda q: [3], "is not a query"),
    ],
)
def test_bad_sets_are_refused(spark: SparkSession, queries: Any, message: str) -> None:
    df = spark.createDataFrame([], "ts timestamp, at timestamp, k string, v int")

    def q(**given: Any) -> mt.Query:
        return mt.Query("ts", "k", "1 hour", mt.count(), **given)

    with pytest.raises(mt.QueryError, match=message):
        mt.evaluate(df, queries(q))
