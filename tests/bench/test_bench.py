"""The benchmarks measure what they say, and the documents show what was measured."""

import re
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

import muntin as mt
from muntin.choices import Algorithm
from muntin.cli import main
from muntin_bench.experiments.model import model_ratios, window_sets
from muntin_bench.experiments.planning import growth, planning_times
from muntin_bench.experiments.quality import gaps
from muntin_bench.experiments.weave import weave_experiments
from muntin_bench.record import load, record, save
from muntin_bench.report.pages import report
from muntin_bench.workload import random_gen, rich_gen, sequential_gen

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / "benchmarks" / "results"

SEQUENTIAL = {
    # count, tumbling: mean and greatest ratio of Algorithm 1, then of Algorithm 3
    (5, True): (1.55, 1.62, 2.72, 3.61),
    (10, True): (1.85, 1.94, 4.21, 6.02),
    (15, True): (2.28, 2.41, 5.60, 8.22),
    (20, True): (2.31, 2.42, 6.43, 9.71),
    (5, False): (1.62, 1.64, 5.61, 7.15),
    (10, False): (1.94, 1.98, 8.98, 12.3),
    (15, False): (2.42, 2.46, 12.0, 16.9),
    (20, False): (2.43, 2.47, 13.8, 20.0),
}

RANDOM_MEANS = {
    (5, True): (1.23, 1.64),
    (10, True): (1.48, 1.58),
    (15, True): (1.68, 1.74),
    (20, True): (1.91, 1.95),
    (5, False): (1.40, 4.47),
    (10, False): (1.86, 5.94),
    (15, False): (2.34, 7.62),
    (20, False): (2.62, 8.65),
}


@pytest.mark.parametrize(("count", "tumbling"), SEQUENTIAL)
def test_model_ratios_of_sequential_gen_are_exact(count: int, tumbling: bool) -> None:
    row = next(row for row in model_ratios((count,), families=("SequentialGen",)) if row["tumbling"] == tumbling)
    speedups = (row["shared"]["mean"], row["shared"]["max"], row["factor"]["mean"], row["factor"]["max"])
    assert speedups == pytest.approx(SEQUENTIAL[count, tumbling], abs=0.006, rel=0.005)


@pytest.mark.parametrize(("count", "tumbling"), RANDOM_MEANS)
def test_model_ratios_of_random_gen_are_close(count: int, tumbling: bool) -> None:
    """Other draws of the same generator: means agree within sampling error."""
    rows = [row for row in load(RESULTS / "model.json")["rows"] if row["family"] == "RandomGen"]
    (row,) = [row for row in rows if (row["count"], row["tumbling"]) == (count, tumbling)]
    assert row["shared"]["mean"] == pytest.approx(RANDOM_MEANS[count, tumbling][0], rel=0.15)
    assert row["factor"]["mean"] == pytest.approx(RANDOM_MEANS[count, tumbling][1], rel=0.15)
    assert row["best"]["mean"] >= row["factor"]["mean"] >= row["shared"]["mean"] >= 1


@pytest.mark.parametrize(
    ("tumbling", "base", "shared", "factor"),
    [
        (True, 2, 1.46, 1.71),
        (True, 5, 1.58, 2.83),
        (True, 10, 1.62, 3.61),
        (False, 5, 1.59, 4.02),
        (False, 10, 1.62, 5.68),
        (False, 20, 1.64, 7.15),
    ],
)
def test_ratios_of_five_sequential_windows(tumbling: bool, base: int, shared: float, factor: float) -> None:
    asked = sequential_gen(5, tumbling, base)
    ratios: dict[Algorithm, float] = {"shared": shared, "factor": factor}
    for algorithm, ratio in ratios.items():
        plan = mt.plan(asked, "min", algorithm=algorithm)
        assert float(plan.independent_cost / plan.cost) == pytest.approx(ratio, abs=0.005)


@pytest.mark.parametrize(("count", "gain"), [(5, 5 / 3), (10, 2.0), (15, 2.5), (20, 2.5)])
def test_gain_without_factor_windows_tends_to_n_by_the_primes(count: int, gain: float) -> None:
    plan = mt.plan(sequential_gen(count, True, 10), "min", rate=10**9, algorithm="shared")
    assert float(plan.independent_cost / plan.cost) == pytest.approx(gain)
    assert mt.plan(sequential_gen(count, True, 10), "min", 10**9).independent_cost == pytest.approx(
        count * float(mt.plan(sequential_gen(count, True, 10), "min", 10**9).cost), rel=1e-6
    )


