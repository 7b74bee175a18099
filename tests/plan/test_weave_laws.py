"""What holds for every set of queries in trees."""

from itertools import combinations, permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import muntin as mt
from muntin.choices import WeaveAlgorithm
from muntin.plan.slicing.weave import FORMS, OMEGAS, WEAVES
from muntin.plan.slicing.weave.model import Model
from muntin.plan.slicing.weave.share import weave_share
from muntin.window import Window
from tests.strategies import window_sets

NAMES = st.sampled_from(list(OMEGAS["printed"]))
RATES = st.sampled_from([0.01, 1, 3, 100])
SETS = window_sets(most=7, longest=24, offsets=True)
MODELS = st.builds(
    lambda form, name, charges: Model(OMEGAS[form][name], *charges),
    st.sampled_from(FORMS),
    NAMES,
    st.sampled_from([(0.01, 0.0), (0.3, 0.0), (1.0, 0.0), (20.0, 0.0), (0.0, 1.0)]),
)


def plain_greedy(model: Model, windows: list[Window]) -> list[list[Window]]:
    """Price every pair anew at each step; savings equal but for rounding are equal, and the first pair wins."""
    trees = [[window] for window in sorted(windows)]
    quantum = 1e-12 * sum(abs(model.tree(tree)) for tree in trees)

    def saving(one: int, other: int) -> int:
        together = model.tree([*trees[one], *trees[other]])
        return round((model.tree(trees[one]) + model.tree(trees[other]) - together) / quantum)

    while len(trees) > 1:
        pairs = list(combinations(range(len(trees)), 2))
        one, other = max(pairs, key=lambda pair: saving(*pair))
        if saving(one, other) <= 0:
            break
        trees[one] += trees.pop(other)
    return trees


def parts(trees: list[list[Window]]) -> set[frozenset[Window]]:
    return {frozenset(tree) for tree in trees}


@settings(max_examples=200)
@given(MODELS, window_sets(most=9, longest=24, offsets=True))
def test_merging_in_arrays_is_greedy_merging(model: Model, windows: list[Window]) -> None:
    assert parts(weave_share(model, sorted(windows))) == parts(plain_greedy(model, windows))


@given(MODELS, st.lists(st.tuples(st.sampled_from([1, 2, 4, 5, 10, 20]), st.integers(1, 12)), min_size=1, max_size=14))
def test_merging_many_windows_of_few_slides_is_greedy_merging(model: Model, drawn: list[tuple[int, int]]) -> None:
    windows = sorted({Window(slide * overlap, slide) for slide, overlap in drawn})
    assert parts(weave_share(model, windows)) == parts(plain_greedy(model, windows))


@given(SETS, NAMES, RATES, st.sampled_from(FORMS))
def test_greedy_is_between_the_baselines_and_the_optimum(
    windows: list[Window], technique: str, rate: float, form: str
) -> None:
    plans = {name: mt.weave(windows, technique, rate, name, form) for name in WEAVES}
    least = plans["exhaustive"].cost
    assert plans["weave_share"].cost <= plans["no_share"].cost * (1 + 1e-9)
    assert all(least <= plans[name].cost + 1e-9 * abs(least) for name in ("no_share", "max_share", "weave_share"))
    for plan in plans.values():
        assert sorted(window for tree in plan.trees for window in tree) == sorted(windows)


@given(window_sets(most=5, longest=16, offsets=True), NAMES, st.sampled_from(list(WEAVES)))
def test_the_order_of_windows_does_not_matter(windows: list[Window], technique: str, algorithm: WeaveAlgorithm) -> None:
    orders = list(permutations(windows))[::7] or [tuple(windows)]
    assert len({mt.weave(order, technique, algorithm=algorithm) for order in orders}) == 1


@given(SETS, NAMES, st.sampled_from(list(WEAVES)), st.integers(2, 60))
def test_costs_depend_on_the_unit_of_time_as_rates_do(
    windows: list[Window], technique: str, algorithm: WeaveAlgorithm, factor: int
) -> None:
    longer = [Window(w.range * factor, w.slide * factor, w.offset * factor) for w in windows]
    short, long = mt.weave(windows, technique, factor, algorithm), mt.weave(longer, technique, 1, algorithm)
    assert short.cost == pytest.approx(long.cost * factor, rel=1e-9)


@given(SETS, NAMES)
def test_a_faster_stream_never_makes_more_trees_with_windows_that_add_up(windows: list[Window], technique: str) -> None:
    if OMEGAS["repaired"][technique].is_monotone:
        trees = [len(mt.weave(windows, technique, rate).trees) for rate in (10**-6, 10**6)]
        assert trees[0] >= trees[1] == 1
