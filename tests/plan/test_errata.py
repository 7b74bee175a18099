"""Where the printed algorithms are wrong or poor, ours are not; numbers as in the errata."""

from fractions import Fraction
from math import lcm

import pytest

import muntin as mt
from muntin.choices import Algorithm
from muntin.plan.forest.factor import benefit, best_factor_window, factor_windows
from muntin.plan.forest.horizon import Horizon
from muntin.plan.forest.problem import Problem, Semantics, state
from muntin.window import Window
from muntin_bench.workload import random_gen, sequential_sets


def cost(
    windows: list[tuple[int, int]], aggregate: str, algorithm: Algorithm = "best", rate: int = 1
) -> int | Fraction:
    return mt.plan([Window(r, s) for r, s in windows], aggregate, rate, algorithm).cost


def problem(windows: tuple[Window, ...], semantics: Semantics) -> Problem:
    return state(windows, semantics, Fraction(1), Horizon(lcm(*(w.range for w in windows))))[0]


def test_a_short_window_is_never_read_from_a_longer_one() -> None:
    assert not Window(1).covered_by(Window(2, 1))
    assert mt.plan([Window(1), Window(2, 1)], "min", algorithm="shared").parent(Window(1)) is None


def test_ties_are_broken_the_same_way_every_time() -> None:
    asked = [Window(4), Window(8, 2), Window(12)]
    plans = [mt.plan(order, "min", algorithm="shared") for order in (asked, asked[::-1])]
    assert {plan.parent(Window(12)) for plan in plans} == {Window(4)}  # both parents cost 3; the longer slide wins


def test_ranges_that_are_no_multiple_of_the_slide() -> None:
    assert mt.plan(Window(7, 3), "min", horizon=14).cost == 3 * 7 == mt.plan(Window(7, 3), "sum", horizon=14).cost
    assert cost([(7, 3), (4, 3)], "min", "shared") < cost([(7, 3), (4, 3)], "min", "independent")


def test_steady_state_finds_the_pane_of_a_single_hopping_window() -> None:
    assert mt.plan(Window(20, 10), "sum").factors == ()
    plan = mt.plan(Window(20, 10), "sum", horizon="steady")
    assert plan.factors == (Window(10),)
    assert (plan.cost, plan.independent_cost) == (10 + 2, 20)


def test_the_horizon_changes_what_is_best() -> None:
    """The paper's horizon prefers a plan that is 2.7 % dearer in the long run."""
    asked = [Window(8, 4), Window(24, 12), Window(4, 2)]
    paper, long_run = mt.plan(asked, "min"), mt.plan(asked, "min", horizon=24_000)
    assert paper.factors == ()
    assert long_run.factors == mt.plan(asked, "min", horizon="steady").factors == (Window(12),)
    without_factors = mt.plan(asked, "min", algorithm="shared", horizon=24_000)
    assert float(without_factors.cost / long_run.cost) == pytest.approx(1.027, abs=0.0005)


def test_partitioning_factor_windows_divide_the_slides() -> None:
    """Algorithm 5 as printed takes the gcd of the ranges, ⟨20,20⟩ here, which partitions neither window."""
    assert mt.plan([Window(20, 10), Window(60, 30)], "sum", algorithm="factor").factors == (Window(10),)
    for seed in range(100):
        asked = random_gen(5, False, seed)
        stated = problem(asked, Semantics.PARTITIONED_BY)
        assert all(any(stated.inputs(w, f) for w in stated.periods) for f in factor_windows(stated))


def test_no_gain_is_no_reason() -> None:
    """⟨4,4⟩ between ⟨2,2⟩ and two windows saves exactly what it costs."""
    problem = Problem(((2, 2, 0), (8, 8, 0), (12, 12, 0)), Semantics.PARTITIONED_BY, 1, 1, Horizon(24))
    downstream = [(8, 8, 0), (12, 12, 0)]
    assert benefit(problem, (4, 4, 0), (2, 2, 0), downstream) == 0
    assert best_factor_window(problem, (2, 2, 0), downstream) is None


