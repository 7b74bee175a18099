"""Files that somebody else put into a registry: a reader gets a result at once, or an error that names the file."""

from __future__ import annotations

import json
import os
import socket
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import muntin as mt
from muntin.change_files import UNREADABLE
from muntin.changes import MOST_BYTES, Change, DamagedError, Report, UnavailableError
from muntin.files import LocalFiles, files_of
from muntin.registry import WindowRegistry
from muntin.window import AnyWindow
from muntin.window.lengths import LONGEST_ID

NAME = "00000002.json"
ADDED = Change(2, "w", mt.hopping("1 hour", "5 minutes", id="w"), 0).to_json()
WINDOWS: list[AnyWindow] = [
    mt.hopping("1 hour", "5 minutes", offset="30 s"),
    mt.session_window("30 s"),
    mt.tumbling(mt.rows(10)),
    mt.tumbling(2.5, on="speed"),
    mt.hopping(mt.rows(3), "1 minute"),
    mt.hopping("1 hour", mt.rows(2)),
    mt.cumulating("1 day", "1 hour"),
    mt.landmark("2024-01-01", "1 day"),
    mt.while_("hot", "5 s"),
    mt.while_("hot", mt.rows(2)),
    mt.delta("speed", 2.5),
    mt.until(mt.sum("speed"), 10),
    mt.until(mt.count(), 10),
    mt.punctuated("hot"),
    mt.snapshot(),
]
VALID = [json.loads(Change(2, "w", window, 7).to_json()) for window in WINDOWS]
VALID += [json.loads(Change(2, "w", None, 7).to_json()), json.loads(Change(2).to_json())]
USER = {"kind": "user", "discretizer": "third", "columns": ["speed"], "initial": 0, "version": 1}
FUZZED = [*VALID, VALID[0] | {"window": USER}]
LARGE = st.sampled_from([10**30, -(10**30), 2**63, 2**62, -(2**63), 10**400, -1, 0, 1.5, 1e308, True])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | LARGE | st.floats() | st.text(max_size=300) | st.just("\ud800\x1b"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def registry_with(folder: Path, **options: Any) -> WindowRegistry:
    """Make a registry of one window, in which a file of the next number is damaged."""
    registry = WindowRegistry(folder / "windows", **options)
    registry.add("1 minute", id="minute")
    return registry


def place(path: Path, kind: str) -> None:
    """Put something under a path that is no file of text."""
    match kind:
        case "folder":
            path.mkdir()
        case "folder with a file":
            path.mkdir()
            (path / NAME).write_text(ADDED)
        case "pipe":
            os.mkfifo(path)
        case "device":
            path.symlink_to("/dev/zero")
        case "socket":
            with socket.socket(socket.AF_UNIX) as made:
                here = Path.cwd()
                os.chdir(path.parent)  # paths of sockets must be short
                try:
                    made.bind(path.name)
                finally:
                    os.chdir(here)
        case "link to nothing":
            path.symlink_to("/nowhere/at/all")
        case "link to itself":
            path.symlink_to(path)
        case "large file":
            path.touch()
            os.truncate(path, 1 << 40)


KINDS = (
    "folder",
    "folder with a file",
    "pipe",
    "device",
    "socket",
    "link to nothing",
    "link to itself",
    "large file",
)


@contextmanager
def a_folder() -> Iterator[Path]:
    """Give a folder for one example of many."""
    with TemporaryDirectory() as folder:
        yield Path(folder)


def failure(read: Callable[[], object]) -> str:
    """Give what an error says of a file that cannot be read; nothing if it could."""
    try:
        read()
    except UNREADABLE as error:
        return str(error)
    return ""


def check_reading(folder: Path, content: bytes) -> None:
    """Check that a registry with a file gives a result or an error that names it, and without it goes on."""
    registry = registry_with(folder)
    (registry.path / NAME).write_bytes(content)
    skipping = WindowRegistry(registry.path, skip_damaged=True)
    paths = [f"file:{registry.path}/{NAME}"]
    errors = [
        failure(lambda: list(map(str, registry.list()))),
        failure(lambda: registry.needed("query")),
        failure(lambda: registry.texts(paths)),
    ]
    if errors == ["", "", ""]:
        assert registry.damaged() == ()
        return
    assert all(NAME in error and len(error) < 1000 for error in errors)
    assert [one.id for one in skipping.list()] == ["minute"]
    assert skipping.damaged() == (NAME,)
    assert skipping.texts(paths) == (Change(2).to_json(),)


@given(st.binary(max_size=100) | st.text(max_size=100).map(str.encode))
@example(b"[" * 60_000)
@example(b"[" * 100_000)
@example(b'{"a":' * 10_000)
@example(b" " * MOST_BYTES + b"{}")
@example(ADDED.encode()[:-1] + b"\xff")
@example(ADDED.replace('"w"', '"\\ud800"').encode())
@example(b"9" * 5_000)
def test_any_bytes_give_a_result_or_name_the_file(content: bytes) -> None:
    with a_folder() as folder:
        check_reading(folder, content)


@pytest.mark.parametrize(
    ("window", "reason"),
    [
        ({"kind": "user", "discretizer": "nothing", "columns": [], "initial": 0}, "window 'w' is code"),
        ({"kind": "last rows", "count": 10**30, "slide": "1m"}, "a count of rows of 100 bits is too large"),
        ({"kind": "last time", "range": "1h", "every": 10**30}, "a count of rows of 100 bits is too large"),
        ({"kind": "while", "condition": "c", "at_least": {"count": 10**30}}, "a count of rows of 100 bits"),
        ({"kind": "measured", "range": 1.5, "slide": 0.5, "offset": 0, "on": None}, "range 1.5 is not a count of rows"),
        ({"kind": "landmark", "since": 0, "step": "1h", "local": "no"}, "local='no' is neither True nor False"),
        ({"kind": "landmark", "since": "9999-12-31", "step": "1h", "local": True}, "since 253402.* is no moment"),
        ({"kind": "landmark", "since": "0001-01-01", "step": "1h", "local": True}, "since -62135.* is no moment"),
        ({"kind": "until", "function": "sum", "column": None, "bound": 5}, "sum has no column"),
        ({"kind": "until", "function": "sum", "column": 5, "bound": 5}, "sum was given 5 as a column"),
    ],
    ids=lambda value: value.get("kind") if isinstance(value, dict) else "",
)
def test_windows_that_no_worker_could_take_are_damage(tmp_path: Path, window: dict[str, Any], reason: str) -> None:
    registry = registry_with(tmp_path)
    change = {"version": 2, "change": "add", "id": "w", "window": window, "since": None}
    (registry.path / NAME).write_text(json.dumps(change))
    for read in (registry.list, lambda: registry.texts([f"file:{registry.path}/{NAME}"])):
        with pytest.raises(DamagedError, match=rf"{NAME} is damaged \({reason}"):
            read()
    skipping = WindowRegistry(registry.path, skip_damaged=True)
    assert ([one.id for one in skipping.list()], skipping.damaged()) == (["minute"], (NAME,))


@given(st.sampled_from(FUZZED), st.data())
def test_any_change_of_a_change_gives_a_result_or_names_the_file(fields: dict[str, Any], data: st.DataObject) -> None:
    changed = json.loads(json.dumps(fields))
    part = changed["window"] if "window" in changed and data.draw(st.booleans()) else changed
    field = data.draw(st.sampled_from(sorted(part)) | st.text(max_size=5))
    if data.draw(st.integers(0, 4)):
        part[field] = data.draw(VALUES)
    else:
        part.pop(field, None)
    with a_folder() as folder:
        check_reading(folder, json.dumps(changed).encode())


@pytest.mark.parametrize("fields", VALID, ids=lambda fields: fields.get("window", fields).get("kind", fields["change"]))
def test_changes_are_sent_as_they_are(tmp_path: Path, fields: dict[str, Any]) -> None:
    registry = registry_with(tmp_path)
    (registry.path / NAME).write_text(json.dumps(fields))
    (text,) = registry.texts([f"file:{registry.path}/{NAME}"])
    assert text is not None
    assert Change.from_json(text) == registry.changes()[1] == Change.from_json(json.dumps(fields))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_names_itself_and_nothing_waits(tmp_path: Path, kind: str) -> None:
    registry = registry_with(tmp_path)
    place(registry.path / NAME, kind)
    skipping = WindowRegistry(registry.path, skip_damaged=True)
    calls: list[Callable[[WindowRegistry], object]] = [
        lambda registry: registry.list(),
        lambda registry: registry.needed("query"),
        lambda registry: registry.texts([f"file:{registry.path}/{NAME}"]),
    ]
    for call in calls:
        with pytest.raises(DamagedError, match=rf"{NAME} is damaged \(.*\)\. Remove the file, and repeat the change"):
            call(registry)
        call(skipping)
    assert registry.damaged() == (NAME,)
    assert [one.id for one in skipping.list()] == ["minute"]
    with pytest.raises(DamagedError, match=NAME):
        registry.add("2 minutes")
    assert skipping.add("2 minutes").version == 3


@pytest.mark.parametrize("kind", KINDS)
def test_reports_and_the_identity_may_be_no_files(tmp_path: Path, kind: str) -> None:
    registry = registry_with(tmp_path)
    (registry.path / "_queries").mkdir()
    place(registry.path / "_queries" / "query.json", kind)
    with pytest.raises(DamagedError, match=r"query\.json is damaged .* the query writes it again"):
        registry.list()
    assert registry.reported("query") is None
    assert len(registry.needed("query")) == 1
    (registry.path / "_identity").unlink()
    place(registry.path / "_identity", kind)
    with pytest.raises(DamagedError, match=r"_identity is damaged .* Write back what it was"):
        registry.identity()


@given(st.sampled_from(["windows", "newest", "missing", "written", "format", "more"]), VALUES)
@example("missing", [[1, 10**9]])
@example("missing", [[3, 1]])
@example("newest", True)
@example("windows", [{"version": 1, "id": "a" * 201}])
@example("windows", [{"version": 1, "id": "a", "since": 10**30}])
@example("windows", [{"version": 1, "id": "a", "since": "now"}])
def test_any_change_of_a_report_gives_a_result_or_names_the_file(field: str, value: Any) -> None:
    with a_folder() as folder:
        registry = registry_with(folder)
        told = [{"version": 1, "id": "minute", "window": {"range": "1m"}, "since": 7, "until": None}]
        registry.report("query", told, 1)
        file = registry.path / "_queries" / "query.json"
        file.write_text(json.dumps(json.loads(file.read_text()) | {field: value}))
        error = failure(lambda: list(map(str, registry.list())))
        assert not error or "query.json" in error


@pytest.mark.parametrize(
    "fields",
    [
        {"missing": [[number, number] for number in range(1, 20_003, 2)]},
        {"missing": list(range(1, 20_003))},
        {"windows": [{"version": 1, "id": "a"}] * 50_001},
        {"windows": {str(number): 1 for number in range(50_001)}},
        {"windows": [{"version": 1, "id": "a", "window": {"kind": "lunar"}}]},
        {"windows": [{"version": 1, "id": "a", "window": USER}]},
        {"format": 99},
    ],
    ids=["stretches", "numbers", "windows", "names", "kind", "user", "format"],
)
def test_reports_that_nobody_wrote_are_read_once_and_do_not_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any]
) -> None:
    registry = registry_with(tmp_path, skip_damaged=True)
    registry.report("query", [], 1)
    file = registry.path / "_queries" / "query.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | fields))
    parsed = _count_parses(monkeypatch)
    for _ in range(3):
        assert registry.reported("query") is None
        assert [window.label for window in registry.needed("query")] == ["minute"]
        with pytest.raises(UNREADABLE, match=r"query\.json") as error:
            registry.list()
        assert len(traceback.extract_tb(error.tb)) < 10
    assert parsed == [str(file)]


