"""Python values as text that keeps their types."""

from __future__ import annotations

import json
from collections import OrderedDict
from contextlib import suppress
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.typed_values import decode, encode

ATOMS = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary() | st.decimals()
    | st.dates() | st.datetimes() | st.timedeltas() | st.times() | st.binary().map(bytearray)
)  # fmt: skip
VALUES = st.recursive(
    ATOMS,
    lambda inner: (
        st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text() | st.integers(), inner)
        | st.sets(st.integers() | st.text()) | st.frozensets(st.binary() | st.dates())
    ),
    max_leaves=20,
)  # fmt: skip


def spelled(value: Any) -> str:
    """Write a value with the types of all its parts; what sets hold in some order."""
    if isinstance(value, set | frozenset):
        return f"{type(value).__name__}({sorted(map(spelled, value))})"
    if isinstance(value, list | tuple):
        return f"{type(value).__name__}({[spelled(item) for item in value]})"
    if isinstance(value, dict):
        return f"dict({[(spelled(key), spelled(item)) for key, item in value.items()]})"
    return f"{type(value).__name__}({value!r})"


@given(VALUES)
def test_values_come_back_as_they_were(value: Any) -> None:
    assert spelled(decode(encode(value, "it"), "it")) == spelled(value)


@pytest.mark.parametrize(
    "value",
    [
        -0.0,
        {True: 1, 2: "x", (1, 2): None},
        {1: "whole", "1": "text"},
        Decimal("1.10"),
        datetime(2024, 1, 1, tzinfo=UTC),
        datetime(2024, 10, 27, 2, 30, fold=1, tzinfo=ZoneInfo("Europe/Berlin")),
        datetime(2024, 1, 1, tzinfo=timezone(timedelta(hours=2, minutes=30))),
        {"float": 1.0, "format": 2},
        np.float32(0.1),
        np.int64(-3),
        np.bool_(True),
        [-(2**1030)] * 10,
        [1, 2.5, -0.0, True] * 3,
        [float("nan"), *range(9)],
    ],
)
def test_types_that_are_easily_lost(value: Any) -> None:
    assert spelled(decode(encode(value, "it"), "it")) == spelled(value)


def test_what_stands_in_several_places_is_one_thing_again() -> None:
    """Code that changes it in one place changes it in all, with or without a restart."""
    inner: list[Any] = [1]
    row = {"first": inner, "shared": {1}}
    array = np.array([1.0])
    value = (row, [row, inner], {"last": inner, "again": array}, bytearray(b"x"), bytearray(b"x"), array, (), ())
    first, (second, third), named, one, other, last, *_ = decode(encode(value, "it"), "it")
    assert spelled((first, second, named["last"], one)) == spelled((row, row, inner, bytearray(b"x")))
    assert first is second
    assert first["first"] is third is named["last"]
    assert named["again"] is last
    assert one is not other
    assert encode([[], []], "it") == '{"format":1,"value":[[],[]]}'


def test_a_short_text_is_no_long_value() -> None:
    """Each list has the one before twice: 2**60 places, and 60 lists."""
    text = '{"shared":[1]}'
    for number in range(60):
        text = f'{{"shared":[{text},{{"again":{number}}}]}}'
    text = f'{{"format":1,"value":[{text},{{"again":60}}]}}'
    assert encode(decode(text, "it"), "it") == text


@pytest.mark.parametrize(
    "text",
    [
        '[{"shared":{"tuple":[1]}},{"again":0}]',
        '[{"shared":[1]},{"again":1}]',
        '[{"again":0},{"shared":[1]}]',
        '{"shared":[],"x":1}',
    ],
)
def test_places_that_nobody_has_written(text: str) -> None:
    with pytest.raises(mt.QueryError, match="it is damaged"):
        decode(f'{{"format":1,"value":{text}}}', "it")


def test_arrays() -> None:
    array = np.array([[1.5, np.nan], [np.inf, 0.0]], np.float32)
    read = decode(encode(array, "it"), "it")
    np.testing.assert_array_equal(read, array)
    assert read.dtype == array.dtype


def test_whole_numbers_of_any_length() -> None:
    """Products soon have more digits than Python writes."""
    assert [decode(encode(sign * 7**6000, "it"), "it") == sign * 7**6000 for sign in (1, -1)] == [True, True]


def test_arrays_without_numbers_keep_their_shape() -> None:
    for shape in ((0,), (0, 3), (2, 0, 4)):
        assert decode(encode(np.zeros(shape), "it"), "it").shape == shape


class Point(NamedTuple):
    x: int


