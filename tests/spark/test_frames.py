"""Windows of every kind on Spark: sessions are Spark's own, and all others mean what plain Python says."""

from __future__ import annotations

import json
import random
import statistics
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from functools import reduce
from typing import Any

import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

import muntin as mt
from muntin.plan.physical.plans import PhysicalPlan
from muntin.zones import instant
from tests.spark import frames
from tests.spark.cases import assert_same, quoted, random_events
from tests.spark.frames import (
    AGGREGATES,
    IN_ORDER,
    Row,
    S,
    assert_same_rows,
    expected,
    frame_of,
    given,
    random_rows,
    values,
)
from tests.spark.test_edges import setting

ZERO = 1_704_067_200 * S
"""2024-01-01, a time that is a multiple of all ranges here."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    cases = metafunc.config.getoption("--cases")
    if "seed" in metafunc.fixturenames:
        metafunc.parametrize("seed", range(cases // 2))


def plain_sessions(df: DataFrame, by: Iterable[str], gaps: Iterable[str], plain: list[Column]) -> DataFrame:
    """Write what a Spark user writes today."""
    branches = []
    for gap in gaps:
        session = F.session_window("ts", gap).alias("window")
        result = df.groupBy(*(quoted(key).alias(key) for key in by), session).agg(*plain)
        rest = [quoted(name) for name in result.columns if name != "window"]
        branches.append(result.select(F.lit(mt.session_window(gap).label).alias("window_id"), "window", *rest))
    return reduce(DataFrame.union, branches)


def test_sessions_are_those_of_spark(spark: SparkSession, seed: int) -> None:
    """Random types, keys, ties and nulls; gaps that rows meet exactly."""
    r = random.Random(2000 + seed)
    df, by, aggregates, plain = random_events(spark, r, seed, holistic=False)
    by = [key for key in by if key != "k array"]
    named = [column.alias(asked.name) for column, asked in zip(plain, aggregates, strict=True)]
    gaps = r.sample(["1 second", "2 seconds", "7 seconds", "1 minute", "20 minutes"], r.randint(1, 3))
    oracle = plain_sessions(df, by, gaps, named).cache()
    strategies: list[Any] = ["auto", "independent", "ordered", "tagged"]
    for strategy in strategies:
        actual = mt.aggregate(df, "ts", by, map(mt.session_window, gaps), aggregates, strategy=strategy)
        assert_same(actual, oracle, by, (seed, strategy, gaps))
    oracle.unpersist()


def test_every_kind_means_its_definition(spark: SparkSession, seed: int) -> None:
    """All kinds in one call, with periodic windows, and some alone: no keys, one or two, times of both types."""
    r = random.Random(seed)
    unique = seed % 2 == 1
    rows = random_rows(r, ZERO, unique_times=unique)
    by = [["key"], [], ["key", "zone"]][seed % 3]
    df = frame_of(spark, rows, ["timestamp", "timestamp_ntz"][seed // 2 % 2]).cache()
    windows = frames.definitions(ZERO)
    asked = AGGREGATES | (IN_ORDER if unique else {})
    together = mt.aggregate(df, "ts", by, list(windows), list(asked), order_by="turn")
    wanted = expected(rows, by, windows, asked, measured=True)
    assert_same_rows(given(together), wanted, (seed, "together"))
    tagged = mt.aggregate(df, "ts", by, list(windows), list(asked), order_by="turn", strategy="tagged")
    assert_same_rows(given(tagged), wanted, (seed, "tagged"))
    for window in r.sample(list(windows), 2):
        alone = mt.aggregate(df, "ts", by, window, list(asked), order_by="turn")
        own = expected(rows, by, {window: windows[window]}, asked, measured=window.measure is not None)
        assert_same_rows(given(alone), own, (seed, window, "alone"))
    df.unpersist()


def quarter(ordered: list[int]) -> float | None:
    """Give the value a quarter of the way up, between two if need be."""
    if not ordered:
        return None
    low, share = divmod(0.25 * (len(ordered) - 1), 1)
    above = ordered[min(int(low) + 1, len(ordered) - 1)]
    return ordered[int(low)] + share * (above - ordered[int(low)])


HOLISTIC: dict[Any, Callable[[Sequence[Row]], Any]] = {
    mt.count().alias("rows"): len,
    mt.min("turn").alias("from_turn"): lambda rows: min(row["turn"] for row in rows),
    mt.max("turn").alias("to_turn"): lambda rows: max(row["turn"] for row in rows),
    mt.median("n"): lambda rows: statistics.median(map(float, values(rows, "n"))) if values(rows, "n") else None,
    mt.count_distinct("text"): lambda rows: len(set(values(rows, "text"))),
    mt.percentile("n", 0.25): lambda rows: quarter(sorted(values(rows, "n"))),
    mt.stddev("x"): lambda rows: statistics.stdev(values(rows, "x")) if len(values(rows, "x")) > 1 else None,
}


def test_aggregates_that_no_kernel_knows(spark: SparkSession, seed: int) -> None:
    """Rows are given to their instances; periodic windows beside are shared as ever."""
    r = random.Random(100 + seed)
    rows = random_rows(r, ZERO, unique_times=False)
    by = [["key"], ["key", "zone"], []][seed % 3]
    df = frame_of(spark, rows).cache()
    windows = frames.definitions(ZERO)
    wanted = expected(rows, by, windows, HOLISTIC, measured=True)
    apart: dict[str, Any] = {"strategy": "kernel", "statistics": mt.Statistics(10**9, keys=10, span="1 day")}
    options: list[dict[str, Any]] = [{}, apart]
    for some in options:
        result = mt.aggregate(df, "ts", by, list(windows), list(HOLISTIC), order_by="turn", **some)
        assert_same_rows(given(result), wanted, seed)
    df.unpersist()


def test_instances_that_have_all_in_common_are_told_apart(spark: SparkSession) -> None:
    """Two windows begin with every row, and end together: both are given."""

    def doubled(state: int, time: int) -> tuple[int, int, int]:
        return state + 1, 2, 2 if state else 0

    df = spark.sql("select timestamp'2024-01-01' ts, id from range(3)")
    asked = [mt.count_distinct("id").alias("n"), mt.median("id").alias("middle")]
    rows = mt.aggregate(df, "ts", (), mt.user_window(doubled, initial=0), asked, order_by="id").collect()
    assert sorted((row["n"], row["middle"]) for row in rows) == [(1, float(i)) for i in (0, 0, 1, 1, 2, 2)]


def test_functions_in_python_over_sessions(events: DataFrame) -> None:
    steps: dict[str, Any] = {"lift": lambda turn: [turn], "combine": list.__add__, "lower": lambda turns: f"{turns}"}
    joined = mt.user_defined("joined", "turn", returns="string", **steps)
    session = mt.session_window("1 s", longest="5 s")
    rows = mt.aggregate(events.where("turn < 60"), "ts", "key", session, [joined.alias("turns"), mt.count()]).collect()
    assert sorted(turn for row in rows for turn in json.loads(row["turns"])) == list(range(60))
    assert all(len(json.loads(row["turns"])) == row["count"] for row in rows)


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> Iterator[DataFrame]:
    """Give some events of three keys, one of them null, with ties."""
    number = F.col("id")
    made = spark.range(0, 400, 1, 3).select(
        F.timestamp_micros(ZERO + number * number % 797 * 1_000_000).alias("ts"),
        F.when(number % 3 != 0, F.concat(F.lit("k"), number % 3)).alias("key"),
        (number * 7 % 101).cast("int").alias("v"),
        (number % 160).cast("double").alias("speed"),
        number.alias("turn"),
    )
    yield made.cache()
    made.unpersist()


def test_cumulating_windows_are_those_of_an_explode(events: DataFrame) -> None:
    """The plan that a Spark user writes: every row is given once for each step of its stretch."""
    length, step = 300 * S, 60 * S
    begin = f"t - pmod(t, {length})"
    ends = f"sequence(t - pmod(t, {step}) + {step}, {begin} + {length}, {step})"
    exploded = events.selectExpr("unix_micros(ts) t", "key", "v").selectExpr(
        f"{begin} AS begin", f"explode({ends}) AS end", "key", "v"
    )
    groups = exploded.groupBy("begin", "end", "key").agg(F.sum("v").alias("total"), F.count("*").alias("rows"))
    window = "named_struct('start', timestamp_micros(begin), 'end', timestamp_micros(end)) AS window"
    plain = groups.selectExpr("'w' AS window_id", window, "key", "total", "rows")
    asked = [mt.sum("v").alias("total"), mt.count().alias("rows")]
    actual = mt.aggregate(events, "ts", "key", mt.cumulating("5 minutes", "1 minute", id="w"), asked)
    assert_same(actual, plain, ["key"])


def test_a_landmark_is_told_by_the_clock_of_the_session(spark: SparkSession, events: DataFrame) -> None:
    """Midnight in Kolkata comes 5:30 hours before that of UTC; wall-clock times know no zones."""
    asked = mt.landmark(since="2024-01-01", step="1 day")
    wall = events.withColumn("ts", F.col("ts").cast("timestamp_ntz"))
    with setting(spark, "spark.sql.session.timeZone", "Asia/Kolkata"):
        instants, clock = (
            mt.aggregate(df, "ts", (), asked, mt.count())
            .selectExpr(
                "unix_micros(CAST(window.start AS timestamp)) s", "unix_micros(CAST(window.end AS timestamp)) e"
            )
            .first()
            for df in (events, wall)
        )
    early = ZERO - (5 * 60 + 30) * 60 * S
    assert instants == (early, early + 86_400 * S)
    assert clock == (early, early + 86_400 * S)  # cast back by the same clock
    exact = mt.landmark(since="2024-01-01T00:00:00+00:00", step="1 day")
    row = mt.aggregate(events, "ts", (), exact, mt.count()).selectExpr("unix_micros(window.start) s").first()
    assert row == (ZERO,)


def test_zones_are_those_of_spark(spark: SparkSession) -> None:
    zones = ["+02:00", "-9:30", "GMT+2", "UTC+1", "UT-03:30", "UTC", "Z", "GMT0", "Europe/Berlin", "EST", "PST", "IST"]
    for clock in ("2024-01-01 00:00:00", "2024-03-31 02:30:00", "2024-10-27 02:30:00"):
        micros = (datetime.fromisoformat(clock) - datetime(1970, 1, 1)) // timedelta(microseconds=1)
        for zone in zones:
            with setting(spark, "spark.sql.session.timeZone", zone):
                assert spark.sql(f"select unix_micros(timestamp'{clock}')").first() == (instant(micros, zone),), zone
    with setting(spark, "spark.sql.session.timeZone", "GMT+2"):
        df = spark.sql("select timestamp'2024-01-01 00:00:10' ts, 1 v, 2 W")
        out = mt.aggregate(df, "ts", (), mt.landmark("2024-01-01", "1 min"), mt.sum("v"), order_by=F.desc("w"))
        assert out.select("window.start", "sum_v").first() == spark.sql("select timestamp'2024-01-01', 1L").first()


def test_conditions_may_be_expressions(events: DataFrame) -> None:
    fast = events.withColumn("fast", F.col("speed") > 120)
    kinds: list[Callable[[Any], Any]] = [
        lambda condition: mt.while_(condition, id="w"),
        lambda condition: mt.punctuated(condition, id="w"),
    ]
    for kind in kinds:
        by_name, by_expression = (
            given(mt.aggregate(fast, "ts", "key", kind(condition), mt.sum("v"), order_by=F.desc("turn")))
            for condition in ("fast", F.col("speed") > 120)
        )
        assert by_name == by_expression
        assert by_name


def test_ties_are_taken_in_the_order_that_is_asked_for(spark: SparkSession) -> None:
    df = spark.sql("select timestamp'2024-01-01' ts, id, id % 5 other from range(10)").repartition(3)
    asked = mt.tumbling(mt.rows(5))
    ups = mt.aggregate(df, "ts", (), asked, mt.max("id"), order_by="id").orderBy("window_begin").collect()
    downs = mt.aggregate(df, "ts", (), asked, mt.max("id"), order_by=F.desc("id")).orderBy("window_begin").collect()
    both = mt.aggregate(df, "ts", (), asked, mt.max("id"), order_by=["other", "id"]).orderBy("window_begin").collect()
    assert [[row["max_id"] for row in rows] for rows in (ups, downs, both)] == [[4, 9], [9, 4], [6, 9]]


def test_ties_are_taken_in_the_descending_order_of_any_expression(spark: SparkSession) -> None:
    df = spark.sql("select timestamp'2024-01-01' ts, id, struct(id AS y) x, id AS `x.z`, id AS `q``` from range(4)")
    orders = (F.desc("`x.z`"), F.desc("x.y"), F.desc("`q```"), (F.col("id") + 1).desc(), df["id"].desc(), F.desc("ID"))
    for order in (*orders, F.col("`x.z`").desc_nulls_first(), (-F.col("id")).asc()):
        out = mt.aggregate(df, "ts", (), mt.tumbling(mt.rows(2)), mt.max("id"), order_by=order)
        assert [row["max_id"] for row in out.orderBy("window_begin").collect()] == [3, 1], order
    same = mt.aggregate(df, "ts", (), mt.tumbling(mt.rows(2)), mt.max("id"), order_by=[F.lit("id").desc(), "id"])
    assert [row["max_id"] for row in same.orderBy("window_begin").collect()] == [1, 3]


@pytest.mark.parametrize("kind", ["timestamp", "timestamp_ntz"])
def test_results_have_the_types_and_nullability_of_plain_windows(events: DataFrame, kind: str) -> None:
    df = events.withColumn("ts", F.col("ts").cast(kind)).withColumn("sure", F.lit(1))
    asked = [mt.count().alias("n"), mt.sum("v").alias("total"), mt.avg("speed").alias("mean")]
    by = ["key", "sure"]
    periodic, sessions, counts, mixed, kilometres = (
        mt.aggregate(df, "ts", by, windows, asked).schema
        for windows in (
            mt.tumbling("1 minute"),
            mt.session_window("1 minute", longest="1 hour"),
            mt.tumbling(mt.rows(5)),
            [mt.tumbling("1 minute"), mt.tumbling(mt.rows(5)), mt.hopping(5, 2.5, on="turn")],
            mt.tumbling(5, on="turn"),
        )
    )
    plain = df.groupBy(*by, F.window("ts", "1 minute")).agg(F.count("*"), F.sum("v"), F.avg("speed")).schema
    assert [f.nullable for f in periodic.fields[2:]] == [
        plain[0].nullable,
        plain[1].nullable,
        *(f.nullable for f in plain.fields[3:]),
    ]
    told = [[(f.name, f.dataType, f.nullable) for f in schema] for schema in (periodic, sessions)]
    assert told[0][2:] == told[1][2:]
    assert [name for name, *_ in told[0]] == ["window_id", "window", "key", "sure", "n", "total", "mean"]
    assert sessions["window"].dataType.simpleString() == f"struct<start:{kind},end:{kind}>"
    for schema, measure in ((counts, T.LongType()), (kilometres, T.LongType()), (mixed, T.DoubleType())):
        assert schema.names[:4] == ["window_id", "window", "window_begin", "window_end"]
        assert [schema[name].dataType for name in ("window_begin", "window_end")] == [measure, measure]
        assert [(f.name, f.dataType, f.nullable) for f in schema][4:] == told[0][2:]


def test_decimals_and_fractions_are_not_rounded(spark: SparkSession) -> None:
    """Ten rows of 0.10 make 1; a row at an edge lies in the instance that begins there."""
    rows = spark.range(40).selectExpr(
        "timestamp_seconds(id) AS ts", "CAST(0.10 AS DECIMAL(10, 2)) AS x", "CAST(id AS DECIMAL(20, 10)) / 10 AS d",
        "id / 10 AS km", "id + 9007199254740992 AS big",
    )  # fmt: skip
    asked = [
        mt.until(mt.sum("x"), 1, id="sum"),
        mt.delta("d", 0.3, id="delta"),
        mt.delta("big", 0, id="big"),
        mt.tumbling(0.3, on="km", id="km"),
        mt.tumbling(0.3, on="d", id="d"),
    ]
    result = mt.aggregate(rows, "ts", (), asked, mt.count())
    counts: dict[str, list[int]] = {}
    begins: dict[str, list[float]] = {}
    for row in result.orderBy("window.start").collect():
        counts.setdefault(row["window_id"], []).append(row["count"])
        begins.setdefault(row["window_id"], []).append(row["window_begin"])
    thirds = {"km": [3] * 13, "d": [3] * 13}
    assert counts == {"sum": [10] * 4, "delta": [4] * 10, "big": [1] * 40, **thirds}
    assert begins["km"] == begins["d"] == [place / 10 for place in range(0, 39, 3)]


def test_no_rows_give_no_rows(spark: SparkSession, events: DataFrame) -> None:
    windows = [*frames.definitions(ZERO)]
    rows = frame_of(spark, [])
    for strategy in ("auto", "kernel", "ordered"):
        assert mt.aggregate(rows, "ts", "key", windows, mt.count(), strategy=strategy).collect() == []
    assert mt.aggregate(rows, "ts", (), mt.session_window("1 s"), mt.count(), strategy="independent").collect() == []


def test_strategies(events: DataFrame) -> None:
    """Each gives the same rows, as far as it has the windows."""
    sessions = [mt.session_window("3 s"), mt.session_window("10 s")]
    periodic = [mt.tumbling("30 s"), mt.hopping("1 minute", "30 s"), mt.hopping("50 s", "20 s")]
    asked = [mt.sum("v"), mt.count().alias("n"), mt.max("speed")]
    for windows in (sessions, [*sessions, *periodic], periodic):
        wanted = given(mt.aggregate(events, "ts", "key", windows, asked, strategy="independent"))
        for strategy in ("auto", "kernel", "ordered"):
            assert given(mt.aggregate(events, "ts", "key", windows, asked, strategy=strategy)) == wanted
    with pytest.raises(
        mt.UnsupportedError, match="strategy 'independent' is for windows that plain Spark has, and '5 rows' is none"
    ):
        mt.aggregate(events, "ts", "key", [*sessions, mt.tumbling(mt.rows(5))], asked, strategy="independent")


def test_what_explain_says(events: DataFrame) -> None:
    windows = [mt.session_window("3 s"), mt.tumbling("30 s"), mt.hopping(mt.rows(5), "5 s"), mt.while_("fast")]
    fast = events.withColumn("fast", F.col("speed") > 120)
    text = str(mt.explain(fast, "ts", "key", windows, mt.sum("v"), strategy="ordered"))
    assert "ordered: rows of every key in order, cut where windows begin and end" in text
    for label in ("session 3s", "30s", "last 5 rows every 5s", "while fast"):
        assert label in text
    assert "note: the rows of a key are one task's work, in order" in text
    assert (
        "note: last 5 rows every 5s: where an instance begins is known only when it ends, so rows are kept for it"
        in text
    )
    plain = mt.explain(events, "ts", "key", windows[:1], mt.sum("v"), strategy="independent")
    assert isinstance(plain, PhysicalPlan)
    assert [group.shape.name for group in plain.groups] == ["INDEPENDENT"]
    middle = mt.explain(events, "ts", "key", mt.tumbling(mt.rows(5)), mt.median("v"))
    assert "tagged: rows of every key in order, each given to its instances, one aggregation" in str(middle)
    assert "no kernel knows median(v), so rows are given to all their instances, and the rows of open ones" in str(
        middle
    )
    auto = mt.explain(
        events, "ts", "key", windows[:1], mt.sum("v"), statistics=mt.Statistics(1000, keys=10, span="1 h")
    )
    assert {name for name, _ in auto.alternatives} == {"independent", "ordered", "source_sessions"}
