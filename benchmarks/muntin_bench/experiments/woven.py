"""Trees of the multi-query optimizers at work on the kernels: estimated against measured throughput."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from statistics import mean
from time import process_time
from typing import Any

import numpy as np

from muntin.kernels.catalogue import KERNELS, MANY
from muntin.kernels.operators import Max, Operator, Sum, Timed
from muntin.kernels.protocol import Asked, Longs
from muntin.plan.slicing.edges import Grids, edges_of
from muntin.plan.slicing.weave import weave
from muntin.window import Window
from muntin_bench.record import Row
from muntin_bench.workload import zipf_gen

Progress = Callable[[str], None]

STAND_INS: dict[str, tuple[str, Operator]] = {
    "panes": ("naive", Sum()),
    "flatfat": ("flatfat", Sum()),
    "flatfit": ("flatfit", Sum()),
    "slickdeque_inv": ("subtract_on_evict", Sum()),
    "slickdeque_non_inv": ("slick_deque", Max()),
}
"""The kernel and the operation that stand for each technique of the optimizers."""
QUERIES, LONGEST_SLIDE, MOST_OVERLAP = 100, 100, 1_000
STRETCH = 400_000
"""Units of time, with one event each, that are measured once all windows are full."""
SHORT = 4_000
"""The same for panes, whose answers do not depend on the ones before."""


def estimated_and_measured(rounds: int, progress: Progress, seeds: Sequence[int] = range(3)) -> Iterator[Row]:
    """Yield the cost that a plan was chosen for, and the time that its trees take for an event.

    The windows are those of the paper's practical test at a tenth of its slides and overlaps, so that every window
    turns over several times within seconds.
    """
    for seed in seeds:
        windows = zipf_gen(QUERIES, LONGEST_SLIDE, MOST_OVERLAP, skew=0, seed=seed)
        for algorithm in ("weave_share", "tri_weave"):
            for technique, (name, operator) in STAND_INS.items():
                progress(f"{algorithm}, {technique}, set {seed}")
                plan = weave(windows, technique, algorithm=algorithm)
                stretch = SHORT if name == "naive" else STRETCH
                first = edges_of(windows) if algorithm == "tri_weave" else None
                times = sorted(_run(plan.trees, first, name, operator, stretch) for _ in range(rounds))
                yield {
                    "setting": "measured",
                    "algorithm": algorithm,
                    "technique": technique,
                    "seed": seed,
                    "trees": len(plan.trees),
                    "cost": plan.cost,
                    "nanoseconds": round(1e9 * times[len(times) // 2] / stretch, 3),
                }


def deviation(rows: Sequence[Row]) -> float:
    """Give the mean difference of estimated and measured throughput, both as shares of their largest.

    It is relative to the larger of the two, so that it lies between 0 and 1.

    >>> deviation([{"cost": 1, "nanoseconds": 10}, {"cost": 2, "nanoseconds": 40}])
    0.25
    """
    fastest, cheapest = min(row["nanoseconds"] for row in rows), min(row["cost"] for row in rows)
    pairs = [(cheapest / row["cost"], fastest / row["nanoseconds"]) for row in rows]
    return float(mean(abs(a - b) / max(a, b) for a, b in pairs))


def _run(trees: Sequence[Sequence[Window]], shared: Grids | None, name: str, operator: Operator, stretch: int) -> float:
    """Run all trees over a stream of one event per unit, and give the seconds for the last stretch of it."""
    longest = max(int(window.range) for tree in trees for window in tree)
    values = np.random.default_rng(0).random(longest + stretch)
    total, base, at = 0.0, values, np.arange(len(values) + 1)
    if shared is not None:
        total, base, at = _cut(operator, values, at, shared, longest)
    for tree in trees:
        seconds, partials, edges = _cut(operator, base, at, edges_of(tree), longest)
        groups = [[window] for window in tree] if name == "naive" else [tree]  # panes share partials, not answers
        total += seconds + sum(_answer(name, operator, partials, edges, group, longest) for group in groups)
    return total


def _cut(operator: Operator, values: Any, at: Longs, grids: Grids, since: int) -> tuple[float, Any, Longs]:
    """Combine values, which begin at some times, between edges; give the seconds of those since a time."""
    edges = _edges(grids, int(at[-1]))
    places = np.searchsorted(at, edges)
    lo, hi = places[:-1], places[1:]
    out = np.zeros(len(lo))
    middle = int(np.searchsorted(edges, since))
    KERNELS["naive"](operator, values, lo[:middle], hi[:middle], out[:middle])
    start = process_time()
    KERNELS["naive"](operator, values, lo[middle:], hi[middle:], out[middle:])
    return process_time() - start, out, edges


def _edges(grids: Grids, until: int) -> Longs:
    """Give the edges from 0 on, and the end."""
    return np.unique(np.concatenate([[0, until], *(np.arange(rest, until, slide) for slide, rest in grids)]))


def _answer(name: str, operator: Operator, partials: Any, edges: Longs, tree: Sequence[Window], since: int) -> float:
    """Answer all queries of a tree, and give the seconds of the answers since a time."""
    asked = _asked(edges, tree, since - 2 * LONGEST_SLIDE)
    marks, out = np.zeros(len(partials), np.int64), np.zeros(len(asked.starts))
    start = process_time()
    MANY[name](Timed(operator, marks), partials, asked, out)
    elapsed = process_time() - start
    middle = int(np.searchsorted(edges, since)) - 1
    return elapsed * float(marks[-1] - marks[middle]) / float(marks[-1] - marks[0])


def _asked(edges: Longs, tree: Sequence[Window], since: int) -> Asked:
    """Write down which answers are due after which partials, and where their ranges begin."""
    slides, starts, queries = [], [], []
    for number, window in enumerate(tree):
        ends = np.flatnonzero((edges[1:] % window.slide == 0) & (edges[1:] >= max(since, window.range)))
        slides.append(ends)
        starts.append(np.searchsorted(edges, edges[1:][ends] - window.range))
        queries.append(np.full(len(ends), number))
    at, begin, who = np.concatenate(slides), np.concatenate(starts), np.concatenate(queries)
    order = np.lexsort((-begin, at))
    due = np.searchsorted(at[order], np.arange(len(edges)))
    widest = int((at + 1 - begin).max(initial=1))
    return Asked(due, begin[order], who[order], len(tree), widest)
