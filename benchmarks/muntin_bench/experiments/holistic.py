"""Distinct counts and medians over many windows, beside what a Spark user writes today: a union of single windows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.aggregates import Aggregate
from muntin.choices import AnyStrategy
from muntin.window import Window
from muntin_bench.experiments.spark import SECOND, Contender, Progress, bench_session, consume, in_turn, rounded
from muntin_bench.record import Row

DAYS = 90
"""The time that the events are spread over."""
USERS = 200_000
COUNTRIES = 5


@dataclass(frozen=True)
class Case:
    """What is asked for."""

    name: str
    windows: tuple[Window, ...]
    asked: Aggregate
    strategies: tuple[AnyStrategy, ...]
    """What is compared, beside plain Spark."""
    rows: int
    plain_rows: int
    """Rows that plain Spark is given; where they are fewer, its time is taken to grow with them."""

    @property
    def plain(self) -> Column:
        """What a Spark user writes."""
        column = "user" if self.asked.columns == ("user",) else "v"
        return F.count_distinct(column) if column == "user" else F.median(column)


def cases(rows: int) -> tuple[Case, ...]:
    """Give the rows of the table."""
    daily = tuple(mt.hopping(f"{days} days", "1 day") for days in (1, 7, 30))
    tumbling = tuple(mt.tumbling(f"{hours} hours") for hours in (1, 2, 3, 6, 12, 24, 48))
    hopping = (mt.hopping("12 hours", "1 hour"), mt.hopping("1 day", "2 hours"), mt.hopping("3 days", "6 hours"))
    hourly, many = (mt.hopping("30 days", "1 hour"),), (*tumbling, *hopping)
    users, median = mt.count_distinct("user"), mt.median("v")
    distinct: tuple[AnyStrategy, ...] = ("slices_explode", "marks", "ranges_kernel", "auto")
    return (
        Case("active users: 1, 7 and 30 days, daily", daily, users, distinct, rows, rows),
        Case("active users: 30 days, hourly", hourly, users, distinct[1:], rows, rows // 50),
        Case("median: 7 tumbling, 3 hopping 12 times", many, median, distinct[2:], rows // 2, rows // 2),
    )


def holistic(folder: Path, rounds: int, progress: Progress, rows: int = 2_000_000) -> Iterator[Row]:
    """Yield the times of plain Spark, of what was best before there were marks, of both new shapes, and of auto."""
    spark = bench_session()
    for case in cases(rows):
        df = events(spark, folder, case.rows)
        for contender in contenders(events(spark, folder, 20_000), events(spark, folder, 2_000), case).values():
            contender()  # nobody pays for what is compiled and started only once
        times = in_turn(contenders(df, events(spark, folder, case.plain_rows), case), rounds)
        times["plain"] *= case.rows / case.plain_rows
        plan: Any = mt.explain(df, "ts", "country", case.windows, case.asked)
        shapes = list(dict.fromkeys(group.shape.name.lower() for group in plan.groups))
        progress(f"{case.name}: {rounded(times)}, auto takes {', '.join(shapes)}")
        yield {
            "case": case.name,
            "events": case.rows,
            "plain_events": case.plain_rows,
            "seconds": rounded(times),
            "shapes": shapes,
            "estimates": {name: round(cost / 1e6, 3) for name, cost in plan.alternatives},
        }


def events(spark: SparkSession, folder: Path, rows: int) -> DataFrame:
    """Write, once, and read events in order of time, each of any user in any country: ts, country, user and v."""
    path = folder / f"visits_{rows}.parquet"
    if not (path / "_SUCCESS").exists():
        micros = (F.col("id") * F.lit(DAYS * 86_400 * SECOND / rows)).cast("long") + F.lit(1_700_000_000 * SECOND)
        user, country = (F.rand(1) * F.lit(USERS)).cast("long"), (F.rand(3) * F.lit(COUNTRIES)).cast("int")
        made = spark.range(0, rows, 1, 2).select(
            F.timestamp_micros(micros).alias("ts"), country.alias("country"), user.alias("user"), F.randn(2).alias("v")
        )
        made.write.mode("overwrite").parquet(str(path))
    return spark.read.parquet(str(path))


def contenders(df: DataFrame, fewer: DataFrame, case: Case) -> dict[str, Contender]:
    """Make contenders of a case; planning counts."""
    names = {"slices_explode": "sets"}
    ours = {names.get(strategy, strategy): _evaluated(df, case, strategy) for strategy in case.strategies}
    return {"plain": lambda: consume(plain(fewer, case)), **ours}


def _evaluated(df: DataFrame, case: Case, strategy: AnyStrategy) -> Contender:
    return lambda: consume(mt.aggregate(df, "ts", "country", case.windows, case.asked, strategy=strategy))


def plain(df: DataFrame, case: Case) -> DataFrame:
    """Write what a Spark user writes today."""
    branches = []
    for window in case.windows:
        when = F.window("ts", *(f"{length} microseconds" for length in window.period)).alias("window")
        grouped = df.groupBy("country", when).agg(case.plain.alias("result"))
        branches.append(grouped.select(F.lit(window.label).alias("window_id"), "window", "country", "result"))
    return reduce(DataFrame.union, branches)
