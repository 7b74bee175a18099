"""Windows that rows themselves begin and end: punctuations, runs, moves, bounds, and rows of one time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from typing import Any, ClassVar, Protocol

from muntin.duration import Duration
from muntin.errors import QueryError, UnsupportedError
from muntin.expressions import Named, column_named, is_column, written
from muntin.window.kind import Instance, Kind, Watch
from muntin.window.lengths import Length, RowCount, check_flag, check_id, duration, exact, limit_of, number, of_window


@dataclass(frozen=True, slots=True)
class Snapshot(Kind):
    """The rows of one time.

    >>> [instance[:4] for instance in Snapshot().over([1, 1, 4])]
    [(1, 1, 0, 2), (4, 4, 2, 3)]
    """

    kind: ClassVar[str] = "snapshot"

    id: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_id(self.id)

    @property
    def text(self) -> str:
        """The kind."""
        return self.kind

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the kind."""
        return {"kind": self.kind}

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the rows of every time."""
        lo = 0
        for hi in range(1, len(times) + 1):
            if hi == len(times) or times[hi] != times[lo]:
                yield Instance(times[lo], times[lo], lo, hi)
                lo = hi


@dataclass(frozen=True, slots=True)
class Punctuated(Kind):
    """The rows from one for which a condition holds to the next such row, or after one up to and with the next.

    >>> [instance[:4] for instance in Punctuated("starts").over([1, 2, 3, 4, 5], [1, 0, 0, 1, 0])]
    [(1, 4, 0, 3), (4, 5, 3, 5)]
    >>> [instance[:4] for instance in Punctuated("last", ends=True).over([1, 2, 3, 4, 5], [0, 0, 1, 0, 0])]
    [(1, 3, 0, 3), (4, 5, 3, 5)]
    """

    kind: ClassVar[str] = "punctuated"

    condition: Named
    ends: bool = False
    id: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_id(self.id)
        object.__setattr__(self, "condition", column_named(self.condition, "a punctuated window"))
        check_flag("ends", self.ends, self.id)

    @property
    def text(self) -> str:
        """The condition."""
        return f"{'ended' if self.ends else 'begun'} by {self.condition}"

    @property
    def watches(self) -> tuple[Watch, ...]:
        """The condition."""
        return (Watch(self.condition, "condition"),)

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the condition, and which end it marks."""
        return {"kind": self.kind, "condition": str(self.condition), "ends": self.ends}

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the rows between punctuations; the end of the input ends the last."""
        marks = [place + self.ends for place, holds in enumerate(columns[0]) if holds]
        begins = [0, *marks] if self.ends else marks
        for lo, hi in pairwise([*begins, len(times)]):
            if lo < hi:
                yield Instance(times[lo], times[min(hi - self.ends, len(times) - 1)], lo, hi)


@dataclass(frozen=True, slots=True)
class While(Kind):
    """Runs of rows for which a condition holds; the first row for which it does not ends one.

    >>> run = While("fast", at_least=RowCount(2))
    >>> [instance[:4] for instance in run.over([1, 2, 3, 4, 5, 6], [1, 0, 1, 1, 0, 1])]
    [(3, 5, 2, 4)]
    """

    kind: ClassVar[str] = "while"

    condition: Named
    at_least: Duration | RowCount | None
    """How long a run lasts to be given, from its first row to the row that ends it, or how many rows it has."""
    id: str | None = field(default=None, compare=False)

    def __init__(self, condition: Any, at_least: Length | RowCount | None = None, id: str | None = None) -> None:
        check_id(id)
        shortest = at_least
        if isinstance(at_least, Mapping):  # as to_dict has it
            shortest = RowCount(**at_least)
        elif at_least is not None and not isinstance(at_least, RowCount):
            shortest = duration("at_least", at_least, id)
        fields = {"condition": column_named(condition, "a while window"), "at_least": shortest, "id": id}
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def text(self) -> str:
        """The condition."""
        shortest = "" if self.at_least is None else f" for {self.at_least}"
        return f"while {self.condition}{shortest}"

    @property
    def watches(self) -> tuple[Watch, ...]:
        """The condition."""
        return (Watch(self.condition, "condition"),)

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the condition and the shortest run."""
        shortest: Any = self.at_least
        if isinstance(shortest, RowCount):
            shortest = {"count": shortest.count}
        elif shortest is not None:
            shortest = str(shortest)
        return {"kind": self.kind, "condition": str(self.condition), "at_least": shortest}

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the runs that are long enough; the end of the input ends the last."""
        lo = None
        for hi, holds in enumerate([*columns[0], False]):
            if holds and lo is None:
                lo = hi
            elif not holds and lo is not None:
                run = Instance(times[lo], times[min(hi, len(times) - 1)], lo, hi)
                if self._is_long(run):
                    yield run
                lo = None

    def _is_long(self, run: Instance) -> bool:
        if isinstance(self.at_least, RowCount):
            return run.hi - run.lo >= self.at_least.count
        return self.at_least is None or run.end - run.start >= self.at_least


@dataclass(frozen=True, slots=True)
class Delta(Kind):
    """Rows whose value is within a distance of that of the window's first row; a row beyond it begins the next.

    NaN is within no distance of any value, since Spark takes it for greater than all numbers.

    >>> [instance[:4] for instance in Delta("price", 5).over([1, 2, 3, 4], [10, 15, 16, None])]
    [(1, 3, 0, 2), (3, 4, 2, 4)]
    """

    kind: ClassVar[str] = "delta"

    column: Named
    distance: int | float
    id: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_id(self.id)
        distance = number("distance", self.distance, self.id)
        if distance < 0:
            raise QueryError(f"distance {distance} is negative{of_window(self.id)}. Use one from 0 on.")
        object.__setattr__(self, "column", column_named(self.column, "a delta window"))
        object.__setattr__(self, "distance", distance)

    @property
    def text(self) -> str:
        """The column and the distance."""
        return f"{self.column} within {self.distance}"

    @property
    def watches(self) -> tuple[Watch, ...]:
        """The column."""
        return (Watch(self.column, "number"),)

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the column and the distance."""
        return {"kind": self.kind, "column": str(self.column), "distance": self.distance}

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the rows from one that moved too far to the next; rows without a value stay where they are."""
        lo, first = 0, None
        for hi, value in enumerate(map(exact, columns[0])):
            if None not in (value, first) and not abs(value - first) <= limit_of(self.distance, value):
                yield Instance(times[lo], times[hi], lo, hi)
                lo, first = hi, None
            if first is None:
                first = value
        if times:
            yield Instance(times[lo], times[-1], lo, len(times))


class _Asked(Protocol):
    """An aggregate, as far as a window must know it."""

    @property
    def function(self) -> Any: ...

    @property
    def columns(self) -> tuple[Named, ...]: ...


BOUNDED = ("sum", "count", "max", "min")
"""The aggregates that a window may be bounded by."""


@dataclass(frozen=True, slots=True)
class Until(Kind):
    """Rows up to and with the one at which an aggregate over them reaches a bound; the next row begins anew.

    A sum, a count and the greatest value reach a bound from below, the least value from above. NaN is greater than
    all numbers, as in Spark: with it, a sum and the greatest value reach any bound, and the least value is another.

    >>> [instance[:4] for instance in Until("sum", "amount", 10).over([1, 2, 3, 4], [4, 6, 1, 2])]
    [(1, 2, 0, 2), (3, 4, 2, 4)]
    """

    kind: ClassVar[str] = "until"

    function: str
    column: Named | None
    bound: int | float
    id: str | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        check_id(self.id)
        if self.function not in BOUNDED:
            raise UnsupportedError(
                f"a window until {self.function} reaches a bound is not supported{of_window(self.id)}. "
                f"Use {', '.join(f'mt.{name}' for name in BOUNDED)}, or mt.user_window."
            )
        if self.column is not None:
            object.__setattr__(self, "column", column_named(self.column, self.function))
        elif self.function != "count":
            raise QueryError(f"{self.function} has no column{of_window(self.id)}. Use one, or mt.count().")
        object.__setattr__(self, "bound", number("bound", self.bound, self.id))

    @property
    def text(self) -> str:
        """The aggregate and its bound."""
        return f"until {self.function}({'' if self.column is None else self.column}) {self.bound}"

    @property
    def watches(self) -> tuple[Watch, ...]:
        """The column of the aggregate, if it has one."""
        return () if self.column is None else (Watch(self.column, "any" if self.function == "count" else "number"),)

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the aggregate and its bound."""
        column = None if self.column is None else str(self.column)
        return {"kind": self.kind, "function": self.function, "column": column, "bound": self.bound}

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the rows up to each that reaches the bound; the end of the input ends the last."""
        lo, total = 0, None
        values = columns[0] if columns else [1] * len(times)
        for place, value in enumerate(map(exact, values)):
            if value is not None:
                total = self._with(total, value)
            if total is not None and self._reached(total):
                yield Instance(times[lo], times[place], lo, place + 1)
                lo, total = place + 1, None
        if lo < len(times):
            yield Instance(times[lo], times[-1], lo, len(times))

    def _with(self, total: Any, value: Any) -> Any:
        match self.function:
            case "count":
                return (total or 0) + 1
            case "sum":
                return (total or 0) + value
            case "max":
                return value if total is None or not value <= total else total
        return value if total is None or value < total or total != total else total

    def _reached(self, total: Any) -> bool:
        bound = limit_of(self.bound, total)
        return bool(total <= bound if self.function == "min" else not total < bound)


def snapshot(*, id: str | None = None) -> Snapshot:
    """Make a window of all rows that have the same time.

    Args:
        id: The window_id of result rows; by default "snapshot".

    >>> snapshot().label
    'snapshot'
    """
    return Snapshot(id)


def punctuated(condition: Any, ends: bool = False, *, id: str | None = None) -> Punctuated:
    """Make a window that begins with each row for which a condition holds.

    Args:
        condition: The name of a boolean column, or a condition such as F.col("speed") == 0. A null does not hold.
        ends: Whether such a row is instead the last row of its window.
        id: The window_id of result rows; by default a description.

    >>> punctuated("stop").label, punctuated("stop", ends=True).label
    ('begun by stop', 'ended by stop')
    """
    return Punctuated(condition, ends, id)


def while_(condition: Any, at_least: Length | RowCount | None = None, *, id: str | None = None) -> While:
    """Make a window of consecutive rows for which a condition holds.

    Args:
        condition: The name of a boolean column, or a Spark expression. A null does not hold.
        at_least: Keep only runs that last at least this long, or have at least this many rows: "3 minutes", mt.rows(3).
        id: The window_id of result rows; by default a description.

    >>> while_("fast", at_least="3 minutes", id="fast drive").label
    'fast drive'
    """
    return While(condition, at_least, id)


def delta(column: Any, distance: float | Decimal, *, id: str | None = None) -> Delta:
    """Make a window that ends when a value has moved by more than a distance since the window's first row.

    Args:
        column: The name of a numeric column, or a Spark expression.
        distance: How far the value may move; a move of exactly this distance does not end the window, a NaN does.
            Whole numbers and decimals are compared exactly.
        id: The window_id of result rows; by default a description.

    >>> delta("speed", 20).label
    'speed within 20'
    """
    return Delta(column, number("distance", distance, id), id)


def until(aggregate: _Asked, bound: float | Decimal, *, id: str | None = None) -> Until:
    """Make a window that ends with the row at which an aggregate over its rows reaches a bound.

    Args:
        aggregate: mt.sum, mt.count or mt.max of a column, which must reach the bound or rise above it, or
            mt.min, which must reach the bound or fall below it.
        bound: The bound. Whole numbers and decimals are compared exactly; NaN is above every bound.
        id: The window_id of result rows; by default a description.

    >>> from muntin.aggregates.functions import sum
    >>> until(sum("parcels"), 10).label
    'until sum(parcels) 10'
    """
    if is_column(aggregate):
        raise QueryError(
            f"{written(aggregate)} is an aggregate of Spark{of_window(id)}. Use mt.sum, mt.count, mt.max or mt.min."
        )
    if not hasattr(aggregate, "function") or not hasattr(aggregate, "columns"):
        raise QueryError(f"{aggregate!r} is not an aggregate{of_window(id)}. Use one such as mt.sum('amount').")
    column = aggregate.columns[0] if aggregate.columns else None
    return Until(aggregate.function.name, column, number("bound", bound, id), id)