def test_generators_stay_in_the_papers_bounds() -> None:
    for seed in range(20):
        assert all(4 <= w.range <= 500 and w.is_tumbling for w in random_gen(20, True, seed))
        assert all(10 <= w.slide <= 1000 and w.range == 2 * w.slide for w in random_gen(20, False, seed))
        assert random_gen(20, True, seed) == random_gen(20, True, seed)
    assert [w.range for w in sequential_gen(5, True, 10)] == [20, 30, 40, 50, 60]
    for draw in (partial(random_gen, 1000, True, 0), partial(rich_gen, 9, 2, 2, 0), partial(random_gen, 0, True, 0)):
        with pytest.raises(mt.QueryError, match="different windows"):
            draw()


def test_experiments_run_small(tmp_path: Path) -> None:
    (row, *_) = list(model_ratios(counts=(3,)))
    assert row["best"]["mean"] >= row["factor"]["mean"]
    quality = list(gaps(sets=1))
    assert all(row["best"]["mean"] == 1 for row in quality)
    planning = list(planning_times(small=(3,), large=(100, 110), sets=2))
    assert all(row["median_ms"] > 0 for row in planning)
    assert growth([{"count": 10, "median_ms": 1}, {"count": 100, "median_ms": 100}]) == pytest.approx(2)
    for name, rows in (("model", [row]), ("quality", quality), ("planning", planning)):
        save(record(name, f"muntin bench {name}", rows), tmp_path / f"{name}.json")
    out = tmp_path / "docs" / "benchmarks.md"
    out.parent.mkdir()
    result = CliRunner().invoke(main, ["bench", "report", "--results", str(tmp_path), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert out.read_text(encoding="utf-8").count("\n## ") == 3
    assert (out.parent / "images" / "planning.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_experiments_on_trees_run_small(tmp_path: Path) -> None:
    small = {1: ("queries", (1, 100)), 4: ("rate", (0.01, 1))}
    rows = list(weave_experiments(1, small, million=200))
    assert {row["part"] for row in rows} == {"experiment", "variant", "start", "counting", "many"}
    costs = {(r["value"], r["technique"], r["algorithm"]): r["cost"] for r in rows if r["part"] == "experiment"}
    assert all(cost <= costs[v, t, "no_share"] * (1 + 1e-9) for (v, t, a), cost in costs.items() if a == "weave_share")
    assert all(row["equal"] for row in rows if row.get("marking_seconds") is not None)
    save(record("weave", "muntin bench weave", rows), tmp_path / "weave.json")
    out = tmp_path / "docs" / "benchmarks.md"
    out.parent.mkdir()
    result = CliRunner().invoke(main, ["bench", "report", "--results", str(tmp_path), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "Experiment 4: cost without sharing" in out.read_text(encoding="utf-8")
    assert (out.parent / "images" / "weave.svg").exists()


def test_the_document_is_made_of_the_result_files() -> None:
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == report(RESULTS)


def test_committed_results_meet_the_goals() -> None:
    planning = load(RESULTS / "planning.json")["rows"]
    best = [row for row in planning if row["algorithm"] == "best"]
    goals = {20: 10, 100: 1_000, 1000: 20_000}
    measured = [row for row in best if row["count"] in goals and "tumbling" not in row["family"]]
    assert len(measured) == 2 * len(goals)
    assert all(row["median_ms"] < goals[row["count"]] for row in measured)
    for row in load(RESULTS / "quality.json")["rows"]:
        assert row["best"]["optimal"] == row["sets"]  # README and docs say so


def test_numbers_in_prose_come_from_result_files() -> None:
    """README and docs quote planning times and gaps: each figure must stand in a result file."""
    quality = load(RESULTS / "quality.json")["rows"]
    (row,) = [r for r in quality if (r["family"], r["aggregate"], r["rate"]) == ("RandomGen hopping", "min", 1)]
    text = (ROOT / "docs" / "how_it_works.md").read_text(encoding="utf-8")
    quoted = re.search(r"(\d+\.\d) % more expensive than the optimum on average", text)
    assert quoted is not None
    assert float(quoted[1]) == pytest.approx(100 * (row["factor"]["mean"] - 1), abs=0.05)


def test_window_sets_of_a_row() -> None:
    assert len(list(window_sets("SequentialGen", 5, True))) == 3
    assert len(list(window_sets("RandomGen", 5, True))) == 100
    assert len(list(window_sets("RandomGen", 5, False))) == 30


def test_the_decision_on_candidates_quotes_the_benchmark() -> None:
    text = (ROOT / "docs" / "decisions" / "0002-candidates-at-the-ends.md").read_text(encoding="utf-8")
    rows = [row for row in load(RESULTS / "quality.json")["rows"] if "ranges to 8" in row["family"]]
    rows = [row for row in rows if (row["aggregate"], row["rate"]) == ("min", 1)]
    worst = max(row["tumbling"]["max"] for row in rows)
    assert f"up to {100 * (worst - 1):.1f} % more expensive" in text
    counts = [row["tumbling"]["optimal"] for row in rows]
    assert re.search(rf"optimal in\s+{counts[0]} sets \(slides to 12\) and {counts[1]} sets", text)


def test_the_decision_on_tri_weave_quotes_the_benchmark() -> None:
    text = (ROOT / "docs" / "decisions" / "0007-triweave-cost.md").read_text(encoding="utf-8")
    rows = [
        row for row in load(RESULTS / "weave.json")["rows"] if row["part"] == "variant" and row["form"] == "printed"
    ]
    by_algorithm = {(row["technique"], row["algorithm"]): row for row in rows}
    names = {technique for technique, _ in by_algorithm}
    apart = {
        algorithm: max(
            abs(by_algorithm[name, algorithm]["cost"] / by_algorithm[name, "weave_share"]["cost"] - 1) for name in names
        )
        for algorithm in ("tri_weave", "tri_weave_b")
    }
    assert re.search(rf"A costs up\s+to {100 * apart['tri_weave']:.1f} % more", text)
    assert all(by_algorithm[name, "tri_weave"]["trees"] == by_algorithm[name, "weave_share"]["trees"] for name in names)
    assert re.search(rf"B costs\s+up to {100 * apart['tri_weave_b']:.1f} % less", text)
    assert f"at least {min(by_algorithm[name, 'tri_weave_b']['trees'] for name in names):.1f} trees" in text


def test_many_queries_are_planned_in_time() -> None:
    rows = load(RESULTS / "weave.json")["rows"]
    large = [row for row in rows if row.get("parameter") == "queries" and row["value"] == 10_000]
    assert len(large) == 20
    assert all(row["seconds"]["max"] < 30 for row in large)
    million = [row for row in rows if row["part"] == "many"]
    assert len(million) == 5
    assert all(row["queries"] == 1_000_000 and row["seconds"]["max"] < 180 for row in million)
    assert all(row["equal"] for row in rows if row.get("marking_seconds") is not None)


def test_pages_say_what_was_measured() -> None:
    def page(name: str) -> str:
        return " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())

    rolling = load(RESULTS / "rolling.json")["rows"][0]["seconds"]
    told = f"took {rolling['auto']:.2f} s, where Spark's segment tree took {rolling['tree']:.2f} s"
    assert told in page("feature_tables.md")


def test_the_readme_says_what_was_measured() -> None:
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    rounds = {1: "one round", 2: "two rounds", 3: "three rounds"}
    stream = load(RESULTS / "stream.json")
    (dense,) = [row["contenders"] for row in stream["rows"] if row["setting"] == "dense, 20 tumbling"]
    assert dense["separate"]["events_per_second"] > dense["plain"]["events_per_second"]
    faster = dense["auto"]["events_per_second"] / dense["separate"]["events_per_second"]
    told = f"Twenty windows over {stream['settings']['events'] / 1e6:g} million events ran {faster:.1f} times as fast"
    assert f"{told} as twenty queries in plain Spark (dense stream, {rounds[stream['settings']['rounds']]};" in readme
    flink = load(RESULTS / "stream-flink.json")
    beside = {
        row["setting"]: row["seconds"]["RocksDB, checkpoints"] / row["seconds"]["muntin"] for row in flink["rows"]
    }
    tumbling, hopping = (
        "{:.1f} and {:.1f} times as fast".format(*(beside[f"{stream}, {windows}"] for stream in ("dense", "sparse")))
        for windows in ("20 tumbling", "5 hopping, range 6 slides")
    )
    assert f"RocksDB ({rounds[flink['settings']['rounds']]}), twenty tumbling windows over 3 million events" in readme
    assert f"events run {tumbling}, five hopping windows {hopping}" in readme
    waits = {row["engine"]: row["p50_ms"] / 1000 for row in load(RESULTS / "stream-latency.json")["rows"]}
    assert f"its median result arrives {waits['flink']:.1f} s after" in readme
    assert f"Muntin's after {waits['expand']:.1f} to {waits['auto']:.1f} s" in readme
    queries = load(RESULTS / "queries.json")
    ratios = {
        (row["queries"], row["seed"]): row["seconds"]["plain"] / row["seconds"]["auto"] for row in queries["rows"]
    }
    told = f"({rounds[queries['settings']['rounds']]}), a set of a hundred queries runs {ratios[100, 1]:.1f} times"
    assert told in readme
    assert f"sets of twenty run {ratios[20, 1]:.1f} and {ratios[20, 2]:.1f} times as fast" in readme
