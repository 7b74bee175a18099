"""Windows ⟨range, slide, offset⟩ and their algebra: instances, coverage, partitioning.

The theorems are those of the factor-windows paper, repaired: coverage needs a longer range (the printed Theorem 1
forgets it), holds for ranges that are no multiple of the slide, and for offsets that agree modulo the parent's slide.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from muntin.duration import FOREVER, Duration
from muntin.errors import QueryError
from muntin.window.kind import Flags, Grid, Instance, Kind, Longs, Starts
from muntin.window.lengths import Length, check_id, common_unit, of_window, read_length

Period = tuple[int, int, int]
"""Range, slide and offset as plain numbers."""

Time = TypeVar("Time", int, Longs)


@dataclass(frozen=True, slots=True, order=True, repr=False)
class Window(Kind):
    """The intervals [offset + k·slide, offset + k·slide + range) for every integer k.

    The offset is kept modulo the slide, so that equal windows compare equal. The id is a label and takes no part in
    comparisons. Lengths are all durations or all plain ints.

    Args:
        range: The length of an instance: text, a timedelta, or a plain int for plans without a unit of time.
        slide: How far apart instances begin; by default the range.
        offset: How far the grid is shifted.
        id: A label.

    >>> Window(10, 2), Window("1 hour", "5 minutes")
    (Window(10, 2), Window('1h', '5m'))
    >>> Window(20, 20, 25) == Window(20, 20, 5)
    True
    >>> Window("1 hour", 300)
    Traceback (most recent call last):
    muntin.errors.QueryError: slide 300 has no unit of time, unlike the other lengths. Write it as '300 seconds', say.
    """

    kind: ClassVar[str] = "periodic"

    range: int
    slide: int
    offset: int
    id: str | None = field(default=None, compare=False)

    def __init__(self, range: Length, slide: Length | None = None, offset: Length = 0, id: str | None = None) -> None:
        lengths = {"range": range, "slide": range if slide is None else slide, "offset": offset}
        r, s, o = (read_length(name, value, id) for name, value in lengths.items())
        unit = common_unit({"range": r, "slide": s, "offset": o}, id)
        r, s, o = unit(r), unit(s), unit(o)
        for name, value in (("range", r), ("slide", s)):
            if value <= 0:
                raise QueryError(f"{name} {value} is not positive{of_window(id)}. Use a {name} longer than nothing.")
        if s > r:
            raise QueryError(f"slide {s} exceeds range {r}{of_window(id)}. Use a slide of at most {r}.")
        check_id(id)
        fields: dict[str, object] = {"range": r, "slide": s, "offset": unit(o % s), "id": id}
        for name, field_value in fields.items():
            object.__setattr__(self, name, field_value)

    @property
    def is_tumbling(self) -> bool:
        """Whether instances follow one another without overlap."""
        return self.range == self.slide

    @property
    def is_timed(self) -> bool:
        """Whether lengths are durations in microseconds, and not plain units."""
        return isinstance(self.range, Duration)

    @property
    def text(self) -> str:
        """The lengths.

        >>> Window("1 hour", "5 minutes").label, Window(20).label, Window(10, 2, 1).label, Window(20, id="w").label
        ('1h/5m', '20', '10/2+1', 'w')
        """
        slide = "" if self.is_tumbling else f"/{self.slide}"
        offset = f"+{self.offset}" if self.offset else ""
        return f"{self.range}{slide}{offset}"

    def __str__(self) -> str:
        """Write the window as the papers do.

        >>> str(Window("1 hour", "5 minutes")), str(Window(10, 2, 1))
        ('⟨1h,5m⟩', '⟨10,2⟩+1')
        """
        return f"⟨{self.range},{self.slide}⟩" + (f"+{self.offset}" if self.offset else "")

    def __repr__(self) -> str:
        lengths = [self.range, self.slide, *([self.offset] if self.offset else [])]
        arguments = [repr(str(length)) if self.is_timed else repr(length) for length in lengths]
        if self.id is not None:
            arguments.append(f"id={self.id!r}")
        return f"Window({', '.join(arguments)})"

    def timed(self) -> Window:
        """Give the same window with its lengths read as microseconds."""
        return replace(self, range=Duration(self.range), slide=Duration(self.slide), offset=Duration(self.offset))

    def instances(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the instances that lie completely inside [start, end).

        >>> list(Window(10, 2).instances(0, 14))
        [(0, 10), (2, 12), (4, 14)]
        """
        first = start + (self.offset - start) % self.slide
        for begin in range(first, end - self.range + 1, self.slide):
            yield begin, begin + self.range

    def containing(self, time: int) -> Iterator[tuple[int, int]]:
        """Yield the instances that contain a time, earliest first, as Spark assigns them (before the epoch too).

        >>> list(Window(10, 4).containing(5))
        [(-4, 6), (0, 10), (4, 14)]
        """
        last = time - (time - self.offset) % self.slide
        count = (self.range - 1 - (time - last)) // self.slide + 1
        for begin in range(last - (count - 1) * self.slide, last + 1, self.slide):
            yield begin, begin + self.range

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the kind and the lengths.

        >>> Window("1 hour", "5 minutes").to_dict(readable=True)
        {'kind': 'periodic', 'range': '1h', 'slide': '5m', 'offset': '0s'}
        """
        lengths: dict[str, Any] = dict(zip(("range", "slide", "offset"), self.period, strict=True))
        if readable and self.is_timed:
            lengths = {name: str(Duration(length)) for name, length in lengths.items()}
        return {"kind": self.kind} | lengths

    @property
    def edges(self) -> tuple[Grid, Grid]:
        """The grids on which instances begin, and on which they end.

        >>> Window(7, 3).edges
        ((3, 0), (3, 1))
        """
        range, slide, offset = self.period
        return (slide, offset), (slide, (offset + range) % slide)

    @property
    def instances_of_a_row(self) -> float:
        """How many instances a row lies in.

        >>> Window("1 hour", "5 minutes").instances_of_a_row
        12
        """
        return int(self.range) // int(self.slide)

    @property
    def longest(self) -> int:
        """The range: every instance lasts as long."""
        return int(self.range)

    @property
    def halo(self) -> int:
        """The range: the last instance of a stretch begins just before its end."""
        return int(self.range)

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the instances that have rows of one key, whose times are in order.

        >>> [instance[:4] for instance in Window(10, 5).over([1, 5, 30])]
        [(-5, 5, 0, 1), (0, 10, 0, 2), (5, 15, 1, 2), (25, 35, 2, 3), (30, 40, 2, 3)]
        """
        for start, end in sorted({instance for time in set(times) for instance in self.containing(time)}):
            yield Instance(start, end, bisect_left(times, start), bisect_left(times, end))

    def due(self, after: int, by: int, since: int = -FOREVER, until: int = FOREVER) -> Starts | None:
        """Give the instances that end after one watermark and by another; None if there are none.

        >>> Window(30, 10).due(25, 50), Window(30, 10).due(25, 50, since=15), Window(30, 10).due(30, 90, until=30)
        ((0, 20), (20, 20), None)
        """
        first = self._up(max(after - self.range + 1, since))
        last = self._down(min(by, until) - self.range)
        return (first, last) if first <= last else None

    def is_open(self, first: Longs, last: Longs, watermark: int, since: int = -FOREVER, until: int = FOREVER) -> Flags:
        """Tell which stretches of time, from first to last, meet an instance that ends after the watermark."""
        start = self._down(np.minimum(last, until - self.range))
        return np.asarray((start + int(self.range) > np.maximum(first, watermark)) & (start >= since))

    def is_closed(self, time: Longs, watermark: int, since: int = -FOREVER, until: int = FOREVER) -> Flags:
        """Tell which times lie in an instance that ended by the watermark."""
        start = self._up(np.maximum(time - int(self.range) + 1, since))
        return np.asarray((start <= time) & (start + int(self.range) <= min(watermark, until)))

    def _down(self, time: Time) -> Time:
        """Give the latest start at or before a time."""
        return time - (time - int(self.offset)) % int(self.slide)

    def _up(self, time: Time) -> Time:
        """Give the earliest start at or after a time."""
        return time + (int(self.offset) - time) % int(self.slide)

    def recurrence(self, horizon: int) -> int:
        """Count the instances completely inside a stretch of time that begins where one instance begins.

        This is n of the paper's Equation 1, 1 + (R - r) / s, rounded down where the slide does not divide.

        >>> Window(10, 2).recurrence(120), Window(7, 3).recurrence(14)
        (56, 3)
        """
        return recurrence(self.range, self.slide, horizon)

    @property
    def period(self) -> Period:
        """Range, slide and offset as plain numbers."""
        return int(self.range), int(self.slide), int(self.offset)

    def covered_by(self, parent: Window) -> bool:
        """Tell whether every instance is the union of parent instances, overlapping or not (Definition 1).

        >>> Window(10, 2).covered_by(Window(8, 2)), Window(8, 2).covered_by(Window(10, 2))
        (True, False)
        >>> Window(10, 4).covered_by(Window(10, 2))  # readable all the same: see piggybacks_on
        False
        """
        return self == parent or (self.range > parent.range and on_grid(self.period, parent.period))

    def partitioned_by(self, parent: Window) -> bool:
        """Tell whether every instance is the union of disjoint parent instances (Definition 5, Theorem 4).

        >>> Window(20, 10).partitioned_by(Window(10)), Window(20, 10).partitioned_by(Window(20))
        (True, False)
        """
        return self == parent or (parent.is_tumbling and self.covered_by(parent))

    def piggybacks_on(self, parent: Window) -> bool:
        """Tell whether every instance is itself an instance of the parent: equal ranges, a multiple of its slide.

        Nothing is combined then, so any aggregate may be read this way, holistic ones included.

        >>> Window(12, 4).piggybacks_on(Window(12, 2))
        True
        """
        return self.range == parent.range and on_grid(self.period, parent.period)

    def multiplier(self, parent: Window) -> int:
        """Count the parent instances inside one instance: the covering multiplier M.

        >>> Window(10, 2).multiplier(Window(8, 2)), Window(30).multiplier(Window(10))
        (2, 3)
        """
        if not (self.covered_by(parent) or self.piggybacks_on(parent)):
            needs = f"a longer range, and a slide, range and offset that differ from it by multiples of {parent.slide}"
            raise QueryError(f"window {self} is not covered by {parent}. It would need {needs}.")
        return 1 + (self.range - parent.range) // parent.slide


def recurrence(range: int, slide: int, horizon: int) -> int:
    """Count the instances of ⟨range, slide⟩ inside a stretch that begins where one begins."""
    return max(0, 1 + (horizon - range) // slide)


def on_grid(child: Period, parent: Period) -> bool:
    """Tell whether all edges of the child, begins and ends, are edges of the parent of the same kind.

    >>> on_grid((10, 4, 0), (8, 2, 0)), on_grid((10, 4, 1), (8, 2, 0))
    (True, False)
    """
    range, slide, offset = parent
    return child[1] % slide == 0 and (child[0] - range) % slide == 0 and (child[2] - offset) % slide == 0
