"""Python values as text that keeps their types: what users' code remembers.

JSON holds None, booleans, texts, lists, whole numbers and finite floats. Every other value is an object with one
member, named for its type. Nothing but the types listed here can be written, and reading runs no code.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from math import isfinite
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from muntin.errors import QueryError
from muntin.formats import FormatError

FORMAT = 1
"""The format that this version writes. It reads this one and all lower ones."""

BEGINNING = '{"format":'
"""What every text begins with."""

TYPES = (
    "None, bool, int, float, str, bytes, Decimal, date, datetime, time, timedelta, or numpy's numbers and arrays of "
    "numbers, in tuples, lists, dicts and sets"
)
"""What can be kept, in words."""


def encode(value: Any, owner: str) -> str:
    """Write a value as text; refuse a type that would not come back as it was.

    >>> encode((1, {2: "b"}), "the state")
    '{"format":1,"value":{"tuple":[1,{"dict":[[2,"b"]]}]}}'
    >>> decode(encode((1, {2: "b"}), "the state"), "the state")
    (1, {2: 'b'})
    >>> encode([object], "the state")
    Traceback (most recent call last):
    muntin.errors.QueryError: the state has a value of type 'type', which cannot be kept. Use None, bool, int, float, \
str, bytes, Decimal, date, datetime, time, timedelta, or numpy's numbers and arrays of numbers, in tuples, lists, \
dicts and sets.
    """
    try:
        return f'{BEGINNING}{FORMAT},"value":{_to_text(_with_places(value))}}}'
    except _UnknownTypeError as error:
        raise QueryError(f"{owner} has a value of type {str(error)!r}, which cannot be kept. Use {TYPES}.") from None
    except RecursionError:
        raise QueryError(
            f"{owner} has a value that is nested too deeply, or that holds itself, which cannot be kept. Use {TYPES}."
        ) from None


def decode(text: str, owner: str) -> Any:
    """Read a value back; refuse what a later version wrote, and what no version wrote.

    >>> decode('{"format":2,"value":1}', "the state")
    Traceback (most recent call last):
    muntin.formats.FormatError: the state has format 2, and this version of Muntin knows formats up to 1. Upgrade.
    >>> decode('{"format":1,"value":{"int":"x"}}', "the state")
    Traceback (most recent call last):
    muntin.errors.QueryError: the state is damaged (invalid literal for int() with base 16: 'x'). Use a new checkpoint.
    """
    document = _DOCUMENT.fullmatch(text)
    if document and (format := int(document[1])) > FORMAT:
        raise FormatError(
            f"{owner} has format {format}, and this version of Muntin knows formats up to {FORMAT}. Upgrade."
        )
    try:
        if not document or not text.isascii():
            raise ValueError("it is not as Muntin writes it")
        return _from_json_with_places(document[2]) if _SHARED_OBJECT in text else _from_json(document[2])
    except DAMAGE as error:
        raise damage_error(owner, error) from error


DAMAGE = (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, OSError, RecursionError)
"""What is raised where a text is read that Muntin has not written."""


def damage_error(owner: str, error: Exception) -> QueryError:
    """Return the one error for all of these."""
    return QueryError(f"{owner} is damaged ({str(error)[:200]}). Use a new checkpoint.")


_DOCUMENT = re.compile(r'\{"format":([0-9]{1,9}),"value":(.*)\}', re.DOTALL)


class _UnknownTypeError(Exception):
    """A type that is not kept, by its name."""


def _to_text(value: Any) -> str:
    """Return a value as text of JSON."""
    kind = type(value)
    if kind in _WRITERS:
        return _WRITERS[kind](value)
    if (kind is np.ndarray or isinstance(value, np.generic)) and _NUMBERS.fullmatch(value.dtype.str):
        shape = [list(value.shape)] if 0 in value.shape else []  # which lists do not show
        return _object("array" if kind is np.ndarray else "number", [value.dtype.str, value.tolist(), *shape])
    raise _UnknownTypeError(kind.__name__)


def _object(kind: str, content: Any) -> str:
    return f'{{"{kind}":{_to_text(content)}}}'


def _list(values: Sequence[Any]) -> str:
    return f"[{','.join(map(repr if _are_numbers(values) else _to_text, values))}]"


def _are_numbers(values: Sequence[Any]) -> bool:
    """Whether these are many numbers that Python writes as JSON does; this takes no call for each."""
    try:
        return len(values) > 8 and set(map(type, values)) <= {int, float} and all(map(isfinite, values))
    except OverflowError:  # a whole number beyond all floats
        return False


def _dict(value: dict[Any, Any]) -> str:
    return f'{{"dict":[{",".join([f"[{_to_text(key)},{_to_text(item)}]" for key, item in value.items()])}]}}'


def _int(value: int) -> str:
    return repr(value) if value.bit_length() <= _LONGEST else _object("int", hex(value))


def _float(value: float) -> str:
    return repr(value) if isfinite(value) else _object("float", repr(value))


def _set(items: set[Any] | frozenset[Any]) -> str:
    return f'{{"{type(items).__name__}":[{",".join(sorted(map(_to_text, items)))}]}}'


_LONGEST = 1000
"""The bits of the longest whole number in decimal: Python writes and reads longer ones slowly, and then not at all."""

_NUMBERS = re.compile(r"[<>|][biuf][1248]")
"""The types of numpy that are kept, as numpy writes them."""


def _from_object(member: dict[str, Any]) -> Any:
    """Return the value that an object of JSON stands for; those within it are values already."""
    ((kind, content),) = member.items()
    if kind not in _READERS:
        raise ValueError(f"there is no type {kind!r}")
    return _READERS[kind](content)


_from_json = json.JSONDecoder(object_hook=_from_object).decode


@dataclass(frozen=True)
class _Shared:
    """What stands in several places of a value: users' code that changes it in one changes it in all."""

    content: Any


