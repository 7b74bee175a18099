"""The figures of the report."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from muntin_bench.record import Row, load
from muntin_bench.report import findings
from muntin_bench.report.plots import FIGURES, queries_figure
from muntin_bench.report.style import BLUE, DARK, ORANGE, draw_lines, save, sheet

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


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_says_what_it_shows(name: str) -> None:
    draw, path = FIGURES[name]
    if not (result := ROOT / "benchmarks" / "results" / f"{name}.json").exists():
        pytest.skip(f"{name} has not been measured")
    finding = getattr(findings, draw.__name__.replace("figure", "finding"))(load(result))
    text = (ROOT / "docs" / path).read_text(encoding="utf-8")
    words = " ".join(" ".join(re.findall(r"<!--(.*?)-->", text, re.DOTALL)).split())
    assert finding in words


def test_lines_that_coincide_are_dashed_in_turn(tmp_path: Path) -> None:
    here, above = [(x, 1.0 * x) for x in range(6)], [(x, 2.0 * x + 3) for x in range(6)]
    for lines, dashed in (({"one": here, "two": here}, 2), ({"one": here, "two": above}, 0)):
        figure = sheet(2)
        draw_lines(figure.subplots(), lines, {"one": BLUE, "two": ORANGE})
        save(figure, tmp_path / "lines.svg")
        assert (tmp_path / "lines.svg").read_text(encoding="utf-8").count("stroke-dasharray: ") == dashed


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