def test_a_factor_window_must_gain_something() -> None:
    """Strictly more than nothing: the printed test would add ⟨2,2⟩ here."""
    assert mt.plan([Window(r) for r in (14, 50, 98, 200, 210)], "sum", algorithm="factor").factors == ()


@pytest.mark.parametrize(
    ("windows", "aggregate", "shared"),
    [
        ([(3, 3), (10, 10), (12, 12), (30, 30)], "sum", 146),
        ([(54, 18), (10, 5), (18, 18), (4, 2)], "min", 2470),
    ],
)
def test_algorithm_3_does_not_end_dearer_than_algorithm_1(
    windows: list[tuple[int, int]], aggregate: str, shared: int
) -> None:
    assert cost(windows, aggregate, "shared") == shared
    assert cost(windows, aggregate, "factor") <= shared


def test_factor_windows_are_never_asked_windows() -> None:
    asked = [Window(r) for r in (10, 20, 40, 60)]
    for algorithm in ("factor", "optimal", "best"):
        assert not set(mt.plan(asked, "min", algorithm=algorithm).factors) & set(asked)


@pytest.mark.parametrize(("rate", "raw", "factored"), [(1, 3003, 4004), (2, 6006, 5005), (5, 15015, 8008)])
def test_the_unit_window_pays_from_two_events_per_unit(rate: int, raw: int, factored: int) -> None:
    coprime = [(7, 7), (11, 11), (13, 13)]
    assert cost(coprime, "sum", "independent", rate) == raw
    for algorithm in ("factor", "optimal", "best"):
        plan = mt.plan([Window(r, s) for r, s in coprime], "sum", rate, algorithm)
        assert plan.cost == min(raw, factored)
        assert plan.factors == ((Window(1),) if factored < raw else ())


def test_generators_draw_duplicates_again() -> None:
    for tumbling in (True, False):
        for count in (5, 20):
            assert all(len(random_gen(count, tumbling, seed)) == count for seed in range(20))
        assert len(list(sequential_sets(5, tumbling))) == 3


def test_windows_of_equal_range_piggyback() -> None:
    asked = [(12, 2), (12, 4), (12, 6)]
    for aggregate in ("min", "sum", "median"):
        assert cost(asked, aggregate, "independent") == 36
        assert cost(asked, aggregate, "shared") == cost(asked, aggregate) == 14


def test_costs_beyond_64_bits_are_exact() -> None:
    asked = [Window(r) for r in (449, 457, 461, 463, 467, 479, 487, 491, 499)]
    plan = mt.plan(asked, "sum", rate=2)
    horizon = 449 * 457 * 461 * 463 * 467 * 479 * 487 * 491 * 499
    assert plan.horizon == horizon > 2**64
    assert plan.independent_cost == 2 * 9 * horizon
    assert plan.cost == 2 * horizon + 9 * horizon
    assert plan.cost == mt.plan(asked, "sum", 2, "optimal").cost


@pytest.mark.parametrize(
    ("windows", "printed", "optimum"),
    [
        ([(20, 10), (21, 7)], 2038, 1096),
        ([(12, 12), (55, 55), (80, 80), (195, 195), (215, 215)], 7378800, 4132128),
    ],
)
def test_gains_that_algorithm_3_misses(windows: list[tuple[int, int]], printed: int, optimum: int) -> None:
    assert cost(windows, "sum", "factor") == printed
    assert cost(windows, "sum", "optimal") == cost(windows, "sum") == optimum


def test_some_sets_need_hopping_factor_windows() -> None:
    asked = [Window(7, 1), Window(14, 2), Window(20, 10), Window(42, 6), Window(56, 8)]
    plan = mt.plan(asked, "min")
    assert plan.cost == mt.plan(asked, "min", algorithm="optimal").cost
    assert any(not factor.is_tumbling for factor in plan.factors)