@dataclass(frozen=True)
class _Again:
    """Another place of the same, by the number of those that were complete before it."""

    number: int


_SHARED_OBJECT = '{"shared":'


def _with_places(value: Any) -> Any:
    """Return a value in which all that can be changed stands once; a further place of it is a number."""
    places: Counter[int] = Counter()
    shared: set[int] = set()
    _count_places(value, places, shared)
    return _once(value, shared, {}) if shared else value


def _count_places(value: Any, places: Counter[int], shared: set[int]) -> None:
    """Find what users' code can change and what stands in several places; nothing is looked into more than twice."""
    kind = type(value)
    if kind not in _CHANGEABLE and kind is not tuple:
        return
    places[id(value)] += 1
    if kind is tuple and places[id(value)] > 2:
        return
    if kind is not tuple and places[id(value)] > 1:
        shared.add(id(value))
        return
    if kind is dict:
        for item in value.values():
            _count_places(item, places, shared)
    elif (kind is list or kind is tuple) and not _are_numbers(value):
        for item in value:
            _count_places(item, places, shared)


_CHANGEABLE = frozenset([list, dict, set, bytearray, np.ndarray])


def _once(value: Any, shared: set[int], numbers: dict[int, int]) -> Any:
    if id(value) in numbers:
        return _Again(numbers[id(value)])
    copy = value
    if type(value) in (list, tuple):
        copy = type(value)(_once(item, shared, numbers) for item in value)
    elif type(value) is dict:
        copy = {key: _once(item, shared, numbers) for key, item in value.items()}
    if id(value) not in shared:
        return copy
    numbers[id(value)] = len(numbers)
    return _Shared(copy)


def _from_json_with_places(text: str) -> Any:
    """Read a value in which something stands in several places."""
    complete: list[Any] = []

    def from_object(member: dict[str, Any]) -> Any:
        if "shared" in member:
            complete.append(_from_object(member))
            if type(complete[-1]) not in _CHANGEABLE:
                raise ValueError("only what can be changed stands in several places")
            return complete[-1]
        return complete[member["again"]] if "again" in member else _from_object(member)

    return json.loads(text, object_hook=from_object)


def _datetime(value: datetime) -> str:
    """Return the clock, which of two equal hours it is, and the zone: a name, or seconds from UTC."""
    zone = value.tzinfo
    if type(zone) is ZoneInfo and zone.key:
        known: Any = zone.key
    elif zone is None or type(zone) is timezone:
        known = None if zone is None else zone.utcoffset(None).total_seconds()
    else:
        raise _UnknownTypeError(f"datetime with a time zone of type {type(zone).__name__}")
    return _object("datetime", [value.replace(tzinfo=None).isoformat(), value.fold, known])


def _from_datetime(content: list[Any]) -> datetime:
    clock, fold, known = content
    zone = ZoneInfo(known) if isinstance(known, str) else None if known is None else timezone(timedelta(seconds=known))
    return datetime.fromisoformat(clock).replace(fold=fold, tzinfo=UTC if known == 0 else zone)


def _time(value: time) -> str:
    if value.tzinfo is not None:
        raise _UnknownTypeError("time with a time zone")
    return _object("time", [value.isoformat(), value.fold])


def _dtype(text: str) -> Any:
    if not _NUMBERS.fullmatch(text):
        raise ValueError(f"{text!r} is no type of numbers")
    return np.dtype(text)


def _array(content: list[Any]) -> Any:
    kind, values, *shape = content
    array = np.array(values, _dtype(kind))
    return array.reshape(*shape) if shape else array


_WRITERS: dict[type, Callable[[Any], str]] = {
    type(None): lambda _: "null",
    bool: lambda value: "true" if value else "false",
    int: _int,
    float: _float,
    str: json.dumps,
    list: _list,
    tuple: lambda value: f'{{"tuple":{_list(value)}}}',
    dict: _dict,
    set: _set,
    frozenset: _set,
    bytes: lambda value: _object("bytes", b64encode(value).decode()),
    bytearray: lambda value: _object("bytearray", b64encode(value).decode()),
    Decimal: lambda value: _object("Decimal", str(value)),
    date: lambda value: _object("date", value.isoformat()),
    datetime: _datetime,
    time: _time,
    timedelta: lambda value: _object("timedelta", [value.days, value.seconds, value.microseconds]),
    _Shared: lambda value: _object("shared", value.content),
    _Again: lambda value: _object("again", value.number),
}
"""How a value of each type is written."""

_READERS: dict[str, Callable[[Any], Any]] = {
    "int": lambda content: int(content, 16),
    "float": float,
    "tuple": tuple,
    "dict": dict,
    "set": set,
    "frozenset": frozenset,
    "bytes": lambda content: b64decode(content, validate=True),
    "bytearray": lambda content: bytearray(b64decode(content, validate=True)),
    "Decimal": Decimal,
    "date": date.fromisoformat,
    "datetime": _from_datetime,
    "time": lambda content: time.fromisoformat(content[0]).replace(fold=content[1]),
    "timedelta": lambda content: timedelta(*content),
    "array": _array,
    "number": lambda content: _dtype(content[0]).type(content[1]),
    "shared": lambda content: content,
}
"""How it is read back, by the name of its type, from what it holds."""
