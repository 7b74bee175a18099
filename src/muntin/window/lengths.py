"""Lengths of windows as users write them: read, and brought to one unit."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from math import isfinite, nan
from numbers import Rational, Real
from operator import index
from typing import Any
from unicodedata import category

from muntin.duration import LONGEST, Duration, parse_duration
from muntin.errors import QueryError

FURTHEST = 2**62
"""From here on the sum of two whole numbers may leave 64 bits."""

LONGEST_ID = 200
"""How many characters the id of a window may have."""

Length = int | str | timedelta
"""A length of time as users write it: text, timedelta, or an int in plain units, which only planning takes."""


@dataclass(frozen=True, slots=True)
class RowCount:
    """A length that is counted in rows of a key.

    >>> RowCount(100)
    RowCount(count=100)
    """

    count: int

    def __post_init__(self) -> None:
        if isinstance(self.count, bool) or not isinstance(self.count, int) or self.count < 1:
            raise QueryError(f"{self.count!r} is not a count of rows. Use a whole number from 1 on.")
        if self.count > FURTHEST:
            raise QueryError(f"a count of rows of {self.count.bit_length()} bits is too large. Use at most 2**62.")

    def __str__(self) -> str:
        return f"{self.count} row{'' if self.count == 1 else 's'}"


def rows(count: int) -> RowCount:
    """Make a length in rows of a key, as in mt.tumbling(mt.rows(100)).

    Args:
        count: How many rows, at least 1.

    >>> str(rows(100))
    '100 rows'
    """
    return RowCount(count)


def read_length(name: str, value: object, id: str | None) -> int:
    """Read a length of a window, which errors call by its name and its window's id."""
    if isinstance(value, str | timedelta):
        return parse_duration(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        remedy = "Use text such as '5 minutes', a timedelta, or an int."
        raise QueryError(f"{name} {value!r} is not a length of time{of_window(id)}. {remedy}")
    length = value if isinstance(value, Duration) else index(value)
    if abs(length) > LONGEST:
        raise QueryError(
            f"{name} of {length.bit_length()} bits exceeds 2**63 - 1{of_window(id)}. Use a shorter {name}."
        )
    return length


def common_unit(lengths: dict[str, int], id: str | None) -> type[int]:
    """Give the type that all lengths have; nothing is nothing in any unit."""
    if not any(isinstance(length, Duration) for length in lengths.values()):
        return int
    for name, length in lengths.items():
        if length and not isinstance(length, Duration):
            raise QueryError(
                f"{name} {length} has no unit of time, unlike the other lengths{of_window(id)}. "
                f"Write it as '{length} seconds', say."
            )
    return Duration


def duration(name: str, value: object, id: str | None) -> Duration:
    """Read a length of time that must be longer than nothing.

    >>> duration("gap", "30 minutes", None)
    Duration('30m')
    >>> duration("gap", "0 s", "visits")
    Traceback (most recent call last):
    muntin.errors.QueryError: gap 0s is not positive in window 'visits'. Use one longer than nothing.
    """
    length = read_length(name, value, id)
    if not isinstance(length, Duration):
        raise QueryError(f"{name} {length} has no unit of time{of_window(id)}. Write '{length} seconds', say.")
    if length <= 0:
        raise QueryError(f"{name} {length} is not positive{of_window(id)}. Use one longer than nothing.")
    return length


def offset_of(value: object, id: str | None) -> Duration:
    """Read an offset, which may be nothing."""
    length = read_length("offset", value, id)
    if length and not isinstance(length, Duration):
        raise QueryError(f"offset {length} has no unit of time{of_window(id)}. Write '{length} seconds', say.")
    return Duration(length)


def number(name: str, value: Any, id: str | None) -> int | float:
    """Read a finite number, as an int where it is whole.

    >>> number("range", 5.0, None), number("range", 2.5, None)
    (5, 2.5)
    """
    nearest = nan
    if isinstance(value, Real | Decimal) and not isinstance(value, bool):
        try:
            nearest = float(value)
        except (OverflowError, ValueError):
            raise QueryError(f"{name} is beyond all doubles{of_window(id)}. Use one below 1e308.") from None
    if not isfinite(nearest):
        raise QueryError(f"{name} {value!r} is not a number{of_window(id)}. Use one such as 10 or 2.5.")
    if isinstance(value, Rational | Decimal):
        kind: Any = Decimal if isinstance(value, Decimal) else Fraction
        if (truncated := _truncated(value)) == value:
            return truncated
        if kind(str(nearest)) != value:
            raise QueryError(f"{name} {value} has too many digits{of_window(id)}. Use {nearest}.")
    return int(nearest) if nearest.is_integer() else nearest


def _truncated(value: Any) -> int:
    return int(value)


def exact(value: Any) -> Any:
    """Return a value that arithmetic does not round, unless it is a float."""
    return Fraction(value) if isinstance(value, Decimal) else value


def limit_of(limit: float, value: Any) -> Any:
    """Return a limit as numbers of the kind of an exact value compare with it: a decimal is meant as it is written.

    >>> limit_of(0.1, exact(Decimal("0.1"))), limit_of(3, 0.5)
    (Fraction(1, 10), 3.0)
    """
    return Fraction(str(limit)) if isinstance(value, Fraction) else float(limit) if isinstance(value, float) else limit


def check_flag(name: str, value: object, id: str | None) -> None:
    """Refuse a switch that is neither on nor off."""
    if not isinstance(value, bool):
        raise QueryError(f"{name}={value!r} is neither True nor False{of_window(id)}.")


def check_id(id: object) -> None:
    r"""Refuse an id that is no text, or one that no line of a log or a table has room for.

    >>> check_id("a\nb")
    Traceback (most recent call last):
    muntin.errors.QueryError: window id 'a\nb' has the character '\n'. Use characters that can be written in a line.
    """
    if id is None:
        return
    if not (isinstance(id, str) and id):
        raise QueryError(f"window id {id!r} is not a text. Use a non-empty string.")
    if len(id) > LONGEST_ID:
        raise QueryError(f"window id {id[:20] + '…'!r} has {len(id):,} characters. Use at most {LONGEST_ID}.")
    if unfit := next((character for character in id if category(character) in ("Cc", "Cs")), None):
        raise QueryError(f"window id {id!r} has the character {unfit!r}. Use characters that can be written in a line.")


def of_window(id: str | None) -> str:
    """Say in an error which window is meant."""
    return "" if id is None else f" in window {id!r}"
