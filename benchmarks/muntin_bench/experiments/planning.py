"""Planning time against the number of windows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product
from math import log
from statistics import median
from time import perf_counter

from muntin.choices import Algorithm
from muntin.plan import plan
from muntin.plan.forest.divisors import divisors
from muntin.window import Window
from muntin_bench.experiments.model import Progress
from muntin_bench.record import Row
from muntin_bench.workload import random_gen, rich_gen

SMALL = (5, 10, 15, 20)
LARGE = (100, 200, 500, 1000)
ALGORITHMS: tuple[Algorithm, ...] = ("shared", "factor", "best")
ROUNDS = 5
LONGEST_SLIDE = 10_000
MOST_SLIDES = 8


def planning_times(
    small: Iterable[int] = SMALL, large: Iterable[int] = LARGE, sets: int = 20, progress: Progress = lambda _: None
) -> Iterator[Row]:
    """Yield the time to plan, in milliseconds, over several window sets of one size.

    Algorithms and sets take turns in several rounds, so that a busy moment of the machine hits all alike.
    """
    plan(random_gen(5, True, 0), "min")  # the first call imports
    for count in small:
        for tumbling in (True, False):
            drawn = [random_gen(count, tumbling, seed) for seed in range(sets)]
            yield from _rows(f"RandomGen {'tumbling' if tumbling else 'hopping'}", count, drawn, progress)
    for count in large:
        drawn = [rich_gen(count, LONGEST_SLIDE, MOST_SLIDES, seed) for seed in range(3)]
        yield from _rows(f"slides to {LONGEST_SLIDE}, ranges to {MOST_SLIDES} slides", count, drawn, progress)


def growth(rows: list[Row]) -> float:
    """Give the exponent with which time grows from the smallest to the largest count: 1 is linear."""
    first, last = min(rows, key=lambda row: row["count"]), max(rows, key=lambda row: row["count"])
    return log(last["median_ms"] / first["median_ms"]) / log(last["count"] / first["count"])


def _rows(family: str, count: int, sets: list[tuple[Window, ...]], progress: Progress) -> Iterator[Row]:
    for aggregate in ("min", "sum"):
        times: dict[Algorithm, list[float]] = {algorithm: [] for algorithm in ALGORITHMS}
        progress(f"{family}, {count} windows, {aggregate}")
        for windows, algorithm in product(sets * ROUNDS, ALGORITHMS):
            divisors.cache_clear()  # a set planned before must not be faster for it
            start = perf_counter()
            plan(windows, aggregate, algorithm=algorithm)
            times[algorithm].append(1000 * (perf_counter() - start))
        for algorithm, measured in times.items():
            row = {
                "family": family,
                "count": count,
                "aggregate": aggregate,
                "algorithm": algorithm,
                "sets": len(sets),
                "rounds": ROUNDS,
            }
            yield {**row, "median_ms": median(measured), "max_ms": max(measured)}
