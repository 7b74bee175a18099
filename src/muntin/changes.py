"""What is in a registry: changes of windows, and what queries say of them, as JSON that people can read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from muntin.duration import DAY, FOREVER
from muntin.errors import QueryError, UnsupportedError
from muntin.formats import FORMAT, FormatError, check_format
from muntin.numbering import Stretches, read_stretches
from muntin.safe_text import hide_user_info
from muntin.window import (
    MOST_INSTANCES,
    AnyWindow,
    Landmark,
    UserWindow,
    check_instances,
    check_lengths,
    from_dict,
)
from muntin.window.lengths import check_id
from muntin.zones import instant

Moment = int | str | datetime
"""An event time as users write it: microseconds since 1970, ISO 8601 text, or a datetime (UTC if it has no zone)."""

ALLOWING = "mt.WindowRegistry(…, most_instances=…)"
"""What allows windows more instances."""

MOST_BYTES = 1 << 16
"""How long the file of a change may be."""

MOST_REPORT_BYTES = 1 << 24
"""How long the report of a query may be: one on tens of thousands of windows is shorter."""

MOST_WINDOWS = 50_000
"""How many windows a report may have."""

MOST_MISSING = 10_000
"""How many missing changes, or stretches of them, a report may have; a query keeps a tenth of that."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_LONGEST_REASON = 300
"""How much of what is wrong with a file is said, in characters."""
REPEAT = "Remove the file, and repeat the change if it is missing; its number is not used again."
"""What to do about the file of a change."""
REWRITE = "Remove the file; the query writes it again with its next micro-batch."
"""What to do about the file of a report."""
_FIELDS = {"add": {"id", "window", "since"}, "remove": {"id", "until"}, "none": set()}


class DamagedError(QueryError):
    """A file says nothing that can be read."""


class UnavailableError(DamagedError):
    """A file cannot be read now, and may say something later."""


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
        with damage(origin, REPEAT):
            fields = _fields(text, origin)
            version, kind = fields.pop("version"), fields.pop("change")
            if fields.keys() != _FIELDS[kind] or _whole(version) < 1:
                raise ValueError(f"change {kind!r} with number {version} has the fields {list(fields)}")
            match kind:
                case "none":
                    return Change(version)
                case "remove":
                    return Change(version, _id(fields["id"]), None, micros(fields["until"], "until"))
            window = _window(fields["window"], fields["id"])
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
        counted = None if window is None else _window(window, id)
        moments = {name: None if time is None else _whole(time) for name, time in times.items()}
        return Taken(_whole(version), _id(id), window=counted, **moments)


@dataclass(frozen=True, slots=True)
class Report:
    """What a query says of its windows."""

    windows: tuple[Taken, ...] = ()
    newest: int = 0
    """The newest change that the query has taken."""
    missing: Stretches = ()
    """Older changes that have not come."""
    written: str = ""

    @staticmethod
    def from_json(text: str, origin: str) -> Report:
        """Read a report back, and refuse what is none."""
        with damage(origin, REWRITE):
            fields = _fields(text, origin)
            for name, most in (("windows", MOST_WINDOWS), ("missing", MOST_MISSING)):
                if len(fields[name]) > most:
                    raise ValueError(f"it has {len(fields[name]):,} {name}, and at most {most:,} are read")
            windows = tuple(Taken.from_fields(**entry) for entry in fields["windows"])
            return Report(windows, _whole(fields["newest"]), read_stretches(fields["missing"]), str(fields["written"]))


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


def check_text(text: str) -> None:
    """Refuse the text of a change that could not be read back."""
    try:
        length = len(text.encode())
    except UnicodeEncodeError as error:
        raise QueryError(f"a window has text that no file can hold ({error}). Use other names.") from error
    if length > MOST_BYTES:
        raise QueryError(
            f"the change takes {length:,} bytes, and at most {MOST_BYTES:,} are allowed. Use shorter names of columns."
        )


def _fields(text: str, origin: str) -> dict[str, Any]:
    """Read the fields of a file; one without a format is of the first."""
    fields: dict[str, Any] = json.loads(text, parse_constant=_no_number)
    json.dumps(fields, ensure_ascii=False).encode()  # escapes may stand for what is no character
    form = fields.pop("format", 1)
    if _whole(form) < 1:
        raise ValueError(f"its format is {form}")
    check_format(form, origin)
    return fields


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"{value!r} is no whole number")
    if abs(value) > FOREVER:
        raise ValueError(f"a number of {value.bit_length()} bits is too large")
    return value


def _id(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"id {value!r} is no text")
    check_id(value)
    return value


def _window(fields: Any, id: object) -> AnyWindow:
    """Read a window; refuse one that no registry has written."""
    window = from_dict(fields, id=_id(id)).timed()
    check_lengths([window])
    try:
        return check_writable(window)
    except UnsupportedError as error:
        raise ValueError(str(error)) from error


def _no_number(text: str) -> None:
    raise ValueError(f"{text} is no number")


@contextmanager
def damage(origin: str, remedy: str) -> Iterator[None]:
    """Say of whatever goes wrong with a file which one it is, and what to do; a file that is gone is no damage."""
    origin = hide_user_info(origin)
    try:
        yield
    except (FormatError, DamagedError, FileNotFoundError):
        raise
    except UnsupportedError as error:
        raise UnsupportedError(f"{origin}: {error}") from error
    except OSError as error:
        raise UnavailableError(f"{origin} cannot be read now ({_reason(error)}). Try again when it can be.") from error
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError) as error:
        raise DamagedError(f"{origin} is damaged ({_reason(error)}). {remedy}") from error


def _reason(error: Exception) -> str:
    """Return what is wrong; values that it shows may be long."""
    text = str(error)
    return text if len(text) <= _LONGEST_REASON else f"{text[:_LONGEST_REASON]}…"


def micros(moment: object, name: str) -> int | None:
    """Return an event time in microseconds since 1970."""
    if moment is None:
        return None
    if isinstance(moment, int) and not isinstance(moment, bool):
        if abs(moment) >= FOREVER:
            raise QueryError(
                f"{name} of {moment.bit_length()} bits is later than any time. Use microseconds since 1970."
            )
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
    """Refuse a window that a file cannot tell: one of a user's code, or of an expression that only a session has.

    Also refuse a landmark of a wall clock so early or late that it is no instant of every time zone.
    """
    if isinstance(window, UserWindow):
        raise UnsupportedError(f"window {window.label!r} is code, which a registry does not keep. Leave it out.")
    if any(not isinstance(watch.column, str) for watch in window.watches):
        raise UnsupportedError(
            f"window {window.label!r} watches an expression, which a registry does not keep. "
            "Add it to the stream as a column, and name that."
        )
    if isinstance(window, Landmark) and window.local:
        for since in (window.since - DAY, window.since + DAY):
            window.at(since)
    return window
