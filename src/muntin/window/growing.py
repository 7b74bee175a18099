"""Windows that grow from a begin and are given at every step: cumulating ones begin anew, landmarks never."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from typing import Any, ClassVar

from muntin.duration import DAY, Duration
from muntin.errors import QueryError
from muntin.window.kind import Instance, Kind
from muntin.window.lengths import Length, check_flag, check_id, duration, of_window, offset_of

_EPOCH = datetime(1970, 1, 1)
_MICROSECOND = timedelta(microseconds=1)
_FIRST, _LAST = ((moment - _EPOCH) // _MICROSECOND for moment in (datetime.min, datetime.max))
"""The microseconds that a moment can be told by."""


@dataclass(frozen=True, slots=True)
class Cumulating(Kind):
    """The stretches from a begin, every range, to each of its steps: the day so far, at every hour.

    An instance is given at every step from the first one that has a row since the begin.

    >>> [instance[:4] for instance in Cumulating("6 us", "2 us").over([3, 4, 7])]
    [(0, 4, 0, 1), (0, 6, 0, 2), (6, 8, 2, 3), (6, 10, 2, 3), (6, 12, 2, 3)]
    """

    kind: ClassVar[str] = "cumulating"

    range: Duration
    step: Duration
    offset: Duration
    id: str | None = field(default=None, compare=False)

    def __init__(self, range: Length, step: Length, offset: Length = 0, id: str | None = None) -> None:
        check_id(id)
        whole, each = duration("range", range, id), duration("step", step, id)
        if whole % each:
            raise QueryError(f"step {each} does not divide range {whole}{of_window(id)}. Use a step that does.")
        shift = offset_of(offset, id)
        fields = {"range": whole, "step": each, "offset": Duration(shift % whole), "id": id}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def text(self) -> str:
        """The lengths.

        >>> Cumulating("1 day", "1 hour").label
        'cumulating 1d/1h'
        """
        return f"cumulating {self.range}/{self.step}" + (f"+{self.offset}" if self.offset else "")

    @property
    def instances_of_a_row(self) -> float:
        """How many instances the first row of a range lies in."""
        return int(self.range) // int(self.step)

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the range, the step and the offset."""
        lengths = {"range": self.range, "step": self.step, "offset": self.offset}
        return {"kind": self.kind} | {name: str(it) for name, it in lengths.items()}

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the instances of every begin that has rows."""
        whole, each = int(self.range), int(self.step)
        for begin in sorted({time - (time - int(self.offset)) % whole for time in times}):
            lo = bisect_left(times, begin)
            first = begin + ((times[lo] - begin) // each + 1) * each
            for end in range(first, begin + whole + 1, each):
                yield Instance(begin, end, lo, bisect_left(times, end))


@dataclass(frozen=True, slots=True)
class Landmark(Kind):
    """The stretch from one moment to every step after it, up to the step of a key's last row; rows before do not count.

    >>> [instance[:4] for instance in Landmark(10, "5 us").over([3, 11, 12, 21])]
    [(10, 15, 1, 3), (10, 20, 1, 3), (10, 25, 1, 4)]
    """

    kind: ClassVar[str] = "landmark"

    since: int
    """Microseconds since 1970."""
    step: Duration
    local: bool
    """Whether the moment is told by a wall clock, of whichever time zone the session has."""
    id: str | None = field(default=None, compare=False)

    def __init__(
        self, since: int | str | date | datetime, step: Length, local: bool | None = None, id: str | None = None
    ) -> None:
        check_id(id)
        if local is not None:
            check_flag("local", local, id)
        micros, clock = _moment(since, id)
        fields = {"since": micros, "step": duration("step", step, id), "local": clock if local is None else local}
        for name, value in (fields | {"id": id}).items():
            object.__setattr__(self, name, value)

    @property
    def text(self) -> str:
        """The moment and the step.

        >>> Landmark("2024-01-01", "1 day").label
        'since 2024-01-01/1d'
        """
        moment = (_EPOCH + self.since * _MICROSECOND).isoformat()
        return f"since {moment.removesuffix('T00:00:00')}{'' if self.local else 'Z'}/{self.step}"

    @property
    def instances_of_a_row(self) -> float:
        """How many instances a row lies in within a day: it lies in all that follow."""
        return DAY // int(self.step)

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the moment and the step."""
        return {"kind": self.kind, "since": self.since, "step": str(self.step), "local": self.local}

    def at(self, since: int) -> Landmark:
        """Give the same window with its moment as an instant."""
        return Landmark(since, self.step, False, self.label)

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield all rows since the moment, at every step."""
        lo, each = bisect_left(times, self.since), int(self.step)
        if lo == len(times):
            return
        first, last = ((time - self.since) // each + 1 for time in (times[lo], times[-1]))
        for step in range(first, last + 1):
            end = self.since + step * each
            yield Instance(self.since, end, lo, bisect_left(times, end))


def _moment(given: object, id: str | None) -> tuple[int, bool]:
    """Read a moment as microseconds; give also whether it is told by a wall clock."""
    if isinstance(given, int) and not isinstance(given, bool) and _FIRST <= given <= _LAST:
        return given, False
    if isinstance(given, str):
        with suppress(ValueError):
            given = datetime.fromisoformat(given)
    if isinstance(given, date) and not isinstance(given, datetime):
        given = datetime(given.year, given.month, given.day)
    if not isinstance(given, datetime):
        raise QueryError(f"since {given!r} is no moment{of_window(id)}. Use '2024-01-01', a datetime or microseconds.")
    if given.tzinfo is None:
        return (given - _EPOCH) // _MICROSECOND, True
    return (given - _EPOCH.replace(tzinfo=UTC)) // _MICROSECOND, False


def cumulating(range: Length, step: Length, *, offset: Length = 0, id: str | None = None) -> Cumulating:
    """Make a window that restarts every range, grows, and appears at every step: Flink's CUMULATE.

    Args:
        range: How long the window grows before it restarts.
        step: How often it appears; it must divide the range.
        offset: How far the grid is shifted from 1970-01-01 00:00 UTC.
        id: The window_id of result rows; by default a description.

    >>> cumulating("1 day", "1 hour", id="today").label
    'today'
    """
    return Cumulating(range, step, offset, id)


def landmark(since: int | str | date | datetime, step: Length, *, id: str | None = None) -> Landmark:
    """Make a window that grows from one moment on and never restarts; it appears at every step.

    Args:
        since: The moment: text such as "2024-01-01", a date or a datetime. Without a time zone, the session's time zone
            applies.
        step: How often the window appears.
        id: The window_id of result rows; by default a description.

    >>> landmark(since="2024-01-01", step="1 day").label
    'since 2024-01-01/1d'
    """
    return Landmark(since, step, None, id)
