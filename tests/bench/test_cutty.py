"""The benchmark of shared slices runs what it says, and the document shows what was measured."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from muntin.cli import main
from muntin.kernels.cutty.ways import WAYS
from muntin_bench.experiments import cutty
from muntin_bench.record import load, record, save

RESULTS = Path(__file__).parent.parent.parent / "benchmarks" / "results"


def quiet(_: str) -> None:
    pass


def test_periodic_queries_are_the_papers() -> None:
    """6001 ranges and 1901 slides are possible, not 5000 and 1900 as the paper has it."""
    assert [(most - least) // cutty.STEP + 1 for least, most in (cutty.RANGES, cutty.SLIDES)] == [6001, 1901]
    rows = 300_000
    for lo, hi in cutty.periodic(100, rows):
        ranges, slides = set((hi - lo).tolist()), set(np.diff(lo).tolist())
        assert len(ranges) == len(slides) == 1
        (range_,), (slide,) = ranges, slides
        assert 20_000 <= range_ <= 80_000
        assert 1_000 <= slide <= 20_000
        assert range_ % 10 == slide % 10 == 0
        assert rows - slide < hi[-1] <= rows
    fewer, more = cutty.periodic(3, rows), cutty.periodic(5, rows)
    assert all((a.lo == b.lo).all() for a, b in zip(fewer, more, strict=False))


def test_sessions_are_apart() -> None:
    for lo, hi in cutty.sessions(20, 400_000):
        assert len(lo) > 1
        assert (lo < hi).all()
        assert (hi[:-1] <= lo[1:]).all()
        assert hi[-1] <= 400_000


def test_windows_of_all_queries_are_in_order_of_their_ends() -> None:
    windows = cutty.in_order(cutty.sessions(9, 100_000))
    assert (np.diff(windows.hi) >= 0).all()
    assert len(windows.lo) == sum(len(one.lo) for one in cutty.sessions(9, 100_000))


def test_ways_are_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(cutty, "RANGES", (200, 800))
    monkeypatch.setattr(cutty, "SLIDES", (10, 200))
    monkeypatch.setattr(cutty, "SENSORS", np.array([10.0, 40.0]))
    rows = list(cutty.cutty_experiments(1, quiet, rows=4_000, counts=(1, 4)))
    assert [row["way"] for row in rows[: len(WAYS)]] == list(WAYS)
    assert len(rows) == 2 * len(WAYS) + 2 * (len(WAYS) - 2)
    assert all(row["equal"] and row["rows_per_second"] > 0 and row["held"] > 0 for row in rows if row["queries"] > 1)
    by = {row["way"]: row for row in rows if (row["workload"], row["queries"]) == ("periodic", 4)}
    (lengths,) = {row["instances"] for row in by.values()}
    windows = cutty.in_order(cutty.periodic(4, 4_000))
    assert lengths == len(windows.lo)
    assert by["naive"]["folds"] == int((windows.hi - windows.lo).sum()) - lengths
    assert by["cutty"]["appends"] == len(np.unique(windows.lo)) - 1
    assert by["reactive_aggregator"]["held"] == int((windows.hi - windows.lo).max())
    assert by["cutty_merged"]["held"] <= by["cutty_lazy"]["held"] < by["pairs"]["held"]
    save(record("cutty", "muntin bench cutty", rows), tmp_path / "cutty.json")
    out = tmp_path / "docs" / "benchmarks.md"
    out.parent.mkdir()
    result = CliRunner().invoke(main, ["bench", "report", "--results", str(tmp_path), "--out", str(out)])
    assert result.exit_code == 0, result.output
    text = out.read_text(encoding="utf-8")
    assert "## Slices that many windows share" in text
    assert "All ways gave the same results. " in text
    assert (out.parent / "images" / "cutty.svg").exists()


def test_committed_results_are_complete() -> None:
    rows = load(RESULTS / "cutty.json")["rows"]
    counts = [1, *range(10, 101, 10)]
    for workload, ways in (("periodic", len(WAYS)), ("sessions", len(WAYS) - 2)):
        here = [row for row in rows if row["workload"] == workload]
        assert [row["queries"] for row in here] == [count for count in counts for _ in range(ways)]
    assert all(row["equal"] for row in rows)


def test_committed_results_are_those_of_the_loop() -> None:
    """Counts do not depend on the machine: those of one query are the same everywhere."""
    (row,) = [
        row
        for row in load(RESULTS / "cutty.json")["rows"]
        if (row["workload"], row["queries"], row["way"]) == ("periodic", 1, "cutty")
    ]
    (one,) = cutty.periodic(1, row["rows"])
    range_, slide = int(one.hi[0] - one.lo[0]), int(one.lo[1] - one.lo[0])
    assert row["held"] == range_ // slide
    assert row["instances"] == len(one.lo)
    assert row["appends"] == len(one.lo) - 1
