"""Random sets of queries over one input, and each query alone in plain Spark, written by hand."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from tests.spark.cases import KEYS, VALUES, plain_spark, random_aggregates, random_windows

FILTERS = (
    "few = 1",
    "few = 2",
    "few > 2",
    "few BETWEEN 1 AND 4",
    "flag",
    "NOT flag OR few = 0",
    "i32 > 0 AND text IS NOT NULL",
    "few < 0",
    "`k int` = 1",
)
"""Equalities, ranges, overlapping and disjoint ones, one that no row satisfies, and nulls in most."""


@dataclass(frozen=True)
class Alone:
    """A query, and the aggregates as a Spark user writes them."""

    query: mt.Query
    plain: list[Column]
    filtered: str | None

    def oracle(self, df: DataFrame) -> DataFrame:
        rows = df if self.filtered is None else df.where(self.filtered)
        named = [column.alias(asked.name) for column, asked in zip(self.plain, self.query.aggregates, strict=True)]
        return plain_spark(rows, "ts", list(map(str, self.query.by)), self.query.periodic, named)


def random_table(r: random.Random, rows: int | None = None) -> pa.Table:
    """Give random events with every kind of key and value, nulls among them."""
    rows = r.choice([0, 1, 60, 300, 900]) if rows is None else rows
    span, base = r.choice([60, 600, 5000]), datetime(2024, 2, 28, 23, 50, tzinfo=UTC)
    ticks = r.sample(range(span * 1000), rows)
    times = [None if r.random() < 0.03 else base + timedelta(milliseconds=tick) for tick in ticks]
    data: dict[str, pa.Array] = {"ts": pa.array(times, pa.timestamp("us", "UTC"))}
    for name, (kind, value) in (KEYS | VALUES).items():
        data[name] = pa.array([None if r.random() < 0.1 else value(r) for _ in range(rows)], kind)
    data["unique"] = pa.array(r.sample(range(10 * rows), rows), pa.int64())
    return pa.table(data)


def random_set(r: random.Random, *, keys: list[str], holistic: bool = False) -> list[Alone]:
    """Give random queries: filters, keys, windows and aggregates are drawn from small pools, so some agree."""
    pool = random_windows(r) + random_windows(r)[:2]
    windows = list({window: window for window in pool}.values())
    filters: list[str | None] = [None, *r.sample(FILTERS, 3)]
    sets = [r.sample(keys, r.randint(0, min(2, len(keys)))) for _ in range(3)]
    queries = []
    for place in range(r.randint(2, 7)):
        asked, plain, _ = random_aggregates(r, True, holistic)
        where = r.choice(filters)
        given: Any = where if where is None or r.random() < 0.7 else F.expr(where)
        own = [
            mt.Window(*window.period, id=f"w{place} {number}").timed() if r.random() < 0.3 else window
            for number, window in enumerate(r.sample(windows, r.randint(1, min(3, len(windows)))))
        ]
        query = mt.Query("ts", r.choice(sets), own, asked, where=given, name=f"query {place}")
        queries.append(Alone(query, plain, where))
    return queries


def frame_of(spark: SparkSession, table: pa.Table, partitions: int) -> DataFrame:
    return spark.createDataFrame(table).repartition(partitions, F.rand(1))
