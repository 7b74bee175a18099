"""Windows that come and go while a streaming query runs.

A registry is a folder of numbered files, one for each change. A file appears at once and is never written again, and
its number is never given to another change. A running query reads the files as a stream of their own, so Spark's
checkpoint knows which change belongs to which micro-batch. The folder may be on any file system that Spark and fsspec
know.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Protocol
from uuid import uuid4

from muntin.change_files import NUMBERS, UNREADABLE, ChangeFiles, file_of
from muntin.changes import (
    ALLOWING,
    MOST_BYTES,
    MOST_REPORT_BYTES,
    REWRITE,
    Change,
    DamagedError,
    Moment,
    Registered,
    Report,
    UnavailableError,
    check_text,
    check_writable,
    damage,
    json_text,
    micros,
)
from muntin.errors import MuntinError, QueryError, UnsupportedError
from muntin.files import CreatingFiles, files_of
from muntin.numbering import LAST, Stretches, is_within, plain_stretches
from muntin.paths import StrPath, is_remote, place_of, scheme
from muntin.query import check_units, check_windows
from muntin.safe_text import hide_user_info
from muntin.window import MOST_INSTANCES, AnyWindow, Window, check_instances, check_lengths
from muntin.window.lengths import check_id

REPORTS = "_queries"
"""The folder of what queries say of their windows; Spark does not read folders with such names."""
IDENTITY = "_identity"
"""The file that tells a registry from others, wherever it is moved to."""


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
        skip_damaged: Whether a query goes on without a change whose file cannot be read, instead of stopping with an
            error that names the file. `damaged()` lists such files, and mt.progress and metrics count them.

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
        skip_damaged: bool = False,
    ) -> None:
        if writers not in ("many", "one"):
            raise QueryError(f"writers {writers!r} is unknown. Use 'many' or 'one'.")
        if isinstance(most_instances, bool) or not isinstance(most_instances, int) or most_instances < 1:
            raise QueryError(f"most_instances={most_instances!r} is not a number of instances. Use one such as 10**9.")
        if not isinstance(skip_damaged, bool):
            raise QueryError(f"skip_damaged={skip_damaged!r} is neither True nor False.")
        self.place = place_of(path, "registry")
        self.writers = writers
        self.most_instances = most_instances
        self.skip_damaged = skip_damaged
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
        check_lengths([asked])
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
        changes, errors = self._folder.read_all()
        self._folder.check(errors.values())
        return changes

    def damaged(self) -> tuple[str, ...]:
        """List the files of changes that cannot be read.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     (Path(folder) / "00000001.json").write_text("scribbled")
        ...     registry = WindowRegistry(folder, skip_damaged=True)
        ...     registry.list(), registry.damaged()
        9
        ((), ('00000001.json',))
        """
        return tuple(self._folder.read_all()[1])

    def texts(self, paths: Sequence[str]) -> tuple[str | None, ...]:
        """Return changes as JSON by the paths that Spark has listed; None for those that do not count."""
        return self._folder.texts(paths)

    def needed(self, query: str) -> tuple[Window, ...]:
        """Give the windows that slices must serve: those that a query counts, and those that it has not taken yet.

        That is at least what the query's own state knows of, at any moment: a window counts from when it is written
        until the query says that it is done with it. Without a report that can be read, all windows count.
        """
        report = self.reported(query) or Report()
        running = {one.version for one in report.windows}
        windows = (
            change.window
            for change in self.changes()
            if change.version > report.newest or change.version in running or is_within(change.version, report.missing)
        )
        return tuple(dict.fromkeys(window for window in windows if isinstance(window, Window)))

    def report(self, query: str, windows: Sequence[dict[str, Any]], newest: int, missing: Stretches = ()) -> None:
        """Say which windows a query counts, and which changes it has taken: all to the newest but the missing ones."""
        self._files.make(self._in(REPORTS))
        written = datetime.now(UTC).isoformat()
        fields = {
            "written": written,
            "windows": list(windows),
            "newest": newest,
            "missing": plain_stretches(missing),
        }
        self._files.put(self._in(REPORTS, f"{query}.json"), json_text(fields))

    def reported(self, query: str) -> Report | None:
        """Return what a query has said last; None if it has said nothing, or if that is damaged.

        Where damaged files are skipped, what a later version may have written is skipped as well.
        """
        name = f"{query}.json"
        stamp = self._files.list(self._in(REPORTS)).get(name)
        with suppress(FileNotFoundError, *(UNREADABLE if self.skip_damaged else (DamagedError,))):
            return None if stamp is None else self._report(name, stamp)
        return None

    def identity(self) -> str | None:
        """Return what tells this registry from all others; None before anything has been written."""
        file = self._in(IDENTITY)
        with suppress(FileNotFoundError), damage(file, "Write back what it was; checkpoints belong to it."):
            text = self._files.read_short(file, MOST_BYTES).strip()
            check_id(text)
            return text
        return None

    def settle(self) -> None:
        """Make the folder with its identity, and put a change in place of every one that was removed by hand.

        The change is the one that a query has taken under that number, else one that changes nothing. Spark remembers
        the files that it has read: it reads none a second time, and fails where one that it must read again is gone.
        """
        entries = self._log.entries() if self._log else {}
        marked, present = self._folder.marked(), self._folder.stamps().keys()
        far = self._folder.check_numbers(present, marked, entries)
        self._files.make(self._in(NUMBERS))
        self._files.create(self._in(IDENTITY), uuid4().hex)
        for version in sorted(entries.keys() - present - far):  # its writer was killed, or is about to write
            self._files.put(self._in(file_of(version)), entries[version])
        for version in sorted(marked - present - entries.keys() - far):
            self._create(version, self._taken(version).to_json())

    def check_links(self) -> None:
        """Refuse links to folders: Spark follows each wherever it leads, and two that lead back have no end."""
        if is_remote(self.place):
            return
        for top, folders, _ in os.walk(self.place):
            if top == self.place:
                folders[:] = [name for name in folders if name not in (REPORTS, NUMBERS)]
            folders[:] = [name for name in folders if not name.startswith(".")]  # Spark leaves these out
            if link := next((path for name in folders if (path := Path(top, name)).is_symlink()), None):
                raise QueryError(
                    f"{str(link)!r} is a link to a folder, and Spark would follow it while it looks for changes. "
                    "Remove the link; a registry needs none."
                )

    @property
    def _folder(self) -> ChangeFiles:
        return ChangeFiles(self._files, self.place, self.most_instances, self.skip_damaged)

    def _in(self, *names: str) -> str:
        return "/".join((self.place, *names))

    def _create(self, version: int, change: str) -> bool:
        """Write a change unless its number is taken; tell whether it was written."""
        if self._log is None:
            return self._files.create(self._in(file_of(version)), change)
        is_first = self._log.append(version, change)
        if is_first:
            self._files.put(self._in(file_of(version)), change)
        return is_first

    def _reports(self) -> Iterator[Report]:
        for name, stamp in self._files.list(self._in(REPORTS)).items():
            if name.endswith(".json"):
                with suppress(FileNotFoundError):  # it is gone since
                    yield self._report(name, stamp)

    def _report(self, name: str, stamp: Hashable) -> Report:
        report = _read_report(self._files, self._in(REPORTS, name), stamp)
        if isinstance(report, MuntinError):
            raise report.with_traceback(None)
        return report

    def _taken(self, version: int) -> Change:
        """Give the change that a query has taken under a number; one that changes nothing if none has."""
        for name in self._files.list(self._in(REPORTS)):
            report = self.reported(name.removesuffix(".json")) or Report()
            for one in report.windows:
                if one.version == version and one.window is not None:
                    return Change(version, one.id, one.window, one.since)
        return Change(version)

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
            newest = self._folder.newest()
            if newest >= LAST:
                raise QueryError(f"{self!r} has no numbers left for changes after {newest}. Use a new registry.")
            yield self._live()
            if newest:
                self._folder.mark(newest)  # its writer may have been killed before it did
            text = make(newest + 1).to_json()
            check_text(text)
            if self._create(newest + 1, text):
                self._folder.mark(newest + 1)
                return

    def _check_writable(self) -> None:
        """Refuse a file system on which two writers could take the same number."""
        if self.writers == "many" and self._log is None and not self._files.atomic():
            raise UnsupportedError(
                f"{self!r} cannot be changed safely: through fsspec, {scheme(self.place)}: has no way to create a file "
                "for one writer only, so two writers could take one number. Use WindowRegistry(path, "
                "log=mt.DeltaLog('catalog.schema.table')), or writers='one' if there is never a second writer."
            )


@lru_cache(maxsize=100)
def _read_report(files: CreatingFiles, file: str, _stamp: Hashable) -> Report | MuntinError:
    """Read a report, once until it is written again; return what is wrong with it, unless it may be read later."""
    try:
        with damage(file, REWRITE):
            return Report.from_json(files.read_short(file, MOST_REPORT_BYTES), file)
    except UnavailableError:
        raise
    except UNREADABLE as error:
        return error
