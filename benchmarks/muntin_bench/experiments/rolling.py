"""Experiments with rolling windows on Spark, against its own window functions with and without the segment tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from pyspark.sql import DataFrame

import muntin as mt
from muntin.choices import RollingStrategy
from muntin.duration import Duration
from muntin_bench.experiments.spark import SECOND, Contender, Progress, bench_session, consume, events, in_turn, rounded
from muntin_bench.record import Row

TREE = "spark.sql.window.segmentTree.enabled"
CONTENDERS: dict[str, tuple[RollingStrategy, str]] = {
    "plain": ("independent", "false"),
    "tree": ("independent", "true"),
    "auto": ("auto", "false"),
}
"""The strategy of each contender, and whether Spark's segment tree is on."""


def rolling(folder: Path, rounds: int, progress: Progress, rows: int = 1_000_000) -> Iterator[Row]:
    """Yield times for long frames, tiny ones, growing numbers of ranges and growing frames; one event per second."""
    spark = bench_session()

    def measured(part: str, count: int, keys: int, frames: list[int], names: Iterable[str], times: int) -> Row:
        df = events(spark, folder, count, keys=keys)
        seconds = in_turn({name: asked(df, keys, frames, name) for name in names}, times)
        progress(f"{part}: {count} events, {keys} keys, frames of {frames} rows: {rounded(seconds)}")
        return {
            "part": part,
            "events": count,
            "keys": keys,
            "ranges": len(frames),
            "frame": max(frames),
            "seconds": rounded(seconds),
        }

    warm = events(spark, folder, rows, keys=10).limit(20_000)
    for name in CONTENDERS:
        asked(warm, 10, [1, 10], name)()
    ours = ["tree", "auto"]
    long = [2_000, 4_000, 6_000, 8_000, 10_000]
    for _ in range(2):  # Spark compiles what it runs often
        asked(events(spark, folder, rows, keys=100), 100, long, "auto")()
    yield measured("long", rows, 100, long, ours, rounds)
    yield measured("long", rows // 20, 5, long, CONTENDERS, 1)
    for frames in ([1], [3], [1, 2, 3], [1, 2, 3, 4, 5]):
        yield measured("tiny", rows, 100, frames, CONTENDERS, rounds)
    for number in (1, 2, 5, 10):
        yield measured("ranges", rows, 10, [100 * n for n in range(1, number + 1)], ours, rounds)
    for frame in (1, 10, 100, 1_000, 10_000, rows // 10):
        yield measured("frames", rows, 10, [frame], CONTENDERS if frame <= 100 else ours, rounds)


def asked(df: DataFrame, keys: int, frames: list[int], name: str) -> Contender:
    """Make a contender that asks for min and sum over ranges of so many rows of a key; planning counts."""
    strategy, tree = CONTENDERS[name]
    ranges = [Duration(max(1, (frame - 1) * keys * SECOND)) for frame in frames]
    aggregates = [mt.min("v"), mt.sum("v")]

    def run() -> None:
        df.sparkSession.conf.set(TREE, tree)
        consume(mt.rolling(df, "ts", "key", ranges, aggregates, strategy=strategy))

    return run
