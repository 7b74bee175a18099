"""Python values as text that keeps their types."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, date, datetime, timedelta, timezone
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
    | st.dates() | st.datetimes() | st.timedeltas()
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
    assert spelled(decode(encode(value, "it"))) == spelled(value)


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
    ],
)
def test_types_that_are_easily_lost(value: Any) -> None:
    assert spelled(decode(encode(value, "it"))) == spelled(value)


def test_arrays() -> None:
    array = np.array([[1.5, np.nan], [np.inf, 0.0]], np.float32)
    read = decode(encode(array, "it"))
    np.testing.assert_array_equal(read, array)
    assert read.dtype == array.dtype


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
        (date, "type"),
    ],
)
def test_what_would_come_back_as_something_else_is_refused(value: Any, name: str) -> None:
    with pytest.raises(mt.QueryError, match=f"the state of 'w' has a value of type '{name}', which cannot be kept"):
        encode(value, "the state of 'w'")
