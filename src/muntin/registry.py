"""Windows that come and go while a streaming query runs.

A registry is a folder of numbered files, one for each change. A file appears at once and is never written again, and
its number is never given to another change. A running query reads the files as a stream of their own, so Spark's
checkpoint knows which change belongs to which micro-batch. The folder may be on any file system that Spark and fsspec
know.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol
from uuid import uuid4

from muntin.changes import (
    ALLOWING,
    Change,
    DamagedError,
    Moment,
    Registered,
    Report,
    check_writable,
    json_text,
    micros,
)
from muntin.errors import QueryError, UnsupportedError
from muntin.files import CreatingFiles, files_of
from muntin.paths import StrPath, is_remote, place_of, scheme
from muntin.query import check_units, check_windows
from muntin.safe_text import hide_user_info
from muntin.window import MOST_INSTANCES, AnyWindow, Window, check_instances

CHANGES = "[0-9]" * 8 + ".json"
"""The names of files that are changes, as Spark's pattern; whatever else is in the folder is not."""
REPORTS = "_queries"
"""The folder of what queries say of their windows; Spark does not read folders with such names."""
NUMBERS = "_numbers"
"""The folder of all numbers that changes have had: a number stays used when its change is removed by hand."""

IDENTITY = "_identity"
"""The file that tells a registry from others, wherever it is moved to."""

_CHANGE = re.compile(CHANGES.replace(".", r"\."))


class ChangeLog(Protocol):
    """Decides which writer has a number, where the file system of a registry cannot: mt.DeltaLog, or your own."""

    def append(self, number: int, change: str) -> bool:
        """Keep a change, as JSON, under its number, unless there is one; tell whether this one is kept."""

    def entries(self) -> Mapping[int, str]:
        """Give all changes by their numbers."""


