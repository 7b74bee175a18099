"""What a PySpark person types first: it is understood, or the error says what to write."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.cases import assert_same, plain_spark
from tests.spark.patience import LONG, PATIENT

HOUR = mt.tumbling("1 hour")
WINDOWS = [mt.tumbling("5 minutes"), mt.hopping("1 hour", "5 minutes")]


@pytest.fixture(scope="module")
def df(spark: SparkSession) -> DataFrame:
    return spark.range(0, 600).selectExpr(
        "timestamp_seconds(1700000000 + id * 37) ts",
        "id % 3 key",
        "if(id % 7 = 0, null, id % 11) v",
        "cast(id % 5 as double) w",
        "id % 2 = 0 even",
        "named_struct('x', id % 4) st",
        "id `a.b`",
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (pd.DataFrame({"ts": [1]}), "df is a pandas DataFrame, not a Spark DataFrame. Use spark.createDataFrame(df)"),
        (
            pl.DataFrame({"ts": [1]}),
            "df is a polars DataFrame, not a Spark DataFrame. Use spark.createDataFrame(df.to_",
        ),
        (pa.table({"ts": [1]}), "df is a pyarrow Table, not a Spark DataFrame. Use spark.createDataFrame(df)"),
        ("a.parquet", "df is the text 'a.parquet', not a Spark DataFrame. Use spark.read.parquet('a.parquet')"),
        (Path("d/a"), "df is the path 'd/a', not a Spark DataFrame. Use spark.read.parquet('d/a')"),
        (None, "df is None, not a Spark DataFrame. Was it given by a call that returns nothing, such as df.show()"),
        ([{"ts": 1}], "df is a list, not a Spark DataFrame. Use spark.read, spark.readStream or spark.createData"),
    ],
)
def test_other_frames_are_refused_with_the_way_to_spark(given: Any, message: str) -> None:
    for ask in (mt.aggregate, mt.explain, mt.rolling):
        asked = {"ranges": "1 hour"} if ask is mt.rolling else {"windows": HOUR}
        with pytest.raises(mt.QueryError) as error:
            ask(given, "ts", (), **asked, aggregates=mt.count())
        assert message in str(error.value)


def test_grouped_data_is_refused(df: DataFrame) -> None:
    with pytest.raises(
        mt.QueryError, match=r"df is a pyspark GroupedData, not a Spark DataFrame. Use the DataFrame that"
    ):
        mt.aggregate(df.groupBy("key"), "ts", (), HOUR, mt.count())  # type: ignore[arg-type]


def test_the_advice_for_other_frames_works(spark: SparkSession) -> None:
    stamps = pd.to_datetime(["2024-01-01 00:10", "2024-01-01 00:20", "2024-01-01 01:20"])
    table = pd.DataFrame({"ts": stamps, "v": [1, 2, 4]})
    for given in (table, pl.from_pandas(table).to_arrow(), pa.Table.from_pandas(table)):
        frame = spark.createDataFrame(given)
        rows = mt.aggregate(frame, "ts", (), "1 hour", F.sum("v").alias("s")).collect()
        assert sorted(row["s"] for row in rows) == [3, 4]


def test_windows_are_read_from_texts(df: DataFrame) -> None:
    expected = plain_spark(df, "ts", ["key"], WINDOWS, [F.sum("v").alias("s")])
    texts: Any
    for texts in (["5 minutes", "1h/5m"], [WINDOWS[0], "1 hour every 5 minutes"], "5 minutes, 1 hour every 5 minutes"):
        for strategy in ("native", "kernel"):
            actual = mt.aggregate(df, "ts", "key", texts, mt.sum("v").alias("s"), strategy=strategy)
            assert_same(actual, expected, ["key"])
    assert "⟨1h,5m⟩" in str(mt.explain(df, "ts", "key", "5 minutes, 1h/5m", mt.sum("v")))


KNOWN: list[Callable[[], Column]] = [
    lambda: F.sum("v"),
    lambda: F.sum(F.col("v") * 2),
    lambda: F.avg("w"),
    lambda: F.mean("w").alias("mean"),
    lambda: F.min("v").alias("low").alias("lowest"),
    lambda: F.max("st.x"),
    lambda: F.max(F.col("`a.b`")),
    lambda: F.count("*"),
    lambda: F.count(F.lit(1)).alias("n"),
    lambda: F.count("v"),
    lambda: F.count_if("even"),
    lambda: F.count_distinct("v"),
    lambda: F.stddev("w"),
    lambda: F.stddev_samp("w"),
    lambda: F.std("w"),
    lambda: F.stddev_pop("w"),
    lambda: F.variance("w"),
    lambda: F.var_samp("w"),
    lambda: F.var_pop("w"),
    lambda: F.covar_samp("v", "w"),
    lambda: F.covar_pop("v", "w"),
    lambda: F.corr("v", "w"),
    lambda: F.max_by("v", F.col("`a.b`")),
    lambda: F.min_by("w", F.col("`a.b`") * -1),
    lambda: F.bool_and("even"),
    lambda: F.every("even"),
    lambda: F.bool_or("even"),
    lambda: F.some("even"),
    lambda: F.median("v"),
    lambda: F.percentile("v", 0.9),
    lambda: F.sum(F.lit(2)),
]


@pytest.mark.parametrize("strategy", ["auto", "independent", "native"])
def test_aggregates_of_spark_give_the_rows_of_spark(df: DataFrame, strategy: Any) -> None:
    columns = [make() for make in KNOWN]
    expected = plain_spark(df, "ts", ["key"], WINDOWS, columns)
    assert_same(mt.aggregate(df, "ts", "key", WINDOWS, columns, strategy=strategy), expected, ["key"])


def test_one_column_and_other_aggregates_beside_it(df: DataFrame) -> None:
    assert mt.aggregate(df, "ts", (), HOUR, F.sum("v")).columns[-1] == "sum(v)"
    both = mt.aggregate(df, "ts", F.col("key"), HOUR, [mt.sum("v"), F.sum(df.v).alias("x"), F.mode("v"), mt.count()])
    assert both.columns[3:] == ["sum_v", "x", "mode(v)", "count"]
    assert all(row["sum_v"] == row["x"] for row in both.collect())


def test_names_are_shared_with_our_own_aggregates(df: DataFrame) -> None:
    """F.sum("v") and mt.sum("v") read one column, not two."""

    def plan(*asked: Any) -> str:
        return str(mt.aggregate(df, "ts", (), HOUR, asked, strategy="native")._jdf.queryExecution().analyzed())

    assert "v1" not in plan(F.sum("v"), mt.sum("v"), F.max(F.col("v")))
    assert "v1" in plan(F.sum("v"), mt.sum("w"))


def test_rolling_takes_texts_and_columns(df: DataFrame) -> None:
    ordered = Over.partitionBy("key").orderBy(F.unix_micros("ts")).rangeBetween(-300_000_000, Over.currentRow)
    expected = df.select("*", F.sum("v").over(ordered).alias("s_5m"), F.max("w").over(ordered).alias("max(w)_5m"))
    for strategy in ("independent", "kernel"):
        asked = [F.sum("v").alias("s"), F.max("w")]
        actual = mt.rolling(df, "ts", "key", "5 minutes", asked, strategy=strategy)
        assert actual.columns == expected.columns
        assert sorted(map(str, actual.collect())) == sorted(map(str, expected.collect()))
    assert mt.rolling(df, "ts", "key", "5 minutes, 1 hour", F.sum("v")).columns[-2:] == ["sum(v)_5m", "sum(v)_1h"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: F.first("v"), "Use mt.first(column), the value at the earliest event time; Spark's own goes by the"),
        (lambda: F.last_value("v"), "Use mt.last(column), the value at the latest event time"),
        (lambda: F.any_value("v"), "Use mt.first(column)"),
        (lambda: F.approx_count_distinct("v", 0.01), "Use mt.approx_count_distinct(column, lg_k=12)"),
        (lambda: F.percentile_approx("v", 0.5), "Use mt.percentile(column, 0.95), or mt.approx_quantile(column, 0.95)"),
        (lambda: F.percentile("v", [0.5, 0.9]), "Use mt.percentile(column, fraction), once for every fraction"),
        (lambda: F.mode("v", True), "Use mt.mode(column), any of the most frequent values"),
        (lambda: F.collect_list("v").alias("x"), "Use mt.user_defined("),
        (
            lambda: F.sum_distinct("v"),
            "is of distinct values, which is not supported here. Use mt.count_distinct(column)",
        ),
        (
            lambda: F.count_distinct("v", "w"),
            "is of distinct values, which is not supported here. Use mt.count_distinct",
        ),
        (lambda: F.expr("sum(v) filter (where v > 1)"), "is SQL text, which is not looked into. Use F.sum('v')"),
        (lambda: F.sum("v") + 1, "is not an aggregate that is known here. Use sum, avg"),
        (lambda: F.sum("v").over(Over.partitionBy("key")), "is not an aggregate that is known here"),
        (lambda: F.sum("*"), "'sum(*)' is not an aggregate that is known here"),
        (lambda: F.col("v"), "'v' is not an aggregate that is known here"),
        (lambda: F.call_function("sum", F.col("v")), "is not an aggregate that is known here"),
        (
            lambda: F.sum("nowhere"),
            "the aggregates cannot be read: A column, variable, or function parameter with name `nowhere`",
        ),
        (lambda: F.sum("st"), 'the aggregates cannot be read: Cannot resolve "sum(st)"'),
    ],
)
def test_other_columns_say_which_call_to_use(df: DataFrame, make: Callable[[], Column], message: str) -> None:
    for ask in (mt.aggregate, mt.rolling):
        with pytest.raises(mt.QueryError) as error:
            ask(df, "ts", "key", "1 hour", [mt.count(), make()])
        assert message in str(error.value)


CONNECTED = """
import os, sys
os.environ["PYSPARK_PYTHON"] = sys.executable
import pandas as pd
import muntin as mt
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

