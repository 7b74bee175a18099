"""Subsumption groups as text, JSON and Mermaid, one file each; `pytest --golden` writes them anew."""

import json
from pathlib import Path

import pytest

import muntin as mt
from muntin.plan.subsumption import Subsumption, ending

GOLDEN = Path(__file__).parent.parent / "golden" / "subsumption"

TIMED = "1h/5m, 1h/15m, 1 day every 1 hour, 7 days every 1 hour, 90 minutes every 9 minutes"
FIGURE_7 = [(6, 2), (6, 4), (24, 8), (32, 4), (9, 3), (18, 3), (27, 6), (10, 5), (15, 5), (20, 5), (40, 10)]

GROUPINGS: dict[str, Subsumption] = {
    "timed": mt.subsume(TIMED),
    "figure_7": mt.subsume([ending(*scope) for scope in FIGURE_7], "heuristic"),
    "changed": mt.subsume([mt.hopping(8, 2, id="short"), mt.hopping(24, 8)]).embed(mt.hopping(8, 4, id="rare")),
}

FORMS = {"txt": "explain", "json": "to_json", "mmd": "to_mermaid"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", GROUPINGS)
def test_shown_as_before(name: str, form: str, pytestconfig: pytest.Config) -> None:
    path = GOLDEN / f"{name}.{form}"
    text = getattr(GROUPINGS[name], FORMS[form])() + "\n"
    if pytestconfig.getoption("golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_every_way_tells_the_same_windows() -> None:
    grouping = GROUPINGS["figure_7"]
    steps = grouping.to_dict()["steps"]
    assert [step["kind"] for step in steps].count("shape") == len(grouping.groups) == 4
    windows = [step for step in steps if step["kind"] in ("window", "rider")]
    assert sorted((step["range"], step["slide"]) for step in windows) == sorted(FIGURE_7)
    reads = {step["id"]: step["reads"] for step in steps}
    (rider,) = [step for step in steps if step["kind"] == "rider"]
    host = next(step for step in steps if step["id"] == reads[rider["id"]])
    assert (rider["quotient"], host["range"], host["slide"]) == (2, 6, 2)
    assert json.loads(grouping.to_json()) == grouping.to_dict()
    assert grouping.to_html().count("<rect") == 1 + 4 + len(FIGURE_7)
    assert grouping._repr_html_() == grouping.to_html()
    assert str(grouping) == grouping.explain()


def test_names_cannot_be_markup() -> None:
    shown = mt.subsume([mt.hopping(6, 2, id="<script>"), mt.hopping(6, 4, id='"]; %%{')])
    assert "<script>" not in shown.to_html()
    assert "<script>" not in shown.to_mermaid()
    assert "%%{" not in shown.to_mermaid()


def test_a_change_is_told() -> None:
    assert repr(mt.subsume([ending(6, 2)])) == "<exact grouping: 1 window in 1 group, the fewest possible>"
    assert repr(GROUPINGS["changed"]) == "<exact grouping: 3 windows in 1 group, after 1 change>"
    assert repr(GROUPINGS["figure_7"]) == "<heuristic grouping: 11 windows in 4 groups>"
