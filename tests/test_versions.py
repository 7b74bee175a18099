"""What documents say of versions is what the record of runs says, and the metadata allow no others."""

from dataclasses import replace
from importlib.metadata import metadata, requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.versions import BEGIN, DOCUMENTS, Run, enter, read, with_table

RUN = Run("4.1.4", "3.11.7", "2.3.3", "17.0.15", "smoke", passed=50, skipped=1, failed=0, date="2026-11-17")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_documents_show_the_record(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert text == with_table(text, read()), "python -m tests.versions writes the table anew"


def test_the_page_of_versions_has_the_table() -> None:
    assert BEGIN in DOCUMENTS[0].read_text(encoding="utf-8")


def test_runs_are_on_versions_that_are_declared() -> None:
    requirements = [Requirement(text) for text in requires("muntin") or ()]
    spark = next(one.specifier for one in requirements if one.name == "pyspark")
    classifiers = metadata("muntin").get_all("Classifier") or []
    for run in read():
        assert spark.contains(run.spark)
        assert f"Programming Language :: Python :: {run.python.rpartition('.')[0]}" in classifiers


def test_a_run_takes_the_place_of_one_on_the_same_minor_versions(tmp_path: Path) -> None:
    path = tmp_path / "versions.json"
    enter(RUN, path)
    enter(replace(RUN, set="suite"), path)
    enter(replace(RUN, spark="4.1.5"), path)
    assert [(run.spark, run.set) for run in read(path)] == [("4.1.4", "suite"), ("4.1.5", "smoke")]


def test_a_run_that_finds_the_same_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "versions.json"
    enter(RUN, path)
    enter(replace(RUN, passed=60, date="2026-11-20"), path)
    assert read(path) == (RUN,)
    enter(later := replace(RUN, passed=60, date="2026-12-20"), path)
    assert read(path) == (later,)
    enter(worse := replace(RUN, failed=1), path)
    assert read(path) == (worse,)
