"""Windows that come and go: several writers, atomic changes, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

import muntin as mt
from muntin.cli import main
from muntin.registry import Change, WindowRegistry
from muntin.window import Window

WRITER = """
import sys, muntin as mt
registry = mt.WindowRegistry(sys.argv[1])
for n in range(1, 11):
    registry.add(mt.hopping(f"{n * 100 + int(sys.argv[2])} s", "1 s"), id=f"{sys.argv[2]}-{n}")
    if n % 2 == 0:
        registry.remove(f"{sys.argv[2]}-{n - 1}")
"""


def test_several_processes_write_at_once(tmp_path: Path) -> None:
    commands = [[sys.executable, "-c", WRITER, str(tmp_path), str(number)] for number in range(4)]
    writers = [subprocess.Popen(command) for command in commands]
    while any(writer.poll() is None for writer in writers):
        WindowRegistry(tmp_path).list()  # whatever a reader meets is whole
    assert [writer.returncode for writer in writers] == [0] * 4
    registry = WindowRegistry(tmp_path)
    assert [change.version for change in registry.changes()] == list(range(1, 61))
    assert {one.id for one in registry.list()} == {f"{w}-{n}" for w in range(4) for n in range(2, 11, 2)}
    assert not list(tmp_path.glob(".*"))


def test_one_of_two_writers_gets_an_id(tmp_path: Path) -> None:
    code = "import sys, muntin as mt\nmt.WindowRegistry(sys.argv[1]).add(mt.tumbling('1 s'), id='same')"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stderr=subprocess.PIPE) for _ in range(3)]
    errors = [writer.communicate()[1].decode() for writer in writers]
    assert sorted(writer.returncode for writer in writers) == [0, 1, 1]
    assert sum("window id 'same' is in use" in error for error in errors) == 2


def test_files_are_for_people(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path)
    added = registry.add(mt.hopping("1 hour", "5 minutes", offset="30 s"), since=datetime(2024, 5, 1, tzinfo=UTC))
    assert (added.id, added.state, added.since) == ("1h/5m+30s", "waiting", 1_714_521_600_000_000)
    assert json.loads((tmp_path / "00000001.json").read_text()) == {
        "version": 1,
        "change": "add",
        "id": "1h/5m+30s",
        "window": {"range": "1h", "slide": "5m", "offset": "30s"},
        "since": "2024-05-01T00:00:00+00:00",
    }
    registry.remove("1h/5m+30s", until="2024-06-01")
    assert registry.changes()[1] == Change(2, "1h/5m+30s", None, 1_717_200_000_000_000)
    assert WindowRegistry(tmp_path).list() == ()


def test_queries_say_when_windows_start_and_when_they_are_over(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path)
    registry.add(mt.tumbling("1 s"), id="a")
    registry.add(mt.tumbling("2 s"), id="b")
    assert registry.needed("query") == (Window("1 s"), Window("2 s"))
    told = [{"version": v, "id": i, "since": s, "until": None} for v, i, s in [(1, "a", None), (2, "b", 7)]]
    registry.report("query", told, 2)
    assert [(one.state, one.since) for one in registry.list()] == [("running", None), ("running", 7)]
    registry.remove("a")
    assert [one.state for one in registry.list()] == ["ending", "running"]
    registry.report("query", told[1:], 3)
    assert [one.id for one in registry.list()] == ["b"]
    assert registry.needed("query") == (Window("2 s"),)
    assert registry.needed("another query") == (Window("1 s"), Window("2 s"))
    registry.report("query", told[1:], 3, missing=[1])  # a change that a query has not seen yet may come
    assert registry.needed("query") == (Window("1 s"), Window("2 s"))


def test_other_files_in_the_folder_are_no_changes(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path)
    registry.add(mt.tumbling("1 s"), id="a")
    (tmp_path / "README").write_text("windows of the dashboard")
    (tmp_path / "00000001.json~").write_text((tmp_path / "00000001.json").read_text())
    assert [one.id for one in registry.list()] == ["a"]
    (tmp_path / "00000002.json").write_text((tmp_path / "00000001.json").read_text())
    with pytest.raises(mt.QueryError, match=r"00000002\.json says that it is change 1\. Remove it by hand"):
        registry.list()


def test_only_who_writes_makes_the_folder(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path / "registry")
    assert (registry.list(), registry.windows(), registry.needed("query")) == ((), (), ())
    assert not registry.path.exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is no change"),
        ("[]", "is no change"),
        ('{"version": 1, "change": "add"}', "is no change"),
        ('{"version": 0, "change": "remove", "id": "a", "until": null}', "is no change"),
        ('{"version": 7, "change": "remove", "id": "a", "until": null}', "says that it is change 7"),
        ('{"version": 1, "change": "add", "id": "a", "window": {"range": "1 parsec"}, "since": null}', "parsec"),
        ('{"version": 1, "change": "remove", "id": "a", "until": "soon"}', "until 'soon' is no time"),
    ],
)
def test_what_is_no_change_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "00000001.json").write_text(text)
    with pytest.raises(mt.QueryError, match=problem):
        WindowRegistry(tmp_path).list()


def test_mistakes_are_refused(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path)
    registry.add(mt.tumbling("1 s"), id="a")
    with pytest.raises(mt.QueryError, match="id 'a' is in use by ⟨1s,1s⟩"):
        registry.add(mt.tumbling("2 s"), id="a")
    with pytest.raises(mt.QueryError, match="is there already, as 'a'"):
        registry.add(mt.tumbling("1 s"), id="b")
    with pytest.raises(mt.QueryError, match=r"no window 'c' in the registry\. There are 'a'"):
        registry.remove("c")
    with pytest.raises(mt.QueryError, match="3600 is no window"):
        registry.add(3600)  # type: ignore[arg-type]
    with pytest.raises(mt.QueryError, match=r"range 3600 has no unit of time. Write '3600 seconds'"):
        registry.add(mt.tumbling(3600))
    with pytest.raises(mt.QueryError, match="since 'soon' is no time"):
        registry.add(mt.tumbling("3 s"), since="soon")
    assert len(registry.changes()) == 1


def test_the_command_line_changes_a_registry(tmp_path: Path) -> None:
    def run(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(main, ["windows", *arguments])
        assert result.exit_code == code, result.output
        return result.output

    folder = str(tmp_path)
    assert "five: ⟨5m,5m⟩ waiting" in run("add", folder, "5 minutes", "--id", "five")
    run("add", folder, "1h/5m", "--since", "2024-05-01T00:00:00")
    assert run("list", folder).splitlines() == [
        "five: ⟨5m,5m⟩ waiting",
        "1h/5m: ⟨1h,5m⟩ waiting, since 2024-05-01T00:00:00+00:00",
    ]
    run("remove", folder, "five")
    assert "five" not in run("list", folder)
    assert "no window 'five'" in run("remove", folder, "five", code=1)
    assert "unknown unit" in run("add", folder, "5 parsecs", code=1)
