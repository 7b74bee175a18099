"""Windows that come and go while a streaming query runs.

A registry is a folder of numbered files, one for each change, that are written once and never touched again. A running
query reads them as a stream of their own, so Spark's checkpoint knows which change belongs to which micro-batch.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from muntin.errors import QueryError
from muntin.query import check_units, check_windows
from muntin.window import Window

Moment = int | str | datetime
"""An event time as users write it: microseconds since 1970, ISO 8601 text, or a datetime (UTC if it has no zone)."""

CHANGES = "[0-9]*.json"
"""The names of files that are changes; whatever else is in the folder is not."""
REPORTS = "_queries"
"""The folder of what queries say of their windows; Spark does not read folders with such names."""

_NOTHING: dict[str, Any] = {"written": "", "windows": [], "newest": 0, "missing": []}
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIELDS = {"add": {"version", "change", "id", "window", "since"}, "remove": {"version", "change", "id", "until"}}


@dataclass(frozen=True, slots=True)
class Change:
    """A window that is added, or one that is removed."""

    version: int
    """The number of the change, from 1."""
    id: str
    window: Window | None
    """The window that is added; None for a removal."""
    at: int | None = None
    """The event time from which on an added window was asked for, or until which a removed one was."""

    def to_json(self) -> str:
        """Write the change so that people can read it."""
        if self.window is None:
            told: dict[str, Any] = {"change": "remove", "id": self.id, "until": _text(self.at)}
        else:
            shape = {name: str(getattr(self.window, name)) for name in ("range", "slide", "offset")}
            told = {"change": "add", "id": self.id, "window": shape, "since": _text(self.at)}
        return json.dumps({"version": self.version} | told, indent=2, ensure_ascii=False) + "\n"

    @staticmethod
    def from_json(text: str, origin: str = "a change") -> Change:
        """Read a change back, and refuse what is none.

        >>> Change.from_json(Change(1, "w", Window("1 hour", "5 min"), 0).to_json()).window
        Window('1h', '5m', id='w')
        """
        try:
            told = json.loads(text)
            if told.keys() != _FIELDS[told["change"]] or not isinstance(told["version"], int) or told["version"] < 1:
                raise ValueError(f"its fields are {told}")
            if told["change"] == "remove":
                return Change(told["version"], told["id"], None, _micros(told["until"], "until"))
            window = Window(**told["window"], id=told["id"]).timed()
            return Change(told["version"], told["id"], window, _micros(told["since"], "since"))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise QueryError(f"{origin} is no change of a window registry ({error}). Remove it by hand.") from error


@dataclass(frozen=True, slots=True)
class Registered:
    """A window of a registry, and what is known of when it counts."""

    id: str
    window: Window
    version: int
    """The number of the change that added it."""
    since: int | None = None
    """The first instance begins at this event time or later, in microseconds; None if that is not (yet) limited."""
    until: int | None = None
    """No instance that ends later is given; None as long as the window is not removed."""
    state: str = "waiting"
    """waiting for a query to take it, running, or ending: removed, with instances still to come."""

    def __str__(self) -> str:
        since = "" if self.since is None else f", since {_text(self.since)}"
        until = "" if self.until is None else f", until {_text(self.until)}"
        return f"{self.id}: {self.window} {self.state}{since}{until}"


class WindowRegistry:
    """Windows that a running query consults in every micro-batch; several processes may change it at once.

    The path must be seen by the driver and by all workers. Who adds a window to a running query finds in list() when it
    starts, once the query has taken it.

    >>> with tempfile.TemporaryDirectory() as folder:
    ...     registry = WindowRegistry(folder)
    ...     _ = registry.add(Window("5 minutes"), id="five")
    ...     _ = registry.add(Window("1 hour"))
    ...     registry.remove("five")
    ...     print(*registry.list(), sep=chr(10))
    1h: ⟨1h,1h⟩ waiting
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path).absolute()

    def __repr__(self) -> str:
        return f"WindowRegistry({str(self.path)!r})"

    def add(self, window: Window | str, id: str | None = None, since: Moment | None = None) -> Registered:
        """Add a window; it starts with its next complete instance, or the first one after `since` if that is later.

        A text is read as one window, such as "1 hour every 5 minutes".
        The id is that of the window unless another is given. It must not be in use, nor the same window under another.
        """
        [asked] = check_windows([window])
        check_units([asked])
        named = replace(asked, id=asked.label if id is None else id)
        start = _micros(since, "since")
        for live in self._tried(lambda version: Change(version, named.label, named, start)):
            for other in live:
                if other.id == named.label:
                    raise QueryError(f"window id {other.id!r} is in use by {other.window}. Use another id.")
                if other.window == named:
                    raise QueryError(f"window {named} is there already, as {other.id!r}. Use that one.")
        return next(found for found in self._live() if found.id == named.label)

    def remove(self, id: str, until: Moment | None = None) -> None:
        """Remove a window: nothing that ends after the watermark of the moment, or after `until` if later, is given."""
        asked = _micros(until, "until")
        for live in self._tried(lambda version: Change(version, id, None, asked)):
            if id not in (known := [other.id for other in live]):
                raise QueryError(
                    f"no window {id!r} in the registry. There are {', '.join(map(repr, known)) or 'none'}."
                )

    def list(self) -> tuple[Registered, ...]:
        """Give the windows that are live or ending, with what the query that took them last says of their times."""
        reports = [self._report(file.stem) for file in (self.path / REPORTS).glob("*.json")]
        last = max(reports, key=lambda report: str(report["written"]), default=_NOTHING)
        taken = {told["version"]: told for told in last["windows"]}
        live = {one.version for one in self._live()}
        found = []
        for version, one in self._added().items():
            if version in taken:
                state, told = "running" if version in live else "ending", taken[version]
                found.append(replace(one, since=told["since"], until=told["until"], state=state))
            elif version in live:
                found.append(one)
        return tuple(found)

    def windows(self) -> tuple[Window, ...]:
        """Give the windows that are live, with their ids."""
        return tuple(one.window for one in self._live())

    def changes(self) -> tuple[Change, ...]:
        """Give all changes in order."""
        return tuple(_change(str(file), file.stat().st_mtime_ns) for file in sorted(self.path.glob(CHANGES)))

    def needed(self, query: str) -> tuple[Window, ...]:
        """Give the windows that slices must serve: those that a query counts, and those that it has not taken yet.

        That is at least what the query's own state knows of, at any moment: a window counts from when it is written
        until the query says that it is done with it.
        """
        report = self._report(query)
        untaken = {c.version for c in self.changes() if c.version > report["newest"]} | set(report["missing"])
        running = {told["version"] for told in report["windows"]}
        windows = (c.window for c in self.changes() if c.version in running | untaken)
        return tuple(dict.fromkeys(window for window in windows if window is not None))

    def report(self, query: str, windows: Sequence[dict[str, Any]], newest: int, missing: Sequence[int] = ()) -> None:
        """Say which windows a query counts, and which changes it has taken: all to the newest but the missing ones."""
        folder = self.path / REPORTS
        folder.mkdir(exist_ok=True)
        told: dict[str, Any] = {"written": datetime.now(UTC).isoformat(), "windows": list(windows)}
        told |= {"newest": newest, "missing": list(missing)}
        temporary = _temporary(folder, json.dumps(told, indent=2, ensure_ascii=False))
        temporary.replace(folder / f"{query}.json")

    def _report(self, query: str) -> dict[str, Any]:
        """Give what a query has said; as of one that has said nothing if it has not."""
        try:
            found: dict[str, Any] = json.loads((self.path / REPORTS / f"{query}.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            return _NOTHING
        return found

    def _added(self) -> dict[int, Registered]:
        changes = self.changes()
        return {c.version: Registered(c.id, c.window, c.version, since=c.at) for c in changes if c.window is not None}

    def _live(self) -> Sequence[Registered]:
        live: dict[str, Registered] = {}
        added = self._added()
        for change in self.changes():
            if change.version in added:
                live[change.id] = added[change.version]
            else:
                live.pop(change.id, None)
        return tuple(live.values())

    def _tried(self, make: Callable[[int], Change]) -> Iterator[Sequence[Registered]]:
        """Yield what is live until a change could be written as the next one; whoever is first has the number."""
        self.path.mkdir(parents=True, exist_ok=True)
        while True:
            version = max((change.version for change in self.changes()), default=0) + 1
            yield self._live()
            temporary = _temporary(self.path, make(version).to_json())
            try:
                os.link(temporary, self.path / _name(version))  # fails if the name is taken, unlike a rename
                return
            except FileExistsError:
                continue
            finally:
                temporary.unlink()


@lru_cache(maxsize=10_000)
def _change(file: str, _changed: int) -> Change:
    """Read a file, once: it is never written again."""
    path = Path(file)
    found = Change.from_json(path.read_text(encoding="utf-8"), file)
    if path.name != _name(found.version):
        raise QueryError(f"{file} says that it is change {found.version}. Remove it by hand.")
    return found


def _name(version: int) -> str:
    return f"{version:08d}.json"


def _temporary(folder: Path, text: str) -> Path:
    """Write text completely under a hidden name."""
    handle, name = tempfile.mkstemp(prefix=".", dir=folder)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    Path(name).chmod(0o644)
    return Path(name)


def _micros(moment: object, name: str) -> int | None:
    if moment is None or (isinstance(moment, int) and not isinstance(moment, bool)):
        return moment
    try:
        found = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        if isinstance(found, datetime):
            zoned = found if found.tzinfo else found.replace(tzinfo=UTC)
            return (zoned - _EPOCH) // _MICROSECOND
    except ValueError:
        pass
    raise QueryError(f"{name} {moment!r} is no time. Use a datetime, ISO text, or microseconds since 1970.")


def _text(micros: int | None) -> str | int | None:
    """Write a time as people read it; as a number where no calendar has it."""
    try:
        return None if micros is None else (_EPOCH + micros * _MICROSECOND).isoformat()
    except OverflowError:
        return micros
