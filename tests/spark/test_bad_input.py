"""What is wrong with a query is said before any job starts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin import names
from muntin.changes import Change
from muntin.choices import Strategy
from muntin.plan.physical.plans import PhysicalPlan
from muntin.spark.plans import leaf_bytes
from muntin.spark.stream.columnar import _news
from tests.spark.test_edges import setting

HOUR = mt.tumbling("1 hour")


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.sql(
        "select timestamp'2024-01-01' ts, 'a' key, 1.5d v, map(1, 2) m, date'2024-01-01' day, parse_json('{}') any, "
        "named_struct('x', 1) st"
    )


def ask(df: DataFrame, **changes: Any) -> DataFrame:
    asked: dict[str, Any] = {"time": "ts", "by": "key", "windows": HOUR, "aggregates": mt.min("v")} | changes
    result: DataFrame = mt.aggregate(df, **asked)
    return result


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"aggregates": mt.min("w")}, "no column 'w' in the input. Its columns are 'ts', 'key', 'v'"),
        ({"by": ["key", "device"]}, "no column 'device' in the input"),
        ({"time": "when"}, "no column 'when'"),
        (
            {"time": "day"},
            "time column 'day' is of type date, not a timestamp. Timestamp columns are 'ts'. "
            "Use time=F.col('day').cast('timestamp').",
        ),
        (
            {"time": "key"},
            "time column 'key' is of type string, not a timestamp. Timestamp columns are 'ts'. Use time=F.to",
        ),
        ({"windows": []}, "no windows were given"),
        ({"aggregates": []}, "no aggregates were given"),
        ({"windows": [mt.tumbling("1 h", id="w"), mt.tumbling("2 h", id="w")]}, "window id 'w' is given twice"),
        ({"windows": [HOUR, HOUR]}, "appears twice"),
        ({"windows": mt.tumbling(3600)}, "range 3600 has no unit of time. Write '3600 seconds'"),
        ({"windows": [HOUR, mt.hopping(60, 20)]}, "range 60 has no unit of time. Write '60 seconds'"),
        ({"windows": "3600"}, "range 3600 has no unit of time"),
        ({"windows": mt.tumbling("4000000 days")}, "longer than the time that Spark knows. Use at most 3660000 days"),
        ({"aggregates": mt.sum("m")}, "sum does not take column 'm' of type map<int,int>"),
        ({"aggregates": mt.bool_and("v")}, "bool_and does not take column 'v' of type double"),
        ({"aggregates": [mt.min("v"), mt.min("v")]}, "output name 'min_v' appears twice"),
        ({"aggregates": mt.min("v").alias("key")}, "output name 'key' appears twice"),
        ({"by": "any"}, "key 'any' is of type variant, which Spark cannot group by"),
        ({"by": [3]}, "by has 3, which is not a column"),
        ({"by": "st.x"}, "Use F.col('st.x') for a field within a column."),
        ({"aggregates": mt.min("st.x")}, "Use F.col('st.x') for a field within a column."),
        (
            {"aggregates": [mt.min("v").alias("X"), mt.max("v").alias("x")]},
            "output names 'X' and 'x' are the same to Spark",
        ),
        ({"aggregates": mt.min("v").alias("KEY")}, "output names 'key' and 'KEY' are the same to Spark"),
        ({"aggregates": mt.min("v").alias("Window")}, "output names 'window' and 'Window' are the same to Spark"),
        ({"strategy": "fast"}, "unknown strategy 'fast'. Use 'auto', 'independent', 'native' or 'kernel'"),
        ({"layout": "tall"}, "unknown layout 'tall'. Use 'long' or 'wide'"),
        (
            {"layout": "wide", "windows": [mt.tumbling("20 min"), mt.tumbling("30 min")]},
            "window '30m' does not always end when '20m' does",
        ),
        (
            {"layout": "wide", "windows": [mt.tumbling("20 min", id="A"), mt.tumbling("40 min", id="a")]},
            "the wide layout would have two columns 'min_v_A' and 'min_v_a'",
        ),
    ],
)
def test_bad_queries_are_refused_before_any_job(
    df: DataFrame, spark: SparkSession, changes: dict[str, Any], message: str
) -> None:
    jobs = _jobs(spark)
    with pytest.raises(mt.QueryError) as error:
        ask(df, **changes)
    assert message in str(error.value)
    assert _jobs(spark) == jobs


@pytest.mark.parametrize(("key", "other"), [("Window_End", "window_end"), ("MIN_v_1h", "min_v_1h")])
def test_keys_of_the_wide_layout_are_compared_as_spark_does(df: DataFrame, key: str, other: str) -> None:
    with pytest.raises(mt.QueryError, match="the wide layout would have two columns") as error:
        ask(df, layout="wide", by=F.col("key").alias(key))
    assert repr(key) in str(error.value)
    assert repr(other) in str(error.value)


def test_expressions_of_missing_columns_are_refused(df: DataFrame) -> None:
    with pytest.raises(mt.QueryError, match="cannot be read"):
        ask(df, by=F.col("nowhere") + 1)
    with pytest.raises(mt.QueryError, match="cannot be read"):
        ask(df, aggregates=mt.min(F.col("nowhere") + 1))


def test_a_window_of_spark_is_refused(df: DataFrame) -> None:
    with pytest.raises(mt.QueryError, match=r"is not a window. Make one with mt.tumbling\(range\)"):
        ask(df, windows=F.window("ts", "1 hour"))


def test_values_that_are_not_deterministic_are_refused(df: DataFrame) -> None:
    """As in plain Spark; as columns of the input they are taken."""
    for value in (F.rand(), F.expr("uuid()"), F.udf(len).asNondeterministic()("key")):
        with pytest.raises(mt.QueryError) as error:
            ask(df, aggregates=mt.min(value))
        message = str(error.value)
        assert "is not deterministic, and Spark aggregates no such value. Add it to the input first" in message
        assert "any_value" not in message
        assert ask(df.withColumn("w", value), aggregates=mt.min("w")).count() == 1


def test_expressions_that_give_several_rows_and_are_not_deterministic(df: DataFrame) -> None:
    several = F.explode(F.array(F.rand(), F.rand()))
    many: list[dict[str, Any]] = [
        {"by": several},
        {"aggregates": mt.min(several)},
        {"time": F.explode(F.array("ts", F.timestamp_seconds(F.rand())))},
    ]
    for changes in many:
        with pytest.raises(mt.QueryError, match="cannot be read"):
            ask(df, **changes)


@pytest.mark.parametrize("strategy", ["independent", "native", "kernel"])
def test_errors_inside_a_job_keep_their_own_message(spark: SparkSession, strategy: Strategy) -> None:
    most = 2**63 - 1
    df = spark.createDataFrame([(most,), (most,)], "v long").withColumn("ts", F.lit("2024-01-01").cast("timestamp"))
    out = mt.aggregate(df, "ts", (), HOUR, mt.sum("v"), strategy=strategy)
    with pytest.raises(Exception, match="ARITHMETIC_OVERFLOW"):
        out.collect()


def _jobs(spark: SparkSession) -> Any:
    tracker: Callable[..., Any] = spark.sparkContext.statusTracker().getJobIdsForGroup
    return sorted(tracker(None))


@pytest.mark.parametrize(
    "window",
    [
        "1 hour every 1 microsecond",
        mt.cumulating("1 day", "1 us"),
        mt.hopping(10**9, 1, on="v"),
        mt.landmark(0, "1 us"),
    ],
    ids=str,
)
def test_windows_have_a_ceiling_of_instances(spark: SparkSession, df: DataFrame, window: Any) -> None:
    """Nothing is planned, and no row is read."""
    message = r"puts a row into [\d,]+,000 instances, and at most 1,000,000 are allowed. .*'spark.muntin.mostInstances'"
    stream = spark.readStream.format("rate").load().selectExpr("timestamp ts", "'a' key", "value v")
    query = mt.Query("ts", "key", window, mt.min("v"))
    for call in (
        lambda: ask(df, windows=["1 hour", window]),
        lambda: ask(stream, windows=window, watermark="1 s"),
        lambda: mt.explain(df, "ts", "key", window, mt.min("v")),
        lambda: mt.evaluate(df, [query]),
        lambda: mt.distinct(df, "ts", "key", "v", window),
    ):
        with pytest.raises(mt.QueryError, match=message):
            call()


def test_a_session_allows_more_instances_and_rows(spark: SparkSession, df: DataFrame) -> None:
    many = mt.hopping("1 hour", "1 us")
    with pytest.raises(mt.QueryError, match="puts a row into 3,600,000,000 instances"):
        mt.join(df, df, "key", "ts", "ts", windows=many)
    known = mt.Statistics(rows=10**12, keys=10**9, span="1 day")
    with setting(spark, "spark.muntin.mostInstances", str(10**10)):
        with pytest.raises(
            mt.QueryError, match=r"about .*e\+1\d rows, from 1,000,000,000,000 rows of 1,000,000,000 keys"
        ):
            ask(df, windows=many, statistics=known)
        assert mt.explain(df, "ts", "key", many, mt.min("v"), statistics=known).cost > 0
        with setting(spark, "spark.muntin.mostResultRows", str(10**30)):
            assert ask(df, windows=many, statistics=known).columns
    with (
        setting(spark, "spark.muntin.mostInstances", "many"),
        pytest.raises(mt.QueryError, match=r"mostInstances is 'many' in this session. Set it to a whole number"),
    ):
        ask(df)


ROWS = "spark.muntin.mostResultRows"
TRILLIONS = mt.Statistics(rows=10**12, keys=10**9, span="1 day")


@pytest.mark.parametrize("sharing", ["apart", "conditions", "fragments", "branches"])
def test_queries_have_a_ceiling_of_result_rows_each(spark: SparkSession, df: DataFrame, sharing: Any) -> None:
    hourly = mt.Query("ts", "key", "1 hour", mt.min("v"), name="hourly")
    many = mt.Query("ts", "key", "1 hour every 1 ms", mt.min("v"), where="v > 1", name="many")
    with setting(spark, "spark.muntin.mostInstances", str(10**7)):
        with pytest.raises(mt.QueryError, match=r"about .*e\+1\d rows, from .* \(given\), and at most 1e\+12 are"):
            mt.evaluate(df, [hourly, many], strategy=sharing, statistics=TRILLIONS)
        with setting(spark, ROWS, str(10**30)), mt.evaluate(df, [hourly, many], statistics=TRILLIONS) as results:
            assert set(results) == {"hourly", "many"}


def test_figures_that_nobody_gave_are_measured_for_many_instances(spark: SparkSession, df: DataFrame) -> None:
    """One row in 600,000 instances: sql, distinct and the strategies that need no figures are refused alike."""
    text = "SELECT key, MIN(v) FROM df TIMESTAMP BY ts GROUP BY key, HoppingWindow(millisecond, 600000, 1)"
    window = "10 minutes every 1 ms"
    calls: tuple[Callable[[], Any], ...] = (
        lambda: ask(df, windows=window),
        lambda: ask(df, windows=window, strategy="independent"),
        lambda: ask(df, windows=window, strategy="expand", aggregates=mt.median("v")),
        lambda: ask(df, windows=["1 minute", mt.cumulating("1 day", "100 ms")], strategy="ordered"),
        lambda: ask(df, windows=window, layout="wide"),
        lambda: mt.distinct(df, "ts", "key", "v", window),
        lambda: mt.sql(text, df=df, dialect="azure"),
    )
    with setting(spark, ROWS, "100000"):
        for call in calls:
            with pytest.raises(
                mt.QueryError, match=r"about \d.*e\+05 rows, from 1 rows of 1 keys \(all rows\), and at"
            ):
                call()
        assert ask(df, windows="1 hour every 1 minute", strategy="independent").columns
        assert mt.distinct(df, "ts", "key", "v", "1 hour every 1 minute").columns
    assert ask(df, windows=window, strategy="expand").columns


@pytest.mark.parametrize(
    ("slide", "message"),
    [
        ("1 microsecond", r"line 1, column \d+: .* into 3,600,000,000 instances, and at most 1,000,000 are allowed"),
        (
            "10 milliseconds",
            r"line 1, column \d+: .* into 360,000 instances, and Spark's own window, .* at most 50,000",
        ),
    ],
)
def test_sql_has_a_ceiling_before_spark_plans_every_instance(df: DataFrame, slide: str, message: str) -> None:
    text = f"SELECT key, min(v) AS low FROM df GROUP BY key, window(ts, '1 hour', '{slide}')"
    for call in (mt.sql, mt.explain_sql):
        with pytest.raises(mt.QueryError, match=message):
            call(text, df=df)


def test_the_plain_strategy_has_a_ceiling_and_is_not_chosen_near_it(df: DataFrame) -> None:
    fine = mt.hopping("1 hour", "10 ms")
    with pytest.raises(mt.QueryError, match="into 360,000 instances, and Spark's own window"):
        ask(df, windows=fine, strategy="independent")
    plan = mt.explain(df, "ts", "key", mt.hopping("1 hour", "1 s"), mt.min("v"))
    assert isinstance(plan, PhysicalPlan)
    assert {group.shape.name for group in plan.groups} != {"INDEPENDENT"}
    assert "independent" not in dict(plan.alternatives)


def test_a_join_that_spark_takes_for_huge_is_not_refused(spark: SparkSession) -> None:
    """Spark takes 5,000 rows joined with 5,000 for the product of both, and so for far too many results."""
    ids = spark.range(5_000)
    joined = ids.join(spark.range(5_000), "id").selectExpr("id AS key", "timestamp_seconds(id) AS ts", "id AS v")
    with setting(spark, ROWS, str(10**9)):
        plan = mt.explain(joined, "ts", "key", "7 days every 1 minute", mt.min("v"))
        assert isinstance(plan, PhysicalPlan)
        assert plan.groups[0].rows_out > 10**9
        assert ask(joined, windows="7 days every 1 minute").columns
        with pytest.raises(mt.QueryError, match="Spark's estimate"):
            ask(joined, windows="7 days every 1 second")


@pytest.mark.parametrize("joined", [False, True])
def test_leaves_are_what_spark_reads(spark: SparkSession, joined: bool) -> None:
    frame = spark.range(1_000)
    frame = frame.join(spark.range(500), "id") if joined else frame.where("id > 10").selectExpr("id + 1 AS next")
    assert leaf_bytes(frame) == pytest.approx(12_000 if joined else 8_000, rel=0.1)


def test_a_running_query_refuses_a_change_above_the_ceiling(tmp_path: Path) -> None:
    rows = [Row(**{names.CHANGE: Change(1, "w", mt.hopping("1 hour", "1 us", id="w"), 0).to_json()})]
    with pytest.raises(mt.QueryError, match="puts a row into 3,600,000,000 instances, and at most 1,000,000"):
        _news(rows, mt.WindowRegistry(tmp_path), "UTC")
    assert _news(rows, mt.WindowRegistry(tmp_path, most_instances=10**10), "UTC").changes
