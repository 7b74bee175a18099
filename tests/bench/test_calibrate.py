from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import asdict, replace
from itertools import chain
from pathlib import Path

import pytest
from click.testing import CliRunner

from muntin.aggregates import Aggregate
from muntin.cli import main
from muntin.plan.physical.batch import Bundle, choose
from muntin.plan.physical.prices import Amounts, Prices
from muntin.plan.physical.rolling import Rolling
from muntin.plan.physical.shapes import PERIODIC, Shape
from muntin.plan.physical.work import Work
from muntin.plan.statistics import Statistics
from muntin_bench.experiments.calibration.batch import AGGREGATES, SETS, SUMS, designs, limited, plan_units
from muntin_bench.experiments.calibration.rolling import AGGREGATES as ROLLED
from muntin_bench.experiments.calibration.rolling import KEYS, LONGEST_PLAIN, WAYS, rolling_designs
from muntin_bench.experiments.calibration.run import solution
from muntin_bench.experiments.calibration.stream import SHAPES, stream_designs, stream_units
from muntin_bench.experiments.calibration.trial import Trial
from muntin_bench.fit import Measured, errors, fitted
from muntin_bench.record import load, record, save

RESULT = Path(__file__).parents[2] / "benchmarks/results/calibrate.json"
MEDIAN, DISTINCT = AGGREGATES["median"][0], AGGREGATES["distinct"][0]


def batch_units() -> Iterator[Amounts]:
    """Count the units of work of the batch design, as if no two columns were the same."""
    for design in designs():

        def work(asked: tuple[Aggregate, ...], statistics: Statistics = design.statistics) -> Work:
            return Work(statistics, len(asked), 1, holistic=int(MEDIAN in asked), sets=int(DISTINCT in asked))

        def bundling(asked: tuple[Aggregate, ...]) -> Bundle:
            unable = {shape for shape in Shape if MEDIAN in asked and shape.needs_merge}
            unable |= {shape for shape in Shape if DISTINCT in asked and shape.needs_merge and shape.uses_kernel}
            unable |= {Shape.MARKS} - ({Shape.MARKS} if asked == (DISTINCT,) else set())
            unable |= {Shape.RANGES_KERNEL} if MEDIAN not in asked and DISTINCT not in asked else set()
            return Bundle(asked, work(asked), frozenset(PERIODIC) - unable)

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


def test_every_price_stays_above_zero() -> None:
    made = [Measured({"scan": 100.0, "stage": 1.0}, 20.0), Measured({"scan": 1000.0, "stage": 1.0}, 200.0)]
    prices = fitted(made, Prices())
    assert 0 < prices.stage < Prices().stage


def test_the_solution_tells_prices_and_errors() -> None:
    told: list[str] = []
    row = solution(
        [Trial({"part": "batch"}, {"scan": 1e6}, 0.3), Trial({"part": "batch"}, {"scan": 2e6}, 0.6)], told.append
    )
    assert set(row["prices"]) == set(asdict(Prices()))
    assert row["errors"]["after"]["worst"] < row["errors"]["before"]["worst"]
    assert len(told) == 2


def test_trials_are_solved_again(tmp_path: Path) -> None:
    trials = [Trial({"part": "batch", "shape": "expand"}, {"scan": n * 1e6, "stage": 1.0}, 0.2 + n) for n in (1, 3, 9)]
    save(record("calibrate", "muntin bench calibrate", [trial.row for trial in trials], rounds=1), tmp_path / "old")
    command = ["bench", "calibrate", "--trials", str(tmp_path / "old"), "--out", str(tmp_path / "new")]
    assert CliRunner().invoke(main, command).exit_code == 0
    *rows, solved = load(tmp_path / "new")["rows"]
    assert rows == [trial.row for trial in trials]
    assert solved["prices"]["scan"] > Prices().scan


def test_committed_prices_come_from_the_committed_run() -> None:
    *_, solved = load(RESULT)["rows"]
    assert solved["prices"] == asdict(Prices())
