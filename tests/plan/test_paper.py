"""The worked examples of the factor-windows paper, with the corrected numbers."""

from fractions import Fraction
from itertools import product
from math import gcd, lcm
from random import Random

import pytest

import muntin as mt
from muntin.plan.forest.coverage import coverage_graph
from muntin.plan.forest.factor import _targets, benefit, best_factor_window, factor_windows
from muntin.plan.forest.horizon import Horizon
from muntin.plan.forest.optimal import all_candidates, optimal
from muntin.plan.forest.problem import Problem, Semantics, state
from muntin.plan.forest.shared import shared
from muntin.window import Period, Window
from muntin_bench.workload import rich_gen
from tests.executor import Execution

COVERED, PARTITIONED = Semantics.COVERED_BY, Semantics.PARTITIONED_BY


def tumbling(*ranges: int) -> list[Window]:
    return [Window(r) for r in ranges]


def costs(windows: list[Window], aggregate: str, rate: int = 1) -> dict[str, int | Fraction]:
    return {
        algorithm: mt.plan(windows, aggregate, rate, algorithm).cost
        for algorithm in ("independent", "shared", "factor", "optimal", "best")
    }


def problem_of(windows: list[Window], semantics: Semantics = COVERED, rate: int = 1) -> Problem:
    """State a problem in the windows' own unit, so that periods can be written as in the paper."""
    stated, scale = state(
        [*windows, Window(lcm(*(w.range for w in windows)) + 1)], semantics, Fraction(rate), Horizon(1)
    )
    assert scale.unit == 1
    periods = tuple(sorted(scale.period(window) for window in windows))
    return Problem(periods, semantics, stated.raw, stated.step, Horizon(lcm(*(w.range for w in windows))))


def test_reference_rows() -> None:
    events = {1: 3, 7: 1, 12: 9, 19: 2, 25: -4, 33: 8, 39: 0}

    def rows(window: Window, aggregate: mt.Aggregate) -> list[object]:
        plan = mt.plan(window, aggregate, horizon=40)
        results = Execution(plan, aggregate, lambda t: [events[t]] if t in events else []).run()
        return list(results.values())

    assert rows(Window(10), mt.min("v")) == [1, 2, -4, 0]
    assert rows(Window(20), mt.min("v")) == [1, -4]
    assert rows(Window(30), mt.min("v")) == [-4]
    assert rows(Window(40), mt.min("v")) == [-4]
    assert rows(Window(20, 10), mt.min("v")) == [1, -4, -4]
    assert rows(Window(20, 10), mt.sum("v")) == [15, 7, 4]


def test_rows_as_spark_gives_them() -> None:
    """Windows that begin before the first event have a row, windows without events have none."""
    events = {1: 3, 7: 1, 12: 9, 19: 2, 25: -4, 33: 8, 39: 0}
    sums: dict[int, int] = {}
    for time, value in events.items():
        for start, _ in Window(20, 10).containing(time):
            sums[start] = sums.get(start, 0) + value
    assert sums == {-10: 4, 0: 15, 10: 7, 20: 4, 30: 8}
    assert {start for time in (1, 25) for start, _ in Window(10).containing(time)} == {0, 20}


def test_containment_decides_not_the_start() -> None:
    """MIN ⟨10,2⟩ from ⟨8,2⟩: the parent instance [8,16) begins inside [0,10) but must not be read."""
    plan = mt.plan([Window(8, 2), Window(10, 2)], "min", algorithm="shared", horizon=40)
    assert plan.parent(Window(10, 2)) == Window(8, 2)
    results = Execution(plan, mt.min("v"), lambda t: [-100 if t == 12 else 5]).run()
    assert results[Window(10, 2), 0] == 5
    assert results[Window(10, 2), 4] == -100


def test_sums_of_overlapping_parents_are_wrong() -> None:
    """SUM ⟨10,2⟩ from merely covering ⟨8,2⟩ with one event of value 1 per unit gives 16 instead of 10."""
    assert sum(end - start for start, end in Window(8, 2).instances(0, 10)) == 16
    asked = [Window(10, 2), Window(8, 2)]
    assert mt.plan(asked, "min", algorithm="shared").parent(Window(10, 2)) == Window(8, 2)
    assert mt.plan(asked, "sum", algorithm="shared").parent(Window(10, 2)) is None


