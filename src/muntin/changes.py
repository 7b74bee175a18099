"""What is in a registry: changes of windows, and what queries say of them, as JSON that people can read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from muntin.errors import QueryError, UnsupportedError
from muntin.formats import FORMAT, FormatError, check_format
from muntin.window import MOST_INSTANCES, AnyWindow, Landmark, UserWindow, check_instances, from_dict
from muntin.zones import instant

Moment = int | str | datetime
"""An event time as users write it: microseconds since 1970, ISO 8601 text, or a datetime (UTC if it has no zone)."""

ALLOWING = "mt.WindowRegistry(…, most_instances=…)"
"""What allows windows more instances."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_FIELDS = {"add": {"id", "window", "since"}, "remove": {"id", "until"}, "none": set()}


class DamagedError(QueryError):
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

    def placed(self, zone: str) -> Change:
        """Return the change with a landmark of a wall clock as an instant of a time zone."""
        if isinstance(self.window, Landmark) and self.window.local:
            return replace(self, window=self.window.at(instant(self.window.since, zone)))
        return self

    def to_json(self) -> str:
        """Write the change so that people can read it."""
        fields: dict[str, Any]
        if not self.id:
            fields = {"change": "none"}
        elif self.window is None:
            fields = {"change": "remove", "id": self.id, "until": time_text(self.at)}
        else:
            fields = {
                "change": "add",
                "id": self.id,
                "window": self.window.to_dict(readable=True),
                "since": time_text(self.at),
            }
        return json_text({"version": self.version} | fields)

    @staticmethod
    def from_json(text: str, origin: str = "a change of the registry", most_instances: int = MOST_INSTANCES) -> Change:
        """Read a change back; refuse what is none, and a window that puts a row into too many instances.

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
                    return Change(version, str(fields["id"]), None, micros(fields["until"], "until"))
            window = from_dict(fields["window"], id=fields["id"]).timed()
            check_instances([window], most_instances, ALLOWING)
            return Change(version, window.label, window, micros(fields["since"], "since"))


@dataclass(frozen=True, slots=True)
class Taken:
    """A window that a query counts, as its report has it."""

    version: int
    id: str
    since: int | None = None
    until: int | None = None
    window: AnyWindow | None = None
    """None in reports of older versions."""

    @property
    def missed(self) -> bool:
        """Whether no instance will ever be complete: all begin at a moment that was past when the query took it."""
        return isinstance(self.window, Landmark) and self.since is not None and self.window.since < self.since

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
    """waiting for a query to take it, running, ending (removed, with instances still to come), or missed.

    A landmark is missed if rows had come after its moment before the query took it: it gives no rows.
    """

    def __str__(self) -> str:
        since = "" if self.since is None else f", since {time_text(self.since)}"
        until = "" if self.until is None else f", until {time_text(self.until)}"
        return f"{self.id}: {self.window} {self.state}{since}{until}"


def json_text(fields: dict[str, Any]) -> str:
    """Write the fields of a file, with the format that they have."""
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
        raise DamagedError(f"{origin} is damaged ({error}). {remedy}") from error


def micros(moment: object, name: str) -> int | None:
    """Give an event time in microseconds since 1970."""
    if moment is None or (isinstance(moment, int) and not isinstance(moment, bool)):
        return moment
    try:
        date = datetime.fromisoformat(moment) if isinstance(moment, str) else moment
        if isinstance(date, datetime):
            zoned = date if date.tzinfo else date.replace(tzinfo=UTC)
            return (zoned - _EPOCH) // _MICROSECOND
    except ValueError:
        pass
    raise QueryError(f"{name} {moment!r} is not a time. Use a datetime, ISO text, or microseconds since 1970.")


def time_text(micros: int | None) -> str | int | None:
    """Write a time as people read it; as a number where no calendar has it."""
    try:
        return None if micros is None else (_EPOCH + micros * _MICROSECOND).isoformat()
    except OverflowError:
        return micros


def check_writable(window: AnyWindow) -> AnyWindow:
    """Refuse a window that a file cannot tell: one of a user's code, or of an expression that only a session has."""
    if isinstance(window, UserWindow):
        raise UnsupportedError(f"window {window.label!r} is code, which a registry does not keep. Leave it out.")
    if any(not isinstance(watch.column, str) for watch in window.watches):
        raise UnsupportedError(
            f"window {window.label!r} watches an expression, which a registry does not keep. "
            "Add it to the stream as a column, and name that."
        )
    return window
