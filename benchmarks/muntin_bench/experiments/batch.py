"""Experiments with batch aggregation on Spark: the paper's tables, keyed data, fine slides, growth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

import muntin as mt
from muntin.aggregates import Aggregate
from muntin.plan.physical.shapes import PERIODIC
from muntin.spark.sessions import ARROW_BYTES, UNLIMITED
from muntin.window import Window
from muntin_bench.experiments.spark import (
    CONTENDERS,
    Contender,
    Progress,
    asked,
    bench_session,
    consume,
    evaluated,
    events,
    in_turn,
    rounded,
    seconds,
    warmed,
)
from muntin_bench.record import Row
from muntin_bench.workload import random_gen, sequential_gen, sequential_sets

COUNTS = (5, 10, 15, 20)


def paper_tables(
    folder: Path,
    rows: int,
    sets: int,
    rounds: int,
    progress: Progress,
    contenders: tuple[str, ...] = tuple(CONTENDERS),
    counts: Iterable[int] = COUNTS,
) -> Iterator[Row]:
    """Yield the ratios of plain Spark to each contender on the paper's window sets: MIN, one event per second."""
    spark = bench_session()
    asked_for = [mt.min("v")]
    df = warmed(events(spark, folder, rows), asked_for)
    for count in counts:
        for family in ("RandomGen", "SequentialGen"):
            for tumbling in (True, False):
                measured = []
                for number, windows in enumerate(_window_sets(family, count, tumbling, sets)):
                    times = in_turn(asked(df, seconds(windows), asked_for, contenders), rounds)
                    measured.append(times)
                    ratio = times["plain"] / times["auto"]
                    progress(
                        f"{rows} events, {family} {count} {_kind(tumbling)} #{number}: auto {ratio:.2f} times plain"
                    )
                yield {
                    "family": family,
                    "count": count,
                    "tumbling": tumbling,
                    "events": rows,
                    "sets": len(measured),
                    "ratios": {name: _summary(measured, name) for name in contenders if name != "plain"},
                    "seconds": [rounded(times) for times in measured],
                }


def _window_sets(family: str, count: int, tumbling: bool, sets: int) -> Iterator[tuple[Window, ...]]:
    if family == "SequentialGen":
        yield from sequential_sets(count, tumbling)
    else:
        yield from (random_gen(count, tumbling, seed) for seed in range(sets))


def _kind(tumbling: bool) -> str:
    return "tumbling" if tumbling else "hopping"


def _summary(measured: list[dict[str, float]], name: str) -> Row:
    ratios = [times["plain"] / times[name] for times in measured]
    return {"mean": round(fmean(ratios), 3), "max": round(max(ratios), 3), "min": round(min(ratios), 3)}


def keyed(folder: Path, rounds: int, progress: Progress, rows: int = 10_000_000) -> Iterator[Row]:
    """Yield what twenty windows of minutes to days cost over one of plain Spark; five aggregates, 100 events/s."""
    spark = bench_session()
    aggregates = [mt.sum("v"), mt.count(), mt.min("v"), mt.max("v"), mt.avg("v")]
    windows = [mt.tumbling(f"{n} minutes") for n in (1, 2, 3, 5, 10, 15, 20, 30, 45)]
    windows += [mt.tumbling(f"{n} hours") for n in (1, 2, 3, 4, 6, 8, 12)]
    windows += [mt.tumbling("1 day"), mt.hopping("1 hour", "5 minutes"), mt.hopping("6 hours", "30 minutes")]
    windows += [mt.hopping("1 day", "1 hour")]
    for keys in (100, 100_000):
        df = warmed(events(spark, folder, rows, keys=keys, per_second=100), aggregates)
        one = asked(df, [mt.tumbling("5 minutes")], aggregates, ["plain"])["plain"]
        all_of_them = asked(df, windows, aggregates, ["plain", "auto"] if keys <= 1000 else ["auto"])
        times = in_turn({"one window, plain": one, **all_of_them}, rounds)
        progress(f"{keys} keys: {rounded(times)}")
        yield {"keys": keys, "events": rows, "windows": len(windows), "seconds": rounded(times)}


def mixed(folder: Path, rounds: int, progress: Progress, rows: int = 1_000_000) -> Iterator[Row]:
    """Yield what sums, a median and a distinct count over ten windows take: each alone, together, in plain Spark."""
    spark = bench_session()
    df = events(spark, folder, rows, keys=100, per_second=10).withColumn("item", F.expr("CAST(v * 100 AS INT)"))
    sums = [mt.sum("v"), mt.count(), mt.min("v"), mt.max("v"), mt.avg("v")]
    median, distinct = [mt.median("v")], [mt.count_distinct("item")]
    windows = [mt.tumbling(f"{n} minutes") for n in (5, 10, 15, 30, 60)]
    windows += [mt.hopping(f"{n} minutes", f"{n // 3} minutes") for n in (15, 30, 60, 90, 120)]
    parts = {"sums": sums, "median": median, "distinct count": distinct, "together": [*sums, *median, *distinct]}
    contenders = {name: evaluated(df, windows, asked_for, "auto") for name, asked_for in parts.items()}
    contenders["together, plain"] = evaluated(df, windows, parts["together"], "independent")
    for contender in contenders.values():  # nobody pays for what is compiled and started only once
        contender()
    times = in_turn(contenders, rounds)
    progress(f"mixed: {rounded(times)}")
    plan: Any = mt.explain(df, "ts", "key", windows, parts["together"])
    shapes = list(dict.fromkeys(group.shape.name.lower() for group in plan.groups))
    yield {"events": rows, "windows": len(windows), "seconds": rounded(times), "shapes": shapes}


