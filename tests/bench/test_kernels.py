"""The benchmarks of the techniques and of the optimizers' trees run what they say."""

from pathlib import Path

import numpy as np
import pytest

from muntin.kernels.catalogue import KERNELS, MANY
from muntin.kernels.operators import Counting, Sum
from muntin.plan.slicing.edges import edges_of
from muntin.techniques import TECHNIQUES
from muntin.window import Window
from muntin_bench.experiments import kernels, woven
from muntin_bench.record import load, record
from muntin_bench.report.kernels import kernels_section, woven_section

RESULTS = Path(__file__).parent.parent.parent / "benchmarks" / "results"


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
    answers = []
    for partial, (first, last) in enumerate(zip(asked.due[:-1], asked.due[1:], strict=True)):
        answers += [(int(edges[partial + 1]), int(asked.queries[a]), out[a]) for a in range(first, last)]
    wanted = [
        (end, number, values[end - window.range : end].sum())
        for number, window in enumerate(tree)
        for end in range(window.slide, 201, window.slide)
        if end >= window.range
    ]
    assert sorted(answers) == sorted(wanted)


def test_techniques_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernels, "SLIDES", 2_000)
    monkeypatch.setattr(kernels, "TIMED", 1_000)
    monkeypatch.setattr(kernels, "LEAST", 100)
    rows = [*kernels.one_range(1, quiet, (1, 16)), *kernels.many_ranges(1, quiet, (1, 4))]
    assert {row["technique"] for row in rows} == set(TECHNIQUES)
    assert all(row.get("per_second", 1) > 0 and row["held"] > 0 for row in rows)
    text = kernels_section(record("kernels", "muntin bench kernels", rows))
    assert "Million slides per second, max, one range" in text


def test_every_slide_of_naive_has_a_full_range(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few its slides are: what it holds and the operations it takes are those of the range."""
    monkeypatch.setattr(kernels, "SLIDES", 2_000)
    monkeypatch.setattr(kernels, "TIMED", 1_000)
    monkeypatch.setattr(kernels, "LEAST", 10)
    monkeypatch.setattr(kernels, "WORK", 640)
    rows = list(kernels.one_range(1, quiet, (1, 64)))
    naive = [row for row in rows if row["technique"] == "naive" and row["size"] == 64]
    assert [(row["slides"], row["held"], row["timed_slides"]) for row in naive] == [(10, 64, 9)] * 2
    assert all(row["held"] >= 64 for row in rows if row["size"] == 64 and row["technique"] != "slick_deque")
    many = kernels.many_ranges(1, quiet, (1, 4))
    assert "the least of the others 64." in kernels_section(record("kernels", "muntin bench kernels", [*rows, *many]))
    stretch = kernels._stretch("naive", np.ones(1000), 64, 2_000, 0)
    counting = Counting(Sum(), np.zeros(1, np.int64), np.zeros(stretch.slides, np.int64))
    kernels._run_of(KERNELS["naive"], counting, stretch)()
    assert set(np.diff(counting.marks)) == {63}


def test_committed_results_are_of_full_ranges() -> None:
    rows = [row for row in load(RESULTS / "kernels.json")["rows"] if row["setting"] == "one range"]
    naive = [row for row in rows if row["technique"] == "naive"]
    assert [row["held"] for row in naive] == [row["size"] for row in naive]
    speeds = {
        operation: [r["per_second"] for r in naive if r["operation"] == operation] for operation in ("sum", "max")
    }
    assert all(series == sorted(series, reverse=True) for series in speeds.values())


def test_trees_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"QUERIES": 6, "LONGEST_SLIDE": 10, "MOST_OVERLAP": 8, "STRETCH": 400, "SHORT": 200}.items():
        monkeypatch.setattr(woven, name, value)
    rows = list(woven.estimated_and_measured(1, quiet, seeds=(0,)))
    assert len(rows) == 10
    assert 0 <= woven.deviation(rows[:5]) < 1
    assert "Mean deviation" in woven_section(record("woven", "muntin bench woven", rows))