@pytest.mark.parametrize("semantics", [COVERED, PARTITIONED])
@pytest.mark.parametrize("seed", range(15))
def test_algorithm_1_is_optimal_without_factor_windows(seed: int, semantics: Semantics) -> None:
    """Equal to the best of all assignments of parents."""
    problem = problem_of(list(rich_gen(4, 6, 4, seed)), semantics)
    choices = [[None, *(p for p in problem.periods if problem.inputs(c, p))] for c in problem.periods]
    least = min(problem.cost(dict(zip(problem.periods, chosen, strict=True))) for chosen in product(*choices))
    assert problem.cost(shared(problem)) == least


def test_targets_of_the_raw_input_are_the_windows_that_read_nothing_else() -> None:
    (target, roots), *inner = _targets(coverage_graph(problem_of(tumbling(20, 30, 40))))
    assert target is None
    assert roots == [(20, 20, 0), (30, 30, 0)]
    assert inner == [((20, 20, 0), [(40, 40, 0)])]


def test_lambda_of_equation_4() -> None:
    def rate_of_instances(windows: list[Window], horizon: int) -> Fraction:
        return sum((Fraction(w.recurrence(horizon) * w.range, horizon) for w in windows), Fraction(0))

    assert rate_of_instances(tumbling(20, 30), 60) == 2
    assert rate_of_instances([Window(20, 10)], 60) == Fraction(5, 3)


def test_example_6() -> None:
    plan = mt.plan(tumbling(10, 20, 30, 40), "min", algorithm="shared")
    assert plan.horizon == 120
    assert plan.independent_cost == 480
    assert [node.cost for node in plan.nodes] == [120, 12, 12, 6]
    assert plan.cost == 150
    assert plan.saving == 0.6875
    assert [plan.parent(Window(r)) for r in (10, 20, 30, 40)] == [None, Window(10), Window(10), Window(20)]


def test_example_6_has_four_edges() -> None:
    graph = coverage_graph(problem_of(tumbling(10, 20, 30, 40)))
    edges = [(graph.windows[p][0], graph.windows[c][0]) for p, listed in enumerate(graph.children) for c, _ in listed]
    assert edges == [(10, 20), (10, 30), (10, 40), (20, 40)]


def test_example_7() -> None:
    assert costs(tumbling(20, 30, 40), "min") == costs(tumbling(20, 30, 40), "sum")
    assert list(costs(tumbling(20, 30, 40), "min").values()) == [360, 246, 150, 150, 150]
    plan = mt.plan(tumbling(20, 30, 40), "min")
    assert plan.factors == (Window(10),)
    assert [plan.parent(Window(r)) for r in (10, 20, 30, 40)] == [None, Window(10), Window(10), Window(20)]
    shared = mt.plan(tumbling(20, 30, 40), "min", algorithm="shared")
    assert [shared.parent(Window(r)) for r in (20, 30, 40)] == [None, None, Window(20)]
    assert [node.cost for node in shared.nodes] == [120, 120, 6]


def test_nothing_to_share() -> None:
    assert set(costs(tumbling(15, 17, 19), "min").values()) == {14535}


