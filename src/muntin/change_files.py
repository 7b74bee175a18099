"""The files of changes in a registry's folder: whatever stands under their names, and which numbers are used."""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from posixpath import basename, normpath

from muntin.changes import MOST_BYTES, REPEAT, Change, DamagedError, UnavailableError, damage
from muntin.errors import MuntinError, QueryError, UnsupportedError
from muntin.files import CreatingFiles
from muntin.formats import FormatError
from muntin.numbering import FARTHEST, MOST_STRETCHES, advance
from muntin.safe_text import hide_user_info

CHANGES = "[0-9]" * 8 + ".json"
"""The names of files that are changes, as Spark's pattern; whatever else is in the folder is not."""
NUMBERS = "_numbers"
"""The folder of all numbers that changes have had: a number stays used when its change is removed by hand."""
UNREADABLE = (DamagedError, FormatError, UnsupportedError)
"""What is raised of a file that has no change which this version knows."""

_CHANGE = re.compile(CHANGES.replace(".", r"\."))
_MARK = re.compile(r"[0-9]{1,8}")


@dataclass(frozen=True, slots=True)
class ChangeFiles:
    """The changes in a folder. Other people may have put anything there, so that every file is read with suspicion."""

    files: CreatingFiles
    place: str
    most_instances: int
    skip_damaged: bool

    def stamps(self) -> dict[int, Hashable]:
        """Return the numbers of the files that are there, with the stamps of the files."""
        files = self.files.list(self.place)
        return {_version(name): stamp for name, stamp in files.items() if _CHANGE.fullmatch(name)}

    def marked(self) -> set[int]:
        """Return the numbers that are marked as used."""
        return {int(name) for name in self.files.list(f"{self.place}/{NUMBERS}") if _MARK.fullmatch(name)} - {0}

    def mark(self, version: int) -> None:
        """Mark a number as used."""
        self.files.make(f"{self.place}/{NUMBERS}")
        self.files.put(f"{self.place}/{NUMBERS}/{version}", "")

    def read_all(self) -> tuple[tuple[Change, ...], dict[str, MuntinError]]:
        """Return all changes, and what is wrong with files by their names; such a change does nothing."""
        stamps = self.stamps()
        far = self._far(stamps)
        changes: list[Change] = []
        errors: dict[str, MuntinError] = {}
        for version, stamp in sorted(stamps.items()):
            try:
                changes.append(self._read(version, stamp, far))
            except FileNotFoundError:  # it is gone since
                continue
            except UNREADABLE as error:
                errors[file_of(version)] = error
                if version not in far:
                    changes.append(Change(version))
        if errors:
            self._mark_used({_version(name) for name in errors}.difference(far))
        return tuple(changes), errors

    def texts(self, paths: Sequence[str]) -> tuple[str | None, ...]:
        """Return changes as JSON by the paths that Spark has listed; None for those that do not count.

        Spark also lists what is in further folders, and that does not count.
        """
        stamps, folder = self.stamps(), basename(normpath(self.place))
        here = {_version(path) for path in paths if path.split("/")[-2] == folder} | stamps.keys()
        far = self._far(here)
        texts: dict[int, str] = {}
        for version in sorted(here.intersection(map(_version, paths))):
            try:
                texts[version] = self._read(version, stamps.get(version, object()), far).to_json()
            except FileNotFoundError as error:
                raise QueryError(
                    f"a worker does not see {hide_user_info(self.place)}/{file_of(version)}, which Spark has listed. "
                    "Use a folder that all workers see at once and from which nothing is removed, and start the query "
                    "again."
                ) from error
            except UNREADABLE as error:
                if version not in far:
                    self._mark_used({version})
                    texts[version] = Change(version).to_json()
                self.check([error])
        return tuple(texts.get(_version(path)) for path in paths)

    def check(self, errors: Iterable[MuntinError]) -> None:
        """Raise the first error, unless damaged changes are skipped; what can be read later is never skipped."""
        for error in errors:
            if not self.skip_damaged or isinstance(error, UnavailableError):
                raise error

    def check_numbers(self, present: Collection[int], marked: Collection[int], logged: Collection[int]) -> set[int]:
        """Return the numbers that are too far above the one before, if they may be skipped; else refuse the first."""
        far = advance(0, (), {*present, *marked, *logged}).far
        for number in far:
            mark = f"{NUMBERS}/{number}" if number in marked else f"change {number} of the log"
            self.check([far_error(f"{self.place}/{file_of(number) if number in present else mark}")])
        return set(far)

    def newest(self) -> int:
        """Return the newest number that has been used; 0 if none has."""
        return advance(0, (), self.stamps().keys() | self.marked()).newest

    def _read(self, version: int, stamp: Hashable, far: Collection[int]) -> Change:
        file = f"{self.place}/{file_of(version)}"
        if version in far:
            raise far_error(file)
        return _change(self.files, file, stamp, self.most_instances)

    def _far(self, numbers: Iterable[int]) -> Collection[int]:
        """Return the numbers that are too far above the one before; files between them may have been removed."""
        known = set(numbers)
        far = advance(0, (), known).far
        return advance(0, (), known | self.marked()).far if far else far

    def _mark_used(self, damaged: Collection[int]) -> None:
        """Mark the numbers of damaged changes as used before somebody is told to remove their files."""
        marked = self.marked()
        known = {0} | self.stamps().keys() | marked
        for version in sorted(set(damaged) - marked):
            if version - 1 in known:  # others are none of ours: a date, say
                with suppress(OSError):
                    self.mark(version)


@lru_cache(maxsize=10_000)
def _change(files: CreatingFiles, file: str, _stamp: Hashable, most_instances: int) -> Change:
    """Read a file, once: it is never written again."""
    with damage(file, REPEAT):
        change = Change.from_json(files.read_short(file, MOST_BYTES), file, most_instances)
    if _version(file) != change.version:
        raise DamagedError(f"{hide_user_info(file)} says that it is change {change.version}. Remove the file.")
    return change


def removal(version: int) -> str:
    """Say how a change is taken back that a query cannot take: it is in a micro-batch that will be repeated."""
    return f"Remove the file {file_of(version)} from the registry's folder, and start the query again."


def far_error(file: str) -> DamagedError:
    """Return what is wrong with a number that no registry has given."""
    return DamagedError(
        f"{hide_user_info(file)} is damaged (its number is more than {FARTHEST:,} above the one before, or numbers "
        f"before it are left out in more than {MOST_STRETCHES:,} places). Remove the file."
    )


def file_of(version: int) -> str:
    """Return the name of the file of a change.

    >>> file_of(7)
    '00000007.json'
    """
    return f"{version:08d}.json"


def _version(path: str) -> int:
    return int(path[-len("00000000.json") : -len(".json")])
