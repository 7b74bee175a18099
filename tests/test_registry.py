"""Windows that come and go: several writers, atomic changes, and what is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import CliRunner

import muntin as mt
from muntin.changes import Change
from muntin.cli import main
from muntin.registry import WindowRegistry
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
        "format": 1,
        "version": 1,
        "change": "add",
        "id": "1h/5m+30s",
        "window": {"kind": "periodic", "range": "1h", "slide": "5m", "offset": "30s"},
        "since": "2024-05-01T00:00:00+00:00",
    }
    registry.remove("1h/5m+30s", until="2024-06-01")
    assert registry.changes()[1] == Change(2, "1h/5m+30s", None, 1_717_200_000_000_000)
    assert WindowRegistry(tmp_path).list() == ()


def test_windows_without_a_kind_are_periodic(tmp_path: Path) -> None:
    text = '{"version": 1, "change": "add", "id": "a", "window": {"range": "1h", "slide": "5m"}, "since": null}'
    (tmp_path / "00000001.json").write_text(text)
    assert WindowRegistry(tmp_path).windows() == (Window("1h", "5m"),)


def test_a_kind_of_a_later_version_is_no_damage(tmp_path: Path) -> None:
    text = '{"version": 1, "change": "add", "id": "a", "window": {"kind": "lunar", "days": 28}, "since": null}'
    (tmp_path / "00000001.json").write_text(text)
    with pytest.raises(mt.UnsupportedError, match="of kind 'lunar', which this version of Muntin does not know"):
        WindowRegistry(tmp_path).list()


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
    registry.report("query", told[1:], 3, missing=((1, 1),))  # a change that a query has not seen yet may come
    assert registry.needed("query") == (Window("1 s"), Window("2 s"))


def test_a_registry_is_the_same_wherever_it_is_moved_to(tmp_path: Path) -> None:
    registry, other = (WindowRegistry(tmp_path / name) for name in ("one", "other"))
    assert registry.identity() is None
    for each in (registry, other):
        each.add(mt.tumbling("1 s"))
    identity = registry.identity()
    registry.add(mt.tumbling("2 s"))
    registry.path.rename(tmp_path / "moved")
    assert identity == WindowRegistry(tmp_path / "moved").identity() != other.identity()


def test_a_landmark_that_was_past_is_missed(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path)
    for since in (5, 6):
        registry.add(mt.landmark(since, "1 s"), id=f"since {since}")
    told = [
        {"version": one.version, "id": one.id, "since": 6, "until": None, "window": one.window.to_dict()}
        for one in registry.list()
    ]
    registry.report("query", told, 2)
    assert [one.state for one in registry.list()] == ["missed", "running"]


def test_other_files_in_the_folder_are_no_changes(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path)
    registry.add(mt.tumbling("1 s"), id="a")
    (tmp_path / "README").write_text("windows of the dashboard")
    (tmp_path / "00000001.json~").write_text((tmp_path / "00000001.json").read_text())
    assert [one.id for one in registry.list()] == ["a"]
    (tmp_path / "00000002.json").write_text((tmp_path / "00000001.json").read_text())
    with pytest.raises(mt.QueryError, match=r"00000002\.json says that it is change 1\. Remove the file"):
        registry.list()


def test_only_who_writes_makes_the_folder(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path / "registry")
    assert (registry.list(), registry.windows(), registry.needed("query")) == ((), (), ())
    assert not registry.path.exists()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "is damaged"),
        ("[]", "is damaged"),
        ("\x00\x00", "is damaged"),
        ('{"version": 1, "change": "add"}', "is damaged"),
        ('{"version": 1, "change": ["add"]}', "is damaged"),
        ('{"version": 0, "change": "remove", "id": "a", "until": null}', "is damaged"),
        ('{"version": 1, "change": "none", "format": "new"}', "'new' is no whole number"),
        ('{"version": 7, "change": "remove", "id": "a", "until": null}', "says that it is change 7"),
        ('{"version": 1, "change": "add", "id": "a", "window": {"range": "1 parsec"}, "since": null}', "parsec"),
        ('{"version": 1, "change": "remove", "id": "a", "until": "soon"}', "until 'soon' is not a time"),
    ],
)
def test_what_is_no_change_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "00000001.json").write_text(text)
    with pytest.raises(mt.QueryError, match=problem):
        WindowRegistry(tmp_path).list()


@pytest.mark.parametrize(
    "window", ["1 hour every 1 microsecond", mt.cumulating("1 day", "1 us"), mt.landmark(0, "1 us")]
)
def test_windows_have_a_ceiling_of_instances(tmp_path: Path, window: str | mt.Window) -> None:
    registry = WindowRegistry(tmp_path)
    with pytest.raises(
        mt.QueryError, match=r"000,000 instances, and at most 1,000,000 are allowed. Use a longer slide"
    ):
        registry.add(window)
    assert not registry.changes()
    allowing = WindowRegistry(tmp_path, most_instances=10**11)
    assert (allowing.add(window).window,) == allowing.windows()
    with pytest.raises(
        mt.QueryError, match=r"00000001\.json is damaged \(window .* puts a row into .* Remove the file"
    ):
        registry.windows()
    with pytest.raises(mt.QueryError, match="at most 1,000,000 are allowed"):
        Change.from_json((tmp_path / "00000001.json").read_text())


@pytest.mark.parametrize("most", [0, -1, 1.5, True, "many"])
def test_a_ceiling_is_a_number(tmp_path: Path, most: int) -> None:
    with pytest.raises(mt.QueryError, match="is not a number of instances"):
        WindowRegistry(tmp_path, most_instances=most)


def test_a_number_is_never_given_twice(tmp_path: Path) -> None:
    """Spark reads a path once: a window under a number that was used before would wait for ever."""
    registry = WindowRegistry(tmp_path)
    registry.add(mt.tumbling("1 s"), id="a")
    registry.add(mt.tumbling("2 s"), id="b")
    (tmp_path / "00000002.json").write_text('{"version": 2, "chan')
    for call in (
        registry.list,
        registry.windows,
        lambda: registry.add(mt.tumbling("3 s")),
        lambda: registry.remove("a"),
    ):
        with pytest.raises(mt.QueryError, match=r"00000002\.json is damaged .*Remove the file.*not used again"):
            call()
    (tmp_path / "00000002.json").unlink()
    assert WindowRegistry(tmp_path).add(mt.tumbling("3 s"), id="c").version == 3
    assert registry.changes()[1] == Change(2)
    assert [one.id for one in registry.list()] == ["a", "c"]
    for removed in ("00000003.json", "00000002.json"):  # whatever is removed, and whether it was damaged or not
        (tmp_path / removed).unlink()
    assert registry.add(mt.tumbling("3 s"), id="c").version == 4
    assert [one.id for one in registry.list()] == ["a", "c"]


def test_a_damaged_file_that_no_registry_wrote_has_a_used_number_too(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path)
    registry.add(mt.tumbling("1 s"), id="a")
    (tmp_path / "00000002.json").write_text("scribbled")
    (tmp_path / "20240501.json").write_text("a backup of that day")
    for name in ("00000002.json", "20240501.json"):
        with pytest.raises(mt.QueryError, match=name):
            registry.list()
        (tmp_path / name).unlink()
    assert registry.add(mt.tumbling("2 s"), id="b").version == 3
    assert len(registry.changes()) == 3


def test_several_processes_write_after_a_change_was_removed(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path)
    for n in range(1, 4):
        registry.add(mt.tumbling(f"{n} s"), id=f"first-{n}")
    (tmp_path / "00000003.json").unlink()
    commands = [[sys.executable, "-c", WRITER, str(tmp_path), str(number)] for number in range(2)]
    writers = [subprocess.Popen(command) for command in commands]
    assert [writer.wait(120) for writer in writers] == [0, 0]
    assert [change.version for change in registry.changes()] == list(range(1, 34))
    assert registry.changes()[2] == Change(3)
    assert {one.id for one in registry.list()} == {"first-1", "first-2"} | {
        f"{w}-{n}" for w in range(2) for n in range(2, 11, 2)
    }


def test_a_removed_change_that_a_query_has_taken_comes_back(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path)
    added = registry.add(mt.hopping("1 hour", "5 minutes"), id="a")
    shape = {"range": "1h", "slide": "5m", "offset": "0s"}
    registry.report("query", [{"version": 1, "id": "a", "window": shape, "since": 7, "until": None}], 1)
    (tmp_path / "00000001.json").unlink()
    (tmp_path / "_queries" / "another.json").write_text("{")
    registry.settle()
    assert registry.changes() == (Change(1, "a", added.window, 7),)
    assert registry.needed("query") == (added.window,)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"written": "2024"}',
        '{"written": "2024", "windows": [{}], "newest": 1, "missing": []}',
        '{"written": "2024", "windows": [], "newest": "1", "missing": []}',
        '{"written": "2024", "windows": [{"version": 1, "id": "a", "window": {"range": 0}}], "newest": 1}',
    ],
)
def test_a_damaged_report_is_no_report(tmp_path: Path, text: str) -> None:
    """People are told what to do; slices are cut for all windows, which is always enough."""
    registry = WindowRegistry(tmp_path)
    registry.add(mt.tumbling("1 s"), id="a")
    registry.report("query", [], 1)
    assert registry.needed("query") == ()
    (tmp_path / "_queries" / "query.json").write_text(text)
    assert registry.needed("query") == (Window("1 s"),)
    assert registry.reported("query") is None
    with pytest.raises(mt.QueryError, match=r"query\.json is damaged .*Remove the file; the query writes it again"):
        registry.list()


def test_formats_of_later_versions_are_refused(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path)
    registry.add(mt.tumbling("1 s"), id="a")
    registry.report("query", [], 1)
    change, report = tmp_path / "00000001.json", tmp_path / "_queries" / "query.json"
    for file in (change, report):
        fields = json.loads(file.read_text())
        assert fields.pop("format") == 1
        file.write_text(json.dumps(fields))  # as older versions wrote it
        assert (len(registry.list()), registry.needed("query")) == (1, ())
        file.write_text(json.dumps(fields | {"format": 2, "more": "to say"}))
        calls: list[Callable[[], object]] = [registry.list, lambda: registry.needed("query")]
        for call in calls:
            with pytest.raises(
                mt.QueryError, match=rf"{file.name} has format 2, .* a later version .* Use that version"
            ):
                call()
        file.write_text(json.dumps(fields))


def test_urls_are_taken_as_text_and_not_of_other_hosts() -> None:
    assert WindowRegistry("s3a://bucket/windows/").place == "s3a://bucket/windows"
    assert WindowRegistry("dbfs:/windows").place == "dbfs:/windows"
    with pytest.raises(mt.QueryError, match=r"is a URL, and a Path loses slashes of it\. Give it as text"):
        WindowRegistry(Path("s3a://bucket/windows"))
    with pytest.raises(mt.QueryError, match="on another file system"):
        WindowRegistry("file://host/windows")
    with pytest.raises(mt.UnsupportedError, match="is not a folder of this machine"):
        _ = WindowRegistry("s3a://bucket/windows").path


def test_paths_of_files_are_refused_and_urls_of_folders_are_not(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "file", tmp_path / "file" / "windows"):
        with pytest.raises(mt.QueryError, match="/file is a file"):
            WindowRegistry(path)
    for nothing in ("", None):
        with pytest.raises(mt.QueryError, match="is not a path"):
            WindowRegistry(nothing)  # type: ignore[arg-type]
    assert {WindowRegistry(f"{scheme}{tmp_path}").path for scheme in ("", "file:", "file://")} == {tmp_path}


@pytest.mark.parametrize("name", ["[ab]", "{a,b}", "a b*?", "100%20#"])
def test_any_name_of_a_folder_will_do(tmp_path: Path, name: str) -> None:
    WindowRegistry(tmp_path / name).add(mt.tumbling("1 s"), id="a")
    assert [one.id for one in WindowRegistry(tmp_path / name).list()] == ["a"]


def test_mistakes_are_refused(tmp_path: Path) -> None:
    registry = WindowRegistry(tmp_path)
    registry.add(mt.tumbling("1 s"), id="a")
    with pytest.raises(mt.QueryError, match="id 'a' is in use by ⟨1s,1s⟩"):
        registry.add(mt.tumbling("2 s"), id="a")
    with pytest.raises(mt.QueryError, match="is there already, as 'a'"):
        registry.add(mt.tumbling("1 s"), id="b")
    with pytest.raises(mt.QueryError, match=r"no window 'c' in the registry\. There are 'a'"):
        registry.remove("c")
    with pytest.raises(mt.QueryError, match="3600 is not a window"):
        registry.add(3600)  # type: ignore[arg-type]
    with pytest.raises(mt.QueryError, match=r"range 3600 has no unit of time. Write '3600 seconds'"):
        registry.add(mt.tumbling(3600))
    with pytest.raises(mt.QueryError, match="since 'soon' is not a time"):
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
    assert "no window 'five'" in run("remove", folder, "five", code=2)
    assert "unknown unit" in run("add", folder, "5 parsecs", code=2)
    typo = str(tmp_path / "typo")
    for arguments in (("list", typo), ("remove", typo, "five")):
        assert f"there is no folder {typo}" in run(*arguments, code=2)
    assert not Path(typo).exists()
    assert "two writers could take one number" in run("add", "nowhere://bucket/windows", "5 minutes", code=2)
    alone = run("add", "nowhere://bucket/windows", "5 minutes", "--only-writer", code=2)
    assert "fsspec knows no nowhere: paths" in alone
    assert "is a file" in run("list", f"{folder}/00000001.json", code=2)
    (tmp_path / "_queries").mkdir()
    (tmp_path / "_queries" / "query.json").write_text("")
    assert "query.json is damaged" in run("list", folder, code=2)
