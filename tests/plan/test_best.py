"""How close the default algorithm comes to the exact optimum; the full table is made by `muntin bench quality`."""

from fractions import Fraction
from statistics import fmean

import pytest

import muntin as mt
from muntin.bench.quality import FAMILIES, window_sets
from muntin.window import Window
from muntin.workload import random_gen, rich_gen


@pytest.mark.slow
@pytest.mark.parametrize("rate", [1, 10])
@pytest.mark.parametrize("aggregate", ["min", "sum"])
@pytest.mark.parametrize("family", FAMILIES)
def test_best_is_close_to_optimal(family: str, aggregate: str, rate: int) -> None:
    ratios = [
        Fraction(mt.plan(windows, aggregate, rate).cost) / mt.plan(windows, aggregate, rate, "optimal").cost
        for windows in window_sets(family, 30)
    ]
    assert min(ratios) >= 1
    assert fmean(ratios) <= 1.001
    assert max(ratios) <= 1.02


def test_plans_are_the_same_every_time() -> None:
    for seed in range(5):
        for asked in (random_gen(20, False, seed), rich_gen(20, 60, 8, seed)):
            assert mt.plan(asked, "min").forests == mt.plan(asked[::-1], "min").forests


@pytest.mark.slow
def test_a_thousand_windows() -> None:
    asked = rich_gen(1000, 10_000, 8, seed=0)
    plan = mt.plan(asked, "sum")
    assert plan.cost < mt.plan(asked, "sum", algorithm="factor").cost
    assert len(plan.explain().splitlines()) == 3 + len(plan.nodes)


def test_a_chain_deeper_than_pythons_stack_prints() -> None:
    asked = [Window(r, 1) for r in range(1, 1500)]
    plan = mt.plan(asked, "min", algorithm="shared")
    assert plan.parent(Window(1400, 1)) == Window(1399, 1)
    assert "⟨1499,1⟩" in plan.explain()
    assert "⟨1499,1⟩" in plan.to_html()
    assert "⟨1499,1⟩" in plan.to_mermaid()
