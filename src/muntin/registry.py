"""Windows that come and go while a streaming query runs.

A registry is a folder of numbered files, one for each change. A file appears at once and is never written again, and
its number is never given to another change. A running query reads the files as a stream of their own, so Spark's
checkpoint knows which change belongs to which micro-batch.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from muntin.errors import QueryError, UnsupportedError
from muntin.formats import FORMAT, FormatError, check_format
from muntin.paths import StrPath, create, existing, folder, put
from muntin.query import check_units, check_windows
from muntin.window import AnyWindow, UserWindow, Window, from_dict

Moment = int | str | datetime
"""An event time as users write it: microseconds since 1970, ISO 8601 text, or a datetime (UTC if it has no zone)."""

CHANGES = "[0-9]" * 8 + ".json"
"""The names of files that are changes; whatever else is in the folder is not."""
REPORTS = "_queries"
"""The folder of what queries say of their windows; Spark does not read folders with such names."""
NUMBERS = "_numbers"
"""The folder of all numbers that changes have had: a number stays used when its change is removed by hand."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIELDS = {"add": {"id", "window", "since"}, "remove": {"id", "until"}, "none": set()}


class _DamagedError(QueryError):
    """A file says nothing that can be read."""


@dataclass(frozen=True, slots=True)
class Change:
    """A window that is added, one that is removed, or nothing in place of a change that was lost."""

    version: int
    """The number of the change, from 1."""
    id: str = ""
    """The id of the window; empty where the change was lost."""
    window: AnyWindow | None = None
    """The window that is added; None for a removal."""
    at: int | None = None
    """The event time from which on an added window was asked for, or until which a removed one was."""

    def to_json(self) -> str:
        """Write the change so that people can read it."""
        fields: dict[str, Any]
        if not self.id:
            fields = {"change": "none"}
        elif self.window is None:
            fields = {"change": "remove", "id": self.id, "until": _text(self.at)}
        else:
            fields = {
                "change": "add",
                "id": self.id,
                "window": self.window.to_dict(readable=True),
                "since": _text(self.at),
            }
        return _json({"version": self.version} | fields)

    @staticmethod
    def from_json(text: str, origin: str = "a change of the registry") -> Change:
        """Read a change back, and refuse what is none.

        >>> from muntin.window import Window
        >>> Change.from_json(Change(1, "w", Window("1 hour", "5 min"), 0).to_json()).window
        Window('1h', '5m', id='w')
        """
        with _damage(origin, "Remove the file, and repeat the change if it is missing; its number is not used again."):
            fields = _fields(text, origin)
            version, kind = fields.pop("version"), fields.pop("change")
            if fields.keys() != _FIELDS[kind] or _whole(version) < 1:
                raise ValueError(f"change {kind!r} with number {version} has the fields {list(fields)}")
            match kind:
                case "none":
                    return Change(version)
                case "remove":
                    return Change(version, str(fields["id"]), None, _micros(fields["until"], "until"))
            window = from_dict(fields["window"], id=fields["id"]).timed()
            return Change(version, window.label, window, _micros(fields["since"], "since"))


@dataclass(frozen=True, slots=True)
class Taken:
    """A window that a query counts, as its report has it."""

    version: int
    id: str
    since: int | None = None
    until: int | None = None
    window: AnyWindow | None = None
    """None in reports of older versions."""

    @staticmethod
    def from_fields(version: object, id: str, window: Any = None, **times: int | None) -> Taken:
        """Read an entry of a report."""
        counted = None if window is None else from_dict(window, id=id).timed()
        return Taken(_whole(version), id, window=counted, **times)


@dataclass(frozen=True, slots=True)
class Report:
    """What a query says of its windows."""

    windows: tuple[Taken, ...] = ()
    newest: int = 0
    """The newest change that the query has taken."""
    missing: tuple[int, ...] = ()
    """Older changes that have not come."""
    written: str = ""

    @staticmethod
    def from_json(text: str, origin: str) -> Report:
        """Read a report back, and refuse what is none."""
        with _damage(origin, "Remove the file; the query writes it again with its next micro-batch."):
            fields = _fields(text, origin)
            windows = tuple(Taken.from_fields(**entry) for entry in fields["windows"])
            missing = tuple(map(_whole, fields["missing"]))
            return Report(windows, _whole(fields["newest"]), missing, str(fields["written"]))


