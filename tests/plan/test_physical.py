from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from time import process_time

import pytest

import muntin as mt
from muntin.plan import Plan
from muntin.plan.physical.batch import Bundle, choose
from muntin.plan.physical.grouping import grouped, price
from muntin.plan.physical.plans import Group, PhysicalPlan, plan_forest, rate_below
from muntin.plan.physical.prices import Prices
from muntin.plan.physical.shapes import BATCH_STRATEGIES, MERGING, PERIODIC, Shape
from muntin.plan.physical.work import Work
from muntin.plan.slicing.grids import _density
from muntin.plan.statistics import Statistics
from muntin.window import Window, hopping, tumbling
from muntin_bench.workload import any_gen

DENSE = Work(Statistics(rows=10**8, keys=10, span=10**12))
THIN = Work(Statistics(rows=10**7, keys=1, span=10**13))


def anything(_: Shape) -> bool:
    return True


def chosen(work: Work, windows: tuple[Window, ...], strategy: str, allowed: Callable[[Shape], bool]) -> PhysicalPlan:
    """Choose for one aggregate that some shapes can evaluate."""
    able = frozenset(filter(allowed, PERIODIC))
    return choose(lambda asked: Bundle(asked, work, able), [(mt.min("v"),)], windows, strategy)


def test_a_median_does_not_keep_sums_from_being_shared() -> None:
    rows, anywhere = frozenset([Shape.INDEPENDENT, Shape.EXPAND]), frozenset(MERGING)
    sums, median = tuple(mt.sum(f"v{i}") for i in range(5)), (mt.median("v"),)
    able = dict.fromkeys(sums, anywhere) | {median[0]: rows}

    def bundling(asked: tuple[mt.Aggregate, ...]) -> Bundle:
        shapes = frozenset.intersection(*(able[one] for one in asked))
        return Bundle(asked, replace(DENSE, columns=len(asked)), shapes)

    windows = tuple(hopping(f"{n} min", "1 min") for n in range(10, 20))
    plan = choose(bundling, [sums, median], windows, "auto")
    assert plan.bundles == (sums, median)
    assert next(group.shape for group in plan.groups if group.aggregates == median) in rows
    assert all(group.shape.needs_merge for group in plan.groups if group.aggregates == sums)
    assert plan.joining > 0
    apart = [choose(bundling, [asked], windows, "auto").cost for asked in (sums, median)]
    assert plan.cost == pytest.approx(sum(apart) + plan.joining)
    assert any("+" in name for name, _ in plan.alternatives)
    for strategy in ("kernel", "slices_kernel"):
        plan = choose(bundling, [sums, median], windows, strategy)
        assert all(group.shape in BATCH_STRATEGIES[strategy] for group in plan.groups if group.aggregates == sums)
    plan = choose(bundling, [sums, median], windows, "independent")
    assert plan.bundles == ((*sums, *median),)


def test_few_windows_are_evaluated_together_where_a_join_would_cost_more() -> None:
    rows = frozenset([Shape.INDEPENDENT, Shape.EXPAND])
    able = {mt.sum("v"): frozenset(MERGING), mt.median("v"): rows}
    work = Work(Statistics(rows=10**5, keys=10**4, span=10**12))

    def bundling(asked: tuple[mt.Aggregate, ...]) -> Bundle:
        return Bundle(asked, work, frozenset.intersection(*(able[one] for one in asked)))

    plan = choose(bundling, [(one,) for one in able], (tumbling("1 min"), tumbling("5 min")), "auto")
    assert plan.bundles == (tuple(able),)


def test_windows_with_no_common_divisor_are_not_cut_into_slices_as_fine_as_the_events() -> None:
    windows = tuple(tumbling(f"{n} seconds") for n in sorted({b * k for b in (4, 7, 11) for k in range(1, 9)}))
    groups = grouped(THIN, windows, Shape.SLICES_EXPLODE)
    assert len(groups) > 1
    assert sorted(w for group in groups for w in group.windows) == sorted(windows)
    assert sum(group.cost for group in groups) < price(THIN, windows, Shape.SLICES_EXPLODE).cost


def primes(count: int) -> list[int]:
    return [n for n in range(7, 1000) if all(n % k for k in range(2, int(n**0.5) + 1))][:count]


@pytest.mark.parametrize("work", [THIN, Work(Statistics(rows=10**9, keys=100, span=10**13), columns=12, keys=2)])
def test_edges_are_counted_for_few_pairs_of_groups(work: Work) -> None:
    """Planning time follows the counts; counted for every pair of twenty windows, edges are counted 549 times."""
    windows = tuple(tumbling(f"{n} seconds") for n in primes(20))
    _density.cache_clear()
    chosen(work, windows, "auto", anything)
    assert _density.cache_info().misses <= 5 * len(windows)


def test_a_hundred_windows_are_chosen_for_in_a_moment() -> None:
    """A second is the goal for windows with no common divisor; the bound leaves room for a busy machine."""
    windows = tuple(hopping(f"{3 * n + 1} seconds", f"{n} seconds") for n in primes(100))
    start = process_time()
    chosen(THIN, windows, "auto", anything)
    assert process_time() - start < 5


