"""What all experiments on Spark share: event files, contenders, and times that are taken in turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import muntin as mt
from muntin.aggregates import Aggregate
from muntin.choices import AnyStrategy
from muntin.window import Window
from muntin_bench.record import Row

Progress = Callable[[str], None]
Contender = Callable[[], object]

SECOND = 1_000_000
CONTENDERS: dict[str, AnyStrategy] = {
    "plain": "independent",
    "expand": "expand",
    "native": "native",
    "kernel": "kernel",
    "auto": "auto",
}
"""Contenders on Spark by name: the union of window aggregations, one explode and one aggregation, and ours."""


def bench_session() -> SparkSession:
    """Give the session that all measurements run in: every core, 8 GiB, no web page."""
    spark: SparkSession = mt.session(app="muntin bench", config={"spark.driver.memory": "8g"})
    return spark


def events(
    spark: SparkSession, folder: Path, rows: int, *, keys: int = 1, per_second: float = 1, seed: int = 1
) -> DataFrame:
    """Write, once, and read events at a constant pace: ts, key (round the keys at random) and v (normal)."""
    path = folder / f"events_{rows}_{keys}_{per_second:g}.parquet"
    if not (path / "_SUCCESS").exists():
        micros = (F.col("id") * F.lit(SECOND / per_second)).cast("long") + F.lit(1_700_000_000 * SECOND)
        key = (F.rand(seed) * F.lit(keys)).cast("int") if keys > 1 else F.lit(0)
        made = spark.range(0, rows, 1, 2).select(
            F.timestamp_micros(micros).alias("ts"), key.alias("key"), F.randn(seed + 1).alias("v")
        )
        made.write.mode("overwrite").parquet(str(path))
    return spark.read.parquet(str(path))


def warmed(df: DataFrame, aggregates: Iterable[Aggregate]) -> DataFrame:
    """Run a query of some rows in every strategy, so that nobody pays for what is compiled and started only once."""
    small, aggregates = df.limit(3_000_000), list(aggregates)
    windows = [mt.tumbling("1 min"), mt.hopping("20 min", "1 min")]
    for strategy in ("independent", "native", "slices_kernel", "source_slices_kernel", "source_kernel"):
        consume(mt.aggregate(small, "ts", "key", windows, aggregates, strategy=strategy))
    return df


def seconds(windows: Iterable[Window]) -> list[Window]:
    """Read plain windows as seconds."""
    return [Window(w.range * SECOND, w.slide * SECOND, w.offset * SECOND).timed() for w in windows]


def asked(
    df: DataFrame, windows: Iterable[Window], aggregates: Iterable[Aggregate], strategies: Iterable[str]
) -> dict[str, Contender]:
    """Make contenders of strategies; planning counts."""
    windows, aggregates = list(windows), list(aggregates)
    return {name: evaluated(df, windows, aggregates, CONTENDERS[name]) for name in strategies}


def evaluated(df: DataFrame, windows: list[Window], aggregates: list[Aggregate], strategy: AnyStrategy) -> Contender:
    """Make a contender of one strategy."""
    return lambda: consume(mt.aggregate(df, "ts", "key", windows, aggregates, strategy=strategy))


def consume(frame: DataFrame) -> None:
    """Compute all rows and drop them."""
    frame.write.format("noop").mode("overwrite").save()


def in_turn(contenders: dict[str, Contender], rounds: int = 3) -> dict[str, float]:
    """Run contenders one after the other, several times, and give the median of each in seconds."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            start = time.perf_counter()
            contender()
            times[name].append(time.perf_counter() - start)
    return {name: median(seconds) for name, seconds in times.items()}


def rounded(times: dict[str, float]) -> Row:
    """Give times to the millisecond."""
    return {name: round(value, 3) for name, value in times.items()}
