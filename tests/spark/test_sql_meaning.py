"""What SQL is read as, evaluated plainly by Spark, equals what Spark makes of the text itself."""

from collections import Counter
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from muntin.aggregates.functions import FUNCTIONS
from muntin.sqltext import read
from muntin.sqltext.statement import Call, Select
from muntin.window import Session, Window
from tests.sql.writing import write

EVENTS = """SELECT chr(97 + id % 3) AS k, id % 7 AS v, id * 0.5D AS w, id % 2 = 0 AS ok, array(id, id + 1) AS xs,
    IF(id % 5 = 0, NULL, id % 4) AS n, timestamp'2024-01-01 00:00:00' + make_dt_interval(0, 0, 0, id * id % 7000) AS ts
    FROM range(300)"""

TEXTS = [
    "SELECT k, window, count(*), max(v) - min(v) AS spread FROM events WHERE k LIKE 'a%' OR v > 3 "
    "GROUP BY k, window(ts, '10 minutes', '5 minutes') HAVING spread > 3 AND count(*) > 2",
    "SELECT upper(k) AS k, sum(v) AS v, sum(v) + 1 AS more, more * 2 AS twice FROM events "
    "GROUP BY k, window(ts, '1 hour')",
    "SELECT date(ts) AS d, v % 2, window.start AS s, sum(w) FROM events GROUP BY 1, v % 2, window(ts, '5 minutes') "
    "UNION ALL SELECT date(ts), v % 2, window.end, avg(w) FROM events GROUP BY 1, 2, "
    "window(ts, '1 hour', '1 hour', '-15 minutes')",
    "SELECT k, session_window.end AS e, median(w), count(*) FILTER (WHERE w > 30) AS c, sum(n) FILTER (WHERE ok) AS s, "
    "min_by(v, w) FILTER (WHERE NOT ok) AS m FROM events GROUP BY session_window(ts, '20 seconds'), k",
    "WITH s AS (SELECT k, v, n, w, ts AS at FROM events e WHERE e.ok), u AS (SELECT * FROM s WHERE v > 1) "
    "SELECT corr(u.v, u.w), percentile(w, 0.9) AS p, percentile_cont(0.25) WITHIN GROUP (ORDER BY w DESC) AS q, "
    "count(DISTINCT v), count(n), count_if(n > 1), stddev(n), var_pop(n), bool_or(n = 0) FROM u "
    "GROUP BY CASE WHEN u.k = 'a' THEN 1 ELSE (2) END, window(at, '30 minutes')",
    "SELECT transform(array(k, 'x'), x -> concat(x, k))[1] AS y, window.end AS t, any(v > 5), max(xs[0]) "
    "FROM (SELECT * FROM events UNION ALL SELECT * FROM events) GROUP BY k, window(ts, 600000000)",
    "SELECT count(*) AS n FROM events GROUP BY window(ts, '90 minutes') "
    "HAVING n > 0 AND max(window.end) > '2020-01-01'",
]


def called(call: Call) -> str:
    """Write an aggregate in Spark SQL."""
    if call.function == "count_distinct":
        return f"count(DISTINCT {call.arguments[0]})"
    return FUNCTIONS[call.function].over_rows(*call.arguments or "*", **dict(call.options))


def evaluated(spark: SparkSession, select: Select) -> DataFrame:
    """Evaluate a SELECT as it was read, without Muntin."""
    (window,) = select.windows
    time = F.expr(select.input.time)
    if isinstance(window, Session):
        grouping = F.session_window(time, f"{int(window.gap)} microseconds")
    else:
        assert isinstance(window, Window)
        range, slide, offset = (f"{int(length)} microseconds" for length in (window.range, window.slide, window.offset))
        grouping = F.window(time, range, slide, offset)
    rows = spark.sql(select.input.sql)
    if select.where is not None:
        rows = rows.where(select.where)
    keys = [F.expr(key).alias(f"muntin_key_{place}") for place, key in enumerate(select.keys)]
    results = [F.expr(called(call)).alias(f"muntin_result_{place}") for place, call in enumerate(select.calls)]
    groups = rows.groupBy(grouping.alias("window"), *keys).agg(*results, F.lit(1).alias("one"))
    if select.having is not None:
        groups = groups.where(select.having)
    return groups.select(*[F.expr(output.sql) for output in select.outputs])


def rows_of(df: DataFrame) -> Counter[Any]:
    return Counter(
        str(tuple(round(cell, 9) if isinstance(cell, float) else cell for cell in row)) for row in df.collect()
    )


def test_what_is_read_means_what_spark_makes_of_the_text(spark: SparkSession) -> None:
    spark.sql(EVENTS).createOrReplaceTempView("events")
    for text in TEXTS[:-1]:
        (statement,) = read(text)
        assert statement.reason == ""
        parts = [evaluated(spark, select) for select in statement.selects]
        expected = rows_of(spark.sql(text))
        assert sum((rows_of(part) for part in parts), Counter()) == expected, text
        assert expected
        for select in statement.selects:
            assert rows_of(spark.sql(write(select, "spark"))) == rows_of(evaluated(spark, select)), text
        names = [name for output, name in zip(statement.selects[0].outputs, spark.sql(text).columns, strict=True)
                 if output.name is not None]  # fmt: skip
        assert names == [output.name for output in statement.selects[0].outputs if output.name is not None]
    assert read(TEXTS[-1])[0].reason == "it uses the window within a key or an aggregate"
    spark.catalog.dropTempView("events")
