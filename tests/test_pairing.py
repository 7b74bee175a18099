"""What a join means in plain Python, and the paper's example of it."""

from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.pairing import Band, Ranges, read_ranges
from muntin.plan.pairs import pairs_of_equal_keys
from muntin.plan.statistics import Statistics
from tests.pairing import Event, common_instances, expiries, pairs_within

LEFT = [(1, "x"), (5, "y"), (9, "x")]
RIGHT = [(3, "x"), (7, "y"), (10, "x")]
WINDOWS = (4, 8)
RESULTS = [(0, 3, 1, 5), (1, 3, 1, 9), (0, 7, 5, 9), (1, 7, 5, 13), (1, 9, 3, 11), (0, 10, 9, 13), (1, 10, 9, 17)]
"""Level, later time, earlier time and expiry of every result of the paper's join over windows of 4 and 8."""


def as_paper(pairs: list[tuple[int, int]]) -> list[tuple[int, int, int, int]]:
    """Give the results of pairs of times, as the paper lists them."""
    return sorted(
        (level, max(pair), min(pair), expires) for pair in pairs for level, expires in expiries(*pair, WINDOWS)
    )


def test_results_of_the_papers_join_expire_level_by_level() -> None:
    """A window of 4 has what is less than 4 apart: in whole numbers, within 3."""
    ranges = Ranges(tuple(window - 1 for window in WINDOWS), ("0", "1"))
    left, right = ([Event(key, time) for time, key in side] for side in (LEFT, RIGHT))
    pairs = [(one.time or 0, other.time or 0, int(label)) for one, other, label in pairs_within(left, right, ranges)]
    assert as_paper([pair[:2] for pair in pairs]) == sorted(RESULTS)
    for one, other, level in pairs:
        assert [found for found, _ in expiries(one, other, WINDOWS)] == list(range(level, len(WINDOWS)))


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 20), st.integers(1, 20), st.integers(0, 20))
def test_two_times_have_the_instances_in_common_that_each_has(
    one: int, other: int, slide: int, more: int, offset: int
) -> None:
    window = mt.Window(slide + more, slide, offset)
    both = set(window.containing(one)) & set(window.containing(other))
    assert set(common_instances(window, one, other)) == both
    if both:
        assert abs(one - other) < window.range


def test_ranges_are_read_in_any_order_and_unit() -> None:
    ranges = read_ranges(["1 day", timedelta(hours=1), "90 s"])
    assert ranges.labels == ("1m30s", "1h", "1d")
    assert ranges.band(forward=True) == Band(0, 86_400_000_000)
    assert [ranges.label(distance) for distance in (0, 90_000_000, -90_000_001)] == ["1m30s", "1m30s", "1h"]


@pytest.mark.parametrize(
    ("within", "message"),
    [
        ([], "within has no ranges"),
        (["0 s"], "range 0s is not positive"),
        ("1 month", "'month' in '1 month' has no fixed length. Use days"),
        ([3600], "range 3600 has no unit of time"),
        (["1 h", "60 min"], "range '1h' appears twice"),
        ("1 hour every 5 minutes", "has a slide or an offset"),
    ],
)
def test_bad_ranges_are_refused(within: object, message: str) -> None:
    with pytest.raises(mt.QueryError) as error:
        read_ranges(within)  # type: ignore[arg-type]
    assert message in str(error.value)


def test_pairs_are_estimated_from_keys_in_common() -> None:
    """Keys at random, one key with half of all rows, and keys that stand together."""
    r = np.random.default_rng(1)
    even, hot = r.integers(0, 100, 4000), np.where(r.random(4000) < 0.5, 0, r.integers(1, 100, 4000))
    many = (Statistics(10**6, 100, 1), Statistics(10**5, 100, 1))
    assert pairs_of_equal_keys(even, even[::-1], many) == pytest.approx(10**9, rel=0.1)
    assert pairs_of_equal_keys(hot, hot[::-1], many) == pytest.approx(0.25 * 10**11, rel=0.1)
    together = np.repeat(np.arange(200), 20)
    known = (Statistics(10**6, 200, 1), Statistics(10**6, 200, 1))
    assert pairs_of_equal_keys(together, together, known) == pytest.approx(20 * 10**6, rel=0.1)
    assert pairs_of_equal_keys(together[:0], together, known) == 0
