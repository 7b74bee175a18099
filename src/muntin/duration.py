"""Durations: text, timedelta and ISO 8601 to whole microseconds, and back to short text."""

from __future__ import annotations

import re
from datetime import timedelta
from fractions import Fraction

from muntin.errors import QueryError

LONGEST = 2**63 - 1
"""The longest duration, in microseconds: what a Spark timestamp difference can hold."""

FOREVER = 2**62
"""Later than any time, and minus that earlier than any."""

MICROSECOND = 1
MILLISECOND = 1_000
SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY

UNITS = {"d": DAY, "h": HOUR, "m": MINUTE, "s": SECOND, "ms": MILLISECOND, "us": MICROSECOND}
"""Units in which a duration is written, longest first, by their short names."""

UNIT_NAMES = {
    DAY: "day",
    HOUR: "hour",
    MINUTE: "minute",
    SECOND: "second",
    MILLISECOND: "millisecond",
    MICROSECOND: "microsecond",
}

_SPELLINGS = {
    WEEK: "w week weeks",
    DAY: "d day days",
    HOUR: "h hr hrs hour hours",
    MINUTE: "m min mins minute minutes",
    SECOND: "s sec secs second seconds",
    MILLISECOND: "ms msec msecs milli millis millisecond milliseconds",
    MICROSECOND: "us µs μs usec usecs micro micros microsecond microseconds",
}
_MICROS = {spelling: micros for micros, spellings in _SPELLINGS.items() for spelling in spellings.split()}
_NO_FIXED_LENGTH = frozenset(
    ["mo", "mon", "mons", "month", "months", "q", "quarter", "quarters", "y", "yr", "yrs", "year", "years"]
)

_TERM = re.compile(r"([+-]?\d{1,25}(?:\.\d{1,25})?)\s*([^\W\d_]+)")
_ISO = re.compile(
    r"([+-]?)P(?=.)(?:(\d{1,25})Y)?(?:(\d{1,25})M)?(?:(\d{1,25})W)?(?:(\d{1,25})D)?"
    r"(?:T(?=.)(?:(\d{1,25})H)?(?:(\d{1,25})M)?(?:(\d{1,25}(?:\.\d{1,25})?)S)?)?"
)
_BETWEEN = re.compile(r"[\s,]*(?:and\s+)?")


class Duration(int):
    """A number of microseconds that prints as a duration.

    It equals the int of the same value; windows made of plain ints have no unit, windows made of Durations do.

    >>> parse_duration("90 minutes")
    Duration('1h30m')
    >>> parse_duration("90 minutes") == 90 * 60 * 1_000_000
    True
    """

    __slots__ = ()

    def __str__(self) -> str:
        return format_duration(self)

    def __repr__(self) -> str:
        return f"Duration({str(self)!r})"


def parse_duration(value: str | timedelta) -> Duration:
    """Read a duration as whole microseconds; of several units the longest comes first, and each once.

    >>> parse_duration("1 day 2 hours"), parse_duration("1h30m"), parse_duration("PT5M"), parse_duration("1.5 s")
    (Duration('1d2h'), Duration('1h30m'), Duration('5m'), Duration('1s500ms'))
    >>> parse_duration("5m 10m")
    Traceback (most recent call last):
    muntin.errors.QueryError: units in '5m 10m' do not fall. Write '1h30m' for one duration, '5m, 10m' for two windows.
    """
    if isinstance(value, timedelta):
        return _whole(Fraction(value // timedelta(microseconds=1)), value)
    text = value.strip()
    if iso := _ISO.fullmatch(text.upper()):
        return _whole(_iso_micros(iso, value), value)
    text = re.sub(r"^interval\s+", "", text, flags=re.IGNORECASE)
    total = Fraction(0)
    shortest = None
    position = 0
    while position < len(text):
        term = _TERM.match(text, position)
        if term is None:
            raise QueryError(
                f"cannot read {value!r} as a duration. Write a number and a unit: '5 minutes', '1h30m', 'PT5M'."
            )
        unit = _unit(term[2], value)
        if shortest is not None and unit >= shortest:
            raise QueryError(
                f"units in {value!r} do not fall. Write '1h30m' for one duration, '5m, 10m' for two windows."
            )
        total, shortest = total + Fraction(term[1]) * unit, unit
        position = term.end() + len(_BETWEEN.match(text, term.end())[0])  # type: ignore[index]
    if position == 0:
        raise QueryError("a duration is empty. Write a number and a unit, such as '5 minutes'.")
    return _whole(total, value)


def format_duration(micros: int) -> str:
    """Write microseconds as short text that parse_duration reads back.

    >>> format_duration(5_400_000_000), format_duration(0), format_duration(-1_500)
    ('1h30m', '0s', '-1ms-500us')
    """
    if micros == 0:
        return "0s"
    sign, rest = ("-", -int(micros)) if micros < 0 else ("", int(micros))
    parts = []
    for unit, size in UNITS.items():
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{sign}{count}{unit}")
    return "".join(parts)


def natural_unit(micros: list[int]) -> int:
    """Give the longest of day, hour, minute, … that divides every duration, in microseconds.

    >>> natural_unit([20 * MINUTE, 30 * MINUTE]) == MINUTE
    True
    """
    return next(unit for unit in UNITS.values() if all(value % unit == 0 for value in micros))


def _unit(word: str, value: object) -> int:
    if word == "M":
        raise QueryError(f"'M' in {value!r} may be minutes or months. Write 'min', or days for months.")
    unit = word.casefold()
    if unit in _MICROS:
        return _MICROS[unit]
    if unit in _NO_FIXED_LENGTH:
        raise QueryError(f"{word!r} in {value!r} has no fixed length. Use days, for example '30 days'.")
    raise QueryError(
        f"unknown unit {word!r} in {value!r}. Use weeks, days, hours, minutes, seconds, milliseconds or microseconds."
    )


def _iso_micros(iso: re.Match[str], value: object) -> Fraction:
    sign, years, months, *rest = iso.groups()
    if years or months:
        raise QueryError(f"years and months in {value!r} have no fixed length. Use days, for example 'P30D'.")
    micros = sum(
        Fraction(count) * unit for count, unit in zip(rest, (WEEK, DAY, HOUR, MINUTE, SECOND), strict=True) if count
    )
    return Fraction(-micros if sign == "-" else micros)


def _whole(micros: Fraction, value: object) -> Duration:
    if micros.denominator != 1:
        raise QueryError(f"{value!r} is finer than a microsecond. Use whole microseconds.")
    if abs(micros) > LONGEST:
        raise QueryError(
            f"{value!r} is longer than 2**63 - 1 microseconds (about 292,000 years). Use a shorter duration."
        )
    return Duration(micros.numerator)
