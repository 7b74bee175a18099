"""Numbers of changes: far-away ones are refused before they cost anything, and what is missing is kept as stretches."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.change_files import file_of
from muntin.changes import Change, DamagedError, Report, json_text
from muntin.numbering import (
    FARTHEST,
    LAST,
    MOST_STRETCHES,
    Stretches,
    advance,
    is_within,
    plain_stretches,
    read_stretches,
)
from muntin.registry import WindowRegistry

NUMBERS = st.sets(st.integers(1, 40))


def plant(registry: WindowRegistry, number: int) -> None:
    """Put a change that changes nothing into a registry."""
    (registry.path / file_of(number)).write_text(Change(number).to_json())


@pytest.fixture
def registry(tmp_path: Path) -> WindowRegistry:
    registry = WindowRegistry(tmp_path / "windows")
    registry.add("1 minute", id="minute")
    return registry


@given(st.lists(NUMBERS, max_size=6))
def test_missing_numbers_are_those_below_the_newest_that_have_not_come(batches: list[set[int]]) -> None:
    newest, come = 0, set[int]()
    missing: Stretches = ()
    for batch in batches:
        newest, missing, far = advance(newest, missing, batch)
        come |= batch
        assert not far
        assert newest == max(come, default=0)
        assert [n for n in range(50) if is_within(n, missing)] == sorted(set(range(1, newest)) - come)
        assert read_stretches(json.loads(json.dumps(plain_stretches(missing)))) == missing
        assert read_stretches([n for n in range(50) if is_within(n, missing)]) == missing  # as it was written before


@pytest.mark.parametrize("number", [FARTHEST + 2, 3_000_000, LAST])
def test_a_far_away_number_is_refused(registry: WindowRegistry, number: int) -> None:
    plant(registry, number)
    calls: list[Callable[[], object]] = [
        registry.list,
        registry.settle,
        lambda: registry.needed("query"),
        lambda: registry.add("2 minutes"),
        lambda: registry.remove("minute"),
        lambda: registry.texts([f"file:{registry.path}/{file_of(number)}"]),
    ]
    for call in calls:
        with pytest.raises(DamagedError, match=rf"{file_of(number)} is damaged \(its number is more than 1,000 above"):
            call()
    assert not (registry.path / "_numbers" / str(number)).exists()
    (registry.path / file_of(number)).unlink()
    assert registry.add("2 minutes").version == 2


def test_a_far_away_number_may_be_skipped(registry: WindowRegistry) -> None:
    plant(registry, 3_000_000)
    skipping = WindowRegistry(registry.path, skip_damaged=True)
    assert [one.id for one in skipping.list()] == ["minute"]
    assert skipping.damaged() == ("03000000.json",)
    assert skipping.texts([f"file:{registry.path}/03000000.json"]) == (None,)
    assert skipping.add("2 minutes").version == 2
    assert len(skipping.needed("query")) == 2


@pytest.mark.parametrize("mark", ["3000000", str(LAST)])
def test_a_mark_far_away_is_refused(registry: WindowRegistry, mark: str) -> None:
    (registry.path / "_numbers" / mark).touch()
    for call in (registry.settle, lambda: registry.add("2 minutes")):
        with pytest.raises(DamagedError, match=rf"_numbers/{mark} is damaged .* Remove the file"):
            call()
    assert len(list(registry.path.glob("*.json"))) == 1
    assert WindowRegistry(registry.path, skip_damaged=True).add("2 minutes").version == 2


def test_marks_that_are_no_numbers_do_no_harm(registry: WindowRegistry) -> None:
    for mark in ("0", "٣", "²", "1" * 9, "1e3"):
        (registry.path / "_numbers" / mark).touch()
    assert registry.add("2 minutes").version == 2


def test_a_number_far_away_in_the_log_is_refused(tmp_path: Path) -> None:
    class Log:
        def append(self, number: int, change: str) -> bool:
            return True

        def entries(self) -> Mapping[int, str]:
            return {3_000_000: Change(3_000_000).to_json()}

    with pytest.raises(DamagedError, match="change 3000000 of the log is damaged"):
        WindowRegistry(tmp_path / "windows", log=Log()).add("1 minute")
    assert not (tmp_path / "windows").exists()


def test_a_first_change_may_be_the_last_number_only_after_all_others(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path)
    plant(registry, LAST)
    with pytest.raises(DamagedError, match=rf"{LAST}\.json"):
        registry.add("1 minute")
    assert [path.name for path in tmp_path.iterdir()] == [f"{LAST}.json"]


def test_numbers_have_an_end(registry: WindowRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.add("2 minutes")
    monkeypatch.setattr("muntin.registry.LAST", 3)
    assert registry.add("3 minutes").version == 3
    before = {path: path.stat().st_mtime_ns for path in registry.path.rglob("*")}
    with pytest.raises(mt.QueryError, match=r"has no numbers left for changes after 3\. Use a new registry"):
        registry.add("4 minutes")
    assert {path: path.stat().st_mtime_ns for path in registry.path.rglob("*")} == before


def test_gaps_that_may_be_are_no_damage(registry: WindowRegistry, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muntin.numbering.FARTHEST", 10)
    plant(registry, 11)
    assert registry.add("2 minutes").version == 12
    for number in range(2, 13):
        (registry.path / file_of(number)).unlink(missing_ok=True)
        (registry.path / "_numbers" / str(number)).touch()
    plant(registry, 13)  # what lies between was removed by hand
    assert len(registry.list()) == 1
    assert registry.add("3 minutes").version == 14
    assert len(registry.changes()) == 14


def test_gaps_are_few() -> None:
    every_second = range(2, 2 * MOST_STRETCHES + 8, 2)
    newest, missing, far = advance(0, (), every_second)
    assert (newest, len(missing), far[0]) == (2 * MOST_STRETCHES, MOST_STRETCHES, 2 * MOST_STRETCHES + 2)


@pytest.mark.parametrize("missing", [[0], [True], ["1"], [[2, 1]], [[1, 2, 3]], [[1, 10**9]], [None], 7])
def test_what_is_no_stretch_is_refused(missing: object) -> None:
    text = json_text({"written": "", "windows": [], "newest": 1, "missing": missing})
    with pytest.raises(DamagedError, match=r"a report is damaged"):
        Report.from_json(text, "a report")


def test_a_report_is_short_however_much_is_missing(registry: WindowRegistry) -> None:
    missing: Stretches = ((2, 2_999_999),)
    registry.report("query", [], 3_000_000, missing)
    assert (registry.path / "_queries" / "query.json").stat().st_size < 300
    report = registry.reported("query")
    assert report is not None
    assert report.missing == missing
    assert registry.needed("query") == ()
    registry.add("2 minutes")
    assert registry.needed("query") == (mt.tumbling("2 minutes"),)
