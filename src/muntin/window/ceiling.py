"""How many instances a row may lie in: more than anybody needs, and fewer than a task has no memory for."""

from __future__ import annotations

from collections.abc import Iterable

from muntin.errors import QueryError
from muntin.window.kind import Kind

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
