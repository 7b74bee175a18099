"""What joins mean, in plain Python: the pairs and common instances that they are compared with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from muntin.pairing import Ranges
from muntin.window import Window


class Event(NamedTuple):
    """What a join looks at in a row; without a key or a time it has no partner."""

    key: Any
    time: int | None


def pairs_within(
    left: Iterable[Event], right: Sequence[Event], ranges: Ranges, *, forward: bool = False
) -> Iterator[tuple[Event, Event, str]]:
    """Yield every pair within the longest range, with the label of the shortest: what mt.join(within=…) means.

    >>> from muntin.pairing import read_ranges
    >>> hour = 3_600_000_000
    >>> left, right = [Event("a", 0)], [Event("a", hour), Event("a", -2 * hour), Event("b", 0)]
    >>> [(pair[1].time // hour, pair[2]) for pair in pairs_within(left, right, read_ranges("1 h, 1 d"))]
    [(1, '1h'), (-2, '1d')]
    """
    band = ranges.band(forward=forward)
    for one in left:
        for other in right:
            if one.key is None or one.key != other.key or one.time is None or other.time is None:
                continue
            if band.holds(one.time, other.time):
                yield one, other, str(ranges.label(other.time - one.time))


def common_instances(window: Window, one: int, other: int) -> Iterator[tuple[int, int]]:
    """Yield the instances that hold two times: a pair has a row for each in mt.join(windows=…).

    >>> list(common_instances(Window(10, 5), 3, 7)), list(common_instances(Window(10), 3, 12))
    ([(0, 10)], [])
    """
    return (instance for instance in window.containing(one) if instance[0] <= other < instance[1])


def expiries(one: int, other: int, ranges: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield, for every level that has both rows of a pair, its number and when the pair leaves it.

    Ranges are those of sliding states (τ - ω, τ], the shortest first: the pair is in one while its earlier row is, so
    from distances less than ω on; in whole numbers that is within=ω - 1. A pair that level k of n finds first has
    n - k results.

    >>> list(expiries(9, 3, [4, 8])), list(expiries(9, 10, [4, 8]))
    ([(1, 11)], [(0, 13), (1, 17)])
    """
    earlier, later = sorted((one, other))
    return ((level, earlier + length) for level, length in enumerate(ranges) if later - earlier < length)