@pytest.mark.parametrize(
    ("windows", "aggregate", "expected", "factors", "optimal_factors"),
    [
        ([(10, 2), (8, 2), (12, 4)], "min", [1352, 624, 516, 516], [(2, 2)], [(2, 2)]),
        ([(10, 2), (8, 2), (12, 4)], "sum", [1352, 1352, 796, 772], [(2, 2)], [(2, 2), (4, 4)]),
        ([(20, 10), (30, 10), (60, 20)], "min", [280, 112, 82, 82], [(10, 10)], [(10, 10)]),
        ([(20, 10), (30, 10), (60, 20)], "sum", [280, 280, 88, 88], [(10, 10)], [(10, 10)]),
        ([(4, 2), (6, 2), (12, 6)], "min", [56, 32, 32, 32], [], []),
        ([(4, 2), (6, 2), (12, 6)], "sum", [56, 56, 40, 40], [(2, 2)], [(2, 2)]),
    ],
)
def test_hopping_examples(
    windows: list[tuple[int, int]],
    aggregate: str,
    expected: list[int],
    factors: list[tuple[int, int]],
    optimal_factors: list[tuple[int, int]],
) -> None:
    asked = [Window(r, s) for r, s in windows]
    assert list(costs(asked, aggregate).values()) == [*expected, expected[-1]]
    assert list(mt.plan(asked, aggregate, algorithm="factor").factors) == [Window(*f) for f in factors]
    assert list(mt.plan(asked, aggregate, algorithm="optimal").factors) == [Window(*f) for f in optimal_factors]


def test_hopping_example_node_by_node() -> None:
    plan = mt.plan([Window(10, 2), Window(8, 2), Window(12, 4)], "min", algorithm="shared")
    read = {(node.window, node.parent, node.cost) for node in plan.nodes}
    assert read == {
        (Window(8, 2), None, 456),
        (Window(10, 2), Window(8, 2), 112),
        (Window(12, 4), Window(10, 2), 56),
    }


@pytest.mark.parametrize(
    ("rate", "expected"), [(2, (720, 486, 270)), (10, (3600, 2406, 1230)), (100, (36000, 24006, 12030))]
)
def test_rates(rate: int, expected: tuple[int, int, int]) -> None:
    least = costs(tumbling(20, 30, 40), "min", rate)
    assert (least["independent"], least["shared"], least["factor"]) == expected


def test_benefits_of_example_8() -> None:
    problem = problem_of(tumbling(20, 30, 40))
    downstream = [(20, 20, 0), (30, 30, 0)]
    assert [benefit(problem, (r, r, 0), None, downstream) for r in (10, 5, 2, 1)] == [96, 72, 0, -120]
    for semantics in (COVERED, PARTITIONED):
        assert best_factor_window(problem_of(tumbling(20, 30, 40), semantics), None, downstream) == (10, 10, 0)


def algorithm_2(problem: Problem, target: Period | None, downstream: list[Period]) -> list[tuple[int, Period]]:
    """The printed Algorithm 2: every slide and every range, with the benefit of each candidate."""
    benefits = []
    slides = gcd(*(child[1] for child in downstream))
    for s in (s for s in range(1, slides + 1) if slides % s == 0 and (target is None or s % target[1] == 0)):
        for r in range(s, min(child[0] for child in downstream) + 1, s):
            candidate = (r, s, 0)
            if candidate == (1, 1, 0) and target is None:  # the paper's virtual root itself
                continue
            if (target is None or problem.inputs(candidate, target)) and all(
                problem.inputs(c, candidate) for c in downstream
            ):
                benefits.append((benefit(problem, candidate, target, downstream), candidate))
    return benefits


def test_algorithm_2_on_example_8() -> None:
    benefits = algorithm_2(problem_of(tumbling(20, 30, 40)), None, [(20, 20, 0), (30, 30, 0)])
    assert len(benefits) == 31
    assert {candidate: saved for saved, candidate in benefits if saved > 0} == {(5, 5, 0): 72, (10, 10, 0): 96}


@pytest.mark.parametrize("seed", range(40))
def test_looking_at_two_ranges_per_slide_is_enough(seed: int) -> None:
    random = Random(seed)
    slides = [random.choice((2, 4, 6, 12)) * random.choice((1, 2, 3)) for _ in range(3)]
    asked = sorted({Window(s * random.randint(2, 6), s) for s in slides})
    for rate in (1, 7):
        problem = problem_of(asked, COVERED, rate)
        targets: list[Period | None] = [None, (2, 2, 0), (4, 2, 0), (3, 1, 0)]
        for target in targets:
            downstream = [c for c in problem.periods if target is None or problem.inputs(c, target)]
            if downstream:
                exhaustive = max((saved for saved, _ in algorithm_2(problem, target, downstream)), default=0)
                best = best_factor_window(problem, target, downstream)
                assert (0 if best is None else benefit(problem, best, target, downstream)) == max(0, exhaustive)


