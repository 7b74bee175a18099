"""Slices of one window and edges of a set: the incremental-evaluation paper's numbers, its mistakes, and laws."""

from collections.abc import Iterable
from fractions import Fraction
from math import ceil, gcd, lcm
from random import Random
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.plan.slicing.edges import (
    LONGEST_MARKED,
    SLICINGS,
    between,
    composite_slide,
    counted,
    edge_rate,
    edges_of,
    marked,
    slices_per_instance,
)
from muntin.plan.slicing.grids import Grid
from muntin.window import Window
from tests.strategies import window_sets


def composite_edges(windows: Iterable[Window], slicing: str = "pairs") -> tuple[int, ...]:
    """List the edges within the first composite slide, its end included."""
    windows = tuple(windows)
    return between(edges_of(windows, slicing), 0, composite_slide(windows))


def partials_read(windows: Iterable[Window]) -> dict[Window, frozenset[int]]:
    """Tell how many slices the instances of each window read, over one composite slide: not always the same number."""
    windows = tuple(windows)
    grids, length = edges_of(windows), composite_slide(windows)

    def read(window: Window) -> frozenset[int]:
        first = int(window.offset)
        begins = range(first, first + length, int(window.slide))
        return frozenset(len(between(grids, begin - 1, begin + int(window.range) - 1)) for begin in begins)

    return {window: read(window) for window in windows}


@pytest.mark.parametrize(
    ("shape", "slices"),
    [
        ((4, 1), (4, 4, 4)),
        ((14, 8), (7, 3, 2)),
        ((5, 3), (5, 3, 2)),
        ((10, 3), (10, 7, 4)),
        ((9, 6), (3, 3, 2)),
        ((20, 10), (2, 2, 2)),
    ],
)
def test_slices_of_an_instance(shape: tuple[int, int], slices: tuple[int, ...]) -> None:
    assert tuple(slices_per_instance(Window(*shape), slicing) for slicing in SLICINGS) == slices