builder = SparkSession.builder.remote("local[1]").config(map=PATIENT)
spark = builder.config("spark.sql.shuffle.partitions", "1").getOrCreate()
columns = ["timestamp_seconds(id * 60) ts", "id % 11 v", "named_struct('x', id) st", "id `a.b`"]
df = spark.range(0, 100).selectExpr(*columns)
asked = [F.sum("v"), F.sum(F.col("v") * 2).alias("x"), F.count("*"), F.count_distinct("v"), F.percentile("v", 0.5)]
asked += [F.max("st.x"), F.min("`a.b`"), F.max(df.v).alias("m"), F.count(F.lit(1)).alias("n")]
wanted = df.groupBy(F.window("ts", "1 hour")).agg(*asked)
for strategy in ("auto", "independent"):
    actual = mt.aggregate(df, "ts", (), "1 hour", asked, strategy=strategy).drop("window_id")
    assert actual.columns == wanted.columns, (actual.columns, wanted.columns)
    assert sorted(actual.collect()) == sorted(wanted.collect())
rolled = mt.rolling(df, "ts", (), "5 minutes", F.sum("v"))
assert rolled.columns[-1] == "sum(v)_5m" and rolled.count() == 100
refused = {"mt.first(": F.first("v"), "distinct values": F.sum_distinct("v"), "SQL text": F.expr("sum(v)")}
for message, column in refused.items():
    try:
        mt.aggregate(df, "ts", (), "1 hour", column)
    except mt.QueryError as error:
        assert message in str(error), error
    else:
        raise AssertionError(message)
