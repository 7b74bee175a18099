"""How many events arrive: numbers and text to an exact rate."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction

from muntin.duration import UNIT_NAMES, format_duration, natural_unit, parse_duration
from muntin.errors import QueryError
from muntin.plan.number import number
from muntin.window import Window

Rate = int | float | Fraction | Decimal | str
"""Events per unit of time, or text with a unit such as '100/s' or '5 per minute'."""

_TEXT = re.compile(r"(?P<events>\d{1,25}(?:\.\d{1,25})?(?:/\d{1,25})?) ?(?:(?:/|per\b) ?(?P<time>.+))?", re.IGNORECASE)


def unit_of(windows: tuple[Window, ...]) -> int | None:
    """Give the longest unit of time that divides all lengths, in microseconds; None for plain units.

    >>> unit_of((Window("1 hour", "5 minutes"), Window("30 minutes"))), unit_of((Window(10, 2),))
    (60000000, None)
    """
    if not windows[0].is_timed:
        return None
    return natural_unit([length for window in windows for length in window.period])


def parse_rate(rate: Rate, unit: int | None) -> tuple[Fraction, int | None]:
    """Give a rate in events per microsecond, or per plain unit where `unit` is None, and the unit to tell it in.

    A number without a unit of its own is per `unit`.

    >>> parse_rate("100/s", 60_000_000), parse_rate(3, None)
    ((Fraction(1, 10000), Duration('1s')), (Fraction(3, 1), None))
    """
    events, time = (rate, None) if not isinstance(rate, str) else _split(rate)
    if isinstance(events, bool) or not isinstance(events, int | float | Fraction | Decimal):
        raise QueryError(f"rate {rate!r} is not a number. Use a positive number of events, or text such as '100/s'.")
    if isinstance(events, float | Decimal) and not math.isfinite(events):
        raise QueryError(f"rate {rate!r} is not a finite number. Use a positive number of events.")
    exact = Fraction(repr(events) if isinstance(events, float) else events)
    if exact <= 0:
        raise QueryError(f"rate {rate} is not positive. Use a positive number of events.")
    if time is None:
        return exact / (unit or 1), unit
    if unit is None:
        raise QueryError(f"rate {rate!r} has a unit of time but the windows are plain numbers. Use a plain number.")
    own = parse_duration(time if re.match(r"[\d.+-]", time) else f"1 {time}")
    if own <= 0:
        raise QueryError(f"rate {rate!r} is per {own}. Use a positive length of time.")
    return exact / own, own


def _split(rate: str) -> tuple[Fraction, str | None]:
    """Split text into a number of events and what it is per."""
    text = _TEXT.fullmatch(" ".join(rate.split()))
    try:
        if text is not None:
            return Fraction(text["events"]), text["time"]
    except (ValueError, ZeroDivisionError):
        pass
    raise QueryError(f"cannot read {rate!r} as a rate. Write a number, or one with a unit such as '100/s'.")


def format_rate(rate: Fraction, unit: int | None) -> str:
    """Write a rate in events per unit.

    >>> format_rate(Fraction(1, 60_000_000), 60_000_000), format_rate(Fraction(3, 2), None)
    ('1 event per minute', '1.50 events per unit')
    """
    events = rate * (unit or 1)
    time = "unit" if unit is None else UNIT_NAMES.get(unit, format_duration(unit))
    return f"{number(events)} event{'' if events == 1 else 's'} per {time}"
