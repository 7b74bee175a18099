"""Rolling plans: window functions with and without the segment tree, and kernels, over short and long frames."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pyspark.sql import DataFrame

import muntin as mt
from muntin.choices import RollingStrategy
from muntin.duration import Duration
from muntin.plan.physical.prices import Amounts
from muntin.plan.physical.rolling import RollingShape
from muntin.plan.statistics import Statistics
from muntin.spark.rolling_windows.choice import sizes_of
from muntin.spark.rolling_windows.request import checked, frames_of
from muntin_bench.experiments.calibration.trial import Trial
from muntin_bench.experiments.rolling import TREE
from muntin_bench.experiments.spark import SECOND, Contender, bench_session, consume, events, in_turn

KEYS = 100
AGGREGATES = (mt.min("v"), mt.sum("v"))
WAYS: dict[str, tuple[RollingStrategy, RollingShape, str]] = {
    "plain": ("independent", RollingShape.INDEPENDENT, "false"),
    "tree": ("independent", RollingShape.INDEPENDENT, "true"),
    "kernel": ("kernel", RollingShape.KERNEL, "false"),
}
"""The strategy and the shape of each way, and whether Spark's segment tree is on."""
LONGEST_PLAIN = 100
"""The longest frame that is read again for every row in a calibration."""


def rolling_designs() -> Iterator[tuple[int, list[int], int]]:
    """Yield numbers of events, frames in rows of a key, and how many aggregates are asked for."""
    for rows in (200_000, 1_000_000):
        for frames in ([1], [5, 20, 100], [1_000], [500, 1_000, 2_000]):
            for aggregates in (1, 2):
                yield rows, frames, aggregates


def rolling_trials(folder: Path, rounds: int) -> Iterator[Trial]:
    """Yield the time and the units of work of every query in every way."""
    spark = bench_session()
    for way in WAYS:
        _asked(events(spark, folder, 1_000_000, keys=KEYS), way, [5, 20], 2)()
    for rows, frames, aggregates in rolling_designs():
        df = events(spark, folder, rows, keys=KEYS)
        ways = [way for way in WAYS if way != "plain" or max(frames) <= LONGEST_PLAIN]
        times = in_turn({way: _asked(df, way, frames, aggregates) for way in ways}, rounds)
        for way in ways:
            query = {"part": "rolling", "rows": rows, "frames": frames, "aggregates": aggregates, "shape": way}
            yield Trial(query, _units(df, way, rows, frames, aggregates), times[way])
    spark.conf.set(TREE, "false")


def _ranges(frames: list[int]) -> list[Duration]:
    """Give the ranges of time that have so many rows of a key on average, at one event per second."""
    return [Duration(max(1, (frame - 1) * KEYS * SECOND)) for frame in frames]


def _asked(df: DataFrame, way: str, frames: list[int], aggregates: int) -> Contender:
    strategy, _, tree = WAYS[way]

    def run() -> None:
        df.sparkSession.conf.set(TREE, tree)
        consume(mt.rolling(df, "ts", "key", _ranges(frames), AGGREGATES[:aggregates], strategy=strategy))

    return run


def _units(df: DataFrame, way: str, rows: int, frames: list[int], aggregates: int) -> Amounts:
    _, shape, tree = WAYS[way]
    df.sparkSession.conf.set(TREE, tree)
    request = checked(df, "ts", ("key",), frames_of(_ranges(frames), ()), AGGREGATES[:aggregates])
    return sizes_of(request, Statistics(rows, KEYS, rows * SECOND)).amounts(shape)
