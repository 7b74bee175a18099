"""Files of other file systems: fsspec's memory stands for a store, and the registry works on it as on a folder."""

from __future__ import annotations

import os
import pickle
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import CliRunner

import muntin as mt
from muntin.changes import Change
from muntin.cli import main
from muntin.files import CreatingFiles, FsspecFiles, LocalFiles, files_of
from muntin.registry import ChangeLog, WindowRegistry


@pytest.fixture
def store() -> str:
    """Give a folder of a store that nobody else uses."""
    return f"memory://{uuid4().hex}/windows"


@pytest.fixture(params=["local", "store"])
def place(request: pytest.FixtureRequest, tmp_path: Path, store: str) -> str:
    return str(tmp_path) if request.param == "local" else store


def test_all_files_do_the_same(place: str) -> None:
    files = files_of(place)
    assert files.list(f"{place}/none") == {}
    assert not files.exists(f"{place}/none")
    files.make(f"{place}/inner")
    assert files.create(f"{place}/inner/a", "first ü")
    assert not files.create(f"{place}/inner/a", "second")
    assert files.read(f"{place}/inner/a") == "first ü"
    before = files.list(f"{place}/inner")["a"]
    files.put(f"{place}/inner/a", "third, longer")
    assert files.read(f"{place}/inner/a") == "third, longer"
    assert files.list(f"{place}/inner")["a"] != before
    files.move(f"{place}/inner/a", f"{place}/inner/b")
    assert set(files.list(f"{place}/inner")) == {"b"}
    assert files.exists(f"{place}/inner")
    with pytest.raises(FileNotFoundError):
        files.read(f"{place}/inner/a")
    files.remove(f"{place}/inner/a")  # is gone
    files.remove(f"{place}/inner")
    assert files.list(place).keys() <= {"inner"}
    assert not files.exists(f"{place}/inner/b")


def test_a_registry_of_a_store(store: str) -> None:
    registry = WindowRegistry(store)
    assert not registry.exists()
    with pytest.raises(mt.QueryError, match=r"does not exist: there is no folder memory://.*/windows"):
        registry.remove("five")
    registry.add("5 minutes", id="five")
    registry.add("1 hour")
    registry.remove("five")
    assert [str(one) for one in registry.list()] == ["1h: ⟨1h,1h⟩ waiting"]
    assert [change.version for change in registry.changes()] == [1, 2, 3]
    registry.report("query", [{"version": 2, "id": "1h", "since": 0, "until": None}], 3)
    sent: WindowRegistry = pickle.loads(pickle.dumps(registry))  # noqa: S301 - as it goes to workers
    assert sent.needed("query") == (mt.tumbling("1 hour", id="1h"),)
    assert sent.list()[0].state == "running"


def test_a_registry_of_a_store_heals_as_a_folder_does(store: str) -> None:
    registry, files = WindowRegistry(store), files_of(store)
    registry.add("5 minutes", id="five")
    registry.add("1 hour")
    files.put(f"{store}/00000002.json", "{")
    with pytest.raises(mt.QueryError, match=r"00000002\.json is damaged"):
        registry.list()
    files.remove(f"{store}/00000002.json")
    registry.add("1 hour")
    assert [(change.version, change.id) for change in registry.changes()] == [(1, "five"), (2, ""), (3, "1h")]


def test_the_command_line_takes_urls(store: str) -> None:
    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, ["windows", *arguments])
        return result.output

    assert "does not exist" in run("list", store)
    assert run("add", store, "1 hour every 5 minutes") == "1h/5m: ⟨1h,5m⟩ waiting\n"
    assert run("list", store) == "1h/5m: ⟨1h,5m⟩ waiting\n"
    run("remove", store, "1h/5m")
    assert run("list", store) == ""