@pytest.mark.parametrize("shape", [shape for shape in Shape if shape.uses_slices])
@pytest.mark.parametrize("seed", range(8))
def test_groups_cost_what_they_do_if_edges_are_counted_for_every_pair(shape: Shape, seed: int) -> None:
    windows = tuple(w.timed() for w in any_gen(6, 60, 8, seed))
    dense = sum(1 / window.slide for window in windows)
    work = Work(Statistics(rows=10**9, keys=10, span=int(10**8 / dense)), columns=12, keys=2)
    cost = sum(group.cost for group in grouped(work, windows, shape))
    assert cost <= 1.001 * _joined_by_counting(work, windows, shape)


def _joined_by_counting(work: Work, windows: tuple[Window, ...], shape: Shape) -> float:
    """Join the two groups that gain most until none gains; give the cost, or that of one group if it is lower."""

    def gain(pair: tuple[Group, Group]) -> float:
        return sum(group.cost for group in pair) - both(pair).cost

    def both(pair: tuple[Group, Group]) -> Group:
        return price(work, pair[0].windows + pair[1].windows, shape)

    groups = [price(work, (window,), shape) for window in windows]
    while len(groups) > 1 and gain(best := max(combinations(groups, 2), key=gain)) > 0:
        groups = [*(group for group in groups if group not in best), both(best)]
    return min(sum(group.cost for group in groups), price(work, windows, shape).cost)


def test_windows_with_a_common_divisor_share_one_slicing() -> None:
    windows = tuple(tumbling(f"{n} minutes") for n in (10, 20, 30, 60))
    (group,) = grouped(DENSE, windows, Shape.SLICES_KERNEL)
    assert group.grids == ((600_000_000, 0),)


def test_the_cheapest_of_what_is_allowed_is_chosen() -> None:
    windows = tuple(tumbling(f"{n} minutes") for n in range(1, 21))
    plan = chosen(DENSE, windows, "auto", anything)
    costs = dict(plan.alternatives)
    assert len(costs) == len(PERIODIC)
    assert plan.cost == pytest.approx(min(costs.values()))
    assert chosen(DENSE, windows, "kernel", lambda s: not s.uses_kernel).groups[0].shape in BATCH_STRATEGIES["native"]


def test_plain_spark_is_taken_where_another_shape_promises_less_than_a_third() -> None:
    work = Work(Statistics(rows=3_000_000, keys=1, span=3_000_000_000), columns=2, keys=1)
    windows = (tumbling("20 s"), tumbling("30 s"))
    seen = set()
    for factor in (0.1, 0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 7, 10, 15):
        dear = replace(work, prices=replace(Prices(), explode=Prices().explode * factor))
        plan = chosen(dear, windows, "auto", lambda shape: shape in (Shape.INDEPENDENT, Shape.EXPAND))
        costs = dict(plan.alternatives)
        share = costs["expand"] / costs["independent"]
        assert plan.groups[0].shape is (Shape.EXPAND if share <= 2 / 3 else Shape.INDEPENDENT)
        seen.add("much" if share <= 2 / 3 else "little" if share < 1 else "nothing")
    assert seen == {"much", "little", "nothing"}


def test_one_window_is_not_shared() -> None:
    small = Work(Statistics(rows=1000, keys=3, span=10**10))
    assert chosen(small, (tumbling("1 hour"),), "auto", anything).groups[0].shape in (Shape.INDEPENDENT, Shape.EXPAND)


def test_fine_slides_are_never_exploded() -> None:
    windows = (hopping("30 days", "1 hour"), hopping("1 day", "1 minute"))
    work = Work(Statistics(rows=10**6, keys=100, span=90 * 86_400_000_000))
    assert chosen(work, windows, "auto", anything).groups[0].shape.uses_kernel


@pytest.mark.parametrize("shape", list(PERIODIC))
def test_more_rows_cost_more(shape: Shape) -> None:
    windows = (Window("1 min"), Window("10 min", "2 min"))
    costs = [price(Work(Statistics(rows=n, keys=5, span=10**11)), windows, shape).cost for n in (10**4, 10**6, 10**8)]
    assert costs == sorted(costs)


def test_estimates_do_not_exceed_what_is_possible() -> None:
    work = Work(Statistics(rows=1000, keys=10, span=10**9), prices=Prices())
    assert work.instances(tumbling("1 s")) <= 1000
    assert work.slices(((1_000_000, 0),)) <= 1000
    assert Work(Statistics(rows=0)).instances(tumbling("1 s")) == 0


@pytest.mark.parametrize("seed", range(20))
def test_a_forest_is_planned_over_what_its_windows_read(seed: int) -> None:
    """Over slices it never reads more slices and partials than a forest for events would, and mostly fewer."""
    windows = tuple(window.timed() for window in any_gen(10, 60, 12, seed))
    unit = min(window.slide for window in windows)
    work = Work(Statistics(rows=10**9, keys=10, span=10**5 * unit))
    group = price(work, windows, Shape.SLICES_KERNEL)
    rate = rate_below(group, work.statistics)
    planned = plan_forest(windows, (mt.min("v"),), rate)
    for_events = plan_forest(windows, (mt.min("v"),), work.statistics.rate)
    assert planned.cost == _read(planned, planned.rate) <= _read(for_events, planned.rate)
    assert all(node.window.slide * rate > 1 for node in planned.nodes if node.is_factor), "a copy of the slices"


def _read(forest: Plan, rate: Fraction) -> Fraction:
    """Count what a forest reads where what has no parent comes at another rate."""
    each = (rate * node.window.range if node.parent is None else Fraction(node.inputs) for node in forest.nodes)
    return sum((node.instances * read for node, read in zip(forest.nodes, each, strict=True)), Fraction(0))
