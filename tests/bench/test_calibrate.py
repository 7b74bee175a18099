from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import chain

import pytest

from muntin.aggregates import Aggregate
from muntin.bench.experiments.calibration.batch import AGGREGATES, SETS, SUMS, designs, limited, plan_units
from muntin.bench.experiments.calibration.rolling import AGGREGATES as ROLLED
from muntin.bench.experiments.calibration.rolling import KEYS, LONGEST_PLAIN, WAYS, rolling_designs
from muntin.bench.experiments.calibration.run import solution
from muntin.bench.experiments.calibration.stream import SHAPES, stream_designs, stream_units
from muntin.bench.experiments.calibration.trial import Trial
from muntin.bench.fit import Measured, errors, fitted
from muntin.plan.physical.batch import Bundle, choose
from muntin.plan.physical.prices import Amounts, Prices
from muntin.plan.physical.rolling import Rolling
from muntin.plan.physical.shapes import Shape
from muntin.plan.physical.work import Work
from muntin.plan.statistics import Statistics

MEDIAN, DISTINCT = AGGREGATES["median"][0], AGGREGATES["distinct"][0]


def batch_units() -> Iterator[Amounts]:
    """Count the units of work of the batch design, as if no two columns were the same."""
    for design in designs():

        def work(asked: tuple[Aggregate, ...], statistics: Statistics = design.statistics) -> Work:
            return Work(statistics, len(asked), 1, holistic=int(MEDIAN in asked), sets=int(DISTINCT in asked))

        def bundling(asked: tuple[Aggregate, ...]) -> Bundle:
            unable = {shape for shape in Shape if MEDIAN in asked and shape.needs_merge}
            unable |= {shape for shape in Shape if DISTINCT in asked and shape.uses_kernel}
            return Bundle(asked, work(asked), frozenset(Shape) - unable)

        asked = AGGREGATES[design.aggregates]
        classes = [tuple(a for a in asked if a in SUMS), *((a,) for a in asked if a not in SUMS)]
        for strategy in design.strategies:
            plan = choose(bundling, [each for each in classes if each], tuple(SETS[design.windows]), strategy)
            units = plan_units({each: work(each) for each in plan.bundles}, plan)
            yield limited(units) if design.limited else units


def rolling_units() -> Iterator[Amounts]:
    for rows, frames, aggregates in rolling_designs():
        work = Work(Statistics(rows, KEYS, rows * 1_000_000), len(ROLLED[:aggregates]), 1)
        for way, (_, shape, tree) in WAYS.items():
            if way != "plain" or max(frames) <= LONGEST_PLAIN:
                yield Rolling(work, tuple(map(float, frames)), 3, aggregates, tree == "true").amounts(shape)


def all_units() -> list[Amounts]:
    """Count the units of work of all designs."""
    streams = (stream_units(setting, shape) for setting in stream_designs() for shape in SHAPES.values())
    return list(chain(batch_units(), rolling_units(), streams))


def test_every_price_is_calibrated() -> None:
    used = {name for units in all_units() for name, amount in units.items() if amount}
    assert used == set(asdict(Prices()))


@pytest.mark.parametrize("seed", range(3))
def test_prices_that_made_the_times_explain_them(seed: int) -> None:
    r = random.Random(seed)
    true = replace(Prices(), **{name: value * r.uniform(0.4, 2.5) for name, value in asdict(Prices()).items()})
    made = [Measured(units, true.of(units) * r.uniform(0.97, 1.03)) for units in all_units()]
    before, _ = errors(made, Prices())
    after, worst = errors(made, fitted(made, Prices()))
    assert after < 0.05 < before
    assert worst < 0.25


def test_no_price_falls_below_zero() -> None:
    made = [Measured({"scan": 100.0, "stage": 1.0}, 20.0), Measured({"scan": 1000.0, "stage": 1.0}, 200.0)]
    prices = fitted(made, Prices())
    assert prices.stage >= 0
    assert prices.scan > Prices().scan


def test_the_solution_tells_prices_and_errors() -> None:
    told: list[str] = []
    row = solution(
        [Trial({"part": "batch"}, {"scan": 1e6}, 0.3), Trial({"part": "batch"}, {"scan": 2e6}, 0.6)], told.append
    )
    assert set(row["prices"]) == set(asdict(Prices()))
    assert row["errors"]["after"]["worst"] < row["errors"]["before"]["worst"]
    assert len(told) == 2
