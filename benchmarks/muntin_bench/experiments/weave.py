"""Many queries in trees: Experiments 1 to 5 of the incremental-evaluation paper, and how its optimizers scale."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from random import Random
from statistics import fmean
from time import process_time
from typing import Any

from muntin.choices import WeaveAlgorithm
from muntin.plan.forest.divisors import divisors
from muntin.plan.slicing.edges import counted, marked, period, unmarked
from muntin.plan.slicing.grids import Grid, union
from muntin.plan.slicing.weave import FORMS, OMEGAS, weave
from muntin.plan.slicing.weave.model import Model, weave_share_model
from muntin.plan.slicing.weave.share import weave_share
from muntin.query import distinct_windows
from muntin.window import Window
from muntin_bench.experiments.model import Progress
from muntin_bench.record import Row
from muntin_bench.workload import zipf_gen

NAMES = tuple(OMEGAS["printed"])
ALGORITHMS: tuple[WeaveAlgorithm, ...] = ("no_share", "max_share", "weave_share", "tri_weave")
VARIANTS: tuple[WeaveAlgorithm, ...] = ("weave_share", "tri_weave", "tri_weave_b")


@dataclass(frozen=True, slots=True)
class Setting:
    """The parameters of a query set, as in the paper's Table 4."""

    queries: int = 100
    longest_slide: int = 1000
    most_slides: int = 10_000
    rate: float = 1
    skew: float = 0

    def draw(self, seed: int) -> tuple[Window, ...]:
        """Draw one query set."""
        return zipf_gen(self.queries, self.longest_slide, self.most_slides, self.skew, seed)


EXPERIMENTS: dict[int, tuple[str, tuple[float, ...]]] = {
    1: ("queries", (1, 10, 100, 1000, 10_000)),
    2: ("longest_slide", (10, 100, 1000, 10_000, 100_000)),
    3: ("most_slides", (100, 1000, 10_000, 100_000, 1_000_000)),
    4: ("rate", (0.01, 0.1, 1, 10, 100)),
    5: ("skew", (-1, -0.5, 0, 0.5, 1)),
}
"""What each experiment varies."""

FAMILIES: dict[str, Sequence[int]] = {
    "divisors of 1,000,000": divisors(10**6),
    "any up to 40": range(2, 41),
    "any up to 1000": range(2, 1001),
}
"""Slides whose edges are counted."""

MARKING_LENGTH, MARKING_SECONDS = 3 * 10**8, 3.0
"""Marking is given up for longer composite slides, and when it once took longer."""

COUNTED = (2, 5, 10, 20, 50, 100, 1000, 10_000, 100_000, 1_000_000)
MILLION = 1_000_000
MANY, MANY_RUNS = 10_000, 3
"""From so many queries on, fewer sets are averaged."""


def weave_experiments(
    runs: int = 10,
    experiments: Mapping[int, tuple[str, Sequence[float]]] = EXPERIMENTS,
    million: int = MILLION,
    progress: Progress = lambda _: None,
) -> Iterator[Row]:
    """Yield rows of all parts: costs by experiment, forms and variants, starts, counting, and a million queries."""
    for number, (parameter, values) in experiments.items():
        for value in values:
            progress(f"experiment {number}, {parameter} {value}")
            yield from _experiment(number, parameter, value, runs)
    progress("forms, variants and starts")
    yield from _variants(runs)
    yield from _starts(runs, min(1000, million))
    for family in FAMILIES:
        progress(f"edges of slides: {family}")
        yield from _counting(family, million)
    progress(f"{million} queries")
    yield from _many(million)


def _experiment(number: int, parameter: str, value: float, runs: int) -> Iterator[Row]:
    changed: dict[str, Any] = {parameter: value}
    setting = replace(Setting(), **changed)
    sets = [setting.draw(seed) for seed in range(runs if setting.queries < MANY else min(runs, MANY_RUNS))]
    for technique, algorithm in product(NAMES, ALGORITHMS):
        row = {"part": "experiment", "experiment": number, "parameter": parameter, "value": value}
        yield row | _averages(sets, technique, algorithm, "printed", setting.rate)


def _averages(
    sets: list[tuple[Window, ...]], technique: str, algorithm: WeaveAlgorithm, form: str, rate: float = 1
) -> Row:
    plans, times = [], []
    for windows in sets:
        start = process_time()
        plans.append(weave(windows, technique, rate, algorithm, form))
        times.append(process_time() - start)
    return {
        "technique": technique,
        "algorithm": algorithm,
        "form": form,
        "runs": len(sets),
        "cost": fmean(plan.cost for plan in plans),
        "trees": fmean(len(plan.trees) for plan in plans),
        "seconds": {"mean": fmean(times), "max": max(times)},
    }


def _variants(runs: int) -> Iterator[Row]:
    """Compare printed and repaired forms, and both readings of TriWeave, on 100 queries."""
    sets = [Setting().draw(seed) for seed in range(runs)]
    for technique, algorithm, form in product(NAMES, VARIANTS, FORMS):
        yield {"part": "variant"} | _averages(sets, technique, algorithm, form)


def _starts(runs: int, queries: int) -> Iterator[Row]:
    """Compare greedy merging of single windows with that of windows grouped by equal edges."""
    for technique in NAMES:
        ratios = []
        for seed in range(runs):
            windows = distinct_windows(replace(Setting(), queries=queries).draw(seed))
            model: Model = weave_share_model(OMEGAS["repaired"][technique], windows, Fraction(1))
            single, together = (model.cost(weave_share(model, windows, most)) for most in (len(windows), 1))
            ratios.append(together / single)
        yield {"part": "start", "technique": technique, "mean": fmean(ratios), "min": min(ratios), "max": max(ratios)}


def _counting(family: str, most: int) -> Iterator[Row]:
    """Time marking and Formula F1 on the slides of more and more queries."""
    random, patient = Random(0), True  # noqa: S311
    for count in [count for count in COUNTED if count <= most]:
        grids: tuple[Grid, ...] = tuple((slide, 0) for slide in random.choices(FAMILIES[family], k=count))
        unmarked.cache_clear()  # slides counted before must not be faster for it
        start = process_time()
        kept = union(grids)
        by_formula = counted(kept)
        row: Row = {"part": "counting", "family": family, "queries": count, "grids": len(kept)}
        row |= {"formula_seconds": process_time() - start, "marking_seconds": None}
        if patient and period(grids) <= MARKING_LENGTH:
            start = process_time()
            by_marking = marked(grids)
            row["marking_seconds"] = process_time() - start
            row["equal"] = by_marking * period(kept) == by_formula * period(grids)
            patient = row["marking_seconds"] < MARKING_SECONDS
        yield row


def _many(count: int) -> Iterator[Row]:
    windows = replace(Setting(), queries=count).draw(0)
    distinct = len(set(windows))
    for technique in NAMES:
        row = {"part": "many", "queries": count, "distinct": distinct}
        yield row | _averages([windows], technique, "weave_share", "repaired")
