"""Windows of other kinds in batch, beside what a Spark user writes today: a plan for each window, and a union."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import Window as Over
from pyspark.sql import functions as F

import muntin as mt
from muntin.aggregates import Aggregate
from muntin.choices import AnyStrategy
from muntin.window import AnyWindow, Measured, Session, Window
from muntin_bench.experiments.spark import Contender, Progress, bench_session, consume, events, in_turn, rounded
from muntin_bench.record import Row

STRATEGIES: dict[str, AnyStrategy] = {"ordered": "ordered", "auto": "auto"}

GAPS = ("20 seconds", "30 seconds", "45 seconds", "1 minute", "2 minutes")
COUNTS = (50, 100, 200, 500, 1000)
"""Rows of a window; a tenth of them is the slide."""


@dataclass(frozen=True)
class Case:
    """Windows that are asked for together."""

    name: str
    windows: tuple[AnyWindow, ...]


def cases() -> tuple[Case, ...]:
    """Give the windows of every row of the table."""
    sessions = tuple(mt.session_window(gap) for gap in GAPS)
    counts = tuple(mt.hopping(mt.rows(count), mt.rows(count // 10)) for count in COUNTS)
    periodic = (mt.tumbling("1 minute"), mt.tumbling("5 minutes"), mt.tumbling("1 hour"))
    dashboard: tuple[AnyWindow, ...] = (*sessions[1:4], *counts[:3], *periodic, mt.hopping("1 hour", "10 minutes"))
    return (
        Case("one session window", sessions[1:2]),
        Case("5 session gaps", sessions),
        Case("5 windows of rows, ten overlap", counts),
        Case("3 sessions, 3 of rows, 4 periodic", dashboard),
    )


def frames(folder: Path, rounds: int, progress: Progress, rows: int = 3_000_000, keys: int = 1000) -> Iterator[Row]:
    """Yield the times of plain Spark, of all windows in order, and of what auto takes."""
    df = events(bench_session(), folder, rows, keys=keys, per_second=keys / 10)
    for case in cases():
        for contender in contenders(df.where("key < 50"), case).values():
            contender()  # nobody pays for what is compiled and started only once
        times = in_turn(contenders(df, case), rounds)
        plan: Any = mt.explain(df, "ts", "key", case.windows, asked())
        shapes = list(dict.fromkeys(group.shape.name.lower() for group in plan.groups))
        progress(f"{case.name}: {rounded(times)}, auto takes {', '.join(shapes)}")
        yield {
            "case": case.name,
            "events": rows,
            "keys": keys,
            "windows": len(case.windows),
            "seconds": rounded(times),
            "shapes": shapes,
            "estimates": {name: round(cost / 1e6, 3) for name, cost in plan.alternatives},
        }


def contenders(df: DataFrame, case: Case) -> dict[str, Contender]:
    """Make contenders of a case; planning counts."""
    ours: dict[str, Contender] = {name: _evaluated(df, case.windows, strategy) for name, strategy in STRATEGIES.items()}
    return {"plain": lambda: consume(plain(df, case.windows)), **ours}


def _evaluated(df: DataFrame, windows: tuple[AnyWindow, ...], strategy: AnyStrategy) -> Callable[[], None]:
    return lambda: consume(mt.aggregate(df, "ts", "key", windows, asked(), strategy=strategy))


def asked() -> list[Aggregate]:
    """Give the aggregates that all windows are asked for."""
    return [mt.sum("v"), mt.count(), mt.max("v")]


def _plain_aggregates() -> list[Column]:
    return [F.sum("v").alias("sum_v"), F.count("*").alias("count"), F.max("v").alias("max_v")]


def plain(df: DataFrame, windows: tuple[AnyWindow, ...]) -> DataFrame:
    """Write what a Spark user writes today: every window alone, and a union of them."""
    return reduce(DataFrame.union, [_plain(df, window) for window in windows])


def _plain(df: DataFrame, window: AnyWindow) -> DataFrame:
    match window:
        case Window():
            when = F.window("ts", *(f"{length} microseconds" for length in window.period)).alias("window")
        case Session():
            when = F.session_window("ts", f"{int(window.gap)} microseconds").alias("window")
        case Measured():
            return _named(window, _counted(df, int(window.range), int(window.slide)))
        case _:
            raise NotImplementedError(window.label)
    return _named(window, df.groupBy("key", when).agg(*_plain_aggregates()))


def _counted(df: DataFrame, count: int, slide: int) -> DataFrame:
    """Count the rows of every key, give each to its instances, and leave out what is not complete."""
    number = F.row_number().over(Over.partitionBy("key").orderBy("ts")) - 1
    earliest = f"greatest(0, (number - {count} + {slide}) div {slide})"
    numbered = df.select("ts", "key", "v", number.alias("number"))
    exploded = numbered.selectExpr("ts", "key", "v", f"explode(sequence({earliest}, number div {slide})) AS instance")
    times = F.struct(F.min("ts").alias("start"), F.max("ts").alias("end")).alias("window")
    groups = exploded.groupBy("key", "instance").agg(times, *_plain_aggregates())
    return groups.where(f"count = {count}")


def _named(window: AnyWindow, groups: DataFrame) -> DataFrame:
    return groups.select(F.lit(window.label).alias("window_id"), "window", "key", "sum_v", "count", "max_v")