try:
    mt.aggregate(df.withColumn("ms", F.unix_millis("ts") + 1700000000000), "ms", (), "1 hour", mt.count())
except mt.QueryError as error:
    assert "use time=F.timestamp_millis('ms')" in str(error), error
print("connected")
"""


@pytest.mark.long
def test_the_same_on_spark_connect(tmp_path: Path) -> None:
    environment = os.environ | {"SPARK_TESTING": "1"}  # a free port: other tests may have a server, too
    command = [sys.executable, "-c", f"PATIENT = {PATIENT!r}\n{CONNECTED}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "connected" in done.stdout


@pytest.mark.parametrize(
    ("number", "advice"),
    [
        ("1700000000", "looks like seconds since 1970: use time=F.timestamp_seconds('t')."),
        ("1700000000L", "looks like seconds since 1970: use time=F.timestamp_seconds('t')."),
        ("1700000000.25d", "looks like seconds since 1970: use time=F.timestamp_seconds('t')."),
        ("1700000000123L", "looks like millis since 1970: use time=F.timestamp_millis('t')."),
        ("1700000000123d", "looks like millis since 1970: use time=F.timestamp_millis(F.col('t').cast('long'))."),
        ("1700000000123456L", "looks like micros since 1970: use time=F.timestamp_micros('t')."),
        ("1700000000123456789L", "looks like nanos since 1970: use time=F.timestamp_micros((F.col('t') / 1000)"),
    ],
)
def test_a_number_as_time_says_what_it_counts(spark: SparkSession, number: str, advice: str) -> None:
    df = spark.sql(f"select null t union all select {number} t")
    for ask in (mt.aggregate, mt.rolling):
        with pytest.raises(mt.QueryError) as error:
            ask(df, "t", (), "1 hour", mt.count())
        assert advice in str(error.value)
    conversion = str(error.value).partition("use time=")[2].removesuffix(".")
    rows = mt.aggregate(df, eval(conversion), (), "1 hour", mt.count()).collect()  # noqa: S307
    assert [row["window"]["start"].year for row in rows] == [2023]


def test_a_number_that_tells_nothing_and_a_stream_get_all_three(spark: SparkSession) -> None:
    three = "Use time=F.timestamp_seconds('t') or F.timestamp_millis('t') or F.timestamp_micros('t'), by what its"
    stream = spark.readStream.format("rate").load().withColumn("t", F.unix_millis("timestamp"))
    for df in (spark.sql("select 5L t"), spark.sql("select cast(null as long) t"), stream):
        with pytest.raises(mt.QueryError) as error:
            mt.aggregate(df, "t", (), HOUR, mt.count())
        assert three in str(error.value)
    with pytest.raises(mt.QueryError, match=r"use time=F.timestamp_millis\(…\)"):
        mt.aggregate(spark.sql("select 1700000000123L t"), F.col("t") + 1, (), HOUR, mt.count())


def test_names_are_compared_as_spark_does(spark: SparkSession) -> None:
    """Spark lower-cases names; it does not fold ß to ss."""
    df = spark.sql("select timestamp'2024-01-01' ts, 1 `straße`, 2 `strasse`")
    row = mt.rolling(df, "ts", (), "1 hour", [F.sum("straße").alias("ß"), F.sum("strasse").alias("ss")]).first()
    assert row is not None
    assert (row["ß_1h"], row["ss_1h"]) == (1, 2)
    row = mt.aggregate(df, "ts", (), HOUR, [mt.sum("straße"), mt.sum("strasse")]).first()
    assert row is not None
    assert (row["sum_straße"], row["sum_strasse"]) == (1, 2)
    upper = spark.sql("select timestamp'2024-01-01' ts, 1 `É`")
    assert mt.aggregate(upper, "ts", (), HOUR, mt.sum("é")).columns[-1] == "sum_é"
    with pytest.raises(mt.QueryError, match="output names 'É' and 'é' are the same to Spark"):
        mt.aggregate(upper, "ts", (), HOUR, [mt.sum("é").alias("É"), mt.max("é").alias("é")])


def test_names_may_differ_in_case_where_spark_tells_them_apart(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        df = spark.sql("select timestamp'2024-01-01' ts, 1 v")
        row = mt.aggregate(df, "ts", (), HOUR, [mt.sum("v").alias("X"), mt.count().alias("x")]).first()
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    assert row is not None
    assert (row[2], row[3]) == (1, 1)


def test_a_field_of_a_struct_as_the_hint_writes_it(df: DataFrame) -> None:
    with pytest.raises(mt.QueryError, match=r"Use F.col\('st.x'\) for a field within a column"):
        mt.aggregate(df, "ts", "st.x", HOUR, mt.count())
    assert mt.aggregate(df, "ts", F.col("st.x"), HOUR, mt.count()).columns[2] == "x"
