"""Tables in Markdown."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def table(head: list[str], rows: Iterable[list[Any]]) -> str:
    """Write a table.

    >>> print(table(["a", "b"], [[1, 2]]))
    | a | b |
    | --- | --- |
    | 1 | 2 |
    """
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
