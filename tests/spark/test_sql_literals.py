"""Literals, types and names of Spark SQL mean in windows what they mean to Spark itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin.sqltext.spelling import parsed, spark_sql

EVENTS = "SELECT timestamp_seconds(id * 60) AS ts, id % 2 AS k, id AS v FROM range(100)"
LITERALS = [
    *("'x''y'", "'x' 'y'", '"x""y"', r"'a\\b\'c\n\u0041'", r"r'a\b' 'c'", "X'1F'", "x '1f'"),
    *("TIME'6:30:45'", "DATE'2020-02-29'", "timestamp '2020-01-01 00:00:00Z'", "TIMESTAMP_NTZ'2020-01-01 00:00:00'"),
    *("1L", "-2S", "3Y", "1.50BD", "1E-3BD", ".5BD", "2.f", "1e3d", "5.", "1e3"),
    *("INTERVAL 1 DAY 2 HOURS", "INTERVAL '1 02:03' DAY TO MINUTE", "INTERVAL -'1.5' SECOND"),
    *("CAST('abc' AS CHAR(5))", "'1'::NUMERIC(3,1)", "array(7, 8)[1]"),
]
ALIKE = [
    "SELECT A, max(V) AS m FROM alike GROUP BY A, window(ts, '1 hour')",
    "SELECT a, A, max(v) AS m, max(V) AS n FROM alike GROUP BY a, A, window(ts, '1 hour')",
    "SELECT a AS A, sum(v) AS V FROM alike GROUP BY a, window(ts, '1 hour') HAVING V > 1000",
]
LEFT_TO_SPARK = [
    *("TABLE ev", "VALUES (1), (2)", "FROM ev |> WHERE v > 97", "SELECT 9 >>> 1"),
    "SELECT IDENTIFIER('max')(v), count(*) FROM IDENTIFIER('ev') GROUP BY IDENTIFIER('k'), window(ts, '1 hour')",
]


def rows_of(frame: DataFrame) -> list[str]:
    return sorted(map(str, map(tuple, frame.collect())))


@pytest.fixture
def events(spark: SparkSession) -> Iterator[DataFrame]:
    frame = spark.sql(EVENTS)
    frame.createOrReplaceTempView("ev")
    yield frame
    spark.catalog.dropTempView("ev")


def test_literals_go_through_untouched(spark: SparkSession, events: DataFrame) -> None:
    keys = ", ".join(f"concat(k, typeof({literal}), {literal})" for literal in LITERALS[:3])
    items = ", ".join([keys, *LITERALS, *(f"typeof({literal})" for literal in LITERALS)])
    text = f"SELECT {items}, max('x''y') FROM ev WHERE 'x''y' = \"x'y\" GROUP BY {keys}, window(ts, '1 hour')"
    assert "plain Spark" not in mt.explain_sql(text, ev=events).explain()
    ours, theirs = mt.sql(text, ev=events), spark.sql(text)
    assert (ours.dtypes, rows_of(ours)) == (theirs.dtypes, rows_of(theirs))


def test_texts_that_look_like_our_own_names_stay_texts(spark: SparkSession, events: DataFrame) -> None:
    text = """SELECT 'muntin_result_0' AS name, max(v) AS m, min(v) AS n FROM ev GROUP BY window(ts, '1 hour')
        UNION ALL SELECT 'muntin_result_7', min(v), max(v) FROM ev GROUP BY window(ts, '2 hours')
        HAVING 'muntin_result_1' != min(v)::string"""
    assert rows_of(mt.sql(text, ev=events)) == rows_of(spark.sql(text))


def test_names_that_differ_by_case_are_two_names_where_the_session_says_so(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        alike = spark.sql(f"SELECT *, v % 3 AS a, v % 5 AS A, 10 * v AS V FROM ({EVENTS})")
        alike.createOrReplaceTempView("alike")
        for text in ALIKE:
            assert rows_of(mt.sql(text, alike=alike)) == rows_of(spark.sql(text)), text
        assert "differ only by case" in mt.explain_sql(ALIKE[1], alike=alike).explain()
        with pytest.raises(mt.UnsupportedError, match="names 'a' and 'A' differ only by case"):
            mt.sql("SELECT a, MAX(A) FROM alike TIMESTAMP BY ts GROUP BY a, TumblingWindow(hour, 1)", alike=alike)
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
        spark.catalog.dropTempView("alike")


def test_double_quotes_are_around_names_where_the_session_says_so(spark: SparkSession, events: DataFrame) -> None:
    texts = [
        """SELECT "k", count("v") AS n, max('v') AS "a text" FROM "ev"
        WHERE "v" % 3 > 0 GROUP BY "k", window(ts, '1 hour')""",
        """-- name: hourly
        SELECT max("w") AS "v" FROM (SELECT *, nullif(v, 7) AS w FROM ev)
        GROUP BY window("ts", '1 hour') HAVING "v" > 7""",
    ]
    spark.conf.set("spark.sql.ansi.doubleQuotedIdentifiers", "true")
    try:
        for text in texts:
            assert "plain Spark" not in mt.explain_sql(text, ev=events).explain()
            ours, theirs = mt.sql(text, ev=events), spark.sql(text)
            assert (ours.dtypes, rows_of(ours)) == (theirs.dtypes, rows_of(theirs)), text
        both = mt.sql(f"""{texts[1]}; SELECT count(*) FROM "hourly" WHERE "v" < 60""", ev=events)
        assert rows_of(both["query 2"]) == ["(1,)"]
        spark.conf.set("spark.sql.ansi.enabled", "false")
        assert mt.sql("SELECT max(\"v\") AS m FROM ev GROUP BY window(ts, '1 hour')", ev=events).first() == ("v",)
    finally:
        spark.conf.unset("spark.sql.ansi.doubleQuotedIdentifiers")
        spark.conf.unset("spark.sql.ansi.enabled")


def test_what_only_spark_reads_is_left_to_spark(spark: SparkSession, events: DataFrame) -> None:
    for text in LEFT_TO_SPARK:
        assert rows_of(mt.sql(text, ev=events)) == rows_of(spark.sql(text)), text
    for text, message in {"DROP TABLE ev": "nothing else is run", "SELEC 1": "Did you mean 'SELECT'"}.items():
        with pytest.raises(mt.QueryError, match=message):
            mt.sql(text, ev=events)
    assert spark.catalog.tableExists("ev")


def test_examples_of_functions_mean_the_same_once_written_again(
    spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    examples = documented_examples(spark)
    assert len(examples) > 900
    read = 0
    for text in examples if request.config.getoption("--long") else examples[::12]:
        try:
            again = spark_sql(parsed(text))
        except Exception:  # noqa: S112 - what is not read is left to Spark
            continue
        read += 1
        if plan_of(spark, text) != plan_of(spark, again):
            assert rows_of(spark.sql(text)) == rows_of(spark.sql(again)), text
    assert read > 60


def documented_examples(spark: SparkSession) -> list[str]:
    """List the queries in the documentation of Spark's functions."""
    assert spark._jvm is not None
    functions = spark._jvm.org.apache.spark.sql.api.python.PythonSQLUtils.listBuiltinFunctionInfos()
    found = (re.findall(r"> (SELECT .*?);\s*$", it.getExamples(), re.DOTALL | re.MULTILINE) for it in functions)
    unsure = ("current_", "now()", "rand", "uuid", "shuffle", "FROM VALUES '")
    return [text for texts in found for text in texts if not any(word in text for word in unsure)]


def plan_of(spark: SparkSession, text: str) -> str:
    """Write what Spark's parser makes of a text."""
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(text).treeString()
    return re.sub(r"#\d+L?", "", plan).lower()
