"""How far the algorithms are from the exact optimum, on sets of five windows."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from statistics import fmean

from muntin.bench.model import Progress
from muntin.bench.record import Row
from muntin.plan import plan
from muntin.window import Window
from muntin.workload import random_gen, rich_gen, sequential_sets

COUNT = 5
SETS = 100
FAMILIES = (
    "RandomGen tumbling",
    "SequentialGen tumbling",
    "RandomGen hopping",
    "SequentialGen hopping",
    "up to 8 slides",
)
RATES = (1, 10)
ALGORITHMS = ("independent", "shared", "factor", "best")


def gaps(sets: int = SETS, progress: Progress = lambda _: None) -> Iterator[Row]:
    """Yield how much dearer than the optimum each plan is, for min (covered by) and sum (partitioned by)."""
    for family in FAMILIES:
        for aggregate in ("min", "sum"):
            for rate in RATES:
                progress(f"{family}, {aggregate}, rate {rate}")
                drawn = list(window_sets(family, sets))
                best_possible = [plan(windows, aggregate, rate, "optimal").cost for windows in drawn]
                row: Row = {"family": family, "aggregate": aggregate, "rate": rate, "sets": len(drawn)}
                for algorithm in ALGORITHMS:
                    costs = [plan(windows, aggregate, rate, algorithm).cost for windows in drawn]
                    ratios = [Fraction(cost) / least for cost, least in zip(costs, best_possible, strict=True)]
                    row[algorithm] = {
                        "mean": fmean(ratios),
                        "max": float(max(ratios)),
                        "optimal": ratios.count(Fraction(1)),
                    }
                yield row


def window_sets(family: str, sets: int) -> Iterator[tuple[Window, ...]]:
    """Yield the window sets of one family, by seeds from 0."""
    tumbling = family.endswith("tumbling")
    if family.startswith("SequentialGen"):
        yield from sequential_sets(COUNT, tumbling)
        return
    for seed in range(sets):
        yield random_gen(COUNT, tumbling, seed) if family.startswith("RandomGen") else rich_gen(COUNT, 60, 8, seed)
