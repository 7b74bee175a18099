"""Sessions: rows of one key that follow one another closely."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from muntin.duration import Duration
from muntin.errors import QueryError
from muntin.window.kind import Instance, Kind
from muntin.window.lengths import Length, check_flag, check_id, duration, of_window


@dataclass(frozen=True, slots=True)
class Session(Kind):
    """Rows none of which comes more than a gap after the one before; it ends one gap after its last row, as in Spark.

    A session that has a longest length ends there, and the row that comes then begins the next one. An aligned one is
    looked at only where the clock shows a multiple of that length, and ends at the first such time at which it is as
    long: Azure Stream Analytics does so.

    >>> [instance[:4] for instance in Session("4 us").over([0, 1, 2, 6, 7, 15])]
    [(0, 11, 0, 5), (15, 19, 5, 6)]
    >>> [instance[:4] for instance in Session("4 us", longest="6 us").over([0, 3, 5, 7, 9])]
    [(0, 6, 0, 3), (7, 13, 3, 5)]
    >>> [instance[:4] for instance in Session("4 us", longest="6 us", aligned=True).over([1, 4, 7, 10, 12, 13])]
    [(1, 12, 0, 4), (12, 17, 4, 6)]
    """

    kind: ClassVar[str] = "session"

    gap: Duration
    longest: Duration | None
    aligned: bool
    """Whether the longest length is looked at only at its multiples."""
    id: str | None = field(default=None, compare=False)

    def __init__(
        self, gap: Length, longest: Length | None = None, aligned: bool = False, id: str | None = None
    ) -> None:
        check_id(id)
        check_flag("aligned", aligned, id)
        if aligned and longest is None:
            raise QueryError(f"a session is aligned by its longest length{of_window(id)}. Give longest='1 hour', say.")
        object.__setattr__(self, "gap", duration("gap", gap, id))
        object.__setattr__(self, "longest", None if longest is None else duration("longest", longest, id))
        object.__setattr__(self, "aligned", aligned)
        object.__setattr__(self, "id", id)

    @property
    def text(self) -> str:
        """The lengths.

        >>> Session("30 min", "4 hours").label
        'session 30m up to 4h'
        """
        upto = "" if self.longest is None else f" up to {self.longest}"
        return f"session {self.gap}{upto}{', aligned' if self.aligned else ''}"

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the gap and the longest length."""
        lengths = {"gap": self.gap, "longest": self.longest}
        told = {name: None if it is None else str(it) for name, it in lengths.items()}
        return {"kind": self.kind} | told | ({"aligned": True} if self.aligned else {})

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the sessions of one key."""
        lo = 0
        for hi in range(1, len(times) + 1):
            if hi < len(times) and self._goes_on(times[lo], times[hi - 1], times[hi]):
                continue
            yield Instance(times[lo], self._end(times[lo], times[hi - 1]), lo, hi)
            lo = hi

    def _goes_on(self, first: int, last: int, time: int) -> bool:
        return time <= last + self.gap and (self.longest is None or time < self.bound(first))

    def _end(self, first: int, last: int) -> int:
        end = last + int(self.gap)
        return end if self.longest is None else min(end, self.bound(first))

    def bound(self, first: Any) -> Any:
        """Give when a session that began at a time, or each of several, is as long as it may be."""
        longest = int(self.longest or 0)
        end = first + longest
        return end + -end % longest if self.aligned else end

    @property
    def lag(self) -> int:
        """A row counts as long as a session that it begins would be open."""
        return int(self.gap) - 1


def session_window(
    gap: Length, longest: Length | None = None, *, aligned: bool = False, id: str | None = None
) -> Session:
    """Make a window of sessions. A session ends after a gap without rows, or when it reaches its maximum length.

    Args:
        gap: The time without rows after which a session ends. A row exactly one gap later still belongs to it.
        longest: The maximum length of a session; without it, sessions may have any length.
        aligned: Whether `longest` is checked only at its multiples on the clock, as in Azure Stream Analytics.
        id: The window_id of result rows; by default a description.

    >>> session_window("30 minutes", longest="4 hours", id="visits").label
    'visits'
    """
    return Session(gap, longest, aligned, id)