def test_a_report_is_read_once_until_it_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = registry_with(tmp_path)
    parsed = _count_parses(monkeypatch)
    for newest in range(1, 50):
        registry.report("query", [], newest)
        for _ in range(3):
            report = registry.reported("query")
            assert report is not None
            assert report.newest == newest
    assert len(parsed) == 49


def _count_parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list to which the name of every report is added when it is parsed."""
    parsed, read = [], Report.from_json

    def from_json(text: str, origin: str) -> Report:
        parsed.append(origin)
        return read(text, origin)

    monkeypatch.setattr(Report, "from_json", staticmethod(from_json))
    return parsed


@pytest.mark.parametrize(
    "id", ["", "a" * (LONGEST_ID + 1), "a\nb", "\x1b[2J", "\x9b", "\ud800", 5, {"a": 1}, None, True]
)
def test_ids_are_short_texts_of_a_line(tmp_path: Path, id: Any) -> None:
    registry = registry_with(tmp_path)
    if id is not None:
        for make in (lambda: registry.add("1 s", id=id), lambda: mt.tumbling("1 s", id=id)):
            with pytest.raises(mt.QueryError, match="window id"):
                make()
    for change in ({"change": "remove", "until": None}, {"change": "add", "window": {"range": "1s"}, "since": None}):
        (registry.path / NAME).write_text(json.dumps({"version": 2, "id": id} | change))
        with pytest.raises(DamagedError, match=rf"{NAME} is damaged \((window id|id|'utf-8') "):
            registry.list()
    (registry.path / NAME).unlink()
    longest = "ü→" * (LONGEST_ID // 2)
    assert registry.add("1 s", id=longest).id == longest


@pytest.mark.parametrize("time", [10**30, -(10**30), 2**62, True, 1.5, "later", [1]])
def test_times_are_times(tmp_path: Path, time: Any) -> None:
    registry = registry_with(tmp_path)
    with pytest.raises(mt.QueryError, match=r"since .* is (not a|later than any) time"):
        registry.add("1 s", since=time)
    (registry.path / NAME).write_text(json.dumps({"version": 2, "change": "remove", "id": "minute", "until": time}))
    with pytest.raises(DamagedError, match=rf"{NAME} is damaged \(until "):
        registry.list()


def test_windows_are_no_longer_than_time(tmp_path: Path) -> None:
    registry = registry_with(tmp_path)
    with pytest.raises(mt.QueryError, match="longer than the time that Spark knows"):
        registry.add("4000000 days")
    window = {"kind": "session", "gap": "4000000 days"}
    (registry.path / NAME).write_text(
        json.dumps({"version": 2, "change": "add", "id": "w", "window": window, "since": None})
    )
    with pytest.raises(DamagedError, match=rf"{NAME} is damaged \(gap 4000000d of window 'w' is longer"):
        registry.list()


def test_a_change_is_as_short_as_what_is_read(tmp_path: Path) -> None:
    registry = registry_with(tmp_path)
    with pytest.raises(mt.QueryError, match=r"takes \d+,\d+ bytes, and at most 65,536 are allowed"):
        registry.add(mt.while_("x" * MOST_BYTES), id="w")
    with pytest.raises(mt.QueryError, match="text that no file can hold"):
        registry.add(mt.while_("\ud800"), id="w")
    assert len(registry.changes()) == 1


def test_true_is_no_number(tmp_path: Path) -> None:
    (tmp_path / "00000001.json").write_text('{"version": true, "change": "none"}')
    with pytest.raises(DamagedError, match="True is no whole number"):
        WindowRegistry(tmp_path).list()


@pytest.mark.parametrize("text", ['{"version": 2, "change": "none", "format": 2}', VALID[0]])
def test_what_a_later_version_wrote_is_skipped_as_well(tmp_path: Path, text: Any) -> None:
    registry = registry_with(tmp_path)
    text = text if isinstance(text, str) else json.dumps(text | {"window": {"kind": "lunar"}})
    (registry.path / NAME).write_text(text)
    with pytest.raises(UNREADABLE, match=NAME):
        registry.list()
    skipping = WindowRegistry(registry.path, skip_damaged=True)
    assert ([one.id for one in skipping.list()], skipping.damaged()) == (["minute"], (NAME,))


def test_what_may_be_read_later_is_not_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A window would be lost for ever, if the store does not answer for a moment."""
    registry = registry_with(tmp_path, skip_damaged=True)
    monkeypatch.setattr(LocalFiles, "read_short", _no_answer)
    (registry.path / NAME).write_text(ADDED)  # the other is read by now
    with pytest.raises(UnavailableError, match=rf"{NAME} cannot be read now \(no answer\)"):
        registry.list()
    with pytest.raises(UnavailableError, match=rf"{NAME} cannot be read now"):
        registry.texts([f"file:{registry.path}/{NAME}"])