@dataclass(frozen=True, slots=True)
class Registered:
    """A window of a registry, and what is known of when it counts."""

    id: str
    window: AnyWindow
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
    """The windows of a running query, which looks for changes in every micro-batch; several processes may change them.

    After you add a window to a running query, `list()` shows when it starts, once the query has taken it.

    Args:
        path: A folder that the driver and all workers see.

    >>> import tempfile
    >>> from muntin.window import Window
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     registry = WindowRegistry(folder)
    ...     _ = registry.add(Window("5 minutes"), id="five")
    ...     _ = registry.add(Window("1 hour"))
    ...     registry.remove("five")
    ...     print(*registry.list(), sep=chr(10))
    1h: ⟨1h,1h⟩ waiting
    """

    def __init__(self, path: StrPath) -> None:
        self.path = folder(path, "registry")

    def __repr__(self) -> str:
        return f"WindowRegistry({str(self.path)!r})"

    def add(self, window: AnyWindow | str, id: str | None = None, since: Moment | None = None) -> Registered:
        """Add a window; it starts with its next complete instance.

        Args:
            window: A window, or text that is read as one, such as "1 hour every 5 minutes".
            id: What result rows have as window_id; by default that of the window.
            since: An event time before which no instance begins.

        Raises:
            QueryError: If the id is in use, or the same window is there under another id.
        """
        asked = _writable(check_windows([window])[0])
        check_units([asked])
        named = replace(asked, id=asked.label if id is None else id)
        start = _micros(since, "since")
        for live in self._tried(lambda version: Change(version, named.label, named, start)):
            for other in live:
                if other.id == named.label:
                    raise QueryError(f"window id {other.id!r} is in use by {other.window}. Use another id.")
                if other.window == named:
                    raise QueryError(f"window {named} is there already, as {other.id!r}. Use that one.")
        return next(one for one in self._live() if one.id == named.label)

    def remove(self, id: str, until: Moment | None = None) -> None:
        """Remove a window: no instance that ends after the watermark of the moment appears any more.

        Args:
            id: The id of the window.
            until: An event time until which instances still appear, if it is later than the watermark.

        Raises:
            QueryError: If the registry has no such window.
        """
        asked = _micros(until, "until")
        existing(self.path, "registry")
        for live in self._tried(lambda version: Change(version, id, None, asked)):
            if id not in (known := [other.id for other in live]):
                raise QueryError(
                    f"no window {id!r} in the registry. There are {', '.join(map(repr, known)) or 'none'}."
                )

    def list(self) -> tuple[Registered, ...]:
        """Give the windows that are live or ending, with what the query that took them last says of their times."""
        last = max(self._reports(), key=lambda report: report.written, default=Report())
        taken = {one.version: one for one in last.windows}
        live = {one.version for one in self._live()}
        listed = []
        for version, one in self._added().items():
            if version in taken:
                state, times = "running" if version in live else "ending", taken[version]
                listed.append(replace(one, since=times.since, until=times.until, state=state))
            elif version in live:
                listed.append(one)
        return tuple(listed)

    def windows(self) -> tuple[AnyWindow, ...]:
        """Give the windows that are live, with their ids."""
        return tuple(one.window for one in self._live())

    def changes(self) -> tuple[Change, ...]:
        """Give all changes in order."""
        return tuple(self._read(file) for file in sorted(self.path.glob(CHANGES)))

    def needed(self, query: str) -> tuple[Window, ...]:
        """Give the windows that slices must serve: those that a query counts, and those that it has not taken yet.

        That is at least what the query's own state knows of, at any moment: a window counts from when it is written
        until the query says that it is done with it. Without a report that can be read, all windows count.
        """
        report = self.reported(query) or Report()
        untaken = {c.version for c in self.changes() if c.version > report.newest} | set(report.missing)
        running = {one.version for one in report.windows}
        windows = (c.window for c in self.changes() if c.version in running | untaken)
        return tuple(dict.fromkeys(window for window in windows if isinstance(window, Window)))

    def report(self, query: str, windows: Sequence[dict[str, Any]], newest: int, missing: Sequence[int] = ()) -> None:
        """Say which windows a query counts, and which changes it has taken: all to the newest but the missing ones."""
        place = self.path / REPORTS
        place.mkdir(exist_ok=True)
        written = datetime.now(UTC).isoformat()
        fields = {"written": written, "windows": list(windows), "newest": newest, "missing": list(missing)}
        put(place / f"{query}.json", _json(fields))

    def reported(self, query: str) -> Report | None:
        """Give what a query has said last; None if it has said nothing, or if that is damaged."""
        file = self.path / REPORTS / f"{query}.json"
        with suppress(FileNotFoundError, _DamagedError):
            return Report.from_json(_content(file), str(file))
        return None

    def settle(self) -> None:
        """Make the folder, and put a change in place of every one that was removed by hand.

        It is the one that a query has taken under that number, else one that changes nothing. Spark remembers the files
        that it has read: it reads none a second time, and fails where one that it must read again is gone.
        """
        (self.path / NUMBERS).mkdir(parents=True, exist_ok=True)
        for version in sorted(self._marked() - self._present()):
            create(self.path / _name(version), self._taken(version).to_json())

    def _reports(self) -> tuple[Report, ...]:
        return tuple(Report.from_json(_content(file), str(file)) for file in (self.path / REPORTS).glob("*.json"))

    def _taken(self, version: int) -> Change:
        """Give the change that a query has taken under a number; one that changes nothing if none has."""
        for file in (self.path / REPORTS).glob("*.json"):
            report = self.reported(file.stem) or Report()
            for one in report.windows:
                if one.version == version and one.window is not None:
                    return Change(version, one.id, one.window, one.since)
        return Change(version)

    def _read(self, file: Path) -> Change:
        """Read a change. If it is damaged, mark its number as used before somebody is told to remove it."""
        try:
            return _change(str(file), file.stat().st_mtime_ns)
        except _DamagedError:
            version = int(file.stem)
            if version - 1 in {0} | self._present() | self._marked():  # others are none of ours: a date, say
                with suppress(OSError):
                    self._mark(version)
            raise

    def _mark(self, version: int) -> None:
        (self.path / NUMBERS).mkdir(exist_ok=True)
        (self.path / NUMBERS / str(version)).touch()

    def _present(self) -> set[int]:
        """Give the numbers of the files that are there."""
        return {int(file.stem) for file in self.path.glob(CHANGES)}

    def _marked(self) -> set[int]:
        """Give the numbers that are marked as used."""
        return {int(mark.name) for mark in (self.path / NUMBERS).glob("*") if mark.name.isdecimal()}

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
        while True:
            self.settle()
            newest = max(self._present(), default=0)
            yield self._live()
            if newest:
                self._mark(newest)  # its writer may have been killed before it did
            if create(self.path / _name(newest + 1), make(newest + 1).to_json()):
                self._mark(newest + 1)
                return


