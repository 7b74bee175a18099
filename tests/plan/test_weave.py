"""Multi-query optimizers: the incremental-evaluation paper's numbers, and where they are repaired."""

import time
from random import Random
from statistics import fmean
from typing import Any

import numpy as np
import pytest

import muntin as mt
from muntin.choices import WeaveAlgorithm
from muntin.plan.slicing.edges import composite_slide
from muntin.plan.slicing.weave import FORMS, OMEGAS
from muntin.plan.slicing.weave.model import Model
from muntin.plan.slicing.weave.share import MOST_STARTS, weave_share
from muntin.query import distinct_windows
from muntin.window import Window
from muntin_bench.workload import zipf_gen

NAMES = list(OMEGAS["printed"])
TWO = [Window(6, 2), Window(8, 4)]
THREE = [*TWO, Window(9, 3)]
SIX = [*THREE, Window(20, 10), Window(12, 3), Window(10, 5)]


def cost(windows: list[Window], technique: str, algorithm: WeaveAlgorithm, form: str = "printed") -> float:
    return mt.weave(windows, technique, algorithm=algorithm, form=form).cost


@pytest.mark.parametrize(("technique", "omega"), list(zip(NAMES, (5, 3.75, 6, 4, 5.2083), strict=True)))
def test_operations_at_an_edge(technique: str, omega: float) -> None:
    ranges, slides = np.array([6.0, 8.0]), np.array([2.0, 4.0])
    assert OMEGAS["printed"][technique].operations(ranges, slides, 1, 2) == pytest.approx(omega, abs=1e-4)
    repaired = OMEGAS["repaired"][technique].operations(ranges, slides, 1, 2)
    assert repaired == pytest.approx(5.5833 if technique == "slickdeque_non_inv" else omega, abs=1e-4)


@pytest.mark.parametrize(
    ("technique", "separate", "shared"),
    [
        ("panes", 4.0, 3.5),
        ("flatfat", 3.125, 2.875),
        ("flatfit", 4.25, 4.0),
        ("slickdeque_inv", 3.5, 3.0),
        ("slickdeque_non_inv", 4.875, 3.6042),
    ],
)
def test_two_windows_apart_and_together(technique: str, separate: float, shared: float) -> None:
    assert cost(TWO, technique, "no_share") == pytest.approx(separate, abs=1e-4)
    assert cost(TWO, technique, "max_share") == pytest.approx(shared, abs=1e-4)
    assert cost(TWO, technique, "weave_share") == cost(TWO, technique, "exhaustive") == pytest.approx(shared, abs=1e-4)


@pytest.mark.parametrize(
    ("technique", "separate", "shared"),
    [
        ("panes", 4.0, 4.0),
        ("flatfat", 3.125, 3.375),
        ("flatfit", 4.25, 4.5),
        ("slickdeque_inv", 3.5, 3.5),
        ("slickdeque_non_inv", 4.875, 4.1042),
    ],
)
def test_tri_weave_charges_each_tree_for_all_partials(technique: str, separate: float, shared: float) -> None:
    plan = mt.weave(TWO, technique, algorithm="tri_weave", form="printed")
    assert plan.cost == pytest.approx(min(separate, shared), abs=1e-4)
    assert len(plan.trees) == (1 if shared < separate else 2)  # equal costs are no reason to merge


def test_the_variants_of_tri_weave_disagree() -> None:
    plan = mt.weave(TWO, "panes", algorithm="tri_weave_b")
    assert (plan.cost, len(plan.trees)) == (3.75, 2)
    assert len(mt.weave(TWO, "panes").trees) == 1


@pytest.mark.parametrize(
    ("technique", "separate", "merged", "together"),
    [
        ("panes", 6.0, 5.5, 6.3333),
        ("flatfit", 6.25, 6.0, 7.0),
        ("slickdeque_inv", 5.1667, 4.6667, None),
        ("slickdeque_non_inv", 7.2083, 5.2565, 5.2565),
    ],
)
def test_greedy_merging_of_three(technique: str, separate: float, merged: float, together: float | None) -> None:
    assert cost(THREE, technique, "no_share") == pytest.approx(separate, abs=1e-4)
    plan = mt.weave(THREE, technique, form="printed")
    assert plan.cost == pytest.approx(merged, abs=1e-4)
    if technique == "slickdeque_non_inv":
        assert len(plan.trees) == 1
    else:
        assert plan.trees == ((Window(6, 2), Window(8, 4)), (Window(9, 3),))
    if together is not None:
        assert cost(THREE, technique, "max_share") == pytest.approx(together, abs=1e-4)


