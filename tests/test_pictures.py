"""The pictures of docs/windows.md: committed as they are drawn, true to the definitions, and readable everywhere."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from muntin.window import KINDS
from tools.pictures.__main__ import write_pictures
from tools.pictures.drawing import WIDTH
from tools.pictures.gallery import EXAMPLES, LINE, RIDES, TIMES, pictures

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures" / "windows"
DRAWN = dict(pictures())


def test_committed_pictures_are_those_that_the_code_draws(tmp_path: Path) -> None:
    write_pictures(tmp_path)
    drawn = {file.name: file.read_text(encoding="utf-8") for file in tmp_path.iterdir()}
    assert drawn == {file.name: file.read_text(encoding="utf-8") for file in PICTURES.iterdir()}, "run make pictures"


def test_every_kind_has_a_picture_that_the_page_shows() -> None:
    assert {example.window.kind for example in EXAMPLES.values()} == set(KINDS)
    page = (ROOT / "docs" / "windows.md").read_text(encoding="utf-8")
    assert re.findall(r"\(pictures/windows/(\w+)\.svg\)", page) == list(DRAWN)
    for example in EXAMPLES.values():
        assert example.code.removesuffix(")") in page  # the page may add an id


@pytest.mark.parametrize("name", DRAWN)
def test_pictures_fit_and_tell_what_they_show(name: str) -> None:
    root = ElementTree.fromstring(DRAWN[name])  # noqa: S314 - our own text
    space = "{http://www.w3.org/2000/svg}"
    height = float(root.attrib["height"])
    assert root.attrib["width"] == str(WIDTH)
    assert 100 <= height <= 240
    assert root.findtext(f"{space}title")
    assert root.findtext(f"{space}desc")
    for text in root.iter(f"{space}text"):
        assert 0 <= float(text.attrib["x"]) <= WIDTH
        assert 0 <= float(text.attrib["y"]) <= height
    for bar in root.iter(f"{space}rect"):
        assert float(bar.attrib["x"]) + float(bar.attrib["width"]) <= WIDTH
        assert float(bar.attrib["y"]) + float(bar.attrib["height"]) <= height
    classes = {name for part in root.iter() for name in part.attrib.get("class", "").split()}
    dark = set(re.findall(r"\.(\w+) \{", root.findtext(f"{space}style") or ""))
    assert classes <= dark


@pytest.mark.parametrize("name", EXAMPLES)
def test_bars_have_the_rows_of_their_instances(name: str) -> None:
    instances = EXAMPLES[name].drawn().instances
    assert instances
    small = re.findall(r'class="row"[^/]* r="2.5"', DRAWN[name])
    assert len(small) == sum(one.hi - one.lo for one in instances)
    assert DRAWN[name].count('class="bar"') == len(instances)
    assert all(LINE.first <= one.start <= one.end <= LINE.last for one in instances)


def test_rows_are_in_order() -> None:
    assert sorted(TIMES) == TIMES
    assert sorted(ride.km for ride in RIDES) == [ride.km for ride in RIDES]
