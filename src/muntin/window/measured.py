"""Windows in another measure than time: rows of a key, or a column that does not fall; and both mixed with time."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

from muntin.duration import Duration
from muntin.errors import QueryError
from muntin.expressions import Named, column_named
from muntin.window.kind import Instance, Kind, Watch
from muntin.window.lengths import FURTHEST, Length, RowCount, check_id, duration, number, of_window, offset_of
from muntin.window.steps import Steps

Number = int | float


@dataclass(frozen=True, slots=True)
class Measured(Kind):
    """The stretches [offset + k·slide, … + range) of the number of a row, or of a column that never falls.

    An instance is given when it is complete: a row at or beyond its end has come, or so many rows are there. Rows are
    counted from 0. Instances of a column may begin before the first row, as those of time do.

    >>> [instance[2:] for instance in Measured(4, 2).over([10, 20, 30, 40, 50, 60])]
    [(0, 4, 0, 4), (2, 6, 2, 6)]
    >>> [instance[2:] for instance in Measured(10, 5, on="km").over([1, 2, 3, 4], [2, 6, 11, 19])]
    [(0, 1, -5, 5), (0, 2, 0, 10), (1, 3, 5, 15)]
    """

    kind: ClassVar[str] = "measured"

    range: Number
    slide: Number
    offset: Number
    on: Named | None
    """The column, or None for rows."""
    id: str | None = field(default=None, compare=False)

    def __init__(
        self,
        range: Number,
        slide: Number | None = None,
        offset: Number = 0,
        on: Any = None,
        id: str | None = None,
    ) -> None:
        check_id(id)
        lengths = {"range": range, "slide": range if slide is None else slide, "offset": offset}
        numbers = {name: number(name, value, id) for name, value in lengths.items()}
        for name in ("range", "slide"):
            if numbers[name] <= 0:
                raise QueryError(f"{name} {numbers[name]} is not positive{of_window(id)}. Use a {name} above 0.")
        if far := [name for name, length in numbers.items() if abs(length) > FURTHEST]:
            raise QueryError(f"{far[0]} {numbers[far[0]]} is too long{of_window(id)}. Use one of at most 2**62.")
        if numbers["slide"] > numbers["range"]:
            raise QueryError(
                f"slide {numbers['slide']} exceeds range {numbers['range']}{of_window(id)}. "
                f"Use a slide of at most {numbers['range']}."
            )
        if on is None and numbers["offset"]:
            raise QueryError(f"a window of rows has no offset{of_window(id)}. Rows are counted from the first one.")
        if on is None and (broken := [name for name, length in numbers.items() if not isinstance(length, int)]):
            raise QueryError(
                f"{broken[0]} {numbers[broken[0]]} is not a count of rows{of_window(id)}. Use a whole number from 1 on."
            )
        column = None if on is None else column_named(on, "on")
        for name, value in (numbers | {"on": column, "id": id}).items():
            object.__setattr__(self, name, value)

    @property
    def text(self) -> str:
        """The lengths and the measure.

        >>> Measured(100).label, Measured(100, 10).label, Measured(10, 5, on="km").label
        ('100 rows', '100/10 rows', '10/5 km')
        """
        slide = "" if self.slide == self.range else f"/{self.slide}"
        offset = f"+{self.offset}" if self.offset else ""
        return f"{self.range}{slide}{offset} {self.measure}"

    @property
    def measure(self) -> str:
        """What instances begin and end in."""
        return "rows" if self.on is None else str(self.on)

    @property
    def instances_of_a_row(self) -> float:
        """How many instances a row lies in."""
        return self.range // self.slide

    @property
    def watches(self) -> tuple[Watch, ...]:
        """The column, if it is not rows."""
        return () if self.on is None else (Watch(self.on, "number"),)

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the lengths and the column."""
        lengths = {"range": self.range, "slide": self.slide, "offset": self.offset}
        return {"kind": self.kind} | lengths | {"on": None if self.on is None else str(self.on)}

    @property
    def steps(self) -> Steps:
        """Where instances begin and end."""
        return Steps.of(self.range, self.slide, self.offset)

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the instances that are complete; edges are rounded to doubles only where the column has doubles."""
        if not times:
            return
        steps, step, places = self.steps, 0, list[Any](range(len(times)))
        if self.on is not None:
            places = [place if isinstance(place, float) else Fraction(place) for place in columns[0]]
            step = steps.first(Fraction(places[0]))
        while True:
            begin, stop = steps.begin(step), steps.stop(step)
            edges = steps.exact_edges(step) if isinstance(places[0], Fraction) else (begin, stop)
            if edges[0] > places[-1]:
                return
            lo, hi = (bisect_left(places, edge) for edge in edges)
            if lo < hi and (hi < len(times) or (self.on is None and stop == hi)):
                yield Instance(times[lo], times[min(hi, len(times) - 1)], lo, hi, begin, stop)
            step += 1


@dataclass(frozen=True, slots=True)
class LastRows(Kind):
    """The last rows of a key at every slide of time in which rows came: 'the last ten rows every five seconds'.

    It is given when there are so many rows. Which row it begins with is known only when it ends.

    >>> [instance[:4] for instance in LastRows(3, "5 us").over([1, 2, 3, 4, 11, 12])]
    [(2, 5, 1, 4), (4, 15, 3, 6)]
    """

    kind: ClassVar[str] = "last rows"

    count: int
    slide: Duration
    offset: Duration
    id: str | None = field(default=None, compare=False)

    def __init__(self, count: int, slide: Length, offset: Length = 0, id: str | None = None) -> None:
        check_id(id)
        every = duration("slide", slide, id)
        shift = offset_of(offset, id)
        fields = {"count": RowCount(count).count, "slide": every, "offset": Duration(shift % every), "id": id}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def text(self) -> str:
        """The lengths."""
        offset = f"+{self.offset}" if self.offset else ""
        return f"last {RowCount(self.count)} every {self.slide}{offset}"

    @property
    def measure(self) -> str:
        """What instances begin and end in."""
        return "rows"

    @property
    def deterministic(self) -> bool:
        """Whether a begin is known when its row comes: no."""
        return False

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the number of rows, the slide and the offset."""
        lengths = {"slide": self.slide, "offset": self.offset}
        told = {name: str(length) for name, length in lengths.items()}
        return {"kind": self.kind, "count": self.count} | told

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the last rows at the end of every slide that has rows."""
        slide = int(self.slide)
        for end in sorted({time - (time - int(self.offset)) % slide + slide for time in times}):
            hi = bisect_left(times, end)
            if hi >= self.count:
                yield Instance(times[hi - self.count], end, hi - self.count, hi, hi - self.count, hi)


@dataclass(frozen=True, slots=True)
class LastTime(Kind):
    """The last stretch of time whenever so many more rows have come: 'the last hour every fifty rows'.

    The row after them ends it, or the end of the input. Which row it begins with is known only then.

    >>> [instance[:4] for instance in LastTime("10 us", 2).over([1, 5, 12, 13, 30])]
    [(2, 12, 1, 2)]
    """

    kind: ClassVar[str] = "last time"

    range: Duration
    every: int
    id: str | None = field(default=None, compare=False)

    def __init__(self, range: Length, every: int, id: str | None = None) -> None:
        check_id(id)
        fields = {"range": duration("range", range, id), "every": RowCount(every).count, "id": id}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def text(self) -> str:
        """The lengths."""
        return f"last {self.range} every {RowCount(self.every)}"

    @property
    def deterministic(self) -> bool:
        """Whether a begin is known when its row comes: no."""
        return False

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the range and the number of rows."""
        return {"kind": self.kind, "range": str(self.range), "every": self.every}

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield what lies in the range before the row that ends it."""
        for hi in range(self.every, len(times) + 1, self.every):
            end = times[min(hi, len(times) - 1)]
            lo = bisect_left(times, end - int(self.range))
            if lo < hi:
                yield Instance(end - int(self.range), end, lo, hi)