def _no_answer(files: LocalFiles, path: str, most: int) -> str:
    raise TimeoutError("no answer")


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_skipping_is_a_switch(tmp_path: Path, value: Any) -> None:
    with pytest.raises(mt.QueryError, match="is neither True nor False"):
        WindowRegistry(tmp_path, skip_damaged=value)


def test_damaged_numbers_are_used_also_where_they_are_skipped(tmp_path: Path) -> None:
    registry = registry_with(tmp_path, skip_damaged=True)
    (registry.path / NAME).write_text("scribbled")
    assert registry.damaged() == (NAME,)
    (registry.path / NAME).unlink()
    assert registry.add("2 minutes").version == 3


def test_files_of_further_folders_do_not_count(tmp_path: Path) -> None:
    registry = registry_with(tmp_path)
    inner = registry.path / "x=1"
    inner.mkdir()
    for number in (2, 90_000_000):
        (inner / f"{number:08d}.json").write_text(ADDED)
    paths = [f"file:{inner}/{number:08d}.json" for number in (2, 90_000_000)]
    assert registry.texts([*paths, f"file:{registry.path}/00000001.json"])[:2] == (None, None)
    with pytest.raises(mt.QueryError, match=rf"a worker does not see .*{NAME}, which Spark has listed"):
        registry.texts([f"file:{registry.path}/{NAME}"])


