"""All trials of a calibration, and the prices that explain their times."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from muntin.plan.physical.prices import Prices
from muntin_bench.experiments.calibration.batch import batch_trials
from muntin_bench.experiments.calibration.rolling import rolling_trials
from muntin_bench.experiments.calibration.stream import stream_trials
from muntin_bench.experiments.calibration.trial import Trial
from muntin_bench.experiments.spark import Progress
from muntin_bench.fit import errors, fitted
from muntin_bench.record import Row


def calibrate(folder: Path, rounds: int, progress: Progress) -> Iterator[Row]:
    """Yield every trial, and at last the prices."""
    trials: list[Trial] = []
    for part in (batch_trials, rolling_trials, stream_trials):
        for trial in part(folder, rounds):
            trials.append(trial)
            progress(", ".join(str(value) for value in trial.query.values()) + f": {trial.seconds:.2f} s")
            yield trial.row
    yield solution(trials, progress)


def solved_again(rows: list[Row], progress: Progress) -> Iterator[Row]:
    """Yield the trials of an earlier run, and the prices that explain them now."""
    trials = [Trial.from_row(row) for row in rows if "amounts" in row]
    yield from (trial.row for trial in trials)
    yield solution(trials, progress)


def solution(trials: list[Trial], progress: Progress) -> Row:
    """Give the prices that explain the times of trials, and how well they do."""
    measurements = [trial.measured for trial in trials]
    prices = fitted(measurements, Prices())
    told = {}
    for name, known in (("before", Prices()), ("after", prices)):
        middle, worst = errors(measurements, known)
        told[name] = {"median": round(middle, 3), "worst": round(worst, 3)}
        progress(f"estimates {name}: median error {middle:.0%}, worst {worst:.0%}")
    return {"prices": {name: float(f"{value:.3g}") for name, value in asdict(prices).items()}, "errors": told}
