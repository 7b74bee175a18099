"""How far the algorithms are from the exact optimum, on small sets of windows."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from statistics import fmean
from typing import Any

from muntin.choices import Algorithm
from muntin.plan import Semantics, plan
from muntin.plan.forest.best import choose
from muntin.plan.forest.candidates import candidates
from muntin.plan.forest.horizon import parse_horizon
from muntin.plan.forest.problem import state
from muntin.window import Window
from muntin_bench.experiments.model import Progress
from muntin_bench.record import Row
from muntin_bench.workload import any_gen, fine_gen, random_gen, rich_gen, sequential_sets

COUNT = 5
SETS = 100
RICH = {"slides to 12, ranges to 8 slides": 12, "slides to 60, ranges to 8 slides": 60}
"""Families that go beyond the paper's, with their longest slide."""

ANY = "slides to 24, any ranges and offsets"
FINE = "3 to 5 windows, slides to 3, any ranges to 70 and offsets"
"""Fine slides beside long ranges: many factor windows that no asked window's own grid suggests."""

FAMILIES = (
    "RandomGen tumbling",
    "SequentialGen tumbling",
    "RandomGen hopping",
    "SequentialGen hopping",
    *RICH,
    ANY,
    FINE,
)
RATES = (1, 10)
ALGORITHMS: tuple[Algorithm, ...] = ("independent", "shared", "factor", "best")


def gaps(sets: int = SETS, progress: Progress = lambda _: None) -> Iterator[Row]:
    """Yield how much dearer than the optimum each plan is, for min (covered by) and sum (partitioned by)."""
    for family in FAMILIES:
        drawn = list(window_sets(family, sets))
        for aggregate, (rate, horizon) in product(("min", "sum"), settings(family)):
            progress(f"{family}, {aggregate}, rate {rate}{', steady' if horizon else ''}")
            least = [plan(windows, aggregate, rate, "optimal", horizon).cost for windows in drawn]
            costs: dict[str, list[Any]] = {
                name: [plan(windows, aggregate, rate, name, horizon).cost for windows in drawn] for name in ALGORITHMS
            }
            costs["tumbling"] = [_tumbling_cost(windows, aggregate, rate, horizon) for windows in drawn]
            row: Row = {"family": family, "aggregate": aggregate, "rate": rate, "horizon": horizon, "sets": len(drawn)}
            yield row | {name: _gap(each, least) for name, each in costs.items()}


def settings(family: str) -> Iterator[tuple[int, str | None]]:
    """Yield the rates and horizons that a family is planned for; None is the paper's horizon."""
    if family == FINE:
        yield from product((1, 2, 10), (None, "steady"))
    else:
        yield from product(RATES, (None,))


def window_sets(family: str, sets: int) -> Iterator[tuple[Window, ...]]:
    """Yield the window sets of one family, by seeds from 0."""
    tumbling = family.endswith("tumbling")
    if family.startswith("SequentialGen"):
        yield from sequential_sets(COUNT, tumbling)
        return
    for seed in range(sets):
        if family in RICH:
            yield rich_gen(COUNT, RICH[family], 8, seed)
        elif family == ANY:
            yield any_gen(COUNT, 24, 6, seed)
        elif family == FINE:
            yield fine_gen(3 + seed % 3, 3, 70, seed)
        else:
            yield random_gen(COUNT, tumbling, seed)


def _tumbling_cost(windows: tuple[Window, ...], aggregate: str, rate: int, horizon: str | None) -> int | Fraction:
    """Plan like best, but with tumbling factor windows only."""
    semantics = Semantics.COVERED_BY if aggregate == "min" else Semantics.PARTITIONED_BY
    problem, scale = state(windows, semantics, Fraction(rate), parse_horizon(horizon, windows))
    pool = [period for period in candidates(problem) if period[0] == period[1]]
    return scale.cost(problem.cost(choose(problem, pool)))


def _gap(costs: list[int | Fraction], least: list[int | Fraction]) -> Row:
    ratios = [Fraction(cost) / optimum for cost, optimum in zip(costs, least, strict=True)]
    return {"mean": fmean(ratios), "max": float(max(ratios)), "optimal": ratios.count(Fraction(1))}
