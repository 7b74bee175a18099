"""Edges of groups are counted as slicing counts them, and estimated so well that few need be counted."""

from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.plan.slicing.cuts import Cuts
from muntin.plan.slicing.grids import density, grids, slicing
from muntin.window import Window, tumbling
from tests.strategies import window_sets


@given(window_sets(offsets=True))
def test_joined_cuts_are_sliced_as_their_windows_together(windows: list[Window]) -> None:
    cuts = Cuts(windows)
    joined = reduce(cuts.joined, map(cuts.alone, windows))
    sliced = slicing(windows)
    assert joined.density == pytest.approx(density(grids(windows)))
    assert joined.slicing == pytest.approx((density(sliced), len(sliced)))


@given(st.integers(1, 500), st.integers(1, 500), st.integers(0, 500), st.integers(0, 500))
def test_edges_of_two_grids_are_known_without_counting(slide: int, step: int, offset: int, other: int) -> None:
    windows = (tumbling(slide, offset=offset), tumbling(step, offset=other))
    cuts = Cuts(windows)
    one, two = map(cuts.alone, windows)
    assert one.slicing_with(two) == pytest.approx(cuts.joined(one, two).slicing)


@given(window_sets(offsets=True), window_sets(offsets=True))
def test_an_estimate_lies_between_the_denser_group_and_all_edges_apart(a: list[Window], b: list[Window]) -> None:
    cuts = Cuts([*a, *b])
    one, other = (reduce(cuts.joined, map(cuts.alone, windows)) for windows in (a, b))
    edges, _ = one.slicing_with(other)
    common = 1 / cuts.joined(one, other).common[0]
    apart = one.density + other.density
    assert edges == pytest.approx(common) or max(one.density, other.density) <= edges * (1 + 1e-9) <= apart * (1 + 1e-8)
