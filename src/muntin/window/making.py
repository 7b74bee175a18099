"""Tumbling and hopping windows by time, by rows of a key, by a column, and mixed."""

from __future__ import annotations

from typing import Any, Never, overload

from muntin.errors import QueryError, UnsupportedError
from muntin.window.lengths import Length, RowCount
from muntin.window.measured import LastRows, LastTime, Measured
from muntin.window.periodic import Window


@overload
def tumbling(range: Length, *slide: Never, offset: Length = 0, id: str | None = None) -> Window: ...


@overload
def tumbling(range: RowCount, *slide: Never, id: str | None = None) -> Measured: ...


@overload
def tumbling(range: float, *slide: Never, offset: float = 0, on: Any, id: str | None = None) -> Measured: ...


def tumbling(range: Any, *slide: Never, offset: Any = 0, on: Any = None, id: str | None = None) -> Any:
    """Make a window whose instances follow one another without overlap.

    Args:
        range: The length: of time ("20 minutes", a timedelta), in rows (mt.rows(100)), or a number with `on`.
        slide: Not allowed; use mt.hopping for a window with a slide.
        offset: How far the grid is shifted from 1970-01-01 00:00 UTC, or from 0 with `on`.
        on: A numeric column that never decreases within a key; instances are measured along it instead of along time.
        id: The window_id of result rows; by default the length.

    Raises:
        QueryError: If the range is not positive, or has a unit that does not fit.

    >>> tumbling("20 minutes", id="20 min").label, tumbling(RowCount(100)).label, tumbling(10, on="km").label
    ('20 min', '100 rows', '10 km')
    >>> tumbling("1 hour", "5 min")
    Traceback (most recent call last):
    muntin.errors.QueryError: a tumbling window has no slide. Use mt.hopping('1 hour', '5 min'), or offset='5 min'.
    """
    if slide:
        given = repr(slide[0])
        raise QueryError(f"a tumbling window has no slide. Use mt.hopping({range!r}, {given}), or offset={given}.")
    return _made(range, range, offset, on, id)


@overload
def hopping(range: Length, slide: Length, *more: Never, offset: Length = 0, id: str | None = None) -> Window: ...


@overload
def hopping(range: RowCount, slide: RowCount, *more: Never, id: str | None = None) -> Measured: ...


@overload
def hopping(
    range: float, slide: float, *more: Never, offset: float = 0, on: Any, id: str | None = None
) -> Measured: ...


@overload
def hopping(range: RowCount, slide: str, *more: Never, offset: Length = 0, id: str | None = None) -> LastRows: ...


@overload
def hopping(range: str, slide: RowCount, *more: Never, id: str | None = None) -> LastTime: ...


def hopping(range: Any, slide: Any, *more: Never, offset: Any = 0, on: Any = None, id: str | None = None) -> Any:
    """Make a window whose instances begin every slide; if the slide equals the range, the window is tumbling.

    Args:
        range: The length of an instance: of time, in rows (mt.rows(100)), or a number with `on`.
        slide: How far apart instances begin, at most the range. If the range is in rows and the slide is a time, each
            instance has the last rows at the end of a slide. If the range is a time and the slide is in rows, each
            instance has the last minutes after that many rows.
        more: Not allowed; pass an offset by name.
        offset: How far the grid is shifted from 1970-01-01 00:00 UTC, or from 0 with `on`.
        on: A numeric column that never decreases within a key; instances are measured along it instead of along time.
        id: The window_id of result rows; by default range and slide.

    Raises:
        QueryError: If the slide exceeds the range, or lengths have different units.

    >>> hopping("1 hour", "5 minutes").label, hopping(10, 5, on="km").label
    ('1h/5m', '10/5 km')
    >>> hopping(RowCount(10), "5 s").label, hopping("1 hour", RowCount(50)).label
    ('last 10 rows every 5s', 'last 1h every 50 rows')
    """
    if more:
        raise QueryError(f"a hopping window takes a range and a slide. Use offset={more[0]!r} for where it begins.")
    return _made(range, slide, offset, on, id)


def _made(range: Any, slide: Any, offset: Any, on: Any, id: str | None) -> Any:
    counted = isinstance(range, RowCount), isinstance(slide, RowCount)
    if on is not None:
        if any(isinstance(length, str | RowCount) for length in (range, slide)):
            raise UnsupportedError(
                f"a window on a column takes numbers, not {range!r} and {slide!r}. "
                "Use numbers, or mt.user_window for measures that are mixed."
            )
        return Measured(range, slide, offset, on, id)
    match counted:
        case (True, True):
            return Measured(range.count, slide.count, offset, None, id)
        case (True, False):
            return LastRows(range.count, slide, offset, id)
        case (False, True):
            if offset:
                raise QueryError("a window that rows end has no offset. Rows are counted from the first one.")
            return LastTime(range, slide.count, id)
    return Window(range, slide, offset, id)