@pytest.mark.parametrize(("k1", "m1", "threshold"), [(2, 2, Fraction(3)), (2, 3, Fraction(5, 2)), (3, 2, Fraction(2))])
def test_thresholds_of_algorithm_4(k1: int, m1: int, threshold: Fraction) -> None:
    """One downstream window ⟨k1·s, s⟩ gains from a factor window exactly where Algorithm 4 draws the line."""
    for multiple in range(2, 9):
        r_w, r_f = 2, 2 * multiple
        s1 = r_f * 60
        r1 = k1 * s1
        problem = Problem(((r_w, r_w, 0), (r1, s1, 0)), PARTITIONED, 1, 1, Horizon(m1 * r1))
        saved = benefit(problem, (r_f, r_f, 0), (r_w, r_w, 0), [(r1, s1, 0)])
        assert (saved >= 0) == (Fraction(r_f, r_w) >= threshold)


def algorithm_4(r_f: int, r_w: int, downstream: list[Period], horizon: int) -> bool:
    """The printed test of a tumbling factor window, m1 = 1 read as false."""
    if len(downstream) >= 2:
        return True
    ((r1, s1, _),) = downstream
    k1, m1 = r1 // s1, horizon // r1
    if k1 == 1 or m1 == 1:
        return False
    if k1 >= 3 and m1 >= 3:
        return True
    return Fraction(r_f, r_w) >= 1 + Fraction(m1, (m1 - 1) * (k1 - 1))


@pytest.mark.parametrize("seed", range(200))
def test_algorithm_4_tells_the_sign_of_the_benefit(seed: int) -> None:
    random = Random(seed)
    r_w = random.randint(1, 4)
    r_f = r_w * random.randint(2, 5)
    slides = random.sample(range(1, 9), random.randint(1, 3))
    downstream = [(k * s * r_f, s * r_f, 0) for s in slides for k in [random.randint(1, 4)]]
    downstream = [child for child in downstream if child[0] > r_f]
    if downstream:
        horizon = lcm(*(child[0] for child in downstream)) * random.randint(1, 2)
        problem = Problem(((r_w, r_w, 0), *sorted(downstream)), PARTITIONED, 1, 1, Horizon(horizon))
        saved = benefit(problem, (r_f, r_f, 0), (r_w, r_w, 0), downstream)
        assert (saved >= 0) == algorithm_4(r_f, r_w, downstream, horizon)


@pytest.mark.parametrize("seed", range(60))
def test_the_common_divisor_is_the_best_partitioning_factor_window(seed: int) -> None:
    random = Random(seed)
    step = random.choice((6, 12, 30))
    slides = random.sample(range(1, 8), 2)
    downstream = sorted({(step * s * random.randint(1, 3), step * s, 0) for s in slides})
    r_w = random.choice([d for d in (1, 2, 3) if step % d == 0])
    horizon = Horizon(lcm(*(child[0] for child in downstream)))
    problem = Problem(((r_w, r_w, 0), *downstream), PARTITIONED, 1, 1, horizon)
    divisor = gcd(*(length for child in downstream for length in child[:2]))
    if (divisor, divisor, 0) in downstream:  # then it is asked for already
        return
    shorter = [r for r in range(r_w + 1, divisor + 1) if divisor % r == 0 and r % r_w == 0]
    saved = [benefit(problem, (r, r, 0), (r_w, r_w, 0), downstream) for r in shorter]
    best = best_factor_window(problem, (r_w, r_w, 0), downstream)
    assert (0 if best is None else benefit(problem, best, (r_w, r_w, 0), downstream)) == max(0, *saved)


def test_footnote_3() -> None:
    """⟨15,15⟩ is no candidate for {20, 30, 40}, and the optimum has no use for it."""
    problem = problem_of(tumbling(20, 30, 40))
    assert (15, 15, 0) not in factor_windows(problem)
    assert (15, 15, 0) in all_candidates(problem)
    assert (15, 15, 0) not in optimal(problem)
    assert problem.cost(optimal(problem)) == 150