@pytest.mark.parametrize(
    ("technique", "merged"),
    [("panes", 8.6333), ("flatfit", 9.2), ("slickdeque_inv", 7.1333), ("slickdeque_non_inv", 8.0205)],
)
def test_greedy_merging_of_six(technique: str, merged: float) -> None:
    plan = mt.weave(SIX, technique, form="printed")
    assert plan.cost == pytest.approx(merged, abs=1e-4) == cost(SIX, technique, "exhaustive")
    twos, threes, fives = (Window(6, 2), Window(8, 4)), (Window(9, 3), Window(12, 3)), (Window(10, 5), Window(20, 10))
    assert set(plan.trees) == ({tuple(sorted(twos + threes)), fives} if "non" in technique else {twos, threes, fives})


@pytest.mark.parametrize("technique", NAMES)
def test_greedy_keeps_most_of_what_can_be_saved(technique: str) -> None:
    """The paper promises a quarter of the possible saving; on small sets it is far more on average."""
    kept = []
    for seed in range(25):
        random = Random(seed)
        asked = [Window(slide * random.randint(1, 8), slide) for slide in random.choices(range(1, 13), k=6)]
        alone, merged, least = (cost(asked, technique, name) for name in ("no_share", "weave_share", "exhaustive"))
        assert merged <= 1.1 * least
        kept.append((alone - merged) / (alone - least) if alone > least else 1)
    assert min(kept) >= 0.25
    assert fmean(kept) > 0.9


def test_panes_read_every_edge_in_as_many_instances_as_slides_fit() -> None:
    """Equation 3 is exact where slides divide ranges."""
    for edge in range(0, composite_slide(THREE), 1):
        for window in THREE:
            assert len(list(window.containing(edge))) == window.range // window.slide


@pytest.mark.parametrize(("partials", "nodes"), [(1.2, -2.8), (3, 2.0), (4, 1.75), (7, 3.5), (8, 2.875)])
def test_equation_4_falls_below_zero_and_is_not_monotone(partials: float, nodes: float) -> None:
    printed, repaired = (OMEGAS[form]["flatfat"].operations for form in FORMS)
    ranges, slides = np.array([partials]), np.array([1.0])
    assert printed(ranges, slides, 1, 1) == pytest.approx(nodes)
    assert repaired(ranges, slides, 1, 1) == pytest.approx(max(0, nodes))
    assert printed(np.array([1.0]), slides, 1, 1) == repaired(np.array([1.0]), slides, 1, 1) == 0


@pytest.mark.parametrize(
    ("partials", "printed", "harmonic"), [(2, 1.5, 1.5), (5, 1.717, 2.283), (10, 1.718, 2.929), (1000, 1.718, 7.485)]
)
def test_a_deque_is_as_long_as_a_harmonic_number(partials: int, printed: float, harmonic: float) -> None:
    for form, length in (("printed", printed), ("repaired", harmonic)):
        omega = OMEGAS[form]["slickdeque_non_inv"].operations(np.array([float(partials)]), np.array([1.0]), 1, 1)
        assert omega == pytest.approx(2 - 2 / partials + 1 + length, abs=6e-4)


def test_harmonic_numbers_have_no_seam() -> None:
    technique = OMEGAS["repaired"]["slickdeque_non_inv"]
    ranges = [technique.operations(np.array([float(n)]), np.array([1.0]), 1, 1) for n in (1023, 1024, 1025)]
    assert ranges[1] - ranges[0] == pytest.approx(1 / 1024 + 2 / 1023 - 2 / 1024, abs=1e-9)
    assert ranges[2] - ranges[1] == pytest.approx(1 / 1025 + 2 / 1024 - 2 / 1025, abs=1e-9)


