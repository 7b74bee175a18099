"""The programs and notebooks in examples/, with little data: each checks itself, and prints what fits 80 columns.

`pytest tests/spark/test_examples.py --golden` writes the outputs of the notebooks anew.
"""

from __future__ import annotations

import io
import runpy
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import muntin as mt
from tests.spark import notebooks

EXAMPLES = Path(__file__).parents[2] / "examples"
PROGRAMS = {
    "active_users": (6_000, "The weeks are those of count(DISTINCT user)"),
    "attribution": (4_000, "The pairs are those of a plain join"),
    "dashboard": (6_000, "rows of 1h/5m are those of groupBy(window(...)) in plain Spark"),
    "features": (6_000, "n_7d and spent_7d are those of Spark's"),
    "stream_registry": (100, "Every row is one that batch gives"),
}
"""The rows to make, and what a program says once it has compared itself with Spark."""


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_check_themselves_and_fit_a_terminal(spark: SparkSession, name: str) -> None:
    rows, said = PROGRAMS[name]
    printed = io.StringIO()
    with redirect_stdout(printed):
        runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](spark, rows)
    text = printed.getvalue()
    assert said in text
    assert [line for line in text.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_run_and_show_what_they_draw(
    spark: SparkSession, path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    monkeypatch.setattr(mt, "session", lambda **_: spark)
    notebook, scope = notebooks.read(path), dict[str, Any]()
    for cell in (cell for cell in notebook["cells"] if cell["cell_type"] == "code"):
        outputs = notebooks.run(cell, scope)
        if request.config.getoption("--golden"):
            cell["outputs"] = outputs
        assert [set(one.get("data", ())) for one in cell["outputs"]] == [set(one.get("data", ())) for one in outputs]
    if request.config.getoption("--golden"):
        notebooks.write(path, notebook)
    assert path.read_text(encoding="utf-8").count("<svg") >= 2


def test_every_example_is_listed() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    missing = [path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".ipynb") and path.name not in listed]
    assert missing == []
