"""Experiments with batch aggregation on Spark: the paper's tables, keyed data, fine slides, growth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from statistics import fmean

import numpy as np

import muntin as mt
from muntin.bench.record import Row
from muntin.bench.spark import STRATEGIES, Progress, asked, bench_session, events, in_turn, rounded, seconds
from muntin.window import Window
from muntin.workload import random_gen, sequential_sets

COUNTS = (5, 10, 15, 20)


def paper_tables(
    folder: Path,
    rows: int,
    sets: int,
    rounds: int,
    progress: Progress,
    contenders: tuple[str, ...] = tuple(STRATEGIES),
    counts: Iterable[int] = COUNTS,
) -> Iterator[Row]:
    """Yield the ratios of plain Spark to each contender on the paper's window sets: MIN, one event per second."""
    spark = bench_session()
    df = events(spark, folder, rows)
    warm = next(sequential_sets(5, True))
    in_turn(asked(df, seconds(warm), [mt.min("v")], contenders), 1)
    for count in counts:
        for family in ("RandomGen", "SequentialGen"):
            for tumbling in (True, False):
                found = []
                for number, windows in enumerate(_window_sets(family, count, tumbling, sets)):
                    times = in_turn(asked(df, seconds(windows), [mt.min("v")], contenders), rounds)
                    found.append(times)
                    ratio = times["plain"] / times["auto"]
                    progress(
                        f"{rows} events, {family} {count} {_kind(tumbling)} #{number}: auto {ratio:.2f} times plain"
                    )
                yield {
                    "family": family,
                    "count": count,
                    "tumbling": tumbling,
                    "events": rows,
                    "sets": len(found),
                    "ratios": {name: _summary(found, name) for name in contenders if name != "plain"},
                    "seconds": [rounded(times) for times in found],
                }


def _window_sets(family: str, count: int, tumbling: bool, sets: int) -> Iterator[tuple[Window, ...]]:
    if family == "SequentialGen":
        yield from sequential_sets(count, tumbling)
    else:
        yield from (random_gen(count, tumbling, seed) for seed in range(sets))


def _kind(tumbling: bool) -> str:
    return "tumbling" if tumbling else "hopping"


def _summary(found: list[dict[str, float]], name: str) -> Row:
    ratios = [times["plain"] / times[name] for times in found]
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
        df = events(spark, folder, rows, keys=keys, per_second=100)
        one = asked(df, [mt.tumbling("5 minutes")], aggregates, ["plain"])["plain"]
        all_of_them = asked(df, windows, aggregates, ["plain", "auto"])
        times = in_turn({"one window, plain": one, **all_of_them}, rounds)
        progress(f"{keys} keys: {rounded(times)}")
        yield {"keys": keys, "events": rows, "windows": len(windows), "seconds": rounded(times)}


def fine_slides(folder: Path, rounds: int, progress: Progress, rows: int = 100_000) -> Iterator[Row]:
    """Yield times for thirty days sliding by an hour and one day sliding by a minute, over ninety days of events."""
    spark = bench_session()
    windows = [mt.hopping("30 days", "1 hour"), mt.hopping("1 day", "1 minute")]
    for keys in (1, 10):
        df = events(spark, folder, rows, keys=keys, per_second=rows / (90 * 86_400))
        contenders = asked(df, windows, [mt.sum("v"), mt.max("v")], ["plain", "auto"])
        contenders["auto"]()  # the first run compiles the kernels
        times = in_turn(contenders, rounds)
        progress(f"fine slides, {keys} keys: {rounded(times)}")
        yield {"keys": keys, "events": rows, "seconds": rounded(times)}


def growth(folder: Path, rounds: int, progress: Progress) -> Iterator[Row]:
    """Yield times and estimated costs against events, windows and keys."""
    spark = bench_session()
    base, shapes = 3_000_000, ["plain", "native", "kernel", "auto"]
    points: list[tuple[str, int, int, int]] = [
        ("events", n, 10, 100) for n in (1_000_000, 3_000_000, 10_000_000, 30_000_000)
    ]
    points += [("windows", base, n, 100) for n in (1, 2, 5, 20, 50)]
    points += [("keys", base, 10, n) for n in (1, 10_000, 1_000_000)]
    for axis, rows, count, keys in points:
        df = events(spark, folder, rows, keys=keys, per_second=10)
        windows = [mt.tumbling(f"{10 * n} seconds") for n in range(2, count + 2)]
        skipped = {"plain"} if rows > 10_000_000 or count > 20 else set()
        chosen = [name for name in shapes if name not in skipped]
        times = in_turn(asked(df, windows, [mt.min("v"), mt.sum("v")], chosen), rounds)
        estimates = {
            name: mt.explain(df, "ts", "key", windows, [mt.min("v"), mt.sum("v")], strategy=STRATEGIES[name]).cost
            for name in chosen
        }
        progress(f"growth over {axis}: {rows} events, {count} windows, {keys} keys: {rounded(times)}")
        yield {
            "axis": axis,
            "events": rows,
            "windows": count,
            "keys": keys,
            "seconds": rounded(times),
            "estimates": {name: round(cost / 1e6, 3) for name, cost in estimates.items()},
        }


def rank_correlation(rows: Iterable[Row]) -> float:
    """Give Spearman's rank correlation of estimated cost and measured time.

    >>> rank_correlation([{"seconds": {"a": 1.0, "b": 2.0, "c": 5.0}, "estimates": {"a": 3.0, "b": 4.0, "c": 9.0}}])
    1.0
    """
    pairs = [(row["seconds"][name], row["estimates"][name]) for row in rows for name in row["estimates"]]
    ranks = np.argsort(np.argsort(np.array(pairs, float), axis=0), axis=0)
    return round(float(np.asarray(np.corrcoef(ranks.T))[0, 1]), 10)