def test_slices_by_formula_for_all_short_windows() -> None:
    """Pairs need 2⌊r/s⌋ + 1 slices, or r/s; the ⌈2r/s⌉ of Cutty's Table 1 is wrong for more than half of these."""
    wrong = 0
    for slide in range(1, 25):
        for range_ in range(slide, 80):
            window, pieces = Window(range_, slide), range_ // gcd(range_, slide)
            pairs = 2 * (range_ // slide) + 1 if range_ % slide else range_ // slide
            cutty = ceil(Fraction(range_, slide))
            assert [slices_per_instance(window, slicing) for slicing in SLICINGS] == [pieces, pairs, cutty]
            wrong += pairs != ceil(Fraction(2 * range_, slide))
    assert wrong == 865


@pytest.mark.parametrize(
    ("shape", "slicing", "edges"),
    [
        ((10, 3), "pairs", (1, 3, 4, 6, 7, 9, 10, 12, 13, 15)),
        ((10, 3), "cutty", (3, 6, 9, 12, 15)),
        ((14, 8), "panes", (2, 4, 6, 8, 10, 12, 14)),
        ((14, 8), "pairs", (6, 8, 14)),
        ((14, 8), "cutty", (8,)),
        ((9, 6), "panes", (3, 6, 9, 12, 15)),
        ((9, 6), "pairs", (3, 6, 9, 12, 15)),
        ((9, 6), "cutty", (6, 12)),
        ((5, 3), "pairs", (2, 3, 5, 6, 8, 9, 11, 12, 14, 15)),
    ],
)
def test_edges_of_one_window(shape: tuple[int, int], slicing: str, edges: tuple[int, ...]) -> None:
    assert between(edges_of(Window(*shape), slicing), 0, 15) == edges


def test_windows_that_end_at_multiples_of_the_slide_swap_the_two_fragments() -> None:
    begins, ends = Window(10, 3), Window(10, 3, offset=2)
    assert between(edges_of(begins), 0, 6) == (1, 3, 4, 6)
    assert between(edges_of(ends), 0, 6) == (2, 3, 5, 6)


def test_a_partial_is_read_by_as_many_instances_as_slides_fit_into_the_range() -> None:
    """Four for ⟨4,1⟩, not three as the paper counts in its figure."""
    assert len(list(Window(4, 1).containing(3))) == 4


def test_the_composite_slide() -> None:
    asked = [Window(6, 2), Window(8, 4)]
    assert composite_slide(asked) == 4
    assert composite_edges(asked) == (2, 4)
    assert {window: set(read) for window, read in partials_read(asked).items()} == {asked[0]: {3}, asked[1]: {4}}


@pytest.mark.parametrize(
    ("slides", "count", "length"),
    [
        ((2, 3), 4, 6),
        ((2, 4), 2, 4),
        ((2, 4, 8), 4, 8),
        ((4, 6, 9), 14, 36),
        ((3, 4, 5), 36, 60),
        ((6, 10, 15), 8, 30),
        ((7, 7, 14), 2, 14),
    ],
)
def test_formula_f1(slides: tuple[int, ...], count: int, length: int) -> None:
    grids = tuple((slide, 0) for slide in slides)
    assert lcm(*slides) == length
    assert counted(grids) == marked(grids) == count


def test_fragments_are_edges_too() -> None:
    """Formula F1 over slides alone finds four edges of six; the range 5 adds one that no slide has."""
    asked = [Window(5, 3), Window(6, 2)]
    edges = {slicing: len(composite_edges(asked, slicing)) for slicing in SLICINGS}
    assert edges == {"panes": 6, "pairs": 5, "cutty": 4}
    assert counted(((2, 0), (3, 0))) == 4
    assert counted(edges_of(asked)) == 5


@pytest.mark.parametrize(
    ("shapes", "numbers"),
    [(((6, 2), (8, 4)), {3, 4}), (((4, 2), (6, 3)), {2, 3, 4}), (((10, 2), (9, 3)), {6, 7})],
)
def test_running_aggregates_over_a_composite_slide(shapes: tuple[tuple[int, int], ...], numbers: set[int]) -> None:
    assert frozenset().union(*partials_read(Window(*shape) for shape in shapes).values()) == numbers


def test_equation_6_underestimates_running_aggregates() -> None:
    random, estimated, exact = Random(0), [], []
    for _ in range(300):
        slides = [random.randint(1, 8) for _ in range(3)]
        asked = {Window(slide * random.randint(1, 6), slide) for slide in slides}
        estimated.append(len({window.range for window in asked}))
        exact.append(len(frozenset().union(*partials_read(asked).values())))
    assert fmean(estimated) == pytest.approx(2.85, abs=0.1)
    assert fmean(exact) == pytest.approx(4.31, abs=0.3)


@given(window_sets(most=6, longest=12, offsets=True), st.sampled_from(list(SLICINGS)))
def test_formula_f1_counts_what_marking_counts(windows: list[Window], slicing: str) -> None:
    grids = edges_of(windows, slicing)
    assert counted(grids) == marked(grids)
    length = composite_slide(windows)
    assert edge_rate(grids) * length == len(composite_edges(windows, slicing))


@given(st.lists(st.integers(1, 40).flatmap(lambda s: st.tuples(st.just(s), st.integers(0, s - 1))), max_size=4))
def test_formula_f1_counts_any_grids(grids: list[Grid]) -> None:
    assert counted(tuple(grids)) == (marked(tuple(grids)) if grids else 0)


@given(window_sets(most=5, longest=12, offsets=True))
def test_instances_read_whole_slices(windows: list[Window]) -> None:
    edges = edges_of(windows)
    for window, numbers in partials_read(windows).items():
        begins = [window.offset + k * window.slide for k in range(composite_slide(windows) // window.slide)]
        assert numbers == {len(between(edges, begin - 1, begin + window.range - 1)) for begin in begins}


def test_formula_f1_needs_no_time_for_coprime_or_for_many_slides() -> None:
    primes = [number for number in range(2, 400) if all(number % other for other in range(2, number))]
    free = Fraction(1)
    for prime in primes:
        free *= 1 - Fraction(1, prime)
    assert edge_rate(tuple((prime, 0) for prime in primes)) == 1 - free
    assert edge_rate(tuple((2 * prime, 0) for prime in primes[1:])) < Fraction(1, 2)
    random = Random(0)
    many = tuple((random.randint(30, 400), 0) for _ in range(60))
    assert Fraction(1, 10) < edge_rate(many) < 1
    with pytest.raises(mt.UnsupportedError, match=f"Use counted, or slides whose multiple is at most {LONGEST_MARKED}"):
        marked(many)


def test_a_wrong_slicing_names_the_right_ones() -> None:
    with pytest.raises(mt.QueryError, match=r"unknown slicing 'slices'. Use one of 'panes', 'pairs', 'cutty'."):
        edges_of(Window(5), "slices")
