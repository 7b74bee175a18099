"""A maximum matching between lower and higher places, by augmenting paths over sets that are bits of numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence

Above = Sequence[int]
"""For every place the higher places that it may be matched with, as bits of a number."""


def match(above: Above, order: Sequence[int]) -> dict[int, int]:
    """Give a higher place to as many places as possible, no two the same; those that stand first in order come first.

    A place that has been given one keeps one, though another perhaps, and the sets of places that can be served
    together are a matroid: so no other matching serves places that stand further ahead.

    >>> match([0b110, 0b010, 0], [0, 1, 2])
    {0: 2, 1: 1}
    """
    upper: dict[int, int] = {}
    lower: dict[int, int] = {}
    alive = free = (1 << len(above)) - 1
    for place in order:
        unseen, end, reached_from = _search(place, above, lower, alive, free)
        if end is None:
            alive = unseen  # whoever gets to what was seen will get no further, either
            continue
        free ^= 1 << end
        _pass_on(end, reached_from, upper, lower)
    return upper


def _search(
    place: int, above: Above, lower: dict[int, int], alive: int, free: int
) -> tuple[int, int | None, dict[int, int]]:
    """Look for a free higher place: directly, or one for whoever has what is wanted, and so on; shortest way first.

    Gives what was not seen, the free place, and from where each higher place was reached.
    """
    unseen, reached_from, queue = alive, {}, deque([place])
    while queue:
        low = queue.popleft()
        reached = above[low] & unseen
        if hit := reached & free:
            end = _lowest(hit)
            reached_from[end] = low
            return unseen, end, reached_from
        unseen ^= reached
        for high in _bits(reached):
            reached_from[high] = low
            queue.append(lower[high])
    return unseen, None, reached_from


def _pass_on(end: int, reached_from: dict[int, int], upper: dict[int, int], lower: dict[int, int]) -> None:
    """Give the free place to the one that reached it, what that one had to the one before it, and so on."""
    given: int | None = end
    while given is not None:
        low = reached_from[given]
        before = upper.get(low)
        upper[low], lower[given] = given, low
        given = before


def _lowest(places: int) -> int:
    return (places & -places).bit_length() - 1


def _bits(places: int) -> Iterator[int]:
    """Yield the places of a set, lowest first."""
    while places:
        low = places & -places
        yield low.bit_length() - 1
        places ^= low
