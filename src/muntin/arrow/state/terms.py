"""When a window counts: which of its instances are due, which slices it still needs, which rows come too late."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from muntin.kernels.protocol import Longs
from muntin.kernels.spans import FOREVER
from muntin.window import Shape

Time = TypeVar("Time", int, Longs)


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
    shape: Shape
    id: str
    version: int = 0
    """The change of the registry that added it; 0 if there is no registry."""
    since: int = -FOREVER
    until: int = FOREVER

    def due(self, after: int, by: int) -> Due | None:
        """Give the instances that end after one watermark and by another; None if there are none.

        >>> Term(0, (30, 10, 0), "w").due(25, 50)
        Due(number=0, first=0, last=20)
        >>> Term(0, (30, 10, 0), "w", since=15).due(25, 50), Term(0, (30, 10, 0), "w", until=30).due(30, 90)
        (Due(number=0, first=20, last=20), None)
        """
        range, slide, offset = self.shape
        first = _up(max(after - range + 1, self.since), slide, offset)
        last = _down(min(by, self.until) - range, slide, offset)
        return Due(self.number, first, last) if first <= last else None

    def is_open(self, first: Longs, last: Longs, watermark: int) -> NDArray[np.bool_]:
        """Tell which stretches of time, from first to last, meet an instance that ends after the watermark."""
        range, slide, offset = self.shape
        start = _down(np.minimum(last, self.until - range), slide, offset)
        return np.asarray((start + range > np.maximum(first, watermark)) & (start >= self.since))

    def is_closed(self, time: Longs, watermark: int) -> NDArray[np.bool_]:
        """Tell which times lie in an instance that ended by the watermark."""
        range, slide, offset = self.shape
        start = _up(np.maximum(time - range + 1, self.since), slide, offset)
        return np.asarray((start <= time) & (start + range <= min(watermark, self.until)))


def any_open(terms: Iterable[Term], first: Longs, last: Longs, watermark: int) -> NDArray[np.bool_]:
    """Tell which stretches of time meet an instance of any window that ends after the watermark.

    >>> times = np.array([5, 12, 31])
    >>> any_open([Term(0, (10, 10, 0), "a"), Term(1, (30, 30, 0), "b")], times, times, 29).tolist()
    [True, True, True]
    >>> any_open([Term(0, (10, 10, 0), "a"), Term(1, (30, 30, 0), "b")], times, times, 30).tolist()
    [False, False, True]
    """
    found = np.zeros(len(first), np.bool_)
    for term in terms:
        found |= term.is_open(first, last, watermark)
    return found


def kept(terms: Sequence[Term], time: Longs, watermark: int) -> NDArray[np.bool_]:
    """Tell which slices to keep: those of open instances, and everything that is not older than the watermark."""
    found = np.full(len(time), bool(terms))
    before = np.flatnonzero(time < watermark)
    found[before] = any_open(terms, time[before], time[before], watermark)
    return found


def any_closed(terms: Iterable[Term], time: Longs, watermark: int) -> NDArray[np.bool_]:
    """Tell which times lie in an instance of any window that ended by the watermark."""
    found = np.zeros(len(time), np.bool_)
    for term in terms:
        found |= term.is_closed(time, watermark)
    return found


def _down(time: Time, slide: int, offset: int) -> Time:
    return time - (time - offset) % slide


def _up(time: Time, slide: int, offset: int) -> Time:
    return time + (offset - time) % slide