class NotAtomic(WindowRegistry):
    """A registry on a store that creates files for anybody."""

    def __init__(self, place: str, log: ChangeLog | None = None, writers: str = "many") -> None:
        super().__init__(place, log=log, writers=writers)  # type: ignore[arg-type]
        self._files: CreatingFiles = _Careless(self._files.scheme)  # type: ignore[attr-defined]


class _Careless(FsspecFiles):
    def atomic(self) -> bool:
        return False


class Kept:
    """A log in memory."""

    def __init__(self) -> None:
        self.changes: dict[int, str] = {}

    def append(self, number: int, change: str) -> bool:
        return self.changes.setdefault(number, change) is change

    def entries(self) -> Mapping[int, str]:
        return self.changes


def test_a_store_that_cannot_choose_a_writer_is_refused(store: str) -> None:
    with pytest.raises(mt.UnsupportedError, match=r"two writers could take one number.* log=mt\.DeltaLog.* writers='o"):
        NotAtomic(store).add("1 hour")
    NotAtomic(store, writers="one").add("1 hour")
    assert NotAtomic(store).windows() == (mt.tumbling("1 hour", id="1h"),)  # reading needs no choice


def test_a_log_chooses_between_writers(store: str) -> None:
    log = Kept()
    first = NotAtomic(store, log)
    first.add("1 hour")
    other = Change(2, "other", mt.tumbling("7 minutes", id="other")).to_json()
    log.append(2, other)  # another writer has the number, and was killed before it wrote the file
    first.add("5 minutes", id="five")
    assert [(change.version, change.id) for change in first.changes()] == [(1, "1h"), (2, "other"), (3, "five")]
    assert list(log.entries()) == [1, 2, 3]


def test_a_writer_that_loses_tries_again(store: str) -> None:
    log = Kept()
    registry = NotAtomic(store, log)

    class Slower(Kept):
        def append(self, number: int, change: str) -> bool:
            if number == 1 and not log.changes:
                registry.add("1 hour")
            return log.append(number, change)

        def entries(self) -> Mapping[int, str]:
            return log.entries()

    NotAtomic(store, Slower()).add("5 minutes")
    assert [change.id for change in registry.changes()] == ["1h", "5m"]


def test_what_fsspec_does_not_know_is_said(tmp_path: Path) -> None:
    with pytest.raises(mt.UnsupportedError, match="fsspec knows no nowhere: paths"):
        WindowRegistry("nowhere://bucket/windows").list()
    with pytest.raises(mt.QueryError, match=r"options .*'key'.* are for other file systems"):
        WindowRegistry(tmp_path, options={"key": "k"})
    with pytest.raises(mt.QueryError, match="cannot be sent to workers"):
        WindowRegistry("s3a://bucket/windows", options={"session": object()})
    with pytest.raises(mt.QueryError, match="writers 'two' is unknown"):
        WindowRegistry(tmp_path, writers="two")  # type: ignore[arg-type]


def test_fsspec_is_asked_for_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(mt.UnsupportedError, match=r"fsspec, which is not installed.* pip install 'muntin\[files\]'"):
        WindowRegistry("s3a://bucket/windows").list()
    assert LocalFiles().atomic()


@pytest.fixture(params=[0o077, 0o022, 0o027])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """Take rights from new files, as a user may, and give the mask."""
    mask: int = request.param
    before = os.umask(mask)
    yield mask
    os.umask(before)


def test_who_may_read_a_file_is_up_to_the_umask(umask: int, tmp_path: Path) -> None:
    top = tmp_path / "windows"
    registry = WindowRegistry(top)
    registry.add("5 minutes", id="five")
    registry.remove("five")
    registry.report("query", [], 2)
    LocalFiles().put(str(top / "00000001.json"), "written again")
    places = [top, *top.rglob("*")]
    assert len(places) > 7
    rights = {place.name: stat.S_IMODE(place.stat().st_mode) for place in places}
    assert rights == {place.name: (0o777 if place.is_dir() else 0o666) & ~umask for place in places}
