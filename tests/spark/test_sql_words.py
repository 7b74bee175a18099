"""Texts that the SQL front end writes, run by Spark itself."""

from datetime import datetime

from pyspark.sql import SparkSession

from muntin.sqltext import read

WORDS = {
    "DATEADD(second, 90, t)": datetime(2024, 2, 29, 23, 1, 29, 999000),
    "DATEADD(mi, -1, t)": datetime(2024, 2, 29, 22, 58, 59, 999000),
    "DATEDIFF(second, t, u)": 1,
    "DATEDIFF(day, t, u)": 0,
    "DATEDIFF(hh, t, u)": 1,
    "DATEDIFF(year, t, u)": 0,
    "DATEPART(hour, t)": 22,
    "DATEPART(millisecond, t)": 999,
    "DATEPART(dw, t)": 5,
    "DATENAME(month, t)": "February",
    "DATENAME(year, t)": "2024",
    "DATETIMEFROMPARTS(2024, 1, 2, 3, 4, 5, 678)": datetime(2024, 1, 2, 3, 4, 5, 678000),
    "YEAR(t) + MONTH(t) + DAY(t)": 2055,
    "'n' + k + '!'": "nab!",
    "LEN(k)": 2,
    "UPPER(SUBSTRING(k, 1, 1))": "A",
    "CHARINDEX('b', k)": 2,
    "ISNULL(missing, 7)": 7,
    "SQUARE(3)": 9.0,
    "CAST('1.5' AS float)": 1.5,
    "CAST(v AS nvarchar(max))": "3",
    "CAST(v AS bigint) + 1": 4,
    "TRY_CAST('x' AS bigint)": None,
    "CASE WHEN v > 2 AND k LIKE 'a%' THEN 'yes' ELSE 'no' END": "yes",
    "GetArrayElement(xs, 1)": 20,
    "GetArrayLength(xs)": 2,
    "GetRecordPropertyValue(r, 'a b')": 5,
    "REGEXMATCH(k, '^a')": 1,
    "System.Timestamp()": datetime(2024, 2, 29, 22, 59, 59, 999000),
    "[select]": 8,
}


def test_words_of_azure_mean_the_same_in_spark(spark: SparkSession) -> None:
    spark.sql(
        "SELECT timestamp'2024-02-29 22:59:59.999' AS t, timestamp'2024-02-29 23:00:00' AS u, 'ab' AS k, 3 AS v, "
        "CAST(NULL AS INT) AS missing, array(10, 20) AS xs, named_struct('a b', 5) AS r, 8 AS `select`"
    ).createOrReplaceTempView("`one row```")
    items = ", ".join(f"{text} AS c{place}" for place, text in enumerate(WORDS))
    steps = f"WITH s AS (SELECT * FROM [one row`] TIMESTAMP BY t) SELECT {items} FROM s SELECT * INTO whole FROM s"
    words, whole = read(steps)
    assert words.spark is not None
    assert whole.spark is not None
    (row,) = spark.sql(words.spark).collect()
    assert dict(zip(WORDS, row, strict=True)) == WORDS
    assert spark.sql(whole.spark).columns == ["t", "u", "k", "v", "missing", "xs", "r", "select"]
    spark.catalog.dropTempView("one row`")
