"""Batch plans: every shape over a few inputs and queries, among which every unit of work is now much, now little."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

import muntin as mt
from muntin.aggregates import Aggregate
from muntin.plan.physical.grouping import counted
from muntin.plan.physical.plans import PhysicalPlan
from muntin.plan.physical.prices import Amounts, Prices, added
from muntin.plan.physical.shapes import READING, Shape
from muntin.plan.physical.work import Work
from muntin.plan.statistics import Statistics
from muntin.spark.batch.choice import plan_batch, work_of
from muntin.spark.input.reading import prepare
from muntin.spark.input.source import Source
from muntin.spark.sessions import ARROW_BYTES, UNLIMITED
from muntin.window import Window
from muntin_bench.experiments.calibration.trial import Trial
from muntin_bench.experiments.spark import Contender, bench_session, consume, events, in_turn, warmed

PACE = 10
"""Events per second."""
FEW, MANY = 200_000, 2_000_000
SETS: dict[str, list[Window]] = {
    "5 tumbling": [mt.tumbling(f"{n} min") for n in (1, 2, 3, 5, 10)],
    "5 hopping": [mt.hopping(f"{n} min", "2 min") for n in (4, 6, 8, 10, 12)],
    "1 tumbling": [mt.tumbling("5 min")],
}
SUMS = [mt.sum("v"), mt.count(), mt.min("v"), mt.max("v"), mt.avg("v")]
AGGREGATES: dict[str, list[Aggregate]] = {
    "min": [mt.min("v")],
    "five": SUMS,
    "median": [mt.median("v")],
    "distinct": [mt.count_distinct("v")],
    "mixed": [*SUMS, mt.median("v"), mt.count_distinct("v")],
}
SHAPES = tuple(shape.name.lower() for shape in Shape if shape not in READING)
STRATEGIES: dict[str, tuple[str, ...]] = {
    "min": SHAPES,
    "five": SHAPES,
    "median": ("independent", "expand", "ranges_kernel"),
    "distinct": ("independent", "expand", "slices_explode", "ranges_kernel", "marks"),
    "mixed": ("independent", "native", "kernel"),
}
"""The strategies that each query is run in; those of the last evaluate its aggregates apart, and join them."""
AT_SOURCE = ("rows_kernel", "source_kernel", "source_slices_kernel")
"""The shapes that send rows to Python."""


@dataclass(frozen=True, slots=True)
class Design:
    """One input and one query."""

    rows: int
    keys: int
    windows: str
    aggregates: str
    limited: bool = False
    """Whether Spark limits the bytes of a batch on its way to Python."""

    @property
    def strategies(self) -> tuple[str, ...]:
        """The strategies that it is run in."""
        return AT_SOURCE if self.limited else STRATEGIES[self.aggregates]

    @property
    def statistics(self) -> Statistics:
        """The true size of the input."""
        return Statistics(self.rows, self.keys, self.rows * 1_000_000 // PACE)


def designs() -> Iterator[Design]:
    """Yield few inputs and queries."""
    for rows, keys, windows, aggregates in product((FEW, MANY), (1, 1000), SETS, ("min", "five")):
        yield Design(rows, keys, windows, aggregates)
    for keys, windows, aggregates in product((1, 1000), ("5 tumbling", "5 hopping"), ("median", "distinct", "mixed")):
        yield Design(FEW, keys, windows, aggregates)
    for keys, aggregates in product((1, 1000), ("min", "five")):
        yield Design(MANY, keys, "5 tumbling", aggregates, limited=True)


def batch_trials(folder: Path, rounds: int) -> Iterator[Trial]:
    """Yield the time and the units of work of every design in every strategy."""
    spark = bench_session()
    warmed(events(spark, folder, MANY, keys=1000, per_second=PACE), SUMS)
    for design in designs():
        df = events(spark, folder, design.rows, keys=design.keys, per_second=PACE)
        spark.conf.set(ARROW_BYTES, str(64 * 2**20 if design.limited else UNLIMITED))
        times = in_turn({name: _asked(df, design, name) for name in design.strategies}, rounds)
        source = prepare(df, "ts", ["key"], SETS[design.windows], AGGREGATES[design.aggregates])
        for name in design.strategies:
            units = units_of(source, plan_batch(source, name, design.statistics))
            query = {"part": "batch", **asdict(design), "shape": name}
            yield Trial(query, limited(units) if design.limited else units, times[name])
    spark.conf.set(ARROW_BYTES, str(UNLIMITED))


def _asked(df: DataFrame, design: Design, strategy: Any) -> Contender:
    windows, aggregates = SETS[design.windows], AGGREGATES[design.aggregates]
    return lambda: consume(
        mt.aggregate(df, "ts", "key", windows, aggregates, strategy=strategy, statistics=design.statistics)
    )


def units_of(source: Source, physical: PhysicalPlan) -> Amounts:
    """Count the units of work that a plan was priced by."""
    works = {
        aggregates: work_of(source.only(aggregates).events, physical.statistics, Prices())
        for aggregates in physical.bundles
    }
    return plan_units(works, physical)


def plan_units(works: dict[tuple[Aggregate, ...], Work], physical: PhysicalPlan) -> Amounts:
    """Count the units of work of a plan whose bundles have these sizes."""
    parts = [counted(works[group.aggregates], group.windows, group.shape) for group in physical.groups]
    if len(works) > 1:
        windows = {window for group in physical.groups for window in group.windows}
        parts += [work.joined(sum(map(work.instances, windows))) for work in works.values()]
    return added(*parts)


def limited(units: Amounts) -> Amounts:
    """Name the way to Python as it is where Spark limits the bytes of a batch.

    >>> limited({"scan": 3, "transfer": 2, "column": 4})
    {'scan': 3, 'limited_transfer': 2, 'limited_column': 4}
    """
    names = {"transfer": "limited_transfer", "column": "limited_column"}
    return {names.get(name, name): value for name, value in units.items()}
