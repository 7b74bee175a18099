"""Python values as text that keeps their types: what users' code remembers between micro-batches.

JSON holds None, booleans, texts, lists, whole numbers and finite floats. Every other value is an object with one
member, named for its type. Nothing but the types listed here can be written, and reading runs no code.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from math import isfinite
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from muntin.errors import QueryError
from muntin.formats import FormatError

FORMAT = 1
"""The format that this version writes. It reads this one and all lower ones."""


def encode(value: Any, owner: str) -> str:
    """Write a value as text; refuse a type that would not come back as it was.

    >>> encode((1, {2: "b"}), "the state")
    '{"format":1,"value":{"tuple":[1,{"dict":[[2,"b"]]}]}}'
    >>> decode(encode((1, {2: "b"}), "the state"))
    (1, {2: 'b'})
    >>> encode([object], "the state")
    Traceback (most recent call last):
    muntin.errors.QueryError: the state has a value of type 'type', which cannot be kept. Use None, bool, int, float, \
str, bytes, Decimal, date, datetime, timedelta, or numpy's numbers, in tuples, lists, dicts and sets.
    """
    try:
        return json.dumps({"format": FORMAT, "value": _tagged(value)}, separators=(",", ":"))
    except _UnknownTypeError as error:
        raise QueryError(
            f"{owner} has a value of type {str(error)!r}, which cannot be kept. Use None, bool, int, float, str, "
            "bytes, Decimal, date, datetime, timedelta, or numpy's numbers, in tuples, lists, dicts and sets."
        ) from None


def decode(text: str) -> Any:
    """Read a value back; refuse what a later version wrote.

    >>> decode('{"format":2,"value":1}')
    Traceback (most recent call last):
    muntin.formats.FormatError: a value has format 2, and this version of Muntin knows formats up to 1. Upgrade.
    """
    document = json.loads(text)
    if (format := document["format"]) > FORMAT:
        raise FormatError(
            f"a value has format {format}, and this version of Muntin knows formats up to {FORMAT}. Upgrade."
        )
    return _untagged(document["value"])


class _UnknownTypeError(Exception):
    """A type that is not kept, by its name."""


def _tagged(value: Any) -> Any:
    """Return a value as JSON has it."""
    kind = type(value)
    if value is None or kind in (bool, int, str) or (kind is float and isfinite(value)):
        return value
    if kind is list:
        return [_tagged(item) for item in value]
    if kind in _WRITERS:
        return {kind.__name__: _WRITERS[kind](value)}
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in "biuf":
        return {"array" if kind is np.ndarray else "number": [value.dtype.str, _tagged(value.tolist())]}
    raise _UnknownTypeError(kind.__name__)


def _untagged(value: Any) -> Any:
    if isinstance(value, list):
        return [_untagged(item) for item in value]
    if isinstance(value, dict):
        ((kind, content),) = value.items()
        return _READERS[kind](content)
    return value


def _datetime(value: datetime) -> list[Any]:
    """Return the clock, which of two equal hours it is, and the zone: a name, or seconds from UTC."""
    zone = value.tzinfo
    if type(zone) is ZoneInfo and zone.key:
        known: Any = zone.key
    elif zone is None or type(zone) is timezone:
        known = None if zone is None else zone.utcoffset(None).total_seconds()
    else:
        raise _UnknownTypeError(f"datetime with a time zone of type {type(zone).__name__}")
    return [value.replace(tzinfo=None).isoformat(), value.fold, known]


def _from_datetime(content: list[Any]) -> datetime:
    clock, fold, known = content
    zone = ZoneInfo(known) if isinstance(known, str) else None if known is None else timezone(timedelta(seconds=known))
    return datetime.fromisoformat(clock).replace(fold=fold, tzinfo=UTC if known == 0 else zone)


def _in_order(items: Any) -> list[Any]:
    return sorted((_tagged(item) for item in items), key=json.dumps)


def _from_pairs(content: list[Any]) -> dict[Any, Any]:
    return {_untagged(key): _untagged(item) for key, item in content}


_WRITERS: dict[type, Callable[[Any], Any]] = {
    float: repr,
    tuple: lambda value: [_tagged(item) for item in value],
    dict: lambda value: [[_tagged(key), _tagged(item)] for key, item in value.items()],
    set: _in_order,
    frozenset: _in_order,
    bytes: lambda value: b64encode(value).decode(),
    Decimal: str,
    date: date.isoformat,
    datetime: _datetime,
    timedelta: lambda value: [value.days, value.seconds, value.microseconds],
}
"""How a value of each type is written, where JSON has no such type."""

_READERS: dict[str, Callable[[Any], Any]] = {
    "float": float,
    "tuple": lambda content: tuple(map(_untagged, content)),
    "dict": _from_pairs,
    "set": lambda content: set(map(_untagged, content)),
    "frozenset": lambda content: frozenset(map(_untagged, content)),
    "bytes": b64decode,
    "Decimal": Decimal,
    "date": date.fromisoformat,
    "datetime": _from_datetime,
    "timedelta": lambda content: timedelta(*content),
    "array": lambda content: np.array(_untagged(content[1]), content[0]),
    "number": lambda content: np.dtype(content[0]).type(_untagged(content[1])),
}
"""How it is read back, by the name of its type."""
