"""SQL text with tables="given": all that reads something which was not passed in is refused, before it is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import muntin as mt
from muntin.errors import QueryError, UnsupportedError
from muntin.spark.statements.tables import tables_of

WINDOWED = "GROUP BY k, window(ts, '1 hour')"


@pytest.fixture(scope="module")
def events(spark: SparkSession) -> DataFrame:
    rows = "VALUES (1, 2.0D, timestamp '2024-05-01 12:00'), (1, 3.0D, timestamp '2024-05-01 12:10') AS t(k, v, ts)"
    return spark.sql(f"SELECT * FROM {rows}").localCheckpoint()


@pytest.fixture(scope="module")
def secret(spark: SparkSession) -> Iterator[str]:
    """Give the name of a view that texts must not read."""
    spark.sql("SELECT 'secret' AS line, 1 AS k").createOrReplaceTempView("hidden")
    yield "hidden"
    spark.catalog.dropTempView("hidden")


def given(text: str, events: DataFrame, **options: Any) -> DataFrame:
    frame: DataFrame = mt.sql(text, events.sparkSession, tables="given", Input=events, **options)
    return frame


READS = {
    "a view": ("SELECT * FROM hidden", "no table 'hidden'."),
    "a view in another case": ("SELECT * FROM HIDDEN", "no table 'HIDDEN'."),
    "TABLE": ("TABLE hidden", "no table 'hidden'."),
    "FROM first": ("FROM hidden |> SELECT line", "no table 'hidden'."),
    "a path": ("SELECT * FROM text.`/etc/passwd`", "no table 'text'.'/etc/passwd'."),
    "a table of a schema": ("SELECT * FROM default.hidden", "no table 'default'.'hidden'."),
    "a join": ("SELECT * FROM Input JOIN hidden USING (k)", "no table 'hidden'."),
    "a union": (
        "SELECT line FROM (SELECT 1 AS line FROM Input UNION ALL SELECT line FROM hidden)",
        "no table 'hidden'.",
    ),
    "a query as a value": ("SELECT (SELECT max(line) FROM hidden) AS line FROM Input", "no table 'hidden'."),
    "a query in WHERE": ("SELECT * FROM Input WHERE k IN (SELECT k FROM hidden)", "no table 'hidden'."),
    "a query in a frame": (
        "SELECT count(*) OVER w FROM Input WINDOW w AS (PARTITION BY (SELECT max(line) FROM hidden))",
        "no table 'hidden'.",
    ),
    "LATERAL": ("SELECT * FROM Input, LATERAL (SELECT * FROM hidden)", "no table 'hidden'."),
    "a step": ("WITH a AS (SELECT * FROM hidden) SELECT * FROM a", "no table 'hidden'."),
    "a step of its own name": ("WITH hidden AS (SELECT * FROM hidden) SELECT * FROM hidden", "no table 'hidden'."),
    "a step that is out of scope": (
        "SELECT * FROM (WITH hidden AS (SELECT 1 AS k) SELECT * FROM hidden) JOIN hidden USING (k)",
        "no table 'hidden'.",
    ),
    "a step before its definition": (
        "WITH a AS (SELECT * FROM hidden), hidden AS (SELECT 1 AS k) SELECT * FROM a",
        "no table 'hidden'.",
    ),
    "a view of the text": ("CREATE VIEW a AS SELECT * FROM hidden; SELECT * FROM a", "no table 'hidden'."),
    "IDENTIFIER": ("SELECT * FROM IDENTIFIER('hid' || 'den')", "IDENTIFIER"),
    "IDENTIFIER of a function": ("SELECT IDENTIFIER('ref' || 'lect')('java.lang.System', 'getenv')", "IDENTIFIER"),
    "a version": ("SELECT * FROM Input VERSION AS OF 1", "a table AS OF a version"),
    "a command": ("SELECT TRANSFORM(k) USING 'cat /etc/passwd' AS (line STRING) FROM Input", "a command is not read"),
    "brackets that close": ("SELECT 1 AS k) UNION (SELECT k FROM hidden", ""),
    "Java": ("SELECT reflect('java.lang.System', 'getenv', 'HOME')", "function 'reflect' is not read"),
    "Java in a frame": (
        "SELECT count(*) OVER w FROM Input WINDOW w AS (PARTITION BY java_method('java.lang.System', 'lineSeparator'))",
        "function 'java_method' is not read",
    ),
    "Java beside a window": (
        f"SELECT max(reflect('java.lang.System', 'getenv', 'HOME')) AS home FROM Input {WINDOWED}",
        "function 'reflect' is not read",
    ),
    "Java in a generator": (
        "SELECT * FROM Input LATERAL VIEW explode(array(Try_Reflect('java.lang.System', 'lineSeparator'))) AS x",
        "function 'Try_Reflect' is not read",
    ),
    "a file of a schema": (
        "SELECT from_xml('<a/>', 'b INT', map('rowValidationXSDPath', '/etc/passwd'))",
        "'from_xml'",
    ),
    "a function of a schema": ("SELECT default.f(k) FROM Input", "function 'default.f' is not read"),
    "an unknown function": ("SELECT nothing_like_it(k) FROM Input", "function 'nothing_like_it' is not read"),
    "a table function": ("SELECT * FROM python_worker_logs()", "table function 'python_worker_logs' is not read"),
    "a variable": ("SELECT '${env:HOME}' AS home", "${…} is not read"),
    "a query beneath windows": (
        f"SELECT max(v) AS v FROM (SELECT * FROM Input JOIN hidden USING (k)) {WINDOWED}",
        "hidden",
    ),
    "windows of a view": ("SELECT max(k) AS k FROM hidden GROUP BY window(line, '1 hour')", "no table 'hidden'."),
    "windows in Azure": (
        "SELECT MAX(v) AS v FROM hidden TIMESTAMP BY ts GROUP BY Tumbling(hour, 1)",
        "no table 'hidden'.",
    ),
    "Java in Azure": (
        "SELECT MAX(reflect('java.lang.System', 'getenv')) AS v FROM Input TIMESTAMP BY ts GROUP BY Tumbling(hour, 1)",
        "function 'reflect' is not read",
    ),
    "Java in a condition of Azure": (
        "SELECT MAX(v) AS v FROM Input TIMESTAMP BY ts WHERE reflect('a', 'b') = '' GROUP BY Tumbling(hour, 1)",
        "function 'reflect' is not read",
    ),
    "Java in an event time of Azure": (
        "SELECT MAX(v) AS v FROM Input TIMESTAMP BY reflect('a', 'b') GROUP BY Tumbling(hour, 1)",
        "function 'reflect' is not read",
    ),
    "a variable in Azure": (
        "SELECT MAX('${env:HOME}') AS v FROM Input TIMESTAMP BY ts GROUP BY Tumbling(hour, 1)",
        "${…} is not read",
    ),
    "windows in Flink": (
        "SELECT MAX(v) AS v FROM TABLE(TUMBLE(TABLE hidden, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
        "GROUP BY window_start, window_end",
        "no table 'hidden'.",
    ),
    "Java in a result of Flink": (
        "SELECT k, reflect('a', 'b') AS v FROM TABLE(TUMBLE(TABLE Input, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
        "GROUP BY k, window_start, window_end",
        "function 'reflect' is not read",
    ),
}


@pytest.mark.parametrize("name", READS)
def test_what_was_not_given_is_refused(name: str, events: DataFrame, secret: str) -> None:
    text, message = READS[name]
    with pytest.raises(QueryError) as error:
        given(text, events)
    assert message in str(error.value)
    with pytest.raises(QueryError):
        mt.explain_sql(text, tables="given", Input=events)


def test_the_error_names_what_was_given(events: DataFrame, secret: str) -> None:
    with pytest.raises(QueryError) as error:
        given("SELECT *\nFROM Inputs", events)
    assert str(error.value).splitlines() == [
        "line 2, column 6: no table 'Inputs'. Did you mean 'Input'? There is 'Input'. Give it by keyword, as in "
        "Inputs=df: tables='given' reads nothing else.",
        "  FROM Inputs",
        "       ^",
    ]


ANSWERS = {
    "all of a table": ("SELECT * FROM Input", 2),
    "another case": ("SELECT k FROM INPUT AS t WHERE t.v > 2.5", 1),
    "steps": ("WITH a AS (SELECT k FROM Input), b AS (SELECT * FROM a) SELECT * FROM b JOIN a USING (k)", 4),
    "steps within steps": ("WITH a AS (WITH b AS (SELECT * FROM Input) SELECT * FROM b) SELECT * FROM a", 2),
    "steps in a query": ("WITH a AS (SELECT k FROM Input) SELECT * FROM Input WHERE k IN (SELECT k FROM a)", 2),
    "a step called as a table": ("WITH Input AS (SELECT * FROM Input WHERE v > 2.5) SELECT * FROM Input", 1),
    "rows of their own": ("SELECT * FROM VALUES (1), (2) AS t(a), range(2), explode(array(now(), now())) AS e(x)", 8),
    "LATERAL VIEW": ("SELECT * FROM Input LATERAL VIEW explode(sequence(1, 3)) AS x", 6),
    "clauses": (
        "SELECT /*+ COALESCE(1) */ count(*) OVER w AS n, v FROM Input WINDOW w AS (PARTITION BY k) ORDER BY v LIMIT 1",
        1,
    ),
    "functions": ("SELECT transform(array(k), x -> x + 1), named_struct('a', v).a, k IS NULL FROM Input", 2),
    "its own function": ("SELECT twice_for_texts(k) FROM Input", 2),
    "a pivot": ("SELECT * FROM Input PIVOT (sum(v) FOR k IN (1, 2))", 2),
    "a view": ("CREATE VIEW a AS SELECT * FROM Input; -- name: b\nSELECT k FROM a", 2),
    "a statement before": ("-- name: a\nSELECT k FROM Input; -- name: b\nSELECT * FROM a", 2),
    "windows": (f"SELECT k, max(v) AS v FROM Input {WINDOWED} ORDER BY k", 1),
    "plain aggregates": (f"SELECT k, collect_list(v) AS v FROM Input {WINDOWED}", 1),
    "Azure": ("SELECT k, MAX(v) AS v FROM Input TIMESTAMP BY ts GROUP BY k, Tumbling(hour, 1)", 2),
    "Azure without windows": ("SELECT k FROM Input WHERE v > 2.5 AND LEN('a') = 1", 1),
    "Flink": (
        "SELECT k, MAX(v) AS v FROM TABLE(TUMBLE(TABLE Input, DESCRIPTOR(ts), INTERVAL '1' HOUR)) "
        "GROUP BY k, window_start, window_end",
        1,
    ),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_what_was_given_is_read(name: str, spark: SparkSession, events: DataFrame, secret: str) -> None:
    text, rows = ANSWERS[name]
    spark.udf.register("twice_for_texts", lambda value: 2 * value, "int")
    results = given(text, events)
    frame = results["b"] if not isinstance(results, DataFrame) else results
    assert frame.count() == rows


def test_the_catalog_is_read_by_default(spark: SparkSession, events: DataFrame, secret: str, tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("one\n")
    text = f"SELECT line FROM hidden UNION ALL SELECT value FROM text.`{path}`"
    assert sorted(row[0] for row in mt.sql(text, spark).collect()) == ["one", "secret"]


def test_the_word_for_tables_is_checked(spark: SparkSession, events: DataFrame) -> None:
    with pytest.raises(QueryError, match=r"unknown tables 'all'. Use 'catalog' or 'given'."):
        mt.sql("SELECT 1", spark, tables="all")  # type: ignore[arg-type]


def test_spark_connect_is_refused() -> None:
    class Remote:
        sql = catalog = None

    with pytest.raises(UnsupportedError, match=r"tables='given' is not supported on Spark Connect"):
        tables_of(Remote(), {}, "given")  # type: ignore[arg-type]
