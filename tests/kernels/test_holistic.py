"""Percentiles, modes and distinct counts of ranges, against their definitions row by row."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.errors import QueryError
from muntin.kernels.holistic.counting import distinct_counts, modes
from muntin.kernels.holistic.wavelet import at_rank, percentiles, wavelet

CODES = st.lists(st.integers(-1, 12), max_size=200)


@st.composite
def ranges(draw: st.DrawFn, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw ranges whose ends never move back, empty ones and ones far apart among them."""
    ends = sorted(draw(st.lists(st.integers(0, rows), max_size=30)))
    begins = sorted(draw(st.lists(st.integers(0, rows), min_size=len(ends), max_size=len(ends))))
    pairs = [(min(lo, hi), hi) for lo, hi in zip(begins, ends, strict=True)]
    return np.array([lo for lo, _ in pairs], np.int64), np.array([hi for _, hi in pairs], np.int64)


@given(st.data())
def test_distinct_counts_and_modes(data: st.DataObject) -> None:
    codes = np.array(data.draw(CODES), np.int64)
    lo, hi = data.draw(ranges(len(codes)))
    held = [Counter(int(code) for code in codes[a:b] if code >= 0) for a, b in zip(lo, hi, strict=True)]
    assert distinct_counts(codes, 13, lo, hi).tolist() == [len(counts) for counts in held]
    for mode, counts in zip(modes(codes, 13, lo, hi).tolist(), held, strict=True):
        assert counts[mode] == max(counts.values()) if counts else mode == -1


@given(st.data(), st.integers(1, 300))
def test_any_rank_of_any_range(data: st.DataObject, distinct: int) -> None:
    codes = np.array(data.draw(st.lists(st.integers(0, distinct - 1), min_size=1, max_size=200)), np.int64)
    row = st.integers(0, len(codes) - 1)
    lo = np.array(data.draw(st.lists(row, min_size=1, max_size=20)))
    hi = np.array([data.draw(st.integers(begin + 1, len(codes))) for begin in lo.tolist()])
    rank = np.array([data.draw(st.integers(0, length - 1)) for length in (hi - lo).tolist()])
    expected = [int(np.sort(codes[a:b])[k]) for a, b, k in zip(lo, hi, rank, strict=True)]
    assert at_rank(wavelet(codes, distinct), lo, hi, rank).tolist() == expected


def test_many_rows_and_words() -> None:
    """Bits are counted over many words, and around the edges of words."""
    r = np.random.default_rng(1)
    codes = r.integers(0, 5000, 10_000)
    matrix = wavelet(codes, 5000)
    lo = r.integers(0, 9_000, 300)
    lo[:4] = [0, 63, 64, 65]
    hi = lo + r.integers(1, 1000, 300)
    rank = (r.random(300) * (hi - lo)).astype(np.int64)
    expected = [int(np.sort(codes[a:b])[k]) for a, b, k in zip(lo, hi, rank, strict=True)]
    assert at_rank(matrix, lo, hi, rank).tolist() == expected


@given(
    st.lists(st.floats(width=32), min_size=1, max_size=50),
    st.sampled_from([0, 0.1, 0.25, 0.5, 0.9, 1]),
)
def test_percentiles_between_two_values(given_values: list[float], fraction: float) -> None:
    values, codes = np.unique(np.array(given_values), return_inverse=True)
    (result,) = percentiles(
        wavelet(codes, len(values)), values, np.array([0]), np.array([len(codes)]), fraction
    ).tolist()
    ordered = sorted(given_values, key=lambda value: (math.isnan(value), value))
    position = (len(ordered) - 1) * fraction
    low, high = ordered[math.floor(position)], ordered[math.ceil(position)]
    between = low if low == high or position == math.floor(position) else low + (high - low) * (position % 1)
    assert result == between or (math.isnan(result) and math.isnan(between))


def test_nothing_has_no_percentile() -> None:
    nothing = np.array([], np.int64)
    assert np.isnan(percentiles(wavelet(nothing, 0), np.array([]), np.array([0]), np.array([0]), 0.5)).all()


@pytest.mark.parametrize(("lo", "hi", "rank"), [(0, 3, 3), (2, 2, 0), (-1, 2, 0), (0, 9, 1), (0, 2, -1)])
def test_a_rank_that_no_range_has_is_refused(lo: int, hi: int, rank: int) -> None:
    matrix = wavelet(np.array([1, 0, 2]), 3)
    with pytest.raises(QueryError, match="there is no rank"):
        at_rank(matrix, np.array([lo]), np.array([hi]), np.array([rank]))


def test_codes_beyond_their_number_are_refused() -> None:
    with pytest.raises(QueryError, match="Use 0 to 1"):
        wavelet(np.array([0, 2]), 2)
