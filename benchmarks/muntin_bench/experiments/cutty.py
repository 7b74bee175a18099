"""Cutty against its competitors on the workloads of its paper: combinations, slices held, and rows per second."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from muntin.kernels.cutty.marks import Marks, marks_of
from muntin.kernels.cutty.ways import WAYS, evaluate, run
from muntin.kernels.entrance import Column
from muntin.kernels.operators import Means
from muntin.kernels.protocol import Longs
from muntin_bench.experiments.kernels import Progress, in_turn
from muntin_bench.record import Row

ROWS = 1_000_000
"""Records of the stream: 2.8 hours at 100 a second."""
QUERIES = (1, *range(10, 101, 10))
RANGES, SLIDES, STEP = (20_000, 80_000), (1_000, 20_000), 10
"""The paper's periodic windows, in records."""
SENSORS = np.geomspace(100, 10_000, 20)
"""Mean records between two changes of each active sensor."""
GAP = 2.0
"""Mean distances without a change after which a session ends."""
PASSES = {name: 1 if name in ("naive", "reactive_aggregator") else 10 for name in WAYS}
"""How often a way goes over the stream in one measurement: what is over in a moment is measured for longer."""
SEED = 12


class Instances(NamedTuple):
    """Windows [lo, hi) of all queries, in order of their ends."""

    lo: Longs
    hi: Longs


def cutty_experiments(
    rounds: int, progress: Progress, rows: int = ROWS, counts: Sequence[int] = QUERIES
) -> Iterator[Row]:
    """Yield what every way takes for every number of queries; larger workloads have the queries of the smaller ones.

    Windows that the stream does not complete are left out. Periodic ones know their ends before they come, so pairs can
    cut there; sessions do not, so pairs cannot serve them. Marks are made before the clock starts.
    """
    values = energy(rows)
    sharing = [name for name in WAYS if not name.startswith("pairs")]
    kinds: list[tuple[str, Callable[[int, int], list[Instances]], list[str]]] = [
        ("periodic", periodic, list(WAYS)),
        ("sessions", sessions, sharing),
    ]
    for workload, draw, ways in kinds:
        queries = draw(max(counts), rows)
        for count in counts:
            progress(f"{workload}, {count} queries")
            windows = in_order(queries[:count])
            for row in _compared(values, windows, ways, rounds):
                yield {"workload": workload, "queries": count, "rows": rows, "instances": len(windows.lo), **row}


def energy(rows: int) -> Column:
    """Make a stream like that of DEBS 2012: three measures of energy, whole numbers, each row with its count of 1."""
    random = np.random.default_rng(SEED)
    waves = 1000 * np.sin(np.arange(rows)[:, None] / np.array([9_000.0, 17_000.0, 31_000.0]))
    measures = np.round(np.array([13_000.0, 9_500.0, 16_000.0]) + waves + random.normal(0, 150, (rows, 3)))
    return np.concatenate([np.ones((rows, 1)), measures], axis=1)


def periodic(count: int, rows: int) -> list[Instances]:
    """Draw queries of periodic windows; every range and slide is as likely as any other."""
    random = np.random.default_rng(SEED)
    drawn = []
    for _ in range(count):
        range_, slide = (
            STEP * int(random.integers(least // STEP, most // STEP, endpoint=True)) for least, most in (RANGES, SLIDES)
        )
        begins = np.arange(0, rows - range_ + 1, slide)
        drawn.append(Instances(begins, begins + range_))
    return drawn


def sessions(count: int, rows: int) -> list[Instances]:
    """Draw queries of sessions: a sensor changes at random, and a session lasts until it is quiet for a while.

    >>> (one,) = sessions(1, 100_000)
    >>> bool((one.lo < one.hi).all() and (one.hi[:-1] <= one.lo[1:]).all())
    True
    """
    random = np.random.default_rng(SEED)
    drawn = []
    for _ in range(count):
        mean = float(random.choice(SENSORS))
        gap = round(GAP * mean)
        changes = np.cumsum(random.geometric(1 / mean, size=int(2 * rows / mean) + 20))
        opens = np.diff(changes, prepend=-gap) >= gap
        first = np.flatnonzero(opens)
        last = np.append(first[1:] - 1, len(changes) - 1)
        lo, hi = changes[first], changes[last] + gap
        drawn.append(Instances(lo[hi <= rows], hi[hi <= rows]))
    return drawn


def in_order(queries: Sequence[Instances]) -> Instances:
    """Put the windows of all queries in the order of their ends."""
    lo, hi = (np.concatenate(side) for side in zip(*queries, strict=True))
    order = np.argsort(hi, kind="stable")
    return Instances(lo[order], hi[order])


def _compared(values: Column, windows: Instances, ways: Sequence[str], rounds: int) -> Iterator[Row]:
    """Yield the work of each way, and its speed without counting; ways run in turn."""
    first, rows = None, []
    runs: dict[str, Callable[[], int]] = {}
    for name in ways:
        results, work = evaluate(name, Means(), values, *windows)
        first = results if first is None else first
        rows.append({"way": name, **work._asdict(), "equal": bool(np.array_equal(results, first))})
        marks = marks_of(*windows, WAYS[name].cuts(*windows, len(values)), len(values))
        runs[name] = partial(_passes, name, values, marks, np.zeros_like(results))
    speeds = in_turn(runs, rounds)
    for row in rows:
        name = row["way"]
        yield {**row, "rows_per_second": round(PASSES[name] * len(values) / speeds[name])}


def _passes(name: str, values: Column, marks: Marks, out: Column) -> int:
    return [run(WAYS[name], [Means()] * 3, values, marks, out)[1] for _ in range(PASSES[name])][-1]
