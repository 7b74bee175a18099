"""Sessions: rows of one key that follow one another closely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from muntin.duration import Duration
from muntin.window.kind import Instance, Kind
from muntin.window.lengths import Length, check_id, duration


@dataclass(frozen=True, slots=True)
class Session(Kind):
    """Rows none of which comes more than a gap after the one before; it ends one gap after its last row, as in Spark.

    A session that has a longest length ends there, and the row that comes then begins the next one.

    >>> [instance[:4] for instance in Session("4 us").over([0, 1, 2, 6, 7, 15])]
    [(0, 11, 0, 5), (15, 19, 5, 6)]
    >>> [instance[:4] for instance in Session("4 us", longest="6 us").over([0, 3, 5, 7, 9])]
    [(0, 6, 0, 3), (7, 13, 3, 5)]
    """

    kind: ClassVar[str] = "session"

    gap: Duration
    longest: Duration | None
    id: str | None = field(default=None, compare=False)

    def __init__(self, gap: Length, longest: Length | None = None, id: str | None = None) -> None:
        check_id(id)
        object.__setattr__(self, "gap", duration("gap", gap, id))
        object.__setattr__(self, "longest", None if longest is None else duration("longest", longest, id))
        object.__setattr__(self, "id", id)

    @property
    def text(self) -> str:
        """The lengths.

        >>> Session("30 min", "4 hours").label
        'session 30m up to 4h'
        """
        return f"session {self.gap}" + ("" if self.longest is None else f" up to {self.longest}")

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the gap and the longest length."""
        lengths = {"gap": self.gap, "longest": self.longest}
        told = {name: None if it is None else str(it) for name, it in lengths.items()}
        return {"kind": self.kind} | told

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the sessions of one key."""
        lo = 0
        for hi in range(1, len(times) + 1):
            if hi < len(times) and self._goes_on(times[lo], times[hi - 1], times[hi]):
                continue
            yield Instance(times[lo], self._end(times[lo], times[hi - 1]), lo, hi)
            lo = hi

    def _goes_on(self, first: int, last: int, time: int) -> bool:
        return time <= last + self.gap and (self.longest is None or time < first + self.longest)

    def _end(self, first: int, last: int) -> int:
        end = last + int(self.gap)
        return end if self.longest is None else min(end, first + int(self.longest))

    @property
    def lag(self) -> int:
        """A row counts as long as a session that it begins would be open."""
        return int(self.gap) - 1


def session_window(gap: Length, longest: Length | None = None, *, id: str | None = None) -> Session:
    """Make a window of sessions: a gap in time ends one, and so does its longest length.

    >>> session_window("30 minutes", longest="4 hours", id="visits").label
    'visits'
    """
    return Session(gap, longest, id)
