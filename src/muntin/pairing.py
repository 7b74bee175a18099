"""Pairs of rows with equal keys that are near each other in time: ranges, bands and names.

Times are whole numbers, microseconds on Spark. Nothing here needs Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from muntin.errors import QueryError
from muntin.query import check_units, repeated, several
from muntin.window import Length, Window, parse_window, parse_windows

WITHIN = "within"
"""The output column of the shortest range that holds a pair."""


@dataclass(frozen=True, slots=True)
class Band:
    """How far the right row of a pair may be from the left one, both ends included."""

    before: int
    after: int

    @property
    def width(self) -> int:
        """The time from the earliest partner of a row to its latest."""
        return self.before + self.after

    def holds(self, left: int, right: int) -> bool:
        """Tell whether two times make a pair.

        >>> Band(0, 5).holds(10, 15), Band(0, 5).holds(10, 9)
        (True, False)
        """
        return -self.before <= right - left <= self.after

    def share(self, span: int) -> float:
        """Give the share of all pairs that two rows at random times of a span are, if both have the same key.

        >>> Band(5, 5).share(10), Band(5, 0).share(10), Band(50, 50).share(10)
        (0.75, 0.375, 1.0)
        """
        return sum(1 - (1 - min(length / max(1, span), 1)) ** 2 for length in (self.before, self.after)) / 2


@dataclass(frozen=True, slots=True)
class Ranges:
    """Ranges of time, the shortest first, and what results call them."""

    lengths: tuple[int, ...]
    labels: tuple[str, ...]

    @property
    def longest(self) -> int:
        """The range that all pairs are within."""
        return self.lengths[-1]

    def band(self, *, forward: bool) -> Band:
        """Give how far the right row may be from the left one: not before it, if forward."""
        return Band(0 if forward else self.longest, self.longest)

    def label(self, distance: int) -> str | None:
        """Give the label of the shortest range that holds a distance; both ends belong to it.

        >>> hour = read_ranges("1 hour, 1 day")
        >>> hour.label(3_600_000_000), hour.label(-3_600_000_001), hour.label(86_400_000_001)
        ('1h', '1d', None)
        """
        named = zip(self.lengths, self.labels, strict=True)
        return next((label for length, label in named if abs(distance) <= length), None)


def read_ranges(within: Length | Iterable[Length]) -> Ranges:
    """Read ranges as users write them; a text may be several with commas between them.

    >>> read_ranges(["1 day", "1 hour"]).labels
    ('1h', '1d')
    >>> read_ranges(["60 minutes", "1 hour"])
    Traceback (most recent call last):
    muntin.errors.QueryError: range '1h' appears twice. Leave one out.
    """
    given = parse_windows(within) if isinstance(within, str) else tuple(map(_range, several(within)))
    if not given:
        raise QueryError("within has no ranges. Give at least one, such as within=['1 hour'].")
    check_units(given)
    if uneven := next((window for window in given if not window.is_tumbling or window.offset), None):
        raise QueryError(
            f"range {uneven.label!r} has a slide or an offset, which distances have not. "
            "Use a length alone, or windows= for instances of windows."
        )
    if twice := repeated(window.label for window in given):
        raise QueryError(f"range {twice!r} appears twice. Leave one out.")
    ordered = sorted(given)
    return Ranges(tuple(int(window.range) for window in ordered), tuple(window.label for window in ordered))


def _range(given: Any) -> Window:
    return parse_window(given) if isinstance(given, str) else Window(given)


def output_names(
    first: Sequence[str], keys: Sequence[str], left: Sequence[str], right: Sequence[str], fold: Callable[[str], str]
) -> tuple[str, ...]:
    """Name the columns of pairs: names that both sides have get left_ and right_ before them.

    >>> output_names(["within"], ["user"], ["ts", "ad"], ["ts", "price"], str)
    ('within', 'user', 'left_ts', 'ad', 'right_ts', 'price')
    >>> output_names(["within"], ["user"], ["within"], [], str)
    Traceback (most recent call last):
    muntin.errors.QueryError: the result would have two columns 'within'. Rename that of the input.
    """
    both = {fold(name) for name in left} & {fold(name) for name in right}
    named = [f"left_{name}" if fold(name) in both else name for name in left]
    named += [f"right_{name}" if fold(name) in both else name for name in right]
    outputs = (*first, *keys, *named)
    if twice := repeated(map(fold, outputs)):
        raise QueryError(f"the result would have two columns {twice!r}. Rename that of the input.")
    return outputs
