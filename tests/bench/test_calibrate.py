from __future__ import annotations

import random
from dataclasses import asdict, replace

import pytest

from muntin.bench.experiments.calibrate import AGGREGATES, PACE, SETS, designs
from muntin.bench.fit import Measured, errors, fitted
from muntin.plan.physical.prices import Prices
from muntin.plan.physical.shapes import Shape
from muntin.plan.physical.work import Work, amounts
from muntin.plan.slicing.grids import density, slicing
from muntin.plan.statistics import Statistics

NOT_BATCH = {"holistic", "distinct", "member", "join"}
"""Prices of batch plans that the design leaves as they are: no aggregate of it needs rows or sets."""


def units() -> list[dict[str, float]]:
    """Count the units of work of the whole design, as if every partial were sent."""
    counted = []
    for design in designs():
        windows = SETS[design.windows]
        statistics = Statistics(design.rows, design.keys, design.rows * 1_000_000 // PACE)
        work = Work(statistics, len(AGGREGATES[design.aggregates]), 1)
        for shape in Shape:
            grids = slicing(windows)
            load = work.load(windows).cut(density(grids), len(grids)) if shape.uses_slices else work.load(windows)
            counted.append(dict(amounts(work, load, shape)[0]))
    return counted


def test_the_design_has_every_unit_of_batch_plans() -> None:
    had = {name for counted in units() for name, amount in counted.items() if amount}
    stream = list(asdict(Prices())).index("state_row")
    assert had == set(list(asdict(Prices()))[:stream]) - NOT_BATCH


@pytest.mark.parametrize("seed", range(3))
def test_prices_that_made_the_times_explain_them(seed: int) -> None:
    r = random.Random(seed)
    true = replace(Prices(), **{name: value * r.uniform(0.4, 2.5) for name, value in asdict(Prices()).items()})
    made = [Measured(counted, true.of(counted) * r.uniform(0.97, 1.03)) for counted in units()]
    before, _ = errors(made, Prices())
    after, worst = errors(made, fitted(made, Prices()))
    assert after < 0.05 < before
    assert worst < 0.25


def test_no_price_falls_below_zero() -> None:
    made = [Measured({"scan": 100.0, "stage": 1.0}, 20.0), Measured({"scan": 1000.0, "stage": 1.0}, 200.0)]
    prices = fitted(made, Prices())
    assert prices.stage >= 0
    assert prices.scan > Prices().scan
