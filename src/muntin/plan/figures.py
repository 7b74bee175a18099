"""Numbers and lengths of time that users give, checked."""

from __future__ import annotations

from datetime import timedelta
from numbers import Integral

from muntin.duration import Duration, parse_duration
from muntin.errors import QueryError


def whole_number(name: str, given: object, least: int) -> int:
    """Read a whole number; 1e6 is one, though Python takes it for a float.

    >>> whole_number("rows", 1e6, 0)
    1000000
    >>> whole_number("keys", 0, 1)
    Traceback (most recent call last):
    muntin.errors.QueryError: keys=0 is not a count. Use a whole number from 1 on.
    """
    number = _whole(given)
    if number is None or number < least:
        raise QueryError(f"{name}={given!r} is not a count. Use a whole number from {least} on.")
    return number


def length(name: str, given: object, example: str) -> Duration:
    """Read a length of time from 0 on: text, a timedelta, or microseconds.

    >>> length("span", "1 day", "1 day"), length("span", 60e6, "1 day")
    (Duration('1d'), Duration('1m'))
    >>> length("span", -1, "1 day")
    Traceback (most recent call last):
    muntin.errors.QueryError: span=-1 is not a length of time. Use a duration such as '1 day', or microseconds.
    """
    micros = parse_duration(given) if isinstance(given, str | timedelta) else _whole(given)
    if micros is None or micros < 0:
        raise QueryError(
            f"{name}={given!r} is not a length of time. Use a duration such as {example!r}, or microseconds."
        )
    return Duration(micros)


def _whole(given: object) -> int | None:
    """Give a number as an int; None for what is no whole number. True and False are no numbers."""
    if isinstance(given, float):
        return int(given) if given.is_integer() else None
    return int(given) if isinstance(given, Integral) and not isinstance(given, bool) else None