def test_trees_of_sixty_queries() -> None:
    """Panes never share between slides, and the repaired deque makes plans dearer and trees no more."""
    for seed in range(3):
        asked = zipf_gen(60, 1000, 10_000, 0, seed)
        trees = {name: len(mt.weave(asked, name).trees) for name in NAMES}
        assert trees["panes"] == len({window.slide for window in asked})
        assert trees["panes"] > trees["flatfat"] > trees["flatfit"] >= trees["slickdeque_inv"]
        assert trees["slickdeque_inv"] > trees["slickdeque_non_inv"]
        printed, repaired = (mt.weave(asked, "slickdeque_non_inv", form=form) for form in FORMS)
        assert repaired.cost > 1.4 * printed.cost
        assert len(repaired.trees) <= len(printed.trees)


def test_repeated_windows_are_answered_once() -> None:
    assert mt.weave([*TWO, *TWO], algorithm="no_share").cost == mt.weave(TWO, algorithm="no_share").cost


def test_rates_and_units_are_those_of_plan() -> None:
    minutes = [mt.hopping("6 min", "2 min"), mt.hopping("8 min", "4 min"), mt.hopping("9 min", "3 min")]
    plain, timed = mt.weave(THREE), mt.weave(minutes, rate="1/min")
    assert timed.cost == pytest.approx(plain.cost)
    assert "operations per minute" in str(timed)
    assert "2 edges in 4m: ⟨6m,2m⟩ ⟨8m,4m⟩" in str(timed)
    assert mt.weave(minutes, rate="1/s").cost > timed.cost
    assert repr(plain) == "<weave_share of 3 windows in 2 trees, 4.67 operations per unit>"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"technique": "magic"},
            "unknown technique 'magic'. Use 'panes', 'flatfat', 'flatfit', 'slickdeque_inv'",
        ),
        ({"algorithm": "magic"}, "unknown algorithm 'magic'. Use 'no_share', 'max_share', 'weave_share'"),
        ({"form": "magic"}, "unknown form 'magic'. Use 'printed' or 'repaired'"),
        ({"rate": -1}, "rate -1 is not positive"),
    ],
)
def test_mistakes_name_the_choices(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(mt.QueryError, match=message):
        mt.weave(TWO, **arguments)


def test_the_optimum_is_for_few_windows() -> None:
    with pytest.raises(mt.UnsupportedError, match=r"11 windows are too many to try all. Use 'weave_share'"):
        mt.weave([Window(n) for n in range(1, 12)], algorithm="exhaustive")
    with pytest.raises(mt.QueryError, match="no windows were given"):
        mt.weave([])


@pytest.mark.parametrize("technique", NAMES)
def test_a_thousand_queries_take_no_time(technique: str) -> None:
    asked = zipf_gen(1000, 1000, 10_000, 0, 0)
    start = time.perf_counter()
    mt.weave(asked, technique)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("technique", ["flatfat", "slickdeque_inv", "slickdeque_non_inv"])
def test_windows_of_equal_edges_may_start_together(technique: str) -> None:
    asked = distinct_windows(zipf_gen(300, 1000, 10_000, 0, 0))
    assert len(asked) < MOST_STARTS
    model = Model(OMEGAS["repaired"][technique], per_tree=1.0)
    single, together = (model.cost(weave_share(model, asked, most)) for most in (MOST_STARTS, 100))
    assert together == pytest.approx(single, rel=0.02)


def test_queries_by_zipfs_law() -> None:
    long, short = (zipf_gen(500, 1000, 10, skew, 0) for skew in (1, -1))
    assert sum(w.slide for w in long) > 3 * sum(w.slide for w in short)
    assert {w.slide for w in zipf_gen(500, 1000, 10, 0, 0)} == {n for n in range(1, 1001) if 1000 % n == 0}
    assert all(w.range % w.slide == 0 and w.range <= 10 * w.slide for w in long)
    with pytest.raises(mt.QueryError, match="Use at least 1"):
        zipf_gen(0, 1000, 10, 0, 0)