@lru_cache(maxsize=10_000)
def _change(file: str, _changed: int) -> Change:
    """Read a file, once: it is never written again."""
    path = Path(file)
    change = Change.from_json(_content(path), file)
    if path.name != _name(change.version):
        raise _DamagedError(f"{file} says that it is change {change.version}. Remove the file.")
    return change


def _name(version: int) -> str:
    return f"{version:08d}.json"


def _content(file: Path) -> str:
    """Read a text; bytes that are none are for the reader of JSON to refuse."""
    return file.read_text(encoding="utf-8", errors="replace")


def _json(fields: dict[str, Any]) -> str:
    return json.dumps({"format": FORMAT} | fields, indent=2, ensure_ascii=False) + "\n"


def _fields(text: str, origin: str) -> dict[str, Any]:
    """Read the fields of a file; one without a format is of the first."""
    fields: dict[str, Any] = json.loads(text)
    form = fields.pop("format", 1)
    if _whole(form) < 1:
        raise ValueError(f"its format is {form}")
    check_format(form, origin)
    return fields


def _whole(value: object) -> int:
    if not isinstance(value, int):
        raise ValueError(f"{value!r} is no whole number")
    return value


@contextmanager
def _damage(origin: str, remedy: str) -> Iterator[None]:
    """Say what is wrong with a file, and what to do."""
    try:
        yield
    except FormatError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise _DamagedError(f"{origin} is damaged ({error}). {remedy}") from error


def _micros(moment: object, name: str) -> int | None:
    if moment is None or (isinstance(moment, int) and not isinstance(moment, bool)):
        return moment
    try:
        date = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        if isinstance(date, datetime):
            zoned = date if date.tzinfo else date.replace(tzinfo=UTC)
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


def _writable(window: AnyWindow) -> AnyWindow:
    """Refuse a window that a file cannot tell: one of a user's code, or of an expression that only a session has."""
    if isinstance(window, UserWindow):
        raise UnsupportedError(f"window {window.label!r} is code, which a registry does not keep. Leave it out.")
    if any(not isinstance(watch.column, str) for watch in window.watches):
        raise UnsupportedError(
            f"window {window.label!r} watches an expression, which a registry does not keep. "
            "Add it to the stream as a column, and name that."
        )
    return window
