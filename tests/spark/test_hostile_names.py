"""Columns, windows and values of any names, through SQL and all layouts; commands: tests/test_hostile_names.py."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.cli.plans import FORMATS
from muntin.spark.input.checking import quoted
from tests.hostile import HOSTILE, ORDERS

NAME = "".join((*HOSTILE, *ORDERS))
ID = "".join(HOSTILE)
"""A window's id has no control characters."""
IN_SQL = "".join(name for name in (*HOSTILE, *ORDERS) if "${" not in name)
"""Spark puts variables into the text of a query, in quotes as well: ${env:HOME} is then another name."""
ROWS = "SELECT timestamp_seconds(id * 30) AS ts, id % 2 AS k, id AS v FROM range(12)"
SUMS = {("0", 2), ("0", 10), ("0", 18), ("1", 4), ("1", 12), ("1", 20)}
"""The keys and sums of windows of two minutes: of the rows 0 and 2, 1 and 3, 4 and 6, …"""


def named(spark: SparkSession, name: str) -> tuple[DataFrame, set[tuple[str, int]]]:
    """Give rows whose columns and keys all have a name in theirs, and their sums by two minutes."""
    rows = spark.sql(ROWS).withColumn("k", F.concat(F.lit(name), F.col("k").cast("string")))
    return rows.toDF(f"time {name}", f"key {name}", f"value {name}"), {(f"{name}{key}", total) for key, total in SUMS}


@pytest.mark.parametrize("strategy", ["native", "kernel"])
def test_names_are_names(spark: SparkSession, strategy: Any) -> None:
    frame, sums = named(spark, NAME)
    windows = [mt.tumbling("2 minutes", id=f"id {ID}"), mt.tumbling("4 minutes")]
    total = mt.sum(f"value {NAME}").alias(f"total {NAME}")
    rows = mt.aggregate(frame, f"time {NAME}", f"key {NAME}", windows, [total], strategy=strategy)
    assert rows.columns == ["window_id", "window", f"key {NAME}", f"total {NAME}"]
    assert {(row[2], row[3]) for row in rows.collect() if row[0] == f"id {ID}"} == sums


def test_names_are_names_in_the_wide_layout(spark: SparkSession) -> None:
    frame, sums = named(spark, NAME)
    window, total = mt.tumbling("2 minutes", id=ID), mt.sum(f"value {NAME}").alias("total")
    rows = mt.aggregate(frame, f"time {NAME}", f"key {NAME}", window, total, layout="wide")
    assert rows.columns[1:] == [f"key {NAME}", f"total_{''.join(ID.split())}"]
    assert {(row[1], row[2]) for row in rows.collect()} == sums


def test_sql_knows_such_names_in_backquotes(spark: SparkSession) -> None:
    time, key, value, total = (quoted(f"{role} {IN_SQL}") for role in ("time", "key", "value", "total"))
    text = f"SELECT {key}, sum({value}) AS {total} FROM events GROUP BY {key}, window({time}, '2 minutes')"
    events, sums = named(spark, IN_SQL)
    plan = mt.explain_sql(text, events=events)
    assert "plain Spark" not in plan.explain()
    assert "<script" not in FORMATS["html"](plan) + FORMATS["mermaid"](plan)
    rows = mt.sql(text, events=events)
    assert rows.columns == [f"key {IN_SQL}", f"total {IN_SQL}"]
    assert {tuple(row) for row in rows.collect()} == sums
