"""Spans, slices and places against plain loops."""

import math
import random
from collections.abc import Callable

import numpy as np
import pytest

from muntin.kernels.operators import FirstMax, FirstMin, Max, Min
from muntin.kernels.preceding import after_ties, latest, preceding
from muntin.kernels.protocol import Longs
from muntin.kernels.slices import slice_starts
from muntin.kernels.slick_deque import slick_deque_places
from muntin.kernels.spans import spans
from muntin.window import Window

SHAPES: dict[str, Callable[[random.Random, int], list[float]]] = {
    "growing": lambda r, n: [float(i) for i in range(n)],
    "shrinking": lambda r, n: [float(-i) for i in range(n)],
    "sawtooth": lambda r, n: [float(i % 7) for i in range(n)],
    "random": lambda r, n: [r.gauss(0, 100) for _ in range(n)],
    "equal": lambda r, n: [4.0] * n,
    "nan": lambda r, n: [r.choice([math.nan, 1.0, -2.0]) for _ in range(n)],
}


def ranges_over(rows: int, width: int) -> tuple[Longs, Longs]:
    hi = np.arange(1, rows + 1)
    return np.maximum(0, hi - width), hi


def greatest(values: list[float]) -> float:
    return math.nan if any(map(math.isnan, values)) else max(values)


def least(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return min(known) if known else math.nan


@pytest.mark.parametrize("width", [1, 2, 5, 40])
@pytest.mark.parametrize("shape", SHAPES)
def test_places_are_the_first_or_the_last_of_equals(shape: str, width: int) -> None:
    r = random.Random(width)
    values = SHAPES[shape](r, 60)
    valid = [r.random() < 0.8 for _ in values]
    lo, hi = ranges_over(60, width)
    for operator, best, place_of in (
        (FirstMin(), least, 0),
        (FirstMax(), greatest, 0),
        (Min(), least, -1),
        (Max(), greatest, -1),
    ):
        places = slick_deque_places(operator, np.array(values), np.array(valid), lo, hi)
        for a, b, place in zip(lo, hi, places, strict=True):
            rows = [row for row in range(a, b) if valid[row]]
            wanted = best([values[row] for row in rows]) if rows else None
            same = [
                row for row in rows if values[row] == wanted or (math.isnan(values[row]) and math.isnan(wanted or 0))
            ]
            assert place == (same[place_of] if same else -1)


@pytest.mark.parametrize("seed", range(5))
def test_spans_are_the_instances_that_contain_rows(seed: int) -> None:
    r = random.Random(seed)
    for _ in range(60):
        slide = r.randint(1, 12)
        window = Window(r.randint(slide, 40), slide, r.randint(0, slide))
        groups = [sorted(r.sample(range(-50, 200), r.randint(0, 12))) for _ in range(r.randint(1, 4))]
        bounds = np.cumsum([0, *map(len, groups)])
        time = np.array([t for group in groups for t in group], np.int64)
        sides = spans(bounds, time, *window.period)
        wanted = []
        for first, group in zip(bounds, groups, strict=False):
            starts = sorted({a for t in group for a, _ in window.containing(t)})
            for a in starts:
                inside = [i for i, t in enumerate(group) if a <= t < a + window.range]
                wanted.append((a, first + inside[0], first + inside[-1] + 1))
        assert list(zip(*(side.tolist() for side in sides), strict=True)) == wanted


@pytest.mark.parametrize("seed", range(5))
def test_rows_look_back_on_their_own_group_only(seed: int) -> None:
    r = random.Random(seed)
    for _ in range(60):
        groups = [sorted(r.choices(range(-20, 40), k=r.randint(1, 12))) for _ in range(r.randint(1, 4))]
        bounds = np.cumsum([0, *map(len, groups)])
        time = np.array([t for group in groups for t in group], np.int64)
        length, count = r.choice([0, 1, 5, 100]), r.randint(1, 6)
        first, end = sorted(r.choices(range(len(time) + 1), k=2))
        places = [
            (int(begin), group, place)
            for begin, group in zip(bounds, groups, strict=False)
            for place in range(len(group))
        ]
        back = [
            begin + min(i for i, t in enumerate(group) if t >= group[place] - length) for begin, group, place in places
        ]
        ties = [begin + max(i for i, t in enumerate(group) if t == group[place]) + 1 for begin, group, place in places]
        rows = [begin + max(0, place - count + 1) for begin, _, place in places]
        assert preceding(bounds, time, length, first, end).tolist() == back[first:end]
        assert after_ties(bounds, time).tolist() == ties
        assert latest(bounds, count, first, end).tolist() == rows[first:end]


def test_slices_begin_at_the_latest_edge() -> None:
    r = random.Random(0)
    for _ in range(50):
        slides = np.array([r.randint(1, 30) for _ in range(3)])
        residues = np.array([r.randint(0, 29) for _ in range(3)])
        time = np.array(sorted(r.choices(range(-100, 300), k=40)))
        starts = slice_starts(np.array([0, 15, 40]), np.concatenate([time[:15], time[15:]]), slides, residues)
        wanted = [max(t - (t - e) % s for s, e in zip(slides, residues, strict=True)) for t in time]
        assert starts.tolist() == wanted
