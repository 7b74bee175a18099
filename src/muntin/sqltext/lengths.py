"""Lengths of time as the dialects write them: a unit and a number, an INTERVAL, or a text."""

from __future__ import annotations

import re

from sqlglot import exp

from muntin.duration import DAY, HOUR, LONGEST, MICROSECOND, MILLISECOND, MINUTE, SECOND, WEEK, Duration, parse_duration
from muntin.errors import QueryError
from muntin.sqltext.pointing import Wrong, did_you_mean, refuse

AZURE_UNITS = {
    **dict.fromkeys(("day", "dd", "d"), DAY),
    **dict.fromkeys(("hour", "hh"), HOUR),
    **dict.fromkeys(("minute", "mi", "n"), MINUTE),
    **dict.fromkeys(("second", "ss", "s"), SECOND),
    **dict.fromkeys(("millisecond", "ms"), MILLISECOND),
    **dict.fromkeys(("microsecond", "mcs"), MICROSECOND),
}
"""Units of time by all their names in Azure Stream Analytics."""

_SIZES = {
    "week": WEEK,
    "day": DAY,
    "hour": HOUR,
    "minute": MINUTE,
    "second": SECOND,
    "millisecond": MILLISECOND,
    "microsecond": MICROSECOND,
}
_UNITS = {spelling: size for name, size in _SIZES.items() for spelling in (name, f"{name}s")}
_CALENDAR = {"month", "months", "year", "years", "quarter", "quarters"}
_FIELDS = ("day", "hour", "minute", "second")
_FIELD = r"(\d{1,9}(?:\.\d{1,6})?)"


def azure_length(unit: exp.Expr, count: exp.Expr) -> Duration:
    """Read a unit of time and a whole number."""
    return _times(AZURE_UNITS[azure_unit(unit)], whole(count), count)


def azure_unit(node: exp.Expr) -> str:
    """Read the name of a unit of time."""
    plain = isinstance(node, exp.Column | exp.Var | exp.Identifier) or node.is_string
    name = node.name.casefold() if plain else ""
    if name not in AZURE_UNITS:
        known = "Use day, hour, minute, second, millisecond or microsecond, or one of their abbreviations."
        written = f"{node.name!r} is no unit of time." if plain else "a unit of time is expected here."
        near = did_you_mean(name, (unit for unit in AZURE_UNITS if len(unit) > 3)) if len(name) > 2 else ""
        refuse(node, f"{written}{near} {known}")
    return name


def whole(node: exp.Expr) -> int:
    """Read a whole number, which may be negative."""
    digits = node.this if isinstance(node, exp.Neg) else node
    if not (isinstance(digits, exp.Literal) and not digits.is_string and re.fullmatch(r"\d{1,18}", digits.name)):
        refuse(node, "a whole number is expected here, such as 5: lengths of windows are constants.")
    return -int(digits.name) if isinstance(node, exp.Neg) else int(digits.name)


def interval(node: exp.Expr) -> Duration:
    """Read an INTERVAL, such as INTERVAL '10' MINUTES or INTERVAL '1:30' HOUR TO MINUTE."""
    if not isinstance(node, exp.Interval) or not isinstance(node.this, exp.Literal):
        refuse(
            node, "an interval is expected here, such as INTERVAL '10' MINUTES.", "a length of a window is no constant"
        )
    value, unit = node.this.name.strip(), node.args.get("unit")
    if isinstance(unit, exp.IntervalSpan):
        return _span(node, value, unit)
    name = "" if unit is None else unit.name.casefold()
    if name in _UNITS and re.fullmatch(r"-?\d{1,18}", value):
        return _times(_UNITS[name], int(value), node)
    if name and name not in _UNITS:
        _strange_unit(node, name)
    return text_length(node, f"{value} {name}")


def text_length(node: exp.Expr, text: str) -> Duration:
    """Read a length from a text, such as '10 minutes'."""
    words = re.findall(r"[^\W\d_]+", re.sub(r"^\s*interval\b", "", text, flags=re.IGNORECASE))
    for word in words:
        if word.casefold() not in _UNITS:
            _strange_unit(node, word)
    try:
        return parse_duration(text)
    except QueryError as error:
        refuse(node, str(error), "a length of a window is written in a way that only Spark reads")


def _strange_unit(node: exp.Expr, name: str) -> None:
    if name.casefold() in _CALENDAR:
        raise Wrong(node, f"{name!r} has no fixed length. Use days, for example 30 days.")
    known = f"Use {', '.join(f'{unit}s' for unit in _SIZES)}."
    raise Wrong(node, f"{name!r} is no unit of time.{did_you_mean(name, _UNITS)} {known}")


def _span(node: exp.Expr, value: str, span: exp.IntervalSpan) -> Duration:
    """Read fields of time from the first to the last that are named, such as '1 12:30' DAY TO MINUTE."""
    names = [end.name.casefold().rstrip("s") for end in (span.this, span.expression)]
    if not set(names) <= set(_FIELDS) or _FIELDS.index(names[0]) >= _FIELDS.index(names[1]):
        refuse(node, "an interval goes from days, hours or minutes to hours, minutes or seconds here.")
    fields = _FIELDS[_FIELDS.index(names[0]) : _FIELDS.index(names[1]) + 1]
    pattern = "".join(
        (" " if fields[place - 1] == "day" else ":") * bool(place) + _FIELD for place in range(len(fields))
    )
    if (match := re.fullmatch(f"(-?){pattern}", value)) is None:
        example = "1:30" if "day" not in fields else "1 12:30"
        refuse(node, f"{value!r} does not have the fields {', '.join(fields)}. Write them as in {example!r}.")
    sign, *numbers = match.groups()
    parts = " ".join(f"{number} {name}s" for number, name in zip(numbers, fields, strict=True))
    length = text_length(node, parts)
    return Duration(-length) if sign else length


def _times(unit: int, count: int, node: exp.Expr) -> Duration:
    if abs(length := unit * count) > LONGEST:
        refuse(node, "a length of more than 292,000 years is too long. Use a shorter one.")
    return Duration(length)
