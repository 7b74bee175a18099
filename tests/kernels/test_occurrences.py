"""Distinct counts by latest occurrences, against sets of items in plain Python, and the paper's own example."""

from __future__ import annotations

import random
from collections import defaultdict

import numpy as np
import pytest

from muntin.duration import FOREVER
from muntin.errors import QueryError
from muntin.kernels.occurrences import count_latest, superseded
from muntin.window import Window

Occurrence = tuple[int, tuple[int, int], int]
"""A group, an item of a kind, and a time."""
A3_8 = [(1, 3), (2, 5), (4, 3), (6, 7), (9, 3), (11, 5)]
"""The paper's items, with their times before them."""


def following(rows: list[Occurrence]) -> list[int]:
    """Give the next time of every occurrence's item in its group."""
    times: dict[tuple[int, tuple[int, int]], list[int]] = defaultdict(list)
    for group, item, time in rows:
        times[group, item].append(time)
    return [min((t for t in times[group, item] if t > time), default=FOREVER) for group, item, time in rows]


def counted(
    rows: list[Occurrence], window: Window, kinds: int, first: int = -FOREVER, last: int = FOREVER
) -> dict[tuple[int, int], tuple[int, ...]]:
    """Count by the kernel."""
    groups = max((group for group, _, _ in rows), default=-1) + 1
    bounds = [sum(group < g for group, _, _ in rows) for g in range(groups + 1)]
    time, kind = [time for _, _, time in rows], [item[0] for _, item, _ in rows]
    range_, slide, offset = window.period
    group, start, counts = count_latest(
        np.array(bounds, np.int64),
        np.array(time, np.int64),
        np.array(following(rows), np.int64),
        np.array(kind, np.int64),
        kinds,
        range=range_,
        slide=slide,
        offset=offset,
        first=first,
        last=last,
    )
    places = list(zip(group.tolist(), start.tolist(), strict=True))
    assert places == sorted(set(places))
    return dict(zip(places, map(tuple, counts.tolist()), strict=True))


def by_sets(rows: list[Occurrence], window: Window, kinds: int) -> dict[tuple[int, int], tuple[int, ...]]:
    """Count by a set for every instance."""
    items: dict[tuple[int, int], set[tuple[int, int]]] = defaultdict(set)
    for group, item, time in rows:
        for start, _ in window.containing(time):
            items[group, start].add(item)
    return {place: tuple(sum(kind == k for kind, _ in held) for k in range(kinds)) for place, held in items.items()}


@pytest.mark.parametrize("seed", range(60))
def test_counts_are_those_of_sets(seed: int) -> None:
    """Several groups and kinds, rows of no kind, gaps of all sizes, windows on and off their own grid."""
    r = random.Random(seed)
    slide = r.randint(1, 12)
    window = Window(slide + r.choice([0, r.randint(0, 40), slide * r.randint(0, 5)]), slide, r.randrange(slide))
    kinds = r.choice([1, 1, 2, 3])
    reach = r.choice([30, 200, 10**6, 10**12])
    rows = list(
        {
            (r.randrange(3), (r.randrange(-1, kinds), r.randrange(r.choice([1, 4, 30]))), r.randint(-reach, reach))
            for _ in range(r.choice([0, 1, 5, 60, 200]))
        }
    )
    rows.sort(key=lambda row: row[0])  # in any order within a group
    wanted = by_sets(rows, window, kinds)
    assert counted(rows, window, kinds) == wanted
    starts = sorted(start for _, start in wanted) or [0]
    first, last = sorted(r.choices(starts, k=2))
    inside = {place: counts for place, counts in wanted.items() if first <= place[1] <= last}
    assert counted(rows, window, kinds, first, last) == inside


def test_the_papers_items() -> None:
    """A3.8: at 8 the windows of 4 and 10 have one item and three, at 11 two and three; ends are inclusive there."""
    rows = [(0, (0, value), time) for time, value in A3_8]
    for range_, counts in ((4, {8: 1, 11: 2}), (10, {8: 3, 11: 3})):
        instances = counted(rows, Window(range_, 1), 1)
        assert {now: instances[0, now + 1 - range_][0] for now in counts} == counts


def test_what_later_occurrences_stand_for() -> None:
    """What is left at 8 and at 11 is the latest occurrence of every item, as the paper's longest window has it."""
    for now, latest in ((8, {3: 4, 5: 2, 7: 6}), (11, {3: 9, 5: 11, 7: 6})):
        rows = [(0, (0, value), time) for time, value in A3_8 if time <= now]
        gone = set(superseded(np.array(following(rows), np.int64), now + 1).tolist())
        assert {item: time for place, (_, (_, item), time) in enumerate(rows) if place not in gone} == latest


def test_bad_input() -> None:
    with pytest.raises(QueryError, match="3 times, 3 that follow and 2 kinds"):
        count_latest([0, 3], [1, 2, 3], [9, 9, 9], [0, 0], 1, range=3, slide=1)
    with pytest.raises(QueryError, match="kinds from 0 to 1 are not -1 or one of 1"):
        count_latest([0, 2], [1, 2], [9, 9], [0, 1], 1, range=3, slide=1)
    with pytest.raises(QueryError, match="slide is 0"):
        count_latest([0, 2], [1, 2], [9, 9], [0, 0], 1, range=3, slide=0)