@pytest.mark.parametrize("name", ["link", NAME, "x=1/link", "_other", "_x=1"])
def test_links_to_folders_are_refused(tmp_path: Path, name: str) -> None:
    """Spark would follow them: two links to their own folder are as good as no end."""
    registry = registry_with(tmp_path)
    registry.report("query", [], 1)
    (registry.path / "x=1/inner").mkdir(parents=True)
    registry.check_links()
    link = registry.path / name
    link.symlink_to(registry.path)
    with pytest.raises(
        mt.QueryError, match=rf"'{link}' is a link to a folder, and Spark would follow it.*Remove the link"
    ):
        registry.check_links()


def test_links_that_spark_does_not_follow_are_none_of_ours(tmp_path: Path) -> None:
    """Kubernetes mounts a folder as hidden links; the registry itself may lie behind one."""
    registry = registry_with(tmp_path)
    (registry.path / "..data").symlink_to(registry.path)
    (registry.path / NAME).symlink_to(registry.path / "00000001.json")
    (tmp_path / "link").symlink_to(registry.path)
    WindowRegistry(tmp_path / "link").check_links()
    WindowRegistry(f"memory://{uuid4().hex}/windows").check_links()


def test_a_store_has_files_of_all_sizes() -> None:
    folder = f"memory://{uuid4().hex}/windows"
    registry, files = WindowRegistry(folder), files_of(folder)
    registry.add("1 minute", id="minute")
    for content in ("", "[" * MOST_BYTES, " " * (MOST_BYTES + 1)):
        files.put(f"{folder}/{NAME}", content)
        with pytest.raises(DamagedError, match=rf"{NAME} is damaged"):
            registry.list()
    files.remove(f"{folder}/{NAME}")
    files.put(f"{folder}/{NAME}/inner", "")  # a folder
    with pytest.raises(DamagedError, match=rf"{NAME} is damaged \(not a regular file\)"):
        registry.list()
    assert [one.id for one in WindowRegistry(folder, skip_damaged=True).list()] == ["minute"]
