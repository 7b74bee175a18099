"""Many queries over one input, drawn from a pool, against plain Spark, which runs each of them alone."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.query import Query
from muntin.window import Window
from muntin_bench.experiments.spark import SECOND, Contender, Progress, bench_session, consume, in_turn, rounded
from muntin_bench.record import Row

COUNTS = (2, 5, 20, 100)
"""Queries of the sets; a larger set has the queries of the smaller ones. The largest is for the first seed alone."""
SEEDS = (1, 2)
APART_UP_TO = 20
"""Queries up to which they are also evaluated by Muntin one by one."""
PER_SECOND = 100
DEVICES, KINDS, REGIONS = 100, 5, 10
FILTERS = (
    None,
    *(f"kind = {kind}" for kind in range(KINDS)),
    *(f"region BETWEEN {low} AND {high}" for low, high in ((0, 4), (5, 9), (2, 7), (0, 8))),
    *(f"v > {bound}" for bound in (-1, 0, 1)),
    "kind = 1 AND v > 0",
    "region = 3 OR kind = 2",
)
"""Equalities, which are disjoint, ranges that overlap, and both together."""
KEYS = ((), ("device",), ("region",), ("region", "kind"), ("device", "kind"))
WINDOWS = (
    *("1 minute", "5 minutes", "10 minutes", "15 minutes", "30 minutes", "1 hour", "6 hours", "1 day"),
    *("10 minutes every 1 minute", "1 hour every 10 minutes", "6 hours every 1 hour", "1 day every 1 hour"),
)
AGGREGATES = ("count", "sum", "min", "max", "avg", "stddev")


@dataclass(frozen=True, slots=True)
class Drawn:
    """A query of a pool."""

    where: str | None
    by: tuple[str, ...]
    windows: tuple[str, ...]
    aggregates: tuple[str, ...]

    def query(self, name: str) -> Query:
        """Ask it of Muntin."""
        asked = [mt.count() if one == "count" else getattr(mt, one)("v") for one in self.aggregates]
        return mt.Query("ts", self.by, list(self.windows), asked, where=self.where, name=name)

    def plain(self, df: DataFrame) -> DataFrame:
        """Ask it of Spark, as its users write it: a window aggregation for every window, and a union."""
        rows = df if self.where is None else df.where(self.where)
        asked = [F.count("*").alias("count") if one == "count" else _column(one) for one in self.aggregates]
        branches = []
        for window in mt.Query("ts", (), list(self.windows), mt.count()).periodic:
            groups = rows.groupBy(*self.by, _spark_window(window))
            branches.append(groups.agg(*asked).withColumn("window_id", F.lit(window.label)))
        return reduce(DataFrame.union, branches)


def _column(name: str) -> Column:
    made: Column = getattr(F, name)("v")
    return made.alias(f"{name}_v")


def _spark_window(window: Window) -> Column:
    range, slide, _ = (f"{length} microseconds" for length in window.period)
    return F.window("ts", range, slide).alias("window")


def drawn(seed: int) -> list[Drawn]:
    """Draw as many queries as the largest set has."""
    r = random.Random(seed)  # noqa: S311 - no secret
    pool: dict[Drawn, None] = {}
    while len(pool) < max(COUNTS):
        windows, asked = r.sample(WINDOWS, r.randint(1, 3)), r.sample(AGGREGATES, r.randint(1, 3))
        pool[Drawn(r.choice(FILTERS), r.choice(KEYS), tuple(windows), tuple(asked))] = None
    return list(pool)


def queries(folder: Path, rounds: int, progress: Progress, events: int = 10_000_000) -> Iterator[Row]:
    """Yield the times of sets of queries: each alone in plain Spark, each alone in Muntin, and all together."""
    spark = bench_session()
    df = readings(spark, folder, events)
    _warmed(readings(spark, folder, max(1, events // 20)))
    for seed in SEEDS:
        pool = drawn(seed)
        for count in COUNTS if seed == SEEDS[0] else COUNTS[:-1]:
            some = pool[:count]
            times = in_turn(contenders(df, some), rounds if count < max(COUNTS) else 1)
            plan: Any = mt.explain(df, [one.query(f"q{place}") for place, one in enumerate(some)])
            progress(f"seed {seed}, {count} queries: {rounded(times)}, {plan!r}")
            yield {
                "seed": seed,
                "queries": count,
                "events": events,
                "windows": sum(len(one.windows) for one in some),
                "filters": len({one.where for one in some}),
                "keys": len({one.by for one in some}),
                "seconds": rounded(times),
                "shares": [{"way": share.way, "queries": len(share.queries)} for share in plan.shares],
                "estimates": {name: round(cost / 1e6, 3) for name, cost in plan.alternatives},
            }


def readings(spark: SparkSession, folder: Path, rows: int) -> DataFrame:
    """Write, once, and read events at a constant pace: ts, device, kind, region and v."""
    path = folder / f"readings_{rows}.parquet"
    if not (path / "_SUCCESS").exists():
        micros = (F.col("id") * F.lit(SECOND // PER_SECOND)).cast("long") + F.lit(1_700_000_000 * SECOND)
        drawn = [
            (F.rand(10 * place) * F.lit(many)).cast("int").alias(name)
            for place, (name, many) in enumerate((("device", DEVICES), ("kind", KINDS), ("region", REGIONS)), start=1)
        ]
        made = spark.range(0, rows, 1, 2).select(F.timestamp_micros(micros).alias("ts"), *drawn, F.randn(1).alias("v"))
        made.write.mode("overwrite").parquet(str(path))
    return spark.read.parquet(str(path))


def contenders(df: DataFrame, some: list[Drawn]) -> dict[str, Contender]:
    """Make contenders of a set; planning counts, and so does what is materialised."""
    asked = [one.query(f"q{place}") for place, one in enumerate(some)]

    def plain() -> None:
        for one in some:
            consume(one.plain(df))

    def evaluated(strategy: Any) -> Contender:
        def run() -> None:
            with mt.evaluate(df, asked, strategy=strategy) as results:
                for rows in results.values():
                    consume(rows)

        return run

    made: dict[str, Contender] = {"plain": plain, "auto": evaluated("auto")}
    return made | ({"apart": evaluated("apart")} if len(some) <= APART_UP_TO else {})


def _warmed(df: DataFrame) -> None:
    """Run some queries in every way, so that nobody pays for what is compiled and started only once."""
    for contender in contenders(df, drawn(0)[:5]).values():
        contender()
