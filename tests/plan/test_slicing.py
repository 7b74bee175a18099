from math import lcm

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.plan.slicing.edges import edge_rate
from muntin.plan.slicing.grids import common_grid, density, grids, slicing
from muntin.window import Window
from tests.strategies import window_sets


@given(window_sets(offsets=True))
def test_edges_are_exactly_the_begins_and_ends(windows: list[Window]) -> None:
    cuts = grids(windows)
    horizon = range(3 * lcm(*(w.slide for w in windows)))
    edges = {t for t in horizon if any((t - residue) % slide == 0 for slide, residue in cuts)}
    wanted = {
        t
        for t in horizon
        if any((t - w.offset) % w.slide == 0 or (t - w.offset - w.range) % w.slide == 0 for w in windows)
    }
    assert edges == wanted


@given(window_sets(offsets=True))
def test_the_common_grid_holds_all_edges(windows: list[Window]) -> None:
    slide, residue = common_grid(windows)
    assert all(other % slide == 0 and (rest - residue) % slide == 0 for other, rest in grids(windows))


@given(window_sets(offsets=True))
def test_density_counts_edges(windows: list[Window]) -> None:
    cuts = grids(windows)
    period = lcm(*(slide for slide, _ in cuts))
    edges = {t for t in range(period) if any((t - residue) % slide == 0 for slide, residue in cuts)}
    assert abs(density(cuts) - len(edges) / period) < 1e-12


@given(st.integers(1, 5), st.integers(10**15, 10**17))
def test_density_of_very_different_slides_takes_no_memory(fine: int, coarse: int) -> None:
    assert abs(density(grids([Window(fine), Window(coarse)])) - 1 / fine) < 1e-6


@pytest.mark.parametrize("second", [1, 1_000_000])
def test_density_of_slides_that_hardly_ever_meet_is_not_that_of_their_common_begin(second: int) -> None:
    primes = [n for n in range(7, 90) if all(n % k for k in range(2, n))]
    cuts = grids([Window(n * second) for n in primes])
    assert density(cuts) == pytest.approx(float(edge_rate(cuts)), rel=0.002)


@given(window_sets(offsets=True))
def test_slicing_keeps_every_edge(windows: list[Window]) -> None:
    chosen = slicing(windows)
    for slide, residue in grids(windows):
        for edge in (residue, residue + slide, residue + 7 * slide):
            assert any((edge - rest) % other == 0 for other, rest in chosen)
