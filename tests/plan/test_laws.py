"""What holds for every window set."""

from fractions import Fraction
from itertools import permutations

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import muntin as mt
from muntin.choices import Algorithm
from muntin.plan import ALGORITHMS, Semantics
from muntin.plan.forest.candidates import candidates
from muntin.plan.forest.coverage import coverage_graph
from muntin.plan.forest.factor import factor_windows
from muntin.plan.forest.horizon import Horizon
from muntin.plan.forest.optimal import all_candidates
from muntin.plan.forest.problem import state
from muntin.plan.forest.selection import Selection
from muntin.plan.forest.shared import shared
from muntin.window import Window
from tests.executor import Execution, naive, same
from tests.strategies import window_sets

AGGREGATES = [mt.sum("v"), mt.min("v"), mt.count("v"), mt.avg("v")]
SETS = window_sets(most=4, longest=12, offsets=True)
RATES = st.sampled_from([1, 2, 10, Fraction(1, 3)])
HORIZONS = st.sampled_from([None, "steady"])


def cost_of(
    windows: list[Window], aggregate: str, rate: int | Fraction, algorithm: Algorithm, horizon: str | None
) -> Fraction:
    return Fraction(mt.plan(windows, aggregate, rate, algorithm, horizon).cost)


@given(SETS, st.sampled_from(["min", "sum", "median"]), RATES, HORIZONS)
def test_no_algorithm_is_dearer_than_those_before_it(
    windows: list[Window], aggregate: str, rate: int | Fraction, horizon: str | None
) -> None:
    costs = {name: cost_of(windows, aggregate, rate, name, horizon) for name in ALGORITHMS}
    assert costs["independent"] >= costs["shared"] >= costs["factor"] >= costs["best"] >= costs["optimal"]


@given(window_sets(most=12, longest=40, offsets=True), st.sampled_from(["min", "sum"]), RATES, HORIZONS)
def test_best_is_never_dearer_on_larger_sets(
    windows: list[Window], aggregate: str, rate: int | Fraction, horizon: str | None
) -> None:
    costs = [cost_of(windows, aggregate, rate, name, horizon) for name in ("independent", "shared", "factor", "best")]
    assert costs == sorted(costs, reverse=True)


@given(window_sets(most=4, longest=20))
def test_the_order_of_windows_does_not_matter(windows: list[Window]) -> None:
    for algorithm in ALGORITHMS:
        plans = [mt.plan(order, "min", algorithm=algorithm) for order in list(permutations(windows))[:6]]
        assert len({plan.nodes for plan in plans}) == 1


@given(window_sets(most=5, longest=20), st.sampled_from(["min", "sum"]))
def test_planning_again_with_the_factor_windows_asked_for_finds_nothing_more(
    windows: list[Window], aggregate: str
) -> None:
    plan = mt.plan(windows, aggregate, algorithm="optimal")
    everything = [*plan.windows, *plan.factors]
    assume(len({window.range for window in everything}) == len(everything) <= 10)  # else some may piggyback
    for algorithm in ("shared", "best", "optimal"):
        assert mt.plan(everything, aggregate, algorithm=algorithm, horizon=plan.horizon).cost == plan.cost


@given(window_sets(most=4, longest=12))
def test_what_sum_may_read_min_may_read(windows: list[Window]) -> None:
    assert mt.plan(windows, "min", algorithm="optimal").cost <= mt.plan(windows, "sum", algorithm="optimal").cost


@settings(max_examples=40)
@given(window_sets(most=4, longest=12), st.sampled_from(["shared", "factor", "optimal", "best"]), st.integers(1, 2))
def test_execution_reads_exactly_what_the_model_says(windows: list[Window], algorithm: Algorithm, rate: int) -> None:
    plan = mt.plan(windows, AGGREGATES[0], rate, algorithm)
    assume(plan.horizon <= 400)
    check_execution(windows, algorithm, rate, None)


@settings(max_examples=40)
@given(window_sets(most=4, longest=10, offsets=True), st.sampled_from(["shared", "factor", "optimal", "best"]))
def test_execution_in_the_steady_state_with_offsets(windows: list[Window], algorithm: Algorithm) -> None:
    assume(mt.plan(windows, "sum", horizon="steady").horizon <= 400)
    check_execution(windows, algorithm, 1, "steady")


