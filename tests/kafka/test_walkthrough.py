"""docs/walkthrough.md, step by step, with Spark 4.2, a broker and Delta: make test-walkthrough.

With --long it is followed a second time, and Muntin is installed as the page says; otherwise this environment has it.
`make test-walkthrough OPTIONS=--golden` writes below the page's blocks what they print.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pyspark
import pytest

from tests.documents import ROOT
from tests.kafka.reader import GIVEN, follow
from tests.lake.conftest import lake_jars
from tests.wheels import build_wheel

PAGE = ROOT / "docs/walkthrough.md"


@pytest.fixture(scope="module", autouse=True)
def obtainable(request: pytest.FixtureRequest) -> None:
    """Skip where Spark is another one, or where the jars cannot be had."""
    if not pyspark.__version__.startswith("4.2."):
        pytest.skip(f"the page is for Spark 4.2, and this is {pyspark.__version__}: make test-walkthrough")
    lake_jars()
    request.getfixturevalue("jars")


def test_the_page_runs_from_an_empty_folder(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    follow(PAGE, tmp_path, golden=request.config.getoption("--golden"))


@pytest.mark.long
def test_the_page_runs_from_an_empty_folder_without_muntin(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path / "wheel")
    constraint = tmp_path / "constraint.txt"
    constraint.write_text(f"muntin @ {wheel.as_uri()}\n", encoding="utf-8")
    given = tuple(step for step in GIVEN if step != "pip install")
    folder = follow(PAGE, tmp_path, given=given, settings={"PIP_CONSTRAINT": str(constraint)}, golden=False)
    assert list(folder.glob(".venv/lib/python*/site-packages/muntin/__init__.py")), "the page has installed Muntin"
    shutil.rmtree(folder / ".venv")  # pytest keeps folders for a while, and this is a large one
