"""How long windows may be, and how many instances a row may lie in: more than anybody needs, and no more than runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from muntin.duration import DAY, Duration
from muntin.errors import QueryError
from muntin.window.kind import Kind
from muntin.window.kinds import AnyWindow
from muntin.window.periodic import Window

LONGEST_WINDOW = 10_000 * 366 * DAY
"""Ten thousand years: what Spark's timestamps span, and short enough that no sum of two leaves 64 bits."""

MOST_INSTANCES = 1_000_000
"""Instances that a row may lie in, unless more are allowed."""


def check_instances(windows: Iterable[Kind], most: int, option: str) -> None:
    """Refuse windows that put a row into too many instances; the option allows more.

    >>> from muntin.window.periodic import Window
    >>> check_instances([Window("1 hour", "1 us")], 10**6, "most_instances=10**10")
    Traceback (most recent call last):
    muntin.errors.QueryError: window '1h/1us' puts a row into 3,600,000,000 instances, and at most 1,000,000 are \
allowed. Use a longer slide or step, or allow more with most_instances=10**10.
    """
    for window in windows:
        if window.instances_of_a_row > most:
            count = f"{window.instances_of_a_row:,}".removesuffix(".0")
            raise QueryError(
                f"window {window.label!r} puts a row into {count} instances, and at most {most:,} are allowed. "
                f"Use a longer slide or step, or allow more with {option}."
            )


def check_lengths(windows: Iterable[AnyWindow]) -> None:
    """Refuse windows longer than the time that Spark knows."""
    for window in windows:
        for name, length in _lengths(window).items():
            if length > LONGEST_WINDOW:
                raise QueryError(
                    f"{name} {length} of window {window.label!r} is longer than the time that Spark knows. "
                    "Use at most 3660000 days."
                )


def _lengths(window: AnyWindow) -> dict[str, Duration]:
    """Return the lengths of time of a window; an offset of a periodic one may be longer than its range."""
    if isinstance(window, Window):
        return {"range": Duration(window.longest)}
    named = {part.name: getattr(window, part.name) for part in fields(window)}
    return {name: length for name, length in named.items() if isinstance(length, Duration)}
