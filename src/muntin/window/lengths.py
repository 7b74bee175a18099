"""Lengths of windows as users write them: read, and brought to one unit."""

from __future__ import annotations

from datetime import timedelta
from operator import index

from muntin.duration import LONGEST, Duration, parse_duration
from muntin.errors import QueryError

Length = int | str | timedelta
"""A length of time as users write it: text, timedelta, or an int in plain units, which only planning takes."""


def read_length(name: str, value: object, id: str | None) -> int:
    """Read a length of a window, which errors call by its name and its window's id."""
    if isinstance(value, str | timedelta):
        return parse_duration(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        remedy = "Use text such as '5 minutes', a timedelta, or an int."
        raise QueryError(f"{name} {value!r} is no length of time{of_window(id)}. {remedy}")
    length = value if isinstance(value, Duration) else index(value)
    if abs(length) > LONGEST:
        raise QueryError(
            f"{name} of {length.bit_length()} bits exceeds 2**63 - 1{of_window(id)}. Use a shorter {name}."
        )
    return length


def common_unit(lengths: dict[str, int], id: str | None) -> type[int]:
    """Give the type that all lengths have; nothing is nothing in any unit."""
    if not any(isinstance(length, Duration) for length in lengths.values()):
        return int
    for name, length in lengths.items():
        if length and not isinstance(length, Duration):
            raise QueryError(
                f"{name} {length} has no unit of time, unlike the other lengths{of_window(id)}. "
                f"Write it as '{length} seconds', say."
            )
    return Duration


def of_window(id: str | None) -> str:
    """Say in an error which window is meant."""
    return "" if id is None else f" in window {id!r}"