def fine_slides(folder: Path, rounds: int, progress: Progress, rows: int = 50_000) -> Iterator[Row]:
    """Yield times for thirty days sliding by an hour and one day sliding by a minute, over ninety days of events."""
    spark = bench_session()
    windows = [mt.hopping("30 days", "1 hour"), mt.hopping("1 day", "1 minute")]
    aggregates = [mt.sum("v"), mt.max("v")]
    for keys in (1, 10):
        df = warmed(events(spark, folder, rows, keys=keys, per_second=rows / (90 * 86_400)), aggregates)
        times = in_turn(asked(df, windows, aggregates, ["plain", "auto"]), rounds)
        progress(f"fine slides, {keys} keys: {rounded(times)}")
        yield {"keys": keys, "events": rows, "seconds": rounded(times)}


def growth(folder: Path, rounds: int, progress: Progress) -> Iterator[Row]:
    """Yield times and estimated costs against events, windows and keys."""
    spark = bench_session()
    aggregates = [mt.min("v"), mt.sum("v")]
    base, shapes = 3_000_000, ["plain", "native", "kernel", "auto"]
    points = [("events", n, 10, 100) for n in (1_000_000, 3_000_000, 10_000_000)]
    points += [("windows", base, n, 100) for n in (1, 2, 5, 20, 50)]
    points += [("keys", base, 10, n) for n in (1, 10_000, 100_000)]
    warmed(events(spark, folder, base, keys=100, per_second=10), aggregates)
    for axis, rows, count, keys in points:
        df = events(spark, folder, rows, keys=keys, per_second=10)
        windows = [mt.tumbling(f"{10 * n} seconds") for n in range(2, count + 2)]
        skipped = {"plain"} if count > 20 else set()
        chosen = [name for name in shapes if name not in skipped]
        times = in_turn(asked(df, windows, aggregates, chosen), rounds)
        estimates = _estimates(df, windows, aggregates)
        progress(f"growth over {axis}: {rows} events, {count} windows, {keys} keys: {rounded(times)}")
        yield {
            "axis": axis,
            "events": rows,
            "windows": count,
            "keys": keys,
            "seconds": rounded(times),
            "estimates": {name: round(estimates[name] / 1e6, 3) for name in chosen},
        }


def _estimates(df: DataFrame, windows: list[Window], aggregates: list[Aggregate]) -> dict[str, float]:
    """Give the estimated cost of each contender, all by the same statistics."""
    asked_for: tuple[Any, ...] = (df, "ts", "key", windows, aggregates)
    known = mt.explain(*asked_for, strategy="native").statistics
    return {
        name: mt.explain(*asked_for, strategy=strategy, statistics=known).cost for name, strategy in CONTENDERS.items()
    }


def transfer(folder: Path, rounds: int, progress: Progress, rows: int = 10_000_000) -> Iterator[Row]:
    """Yield the time to send rows to Python with Spark's own limit of bytes a batch, and without one."""
    spark = bench_session()
    df = events(spark, folder, rows).select("ts", "v")

    def send(limit: int) -> Contender:
        def run() -> None:
            spark.conf.set(ARROW_BYTES, str(limit))
            consume(df.mapInArrow(_counted, "n long"))

        return run

    limits = {"64 MiB a batch, as Spark has it": 64 * 2**20, "no limit": UNLIMITED}
    contenders: dict[str, Contender] = {name: send(limit) for name, limit in limits.items()}
    times = in_turn({"read only": lambda: consume(df), **contenders}, rounds)
    spark.conf.set(ARROW_BYTES, str(UNLIMITED))
    progress(f"transfer: {rounded(times)}")
    yield {"events": rows, "seconds": rounded(times)}


def _counted(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    yield pa.RecordBatch.from_arrays([pa.array([sum(batch.num_rows for batch in batches)])], names=["n"])


def shapes(folder: Path, rounds: int, progress: Progress, rows: int = 10_000_000) -> Iterator[Row]:
    """Yield the time of every physical shape beside its estimate."""
    spark = bench_session()
    asked_for = [mt.min("v")]
    df = warmed(events(spark, folder, rows), asked_for)
    sets = {
        "20 tumbling, 20 to 210 s": sequential_gen(20, True, 10),
        "5 tumbling, 4 to 12 s": sequential_gen(5, True, 2),
        "10 tumbling, RandomGen": random_gen(10, True, 1),
        "10 hopping, slides 20 to 110 s": sequential_gen(10, False, 10),
    }
    names: list[Any] = [shape.name.lower() for shape in PERIODIC]
    for label, plain in sets.items():
        windows = seconds(plain)
        times = in_turn({name: evaluated(df, windows, asked_for, name) for name in names}, rounds)
        costs = mt.explain(df, "ts", "key", windows, asked_for).alternatives
        progress(f"{label}: {rounded(times)}")
        estimates = {name: round(cost / 1e6, 3) for name, cost in costs}
        yield {"set": label, "events": rows, "seconds": rounded(times), "estimates": estimates}
