"""Model cost on the paper's window sets: how much Algorithms 1 and 3, and ours, save over independent evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from statistics import fmean

from muntin.choices import Algorithm
from muntin.plan import plan
from muntin.window import Window
from muntin_bench.record import Row
from muntin_bench.workload import random_gen, sequential_sets

COUNTS = (5, 10, 15, 20)
FAMILIES = ("RandomGen", "SequentialGen")
RANDOM_SETS = {True: 100, False: 30}
"""RandomGen sets in a row of tumbling and of hopping windows."""

ALGORITHMS: tuple[Algorithm, ...] = ("shared", "factor", "best")

Progress = Callable[[str], None]


def model_ratios(
    counts: Iterable[int] = COUNTS, families: Iterable[str] = FAMILIES, progress: Progress = lambda _: None
) -> Iterator[Row]:
    """Yield mean and greatest ratio of independent cost to each algorithm's, for MIN at one event per unit."""
    for count in counts:
        for family in families:
            for tumbling in (True, False):
                progress(f"{family} {count} {'tumbling' if tumbling else 'hopping'}")
                sets = list(window_sets(family, count, tumbling))
                row: Row = {"family": family, "count": count, "tumbling": tumbling, "sets": len(sets)}
                for algorithm in ALGORITHMS:
                    ratios = [_ratio(windows, algorithm) for windows in sets]
                    row[algorithm] = {"mean": fmean(ratios), "max": max(ratios)}
                yield row


def window_sets(family: str, count: int, tumbling: bool) -> Iterator[tuple[Window, ...]]:
    """Yield the window sets of one row: seeds 0, 1, … for RandomGen, the three possible ones for SequentialGen."""
    if family == "SequentialGen":
        yield from sequential_sets(count, tumbling)
    else:
        for seed in range(RANDOM_SETS[tumbling]):
            yield random_gen(count, tumbling, seed)


def _ratio(windows: tuple[Window, ...], algorithm: Algorithm) -> float:
    forest = plan(windows, "min", algorithm=algorithm)
    return float(Fraction(forest.independent_cost) / forest.cost)
