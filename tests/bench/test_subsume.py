"""The benchmark of subsumption groups runs what it says, and its results are complete."""

from pathlib import Path
from statistics import fmean

from click.testing import CliRunner

import muntin as mt
from muntin.cli import main
from muntin_bench.experiments.subsume import CLASSES, COUNTS, one_by_one, subsume_experiments
from muntin_bench.record import load, record, save
from muntin_bench.workload import scope_gen

RESULTS = Path(__file__).parent.parent.parent / "benchmarks" / "results"


def test_the_experiment_runs_small(tmp_path: Path) -> None:
    rows = list(subsume_experiments(rounds=1, counts=(20, 60), draws=2))
    assert len(rows) == 3 * 2 * 3
    assert all(len(row["groups"]) == 2 and row["build_ms"] > 0 for row in rows)
    assert all(row["embed_us"] > 0 and row["groups_after"] >= 1 for row in rows if row["method"] == "exact")
    save(record("subsume", "muntin bench subsume", rows), tmp_path / "subsume.json")
    out = tmp_path / "docs" / "benchmarks.md"
    out.parent.mkdir()
    result = CliRunner().invoke(main, ["bench", "report", "--results", str(tmp_path), "--out", str(out)])
    assert result.exit_code == 0, result.output
    assert "## Subsumption groups" in out.read_text(encoding="utf-8")
    assert (out.parent / "images" / "subsume.svg").exists()


def test_windows_one_by_one_are_all_there() -> None:
    pool = scope_gen(300, 20, seed=3)
    assert one_by_one(pool).windows == mt.subsume(pool).windows


def test_committed_counts_are_those_of_the_code() -> None:
    """Counts do not depend on the machine; they fall as windows repeat (A3.11)."""
    rows = load(RESULTS / "subsume.json")["rows"]
    by = {(row["class"], row["windows"], row["method"]): row for row in rows}
    assert len(by) == len(rows) == len(CLASSES) * len(COUNTS) * 3
    for name, longest in CLASSES.items():
        pool = scope_gen(1000, longest, seed=0)
        assert by[name, 1000, "exact"]["groups"][0] == len(mt.subsume(pool).groups)
        assert by[name, 1000, "heuristic"]["groups"][0] == len(mt.subsume(pool, "heuristic").groups)
        for count in COUNTS:
            exact, heuristic = by[name, count, "exact"], by[name, count, "heuristic"]
            assert all(few <= many for few, many in zip(exact["groups"], heuristic["groups"], strict=True))
            assert fmean(exact["kept"]) < fmean(exact["distinct_alone"]) / 10
        assert fmean(by[name, 10_000, "exact"]["groups"]) < fmean(by[name, 1000, "exact"]["groups"])
    assert {groups for count in (5000, 10_000) for groups in by["smooth", count, "heuristic"]["groups"]} == {1}
    assert all(row["build_ms"] < 5_000 for row in rows)
