"""What notebooks say above a plan is what the plan below does, as it was when the outputs were written."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples").glob("*.ipynb"))
PLAN = re.compile(r"^<\w+ plan of .*: (\w+)>$")
WORDS = {r"\bone pass\b": "kernel", r"\bwindow functions\b": "independent", r"\bplain Spark\b": "independent"}
"""What the sentence right above a plan may say, and what its shapes then are."""


def plans(notebook: Path) -> Iterator[tuple[str, str]]:
    """Yield the sentence above each physical plan, and the shapes of the plan."""
    above = ""
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            above = re.split(r"(?<=[.:])\s+", text.strip())[-1]
            continue
        for output in cell["outputs"]:
            if shown := PLAN.match("".join(output.get("data", {}).get("text/plain", ()))):
                yield above, shown[1]
        above = ""


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_plans_are_what_the_sentence_above_says(notebook: Path) -> None:
    for sentence, shapes in plans(notebook):
        for words, shape in WORDS.items():
            assert not re.search(words, sentence) or shape in shapes, f"{sentence!r} stands above {shapes}"


def test_both_ways_of_rolling_windows_are_named_above_their_plans() -> None:
    (features,) = (path for path in NOTEBOOKS if "rolling" in path.stem)
    named = {shape for sentence, _ in plans(features) for words, shape in WORDS.items() if re.search(words, sentence)}
    assert named == {"kernel", "independent"}