class WindowRegistry:
    """The windows of a running query. The query applies changes in every micro-batch; several processes may make them.

    After you add a window to a running query, `list()` shows when it starts, once the query has applied the change.

    Args:
        path: A folder that the driver and all workers see: a mounted one, or one of a store, such as
            s3a://bucket/windows, which Spark reads as usual and Muntin reads through fsspec. It need not exist yet.
        options: Options for fsspec to open the store, such as {"endpoint_url": "http://127.0.0.1:9000"}. Workers get
            them, too.
        writers: "many" lets several processes change the registry at once; the file system must be able to let only one
            of them create a file. "one" is your promise that there is never a second writer.
        log: Decides between writers where the file system cannot, for example mt.DeltaLog("main.ops.windows").
        most_instances: How many instances of a window a row may lie in (its range divided by its slide). Windows with
            more are refused, both when you add them and when a query reads them.

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

    def __init__(
        self,
        path: StrPath,
        *,
        options: Mapping[str, Any] | None = None,
        writers: Literal["many", "one"] = "many",
        log: ChangeLog | None = None,
        most_instances: int = MOST_INSTANCES,
    ) -> None:
        if writers not in ("many", "one"):
            raise QueryError(f"writers {writers!r} is unknown. Use 'many' or 'one'.")
        if isinstance(most_instances, bool) or not isinstance(most_instances, int) or most_instances < 1:
            raise QueryError(f"most_instances={most_instances!r} is not a number of instances. Use one such as 10**9.")
        self.place = place_of(path, "registry")
        self.writers = writers
        self.most_instances = most_instances
        self._files: CreatingFiles = files_of(self.place, options)
        self._log = log

    def __repr__(self) -> str:
        return f"WindowRegistry({hide_user_info(self.place)!r})"

    def __getstate__(self) -> dict[str, Any]:
        """Leave the log behind: workers read changes, and write none."""
        return vars(self) | {"_log": None}

    @property
    def path(self) -> Path:
        """The folder, if it is on this machine."""
        if is_remote(self.place):
            raise UnsupportedError(f"{self!r} is not a folder of this machine. Use its `place`.")
        return Path(self.place)

    def exists(self) -> bool:
        """Tell whether anything has been written yet."""
        return self._files.exists(self.place)

    def add(self, window: AnyWindow | str, id: str | None = None, since: Moment | None = None) -> Registered:
        """Add a window; it starts with its next complete instance.

        Args:
            window: A window, or text that is read as one, such as "1 hour every 5 minutes".
            id: The window_id of result rows; by default that of the window.
            since: An event time before which no instance begins.

        Raises:
            QueryError: If the id is in use, or if the registry has the same window under another id.
            UnsupportedError: If the file system cannot decide between two writers.
        """
        asked = check_writable(check_windows([window])[0])
        check_units([asked])
        check_instances([asked], self.most_instances, ALLOWING)
        named = replace(asked, id=asked.label if id is None else id)
        start = micros(since, "since")
        for live in self._tried(lambda version: Change(version, named.label, named, start)):
            for other in live:
                if other.id == named.label:
                    raise QueryError(f"window id {other.id!r} is in use by {other.window}. Use another id.")
                if other.window == named:
                    raise QueryError(f"window {named} is there already, as {other.id!r}. Use that one.")
        return next(one for one in self._live() if one.id == named.label)

    def remove(self, id: str, until: Moment | None = None) -> None:
        """Remove a window; instances that end after the current watermark no longer appear.

        Args:
            id: The id of the window.
            until: An event time until which instances still appear, if it is later than the watermark.

        Raises:
            QueryError: If the registry has no such window.
        """
        asked = micros(until, "until")
        self.check_exists()
        for live in self._tried(lambda version: Change(version, id, None, asked)):
            if id not in (known := [other.id for other in live]):
                raise QueryError(
                    f"no window {id!r} in the registry. There are {', '.join(map(repr, known)) or 'none'}."
                )

    def check_exists(self) -> None:
        """Refuse a registry that nobody has written to; the path is probably wrong."""
        if not self.exists():
            place = hide_user_info(self.place)
            raise QueryError(f"the registry does not exist: there is no folder {place}. Check the path.")

    def list(self) -> tuple[Registered, ...]:
        """List the windows that are live or ending, with the times that a query last reported for them."""
        last = max(self._reports(), key=lambda report: report.written, default=Report())
        taken = {one.version: one for one in last.windows}
        live = {one.version for one in self._live()}
        listed = []
        for version, one in self._added().items():
            if version in taken:
                times = taken[version]
                state = "missed" if times.missed else "running" if version in live else "ending"
                listed.append(replace(one, since=times.since, until=times.until, state=state))
            elif version in live:
                listed.append(one)
        return tuple(listed)

    def windows(self) -> tuple[AnyWindow, ...]:
        """Return the windows that are live, with their ids."""
        return tuple(one.window for one in self._live())

    def counted(self) -> tuple[AnyWindow, ...]:
        """Return the windows that are live, and those that are ending, without ids."""
        ending = (replace(one.window, id=None) for one in self.list() if one.state == "ending")
        return tuple(dict.fromkeys((*self.windows(), *ending)))

    def changes(self) -> tuple[Change, ...]:
        """Give all changes in order."""
        files = self._files.list(self.place)
        return tuple(self._read(name, stamp) for name, stamp in sorted(files.items()) if _CHANGE.fullmatch(name))

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
        self._files.make(self._in(REPORTS))
        written = datetime.now(UTC).isoformat()
        fields = {"written": written, "windows": list(windows), "newest": newest, "missing": list(missing)}
        self._files.put(self._in(REPORTS, f"{query}.json"), json_text(fields))

    def reported(self, query: str) -> Report | None:
        """Give what a query has said last; None if it has said nothing, or if that is damaged."""
        with suppress(FileNotFoundError, DamagedError):
            return self._report(f"{query}.json")
        return None

    def identity(self) -> str | None:
        """Return what tells this registry from all others; None before anything has been written."""
        with suppress(FileNotFoundError):
            return self._files.read(self._in(IDENTITY)).strip()
        return None

    def settle(self) -> None:
        """Make the folder with its identity, and put a change in place of every one that was removed by hand.

        The change is the one that a query has taken under that number, else one that changes nothing. Spark remembers
        the files that it has read: it reads none a second time, and fails where one that it must read again is gone.
        """
        self._files.make(self._in(NUMBERS))
        self._files.create(self._in(IDENTITY), uuid4().hex)
        present = self._present()
        for version, change in (self._log.entries() if self._log else {}).items():
            if version not in present:  # its writer was killed, or is about to write
                self._files.put(self._in(_name(version)), change)
        for version in sorted(self._marked() - self._present()):
            self._create(version, self._taken(version).to_json())

    def _in(self, *names: str) -> str:
        return "/".join((self.place, *names))

    def _create(self, version: int, change: str) -> bool:
        """Write a change unless its number is taken; tell whether it was written."""
        if self._log is None:
            return self._files.create(self._in(_name(version)), change)
        is_first = self._log.append(version, change)
        if is_first:
            self._files.put(self._in(_name(version)), change)
        return is_first

    def _reports(self) -> tuple[Report, ...]:
        return tuple(self._report(name) for name in self._files.list(self._in(REPORTS)) if name.endswith(".json"))

    def _report(self, name: str) -> Report:
        file = self._in(REPORTS, name)
        return Report.from_json(self._files.read(file), hide_user_info(file))

    def _taken(self, version: int) -> Change:
        """Give the change that a query has taken under a number; one that changes nothing if none has."""
        for name in self._files.list(self._in(REPORTS)):
            report = self.reported(name.removesuffix(".json")) or Report()
            for one in report.windows:
                if one.version == version and one.window is not None:
                    return Change(version, one.id, one.window, one.since)
        return Change(version)

    def _read(self, name: str, stamp: Any) -> Change:
        """Read a change. If it is damaged, mark its number as used before somebody is told to remove it."""
        try:
            return _change(self._files, self._in(name), stamp, self.most_instances)
        except DamagedError:
            version = int(name.removesuffix(".json"))
            if version - 1 in {0} | self._present() | self._marked():  # others are none of ours: a date, say
                with suppress(OSError):
                    self._mark(version)
            raise

    def _mark(self, version: int) -> None:
        self._files.make(self._in(NUMBERS))
        self._files.put(self._in(NUMBERS, str(version)), "")

    def _present(self) -> set[int]:
        """Give the numbers of the files that are there."""
        names = self._files.list(self.place)
        return {int(name.removesuffix(".json")) for name in names if _CHANGE.fullmatch(name)}

    def _marked(self) -> set[int]:
        """Give the numbers that are marked as used."""
        return {int(name) for name in self._files.list(self._in(NUMBERS)) if name.isdecimal()}

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
        self._check_writable()
        while True:
            self.settle()
            newest = max(self._present(), default=0)
            yield self._live()
            if newest:
                self._mark(newest)  # its writer may have been killed before it did
            if self._create(newest + 1, make(newest + 1).to_json()):
                self._mark(newest + 1)
                return

    def _check_writable(self) -> None:
        """Refuse a file system on which two writers could take the same number."""
        if self.writers == "many" and self._log is None and not self._files.atomic():
            raise UnsupportedError(
                f"{self!r} cannot be changed safely: through fsspec, {scheme(self.place)}: has no way to create a file "
                "for one writer only, so two writers could take one number. Use WindowRegistry(path, "
                "log=mt.DeltaLog('catalog.schema.table')), or writers='one' if there is never a second writer."
            )


@lru_cache(maxsize=10_000)
def _change(files: CreatingFiles, file: str, _stamp: Any, most_instances: int) -> Change:
    """Read a file, once: it is never written again."""
    origin = hide_user_info(file)
    change = Change.from_json(files.read(file), origin, most_instances)
    if file.rsplit("/", 1)[-1] != _name(change.version):
        raise DamagedError(f"{origin} says that it is change {change.version}. Remove the file.")
    return change


def removal(version: int) -> str:
    """Say how a change is taken back that a query cannot take: it is in a micro-batch that will be repeated."""
    return f"Remove the file {_name(version)} from the registry's folder, and start the query again."


def _name(version: int) -> str:
    return f"{version:08d}.json"
