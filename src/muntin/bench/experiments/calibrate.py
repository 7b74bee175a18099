"""A small design of experiments for the prices of batch plans: every shape over a few inputs and queries."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import muntin as mt
from muntin.aggregates import Aggregate
from muntin.bench.experiments.spark import Progress, bench_session, evaluated, events, in_turn, warmed
from muntin.bench.fit import Measured, errors, fitted
from muntin.bench.record import Row
from muntin.plan.physical.prices import Amounts, Prices
from muntin.plan.physical.shapes import Shape
from muntin.plan.physical.work import amounts
from muntin.plan.slicing.grids import density, slicing
from muntin.plan.statistics import Statistics
from muntin.spark.batch.choice import work_of
from muntin.spark.input.reading import prepare
from muntin.window import Window

PACE = 10
"""Events per second."""
SETS: dict[str, list[Window]] = {
    "5 tumbling": [mt.tumbling(f"{n} min") for n in (1, 2, 3, 5, 10)],
    "8 hopping": [mt.hopping(f"{n} min", "2 min") for n in (4, 6, 8, 10, 12, 16, 20, 30)],
    "1 tumbling": [mt.tumbling("5 min")],
}
AGGREGATES: dict[str, list[Aggregate]] = {
    "min": [mt.min("v")],
    "five": [mt.sum("v"), mt.count(), mt.min("v"), mt.max("v"), mt.avg("v")],
}


@dataclass(frozen=True, slots=True)
class Design:
    """One input and one query."""

    rows: int
    keys: int
    windows: str
    aggregates: str


def designs(rows: tuple[int, ...] = (300_000, 3_000_000), keys: tuple[int, ...] = (1, 1000)) -> Iterator[Design]:
    """Yield few inputs and queries among which every unit of work is now much, now little."""
    for size, many, windows, aggregates in product(rows, keys, SETS, AGGREGATES):
        yield Design(size, many, windows, aggregates)


def calibrate(folder: Path, rounds: int, progress: Progress) -> Iterator[Row]:
    """Yield every shape's time with its units of work, and at last the prices that explain them."""
    spark, cores = bench_session(), os.cpu_count() or 1
    measurements: list[Measured] = []
    for design in designs():
        windows, aggregates = SETS[design.windows], AGGREGATES[design.aggregates]
        df = events(spark, folder, design.rows, keys=design.keys, per_second=PACE)
        if not measurements:
            warmed(df, aggregates)
        names: list[Any] = [shape.name.lower() for shape in Shape]
        times = in_turn({name: evaluated(df, windows, aggregates, name) for name in names}, rounds)
        span = design.rows * 1_000_000 // PACE
        statistics = Statistics(design.rows, design.keys, span, ordered=True)
        source = prepare(df, "ts", ["key"], windows, aggregates)
        for shape, name in zip(Shape, names, strict=True):
            work = work_of(source.events, statistics, Prices())
            load = work.load(windows)
            if shape.uses_slices:
                grids = slicing(windows)
                load = load.cut(density(grids), len(grids))
            units = amounts(work, load, shape)[0]
            measurements.append(Measured(units, times[name] * cores * 1e6))
            yield {**asdict(design), "shape": name, "seconds": round(times[name], 3), "amounts": _rounded(units)}
        progress(f"calibrate: {design.rows} rows, {design.keys} keys, {design.windows}, {design.aggregates}")
    prices = fitted(measurements, Prices())
    for name, known in (("before", Prices()), ("after", prices)):
        middle, worst = errors(measurements, known)
        progress(f"estimates {name}: median error {middle:.0%}, worst {worst:.0%}")
    yield {"prices": {name: float(f"{value:.3g}") for name, value in asdict(prices).items()}}


def _rounded(units: Amounts) -> Row:
    return {name: float(f"{value:.4g}") for name, value in units.items() if value}
