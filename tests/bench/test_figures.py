"""The figures of the report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from muntin.bench.record import Row
from muntin.bench.report.plots import FIGURES, queries_figure
from muntin.bench.report.style import DARK

ROOT = Path(__file__).parents[2]
COLOR = re.compile(r"(?:fill|stroke): (#[0-9a-f]{6})")


@pytest.mark.parametrize("name", FIGURES)
def test_every_colour_has_its_like_on_dark_pages(name: str) -> None:
    path = ROOT / "docs" / FIGURES[name][1]
    if not (ROOT / "benchmarks" / "results" / f"{name}.json").exists():
        pytest.skip(f"{name} has not been measured")
    text = path.read_text(encoding="utf-8")
    drawing = text.partition("</style>")[2]
    assert set(COLOR.findall(drawing)) <= set(DARK)
    assert all(f'fill: {light}"] {{ fill: {dark} !important }}' in text for light, dark in DARK.items())


def test_queries_are_drawn_where_some_ways_were_not_run(tmp_path: Path) -> None:
    rows: list[Row] = [
        {"seed": seed, "queries": count, "events": 1000, "seconds": {"plain": count, "apart": count / 2, "auto": 1.5}}
        for seed in (1, 2)
        for count in (1, 5, 20)
    ]
    del rows[-1]["seconds"]["apart"]
    queries_figure({"rows": rows}, tmp_path / "queries.svg")
    text = (tmp_path / "queries.svg").read_text(encoding="utf-8")
    assert text.count("<!-- mt.evaluate -->") == 1
    assert "<!-- events × queries per second -->" in text
