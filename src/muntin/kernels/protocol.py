"""What techniques ask of operators and ranges, in plain Python; compiled code has the same functions by overloading.

An operator has a method `combine`, and `remove` and `exchange` if it can be undone, `displaces` if it is selective,
`load` and `store` if its partials are rows of a matrix, `commutes` if the order does not matter, and `mark` if it wants
to know when a slide is done.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]


class Asked(NamedTuple):
    """Answers that are due after some slides, for queries whose ranges begin at any row that never moves back.

    Where every query is due after every slide with a range of one size, an array of sizes in ascending order says the
    same in less.
    """

    due: Longs
    """Where the answers of each slide begin, and the end of the last ones."""
    starts: Longs
    """The first row of every answer; those of one slide in descending order."""
    queries: Longs
    """The number of the query of every answer."""
    number: int
    """How many queries there are."""
    widest: int
    """Rows in the longest range."""


def combine(op: Any, a: Any, b: Any) -> Any:
    """Combine two partials, the earlier one first."""
    return op.combine(a, b)


def remove(op: Any, total: Any, old: Any) -> Any:
    """Take the oldest partial out of a total."""
    return op.remove(total, old)


def exchange(op: Any, total: Any, old: Any, new: Any) -> Any:
    """Take the oldest partial out of a total and the newest in."""
    return op.exchange(total, old, new)


def displaces(op: Any, new: Any, old: Any) -> Any:
    """Tell whether a newer value makes an older one useless for ever."""
    return op.displaces(new, old)


def commutes(op: Any) -> bool:
    """Tell whether the order of partials does not matter."""
    return op.commutes() if hasattr(op, "commutes") else False


def load(op: Any, values: Any, place: Any) -> Any:
    """Read a partial: a number, or a row as a tuple."""
    return op.load(values, place) if hasattr(op, "load") else values[place]


def store(op: Any, values: Any, place: Any, partial: Any) -> None:
    """Write a partial."""
    values[place] = partial


def mark(op: Any, slide: Any) -> None:
    """Tell the operator that a slide is done."""
    if hasattr(op, "mark"):
        op.mark(slide)


def bare(op: Any) -> Any:
    """Give the operator without what only wants to know when slides are done, so that less is handed around."""
    return op.bare() if hasattr(op, "bare") else op


def slot(row: Any, around: Any) -> Any:
    """Give a row's place in a circular array, whose length less one is `around`; unsigned, so that none is negative."""
    return row & around


def room(values: Any, count: Any) -> Any:
    """Make room for so many partials."""
    return np.zeros((count, *values.shape[1:]), values.dtype)


def end(ends: Any, slide: Any) -> Any:
    """Give where the range of a slide begins or ends: in an array, or so far from the slide's own number."""
    return ends[slide] if isinstance(ends, np.ndarray) else max(0, slide + ends)


def steps_by_one(ends: Any) -> bool:
    """Tell whether every range is the one before, moved by one row."""
    return not isinstance(ends, np.ndarray)


def longest(lo: Any, hi: Any, slides: Any) -> Any:
    """Give the length of the longest range, at least 1."""
    return max(1, int((hi - lo).max(initial=1))) if isinstance(lo, np.ndarray) else min(hi - lo, slides - 1 + hi)


def answers(asked: Any, slide: Any) -> Any:
    """Give which answers are due after a slide, as a range of all answers in order: the shortest ranges first."""
    if isinstance(asked, np.ndarray):
        return slide * len(asked), (slide + 1) * len(asked)
    return asked.due[slide], asked.due[slide + 1]


def start(asked: Any, slide: Any, answer: Any) -> Any:
    """Give the first row of an answer's range, which ends with the slide's own row."""
    if isinstance(asked, np.ndarray):
        return max(0, slide + 1 - asked[answer - slide * len(asked)])
    return asked.starts[answer]


def query(asked: Any, slide: Any, answer: Any) -> Any:
    """Give the number of the query that an answer is for."""
    return answer - slide * len(asked) if isinstance(asked, np.ndarray) else asked.queries[answer]


def widest(asked: Any) -> Any:
    """Give the rows in the longest range."""
    return asked[-1] if isinstance(asked, np.ndarray) else asked.widest


def queries(asked: Any) -> Any:
    """Give the number of queries."""
    return len(asked) if isinstance(asked, np.ndarray) else asked.number


def capacity(count: Any) -> Any:
    """Give the least power of two that holds so many.

    >>> [capacity(count) for count in (1, 2, 3, 5, 8, 9, 100)]
    [1, 2, 4, 8, 8, 16, 128]
    """
    size = 1
    while size < count:
        size *= 2
    return size
