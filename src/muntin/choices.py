"""The words that options take: each list stands here once, for editors, type checkers and the checks at run time."""

from __future__ import annotations

from typing import Any, Literal, get_args

from muntin.errors import QueryError

Strategy = Literal["auto", "independent", "native", "kernel"]
"""Ways to evaluate windows, on batches and streams."""

ShapeName = Literal[
    "expand",
    "slices_explode",
    "slices_kernel",
    "source_slices_kernel",
    "rows_kernel",
    "source_kernel",
    "ranges_kernel",
    "marks",
    "source_sessions",
    "ordered",
    "tagged",
]
"""Shapes of batch plans that may be forced by name, beside the independent one, which is a strategy of its own."""

StreamShapeName = Literal["expand", "chain", "columnar", "distinct", "ordered"]
"""Shapes of streams that may be forced by name."""

AnyStrategy = Strategy | ShapeName | StreamShapeName
"""What mt.aggregate takes: a single shape by its name is for tests and benchmarks."""

RollingStrategy = Literal["auto", "independent", "kernel"]
Layout = Literal["long", "wide"]
Late = Literal["drop", "exact"]
How = Literal["inner", "left"]
Direction = Literal["both", "forward"]
JoinStrategy = Literal["auto", "keys", "stretches"]
"""Ways to let rows of a join meet: all of a key, or those of a key in a stretch of time."""
Output = Literal["append", "update"]
Sharing = Literal["auto", "apart", "conditions", "fragments", "branches"]
"""Ways to evaluate many queries: by cost, one by one, filters as conditions, over common partials, or at the source."""

TableScope = Literal["catalog", "given"]
"""Which tables SQL text reads: whatever the session can, or only those that are passed in."""

Algorithm = Literal["independent", "shared", "factor", "optimal", "best"]
"""Algorithms that plan windows."""

WeaveAlgorithm = Literal["no_share", "max_share", "weave_share", "tri_weave", "tri_weave_b", "exhaustive"]
"""Algorithms that put windows into trees."""

SubsumeMethod = Literal["exact", "heuristic"]
"""Methods that put windows into subsumption groups."""


def check_choice(option: str, value: object, *choices: Any) -> None:
    """Refuse a value that none of some Literal types or lists has; the message shows those of the first.

    >>> check_choice("layout", "tall", Layout)
    Traceback (most recent call last):
    muntin.errors.QueryError: unknown layout 'tall'. Use 'long' or 'wide'.
    """
    words = [get_args(choice) or tuple(choice) for choice in choices]
    if not isinstance(value, str) or not any(value in some for some in words):
        *others, last = map(repr, words[0])
        raise QueryError(f"unknown {option} {value!r}. Use {', '.join(others)} or {last}.")