def check_execution(windows: list[Window], algorithm: Algorithm, rate: int, horizon: str | None) -> None:
    def events(time: int) -> list[int]:
        return [(time * 37 + k * 11) % 101 - 50 for k in range(rate)]

    for aggregate in AGGREGATES:
        plan = mt.plan(windows, aggregate, rate, algorithm, horizon)
        execution = Execution(plan, aggregate, events)
        results = execution.run()
        assert execution.consumed == plan.cost
        assert {window for window, _ in results} == set(windows)
        for (window, start), value in results.items():
            assert same(value, naive(aggregate, window, start, events))


@given(
    SETS,
    st.sampled_from(list(ALGORITHMS)),
    st.lists(st.sampled_from(["min", "sum", "median"]), min_size=1, unique=True),
)
def test_mixed_aggregates_are_each_right(windows: list[Window], algorithm: Algorithm, aggregates: list[str]) -> None:
    plan = mt.plan(windows, aggregates, algorithm=algorithm, horizon="steady")
    for node in plan.nodes:
        if node.parent is not None and not node.window.piggybacks_on(node.parent):
            assert "median" not in aggregates
            assert node.window.covered_by(node.parent)
            assert "sum" not in aggregates or node.window.partitioned_by(node.parent)


@given(window_sets(most=6, longest=30, offsets=True), st.sampled_from(list(Semantics)), RATES)
def test_the_graph_agrees_with_the_algebra(windows: list[Window], semantics: Semantics, rate: int | Fraction) -> None:
    problem, scale = state(windows, semantics, Fraction(rate), Horizon(10_000))
    pool = candidates(problem)
    graph = coverage_graph(problem, pool)
    for child, edges in zip(graph.windows, graph.parents, strict=True):
        assert {graph.windows[p]: m for p, m in edges} == {
            node: problem.inputs(child, node) for node in graph.windows if problem.inputs(child, node)
        }
        for parent, inputs in edges:
            assert inputs == scale.window(child).multiplier(scale.window(graph.windows[parent]))


@given(window_sets(most=5, longest=24, offsets=True), st.sampled_from(["covered by", "partitioned by"]), RATES)
@example([Window(7, 1), Window(8, 2), Window(10, 2)], "covered by", 1)  # a parent is useless once its child is dropped
def test_a_selection_keeps_its_books(windows: list[Window], semantics: str, rate: int | Fraction) -> None:
    problem, _ = state(windows, Semantics(semantics), Fraction(rate), Horizon(10_000))
    selection = Selection(problem, [*candidates(problem), *factor_windows(problem)])
    for factor in selection.pool:
        before, saving = selection.cost, selection.saving(factor)
        selection.choose(factor)
        assert before - selection.cost == saving
        assert selection.loss(factor) == saving
    chosen = selection.save()
    for factor in selection.pool[::2]:
        before, loss = selection.cost, selection.loss(factor)
        selection.give_up(factor)
        assert selection.cost - before == loss
    selection.restore(chosen)
    selection.shrink()
    assert selection.cost == problem.cost(shared(problem, selection.factors))


@given(window_sets(most=4, longest=24, offsets=True), st.sampled_from(["covered by", "partitioned by"]))
def test_candidates_are_among_all_candidates(windows: list[Window], semantics: str) -> None:
    problem, _ = state(windows, Semantics(semantics), Fraction(1), Horizon(10_000))
    useful = {c for c in candidates(problem) if any(problem.inputs(a, c) for a in problem.periods)}
    assert useful <= all_candidates(problem)


def test_every_algorithm_takes_one_window() -> None:
    for algorithm in ALGORITHMS:
        assert mt.plan(Window(5), "min", algorithm=algorithm).cost == 5


@pytest.mark.parametrize("aggregate", ["min", "sum"])
def test_huge_windows_plan_in_no_time(aggregate: str) -> None:
    asked = [mt.tumbling("1 us"), mt.tumbling("1000 days"), mt.tumbling("3000 days"), mt.hopping("100000 days", "1 us")]
    assert mt.plan(asked, aggregate).saving > 0
    with pytest.raises(mt.UnsupportedError, match="Use 'best'"):
        mt.plan(asked, "min", algorithm="optimal")
