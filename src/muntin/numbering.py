"""The numbers of changes: how far apart they may be, and which of them have not come."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

FARTHEST = 1_000
"""How far the number of a change may be above the one before."""
LAST = 99_999_999
"""The last number: names of files have no room for more."""
MOST_STRETCHES = 1_000
"""How many stretches of numbers may be missing."""

Stretches = tuple[tuple[int, int], ...]
"""Numbers in order: all from the first to the last of each pair."""


class Advance(NamedTuple):
    """What is known of the numbers after some have come."""

    newest: int
    missing: Stretches
    """Older numbers that have not come."""
    far: tuple[int, ...]
    """Numbers that do not count, because they are too far above the one before."""


def advance(newest: int, missing: Stretches, numbers: Iterable[int]) -> Advance:
    """Return the newest and the missing numbers after some more have come.

    >>> advance(3, ((1, 2),), [2, 4, 7])
    Advance(newest=7, missing=((1, 1), (5, 6)), far=())
    >>> advance(0, (), [1, 3_000_000])
    Advance(newest=1, missing=(), far=(3000000,))
    """
    ordered = sorted(set(numbers))
    stretches, far = list(_without(missing, ordered)), []
    for number in ordered[bisect_right(ordered, newest) :]:
        is_gap = number > newest + 1
        if number > newest + FARTHEST or (is_gap and len(stretches) >= MOST_STRETCHES):
            far.append(number)
            continue
        if is_gap:
            stretches.append((newest + 1, number - 1))
        newest = number
    return Advance(newest, tuple(stretches), tuple(far))


def is_within(number: int, stretches: Stretches) -> bool:
    """Whether a number lies in one of the stretches.

    >>> [is_within(number, ((2, 3), (5, 5))) for number in (1, 2, 4, 5, 6)]
    [False, True, False, True, False]
    """
    place = bisect_right(stretches, (number, LAST)) - 1
    return place >= 0 and number <= stretches[place][1]


def plain_stretches(stretches: Stretches) -> list[int | list[int]]:
    """Return the stretches as JSON has them: a number that is missing alone is no pair.

    >>> plain_stretches(((2, 2), (5, 9)))
    [2, [5, 9]]
    """
    return [first if first == last else [first, last] for first, last in stretches]


def read_stretches(values: Iterable[object]) -> Stretches:
    """Read stretches back, also where every number was written by itself.

    >>> read_stretches([2, [5, 9]]), read_stretches([5, 2, 3, 4])
    (((2, 2), (5, 9)), ((2, 5),))
    """
    stretches: list[tuple[int, int]] = []
    for first, last in sorted(map(_pair, values)):
        if stretches and first <= stretches[-1][1] + 1:
            stretches[-1] = (stretches[-1][0], max(last, stretches[-1][1]))
        else:
            stretches.append((first, last))
    return tuple(stretches)


def _pair(value: object) -> tuple[int, int]:
    pair = value if isinstance(value, list) else [value, value]
    match pair:
        case [int(first), int(last)] if not {type(first), type(last)} - {int} and 1 <= first <= last <= LAST:
            return first, last
    raise ValueError(f"{value!r} is neither a number of a change nor a first and a last one")


def _without(stretches: Stretches, ordered: list[int]) -> Iterable[tuple[int, int]]:
    """Yield what is left of stretches without some numbers."""
    for first, last in stretches:
        for number in ordered[bisect_left(ordered, first) : bisect_right(ordered, last)]:
            if first < number:
                yield first, number - 1
            first = number + 1
        if first <= last:
            yield first, last
