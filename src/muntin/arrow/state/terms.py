"""When a window counts: which of its instances are due, which slices it still needs, which rows come too late."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muntin.duration import FOREVER
from muntin.kernels.protocol import Longs
from muntin.window import Window, from_dict


@dataclass(frozen=True, slots=True)
class Due:
    """Instances of a window that are to be given now: those that begin from `first` to `last`."""

    number: int
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Term:
    """A window and the stretch of event time that it counts in: instances inside [since, until)."""

    number: int
    """What result rows tell the window by."""
    window: Any
    id: str
    version: int = 0
    """The change of the registry that added it; 0 if there is no registry."""
    since: int = -FOREVER
    until: int = FOREVER

    def to_dict(self) -> dict[str, Any]:
        """Give what a head keeps of the term."""
        return {
            "number": self.number,
            "window": self.window.to_dict(),
            "id": self.id,
            "version": self.version,
            "since": self.since,
            "until": self.until,
        }

    @staticmethod
    def from_dict(fields: dict[str, Any]) -> Term:
        """Read a term back; where there were periodic windows only, a shape of three numbers made one."""
        rest = {name: value for name, value in fields.items() if name not in ("window", "shape")}
        window = from_dict(fields["window"]) if "window" in fields else Window(*fields["shape"])
        return Term(window=window, **rest)

    def due(self, after: int, by: int) -> Due | None:
        """Give the instances that one watermark has left open and another closes; None if there are none.

        >>> Term(0, Window(30, 10), "w").due(25, 50)
        Due(number=0, first=0, last=20)
        """
        starts = self.window.due(after, by, self.since, self.until)
        return None if starts is None else Due(self.number, *starts)

    def is_open(self, first: Longs, last: Longs, watermark: int) -> NDArray[np.bool_]:
        """Tell which stretches of time, from first to last, meet an instance that the watermark has not closed."""
        return np.asarray(self.window.is_open(first, last, watermark, self.since, self.until))

    def is_closed(self, time: Longs, watermark: int) -> NDArray[np.bool_]:
        """Tell which times lie in an instance that the watermark has closed."""
        return np.asarray(self.window.is_closed(time, watermark, self.since, self.until))


def any_open(terms: Iterable[Term], first: Longs, last: Longs, watermark: int) -> NDArray[np.bool_]:
    """Tell which stretches of time meet an instance of any window that ends after the watermark.

    >>> times = np.array([5, 12, 31])
    >>> any_open([Term(0, Window(10), "a"), Term(1, Window(30), "b")], times, times, 29).tolist()
    [True, True, True]
    >>> any_open([Term(0, Window(10), "a"), Term(1, Window(30), "b")], times, times, 30).tolist()
    [False, False, True]
    """
    is_open = np.zeros(len(first), np.bool_)
    for term in terms:
        is_open |= term.is_open(first, last, watermark)
    return is_open


def kept(terms: Sequence[Term], time: Longs, watermark: int) -> NDArray[np.bool_]:
    """Tell which slices to keep: those of open instances, and everything that is not older than the watermark."""
    is_kept = np.full(len(time), bool(terms))
    before = np.flatnonzero(time < watermark)
    is_kept[before] = any_open(terms, time[before], time[before], watermark)
    return is_kept
