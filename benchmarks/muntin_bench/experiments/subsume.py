"""Subsumption groups: Figures 10 and 11 of the subsumption paper, and how quickly groups are built and changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from random import Random
from statistics import fmean, median
from time import perf_counter

from muntin.plan.subsumption import METHODS, Subsumption, subsume
from muntin.plan.subsumption.groups import kept_alone
from muntin.window import Window
from muntin_bench.experiments.model import Progress
from muntin_bench.record import Row
from muntin_bench.workload import scope_gen

CLASSES = {"smooth": 10, "medium": 20, "abrupt": 30}
"""The paper's classes of windows, with their longest slide."""

COUNTS = (1_000, 2_000, 5_000, 10_000)
DRAWS = 3
CHANGED = 200
"""Windows of a grouping that are revoked and embedded again, one at a time."""

Pool = tuple[Window, ...]


def subsume_experiments(
    rounds: int = 5, counts: Sequence[int] = COUNTS, draws: int = DRAWS, progress: Progress = lambda _: None
) -> Iterator[Row]:
    """Yield, for each class, count and way to group: the groups, the time that they keep, and how long it took."""
    for name, longest_slide in CLASSES.items():
        for count in counts:
            progress(f"{name}, {count} windows")
            pools = [scope_gen(count, longest_slide, seed) for seed in range(draws)]
            row: Row = {"class": name, "windows": count, "distinct": [len(set(pool)) for pool in pools]}
            row["alone"] = [sum(map(kept_alone, pool)) for pool in pools]
            row["distinct_alone"] = [sum(map(kept_alone, set(pool))) for pool in pools]
            for method in METHODS:
                built, told = _built(pools, partial(subsume, method=method), rounds)
                yield {**row, "method": method, **told, **_changes(built)}
            _, told = _built(pools, one_by_one, rounds)
            yield {**row, "method": "one by one", **told}


def one_by_one(pool: Pool) -> Subsumption:
    """Embed windows as they come, each once."""
    first, *others = dict.fromkeys(pool)
    grouping = subsume(first)
    for window in others:
        grouping = grouping.embed(window)
    return grouping


def _built(pools: list[Pool], build: Callable[[Pool], Subsumption], rounds: int) -> tuple[list[Subsumption], Row]:
    built, times = [], []
    for pool in pools:
        for _ in range(rounds):
            start = perf_counter()
            grouping = build(pool)
            times.append(1000 * (perf_counter() - start))
        built.append(grouping)
    groups, kept = [len(grouping.groups) for grouping in built], [grouping.kept for grouping in built]
    return built, {"groups": groups, "kept": kept, "build_ms": median(times)}


def _changes(built: list[Subsumption]) -> Row:
    """Time how a window leaves a grouping and comes back, and count the groups after that."""
    embedding, revoking, groups = [], [], []
    for seed, grouping in enumerate(built):
        windows = grouping.windows
        for window in Random(seed).sample(windows, min(CHANGED, len(windows))):  # noqa: S311
            start = perf_counter()
            smaller = grouping.revoke(window)
            between = perf_counter()
            again = smaller.embed(window)
            embedding.append(1e6 * (perf_counter() - between))
            revoking.append(1e6 * (between - start))
            groups.append(len(again.groups) / len(grouping.groups))
    return {"embed_us": median(embedding), "revoke_us": median(revoking), "groups_after": fmean(groups)}
