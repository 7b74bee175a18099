"""Python in documents that needs Spark: every block runs, and prints what stands below it.

`pytest tests/spark/test_documents.py --golden` writes below the blocks what they print.
"""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import muntin as mt
from muntin.plan.show.gallery import EXAMPLES, RIDES, TIMES, micros

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```python\n(?P<code>.*?)```\n(?:\n```\n(?P<output>.*?)```\n)?", re.DOTALL)


def page_and_part(document: str, heading: str) -> tuple[Path, str]:
    """Give a document, and what stands below one of its headings; all of it for none."""
    path = ROOT / document
    text = path.read_text(encoding="utf-8")
    if not heading:
        return path, text
    (part,) = re.findall(rf"^## {heading}\n.*?(?=^## )", text, re.DOTALL | re.MULTILINE)
    return path, part


def run(code: str, scope: dict[str, Any]) -> str:
    """Run a block; give what it prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(code, scope)  # noqa: S102 - our own documents
    return printed.getvalue().rstrip() + "\n"


@pytest.mark.parametrize(
    ("document", "heading"),
    [
        ("docs/windows.md", ""),
        ("docs/distinct_and_joins.md", ""),
        ("docs/queries.md", ""),
        ("docs/sql.md", ""),
        ("docs/monitoring.md", ""),
        ("README.md", "Windows of every kind"),
    ],
    ids=["windows", "distinct_and_joins", "queries", "sql", "monitoring", "readme"],
)
def test_blocks_print_what_stands_below_them(
    spark: SparkSession, request: pytest.FixtureRequest, document: str, heading: str
) -> None:
    path, part = page_and_part(document, heading)
    scope: dict[str, Any] = {"__name__": "__main__", "mt": mt, "spark": spark}
    blocks = [(found["code"], found["output"]) for found in BLOCK.finditer(part)]
    assert any(output is not None for _, output in blocks)
    printed = [(code, run(code, scope)) for code, _ in blocks]
    if request.config.getoption("--golden"):
        text = path.read_text(encoding="utf-8")
        for (code, output), (_, now) in zip(blocks, printed, strict=True):
            if output is not None:
                text = text.replace(f"```python\n{code}```\n\n```\n{output}", f"```python\n{code}```\n\n```\n{now}")
        path.write_text(text, encoding="utf-8")
        return
    for (code, output), (_, now) in zip(blocks, printed, strict=True):
        assert now == (output or "\n"), code


def test_pictures_show_the_rows_windows_and_results_of_the_page(spark: SparkSession) -> None:
    _, page = page_and_part("docs/windows.md", "")
    scope: dict[str, Any] = {"__name__": "__main__"}
    first = next(BLOCK.finditer(page))["code"]
    (two_legs,) = (found["code"] for found in BLOCK.finditer(page) if "def two_legs" in found["code"])
    run(first, scope)
    run(two_legs[: two_legs.index("\n\n")], scope)
    told = scope["rides"].selectExpr("unix_micros(ts)", "km", "speed", "stop", "parcels").collect()
    assert [tuple(row) for row in told] == [(micros(ride.minute), *ride[1:]) for ride in RIDES]
    windows = {name: eval(example.code, scope) for name, example in EXAMPLES.items()}  # noqa: S307 - our own page
    for name, window in windows.items():
        drawn = EXAMPLES[name].drawn()
        assert window.text == drawn.window.text.replace("Z/", "/")  # by the clock of the session, UTC
        assert sorted(window.over(TIMES, *EXAMPLES[name].columns)) == sorted(drawn.instances)
    asked = [replace(window, id=name) for name, window in windows.items()]
    result = mt.aggregate(scope["rides"], "ts", "van", asked, mt.count())
    rows = result.selectExpr("window_id", "unix_micros(window.start)", "unix_micros(window.end)", "count").collect()
    wanted = [
        (name, one.start, one.end, one.hi - one.lo)
        for name, example in EXAMPLES.items()
        for one in example.drawn().instances
    ]
    assert sorted(map(tuple, rows)) == sorted(wanted)
