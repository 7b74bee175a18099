"""How many events arrive: numbers and text to an exact rate."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from muntin.duration import UNIT_NAMES, format_duration, parse_duration
from muntin.errors import QueryError

Rate = int | float | Fraction | Decimal | str
"""Events per unit of time, or text with a unit such as '100/s' or '5 per minute'."""

_TEXT = re.compile(r"\s*(?P<events>\d+(?:\.\d+)?(?:/\d+)?)\s*(?:(?:/|\bper\b)\s*(?P<time>.*?)\s*)?", re.IGNORECASE)


def parse_rate(rate: Rate, unit: int | None) -> tuple[Fraction, int | None]:
    """Give a rate in events per microsecond, or per plain unit where `unit` is None, and the unit to tell it in.

    A number without a unit of its own is per `unit`.

    >>> parse_rate("100/s", 60_000_000), parse_rate(3, None)
    ((Fraction(1, 10000), Duration('1s')), (Fraction(3, 1), None))
    """
    events, time = rate, None
    if isinstance(rate, str):
        text = _TEXT.fullmatch(rate)
        if text is None:
            raise QueryError(f"cannot read {rate!r} as a rate. Write a number, or one with a unit such as '100/s'.")
        events, time = text["events"], text["time"]
    if isinstance(events, bool) or not isinstance(events, int | float | Fraction | Decimal | str):
        raise QueryError(f"rate {rate!r} is no number. Use a positive number of events, or text such as '100/s'.")
    try:
        exact = Fraction(str(events))
    except ValueError:
        raise QueryError(f"rate {rate!r} is no finite number. Use a positive number of events.") from None
    if exact <= 0:
        raise QueryError(f"rate {rate} is not positive. Use a positive number of events.")
    if time is None:
        return exact / (unit or 1), unit
    if unit is None:
        raise QueryError(f"rate {rate!r} has a unit of time but the windows are plain numbers. Use a plain number.")
    own = parse_duration(time if time[0].isdigit() else f"1 {time}")
    return exact / own, own


def format_rate(rate: Fraction, unit: int | None) -> str:
    """Write a rate in events per unit.

    >>> format_rate(Fraction(1, 60_000_000), 60_000_000), format_rate(Fraction(3, 2), None)
    ('1 event per minute', '3/2 events per unit')
    """
    events = rate * (unit or 1)
    time = "unit" if unit is None else UNIT_NAMES.get(unit, format_duration(unit))
    number = f"{events.numerator:,}" if events.denominator == 1 else str(events)
    return f"{number} event{'' if events == 1 else 's'} per {time}"
