"""Kernels against plain loops: shapes of input × operations."""

import math
import random
from collections.abc import Callable

import numpy as np
import pytest

from muntin.kernels.longs import sum_longs, sum_wide
from muntin.kernels.moments import merge_ranges
from muntin.kernels.preceding import after_ties, latest, preceding
from muntin.kernels.ranges import MAX, MIN, SUM, place_ranges, reduce_ranges
from muntin.kernels.slices import slice_starts
from muntin.kernels.spans import Longs, spans
from muntin.steps import merge_moments
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
def test_reductions(shape: str, width: int) -> None:
    values = SHAPES[shape](random.Random(width), 60)
    lo, hi = ranges_over(60, width)
    pieces = [values[a:b] for a, b in zip(lo, hi, strict=True)]
    array = np.array(values)
    np.testing.assert_allclose(
        reduce_ranges(array, lo, hi, SUM),
        [math.fsum(p) if not any(map(math.isnan, p)) else math.nan for p in pieces],
        rtol=1e-12,
        atol=1e-12,
    )
    np.testing.assert_array_equal(reduce_ranges(array, lo, hi, MIN), list(map(least, pieces)))
    np.testing.assert_array_equal(reduce_ranges(array, lo, hi, MAX), list(map(greatest, pieces)))
    everything = np.ones(60, np.bool_)
    np.testing.assert_array_equal(array[place_ranges(array, everything, lo, hi, MIN)], list(map(least, pieces)))
    np.testing.assert_array_equal(array[place_ranges(array, everything, lo, hi, MAX)], list(map(greatest, pieces)))


@pytest.mark.parametrize("seed", range(5))
def test_spans_are_the_instances_that_contain_rows(seed: int) -> None:
    r = random.Random(seed)
    for _ in range(60):
        slide = r.randint(1, 12)
        window = Window(r.randint(slide, 40), slide, r.randint(0, slide))
        groups = [sorted(r.sample(range(-50, 200), r.randint(0, 12))) for _ in range(r.randint(1, 4))]
        bounds = np.cumsum([0, *map(len, groups)])
        time = np.array([t for group in groups for t in group], np.int64)
        found = spans(bounds, time, *window.shape)
        wanted = []
        for first, group in zip(bounds, groups, strict=False):
            starts = sorted({a for t in group for a, _ in window.containing(t)})
            for a in starts:
                inside = [i for i, t in enumerate(group) if a <= t < a + window.range]
                wanted.append((a, first + inside[0], first + inside[-1] + 1))
        assert list(zip(*(side.tolist() for side in found), strict=True)) == wanted


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
        found = slice_starts(np.array([0, 15, 40]), np.concatenate([time[:15], time[15:]]), slides, residues)
        wanted = [max(t - (t - e) % s for s, e in zip(slides, residues, strict=True)) for t in time]
        assert found.tolist() == wanted


@pytest.mark.parametrize("width", [1, 3, 50])
def test_whole_numbers_are_added_exactly(width: int) -> None:
    r = random.Random(width)
    lo, hi = ranges_over(80, width)
    values = [r.randint(-(2**120), 2**120) for _ in range(80)]
    words = np.array([[v & (2**64 - 1), (v >> 64) & (2**64 - 1)] for v in values], np.uint64)
    found = sum_wide(words, lo, hi)
    signed = [int(low) + (int(high) << 64) - (2**128 if high >= 2**63 else 0) for low, high in found]
    assert signed == [sum(values[a:b]) for a, b in zip(lo, hi, strict=True)]
    small = np.array([r.randint(-(2**50), 2**50) for _ in range(80)])
    sums, overflow = sum_longs(small, lo, hi)
    assert sums.tolist() == [int(small[a:b].sum()) for a, b in zip(lo, hi, strict=True)]
    assert not overflow


@pytest.mark.parametrize("width", [2, 30])
def test_sums_beyond_64_bits_are_noticed(width: int) -> None:
    values = np.full(60, 2**62)
    assert sum_longs(values, *ranges_over(60, width))[1]
    assert sum_longs(-values - 5, *ranges_over(60, 30))[1]


def test_a_long_float_stream_does_not_drift() -> None:
    """Large values pass through the window and leave nothing behind."""
    values = np.tile([1e16, 1.0, -1e16, 3.0, 0.1], 2000)
    values[5000:] = 0.1
    lo, hi = ranges_over(len(values), 64)
    found = reduce_ranges(values, lo, hi, SUM)
    np.testing.assert_allclose(found[5064:], 6.4, rtol=1e-12)


@pytest.mark.parametrize("width", [1, 4, 25])
def test_moments_are_merged_without_loss_of_digits(width: int) -> None:
    r = random.Random(1)
    states = np.zeros((50, 6))
    rows = [(r.randint(1, 4), 1e6 + r.random(), r.random()) for _ in range(50)]
    states[:, [0, 1, 3]] = rows
    states[7] = 0
    lo, hi = ranges_over(50, width)
    found = merge_ranges(states, lo, hi)
    for k, (a, b) in enumerate(zip(lo, hi, strict=True)):
        total = None
        for i in range(a, b):
            if i != 7:
                total = rows[i] if total is None else merge_moments(total, rows[i])
        np.testing.assert_allclose(found[k, [0, 1, 3]], total or (0, 0, 0), rtol=1e-7)
