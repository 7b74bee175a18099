"""The benchmarks of the techniques and of the optimizers' trees run what they say."""

import numpy as np
import pytest

from muntin.bench import kernels, woven
from muntin.bench.record import record
from muntin.bench.report_kernels import kernels_section, woven_section
from muntin.kernels.catalogue import MANY
from muntin.kernels.operators import Sum
from muntin.plan.edges import edges_of
from muntin.techniques import TECHNIQUES
from muntin.window import Window


def quiet(_: str) -> None:
    pass


@pytest.mark.parametrize("technique", ["naive", "flatfit", "subtract_on_evict"])
def test_a_tree_answers_its_queries(technique: str) -> None:
    """Partials between the edges of a tree give every query the sum of its range, at each of its slides."""
    tree = [Window(6, 2), Window(8, 4), Window(9, 3)]
    values = np.random.default_rng(1).integers(0, 99, 200).astype(float)
    _, partials, edges = woven._cut(Sum(), values, np.arange(201), edges_of(tree), 0)
    asked = woven._asked(edges, tree, 0)
    out = np.zeros(len(asked.starts))
    MANY[technique](Sum(), partials, asked, out)
    found = []
    for partial, (first, last) in enumerate(zip(asked.due[:-1], asked.due[1:], strict=True)):
        found += [(int(edges[partial + 1]), int(asked.queries[a]), out[a]) for a in range(first, last)]
    wanted = [
        (end, number, values[end - window.range : end].sum())
        for number, window in enumerate(tree)
        for end in range(window.slide, 201, window.slide)
        if end >= window.range
    ]
    assert sorted(found) == sorted(wanted)


def test_techniques_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "SLIDES", 2_000)
    monkeypatch.setattr(kernels, "TIMED", 1_000)
    monkeypatch.setattr(kernels, "LEAST", 100)
    rows = [*kernels.one_range(1, quiet, (1, 16)), *kernels.many_ranges(1, quiet, (1, 4))]
    assert {row["technique"] for row in rows} == set(TECHNIQUES)
    assert all(row.get("per_second", 1) > 0 and row["held"] > 0 for row in rows)
    text = kernels_section(record("kernels", "muntin bench kernels", rows))
    assert "Million slides per second, max, one range" in text


def test_trees_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"QUERIES": 6, "LONGEST_SLIDE": 10, "MOST_OVERLAP": 8, "STRETCH": 400, "SHORT": 200}.items():
        monkeypatch.setattr(woven, name, value)
    rows = list(woven.estimated_and_measured(1, quiet, seeds=(0,)))
    assert len(rows) == 10
    assert 0 <= woven.deviation(rows[:5]) < 1
    assert "Mean deviation" in woven_section(record("woven", "muntin bench woven", rows))