class Special(int):
    pass


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (object(), "object"),
        ({"x": [OrderedDict()]}, "OrderedDict"),
        (Point(1), "Point"),
        (Special(3), "Special"),
        (1j, "complex"),
        (np.array(["x"]), "ndarray"),
        (np.ma.masked_array([1, 2], [True, False]), "MaskedArray"),
        (time(1, 2, tzinfo=UTC), "time with a time zone"),
        (np.datetime64(1, "s"), "datetime64"),
        (date, "type"),
    ],
)
def test_what_would_come_back_as_something_else_is_refused(value: Any, name: str) -> None:
    with pytest.raises(mt.QueryError, match=f"the state of 'w' has a value of type '{name}', which cannot be kept"):
        encode(value, "the state of 'w'")


@pytest.mark.skipif(np.dtype("g").itemsize == 8, reason="long doubles are doubles here")
@pytest.mark.parametrize("value", [np.longdouble(1), np.zeros(2, "g")])
def test_numbers_that_python_does_not_have_are_refused(value: Any) -> None:
    with pytest.raises(mt.QueryError, match="which cannot be kept"):
        encode(value, "it")


def test_values_that_never_end_are_refused() -> None:
    deep: list[Any] = []
    deep.append(deep)
    with pytest.raises(mt.QueryError, match="the state has a value that is nested too deeply, or that holds itself"):
        encode(deep, "the state")


DAMAGE = {
    "no JSON": "{",
    "no end": "[1,2",
    "more than a value": "1,2",
    "nothing": "",
    "deep": "[" * 100_000,
    "deep objects": '{"list":' * 100_000,
    "unknown type": '{"object":[]}',
    "two types": '{"tuple":[],"list":[]}',
    "no type": "{}",
    "no pairs": '{"dict":[1]}',
    "key that is a list": '{"dict":[[[1],2]]}',
    "item that is a list": '{"set":[[1]]}',
    "tuple of a number": '{"tuple":1}',
    "number": '{"int":"0xg"}',
    "long number": "1" * 5000,
    "infinite number": '{"float":1' + "0" * 400 + "}",
    "bytes": '{"bytes":"§"}',
    "bytes of a number": '{"bytes":1}',
    "decimal": '{"Decimal":"x"}',
    "date": '{"date":"x"}',
    "day of a number": '{"date":1}',
    "zone": '{"datetime":["2024-01-01T00:00:00",0,"../../etc/passwd"]}',
    "unknown zone": '{"datetime":["2024-01-01T00:00:00",0,"Europe"]}',
    "offset": '{"datetime":["2024-01-01T00:00:00",0,1e300]}',
    "fold": '{"datetime":["2024-01-01T00:00:00",7,null]}',
    "time": '{"time":[]}',
    "length": '{"timedelta":[1e30]}',
    "array of objects": '{"array":["O",[1]]}',
    "array of texts": '{"array":["<U3",["x"]]}',
    "array of records": '{"array":["<i4,<i4",[[1,2]]]}',
    "array of times": '{"array":["<M8[s]",[1]]}',
    "array of a type that numpy looks up": '{"array":["float64",[1]]}',
    "ragged array": '{"array":["<f8",[[1],[2,3]]]}',
    "array of texts for numbers": '{"array":["<i8",["x"]]}',
    "shape": '{"array":["<i8",[1],[5]]}',
    "number that is an object": '{"number":["O",1]}',
    "number that is a text": '{"number":["<U1","x"]}',
    "number that is bytes": '{"number":["V8",1]}',
    "number out of range": '{"number":["|i1",1000]}',
    "no number": '{"number":1}',
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_texts_are_one_error(damage: str) -> None:
    with pytest.raises(mt.QueryError, match=r"^the state of 'w' is damaged \(.*\)\. Use a new checkpoint\.$"):
        decode(f'{{"format":1,"value":{DAMAGE[damage]}}}', "the state of 'w'")


@pytest.mark.parametrize("text", ["", "null", "[1]", '{"value":1}', '{"format":"1","value":1}', '{"format":1}'])
def test_texts_without_a_format_are_damaged(text: str) -> None:
    with pytest.raises(mt.QueryError, match="it is damaged"):
        decode(text, "it")


@given(st.text(max_size=30) | st.recursive(st.none() | st.integers() | st.text(max_size=5), st.lists).map(json.dumps))
def test_nothing_else_is_raised(text: str) -> None:
    for kind in ("tuple", "dict", "datetime", "time", "array", "number", "bytes", "timedelta", "Decimal"):
        with suppress(mt.QueryError):
            decode(f'{{"format":1,"value":{{"{kind}":{text}}}}}', "it")


def test_formats_of_later_versions_are_refused_as_such() -> None:
    with pytest.raises(mt.QueryError, match="it has format 2, and this version of Muntin knows formats up to 1"):
        decode('{"format":2,"value":{"later":1}}', "it")
