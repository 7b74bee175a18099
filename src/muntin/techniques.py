"""The techniques of final aggregation, as data: what each needs, what it costs, and where it was first described.

A technique answers a stream of ranges whose ends never move back from partials that arrive in order. Planning reads
this table; the kernels of the same names do the work.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from math import log2

from muntin.errors import UnsupportedError


class Need(Enum):
    """What a technique asks of an operation."""

    ASSOCIATIVE = "any associative operation"
    INVERTIBLE = "an operation that can be undone, such as a sum"
    SELECTIVE = "an operation that gives one of its two inputs, such as a maximum"


@dataclass(frozen=True, slots=True)
class Technique:
    """One technique: n is the number of partials in a range, and operations are counted per slide of one partial."""

    name: str
    need: Need
    amortised: str
    worst: str
    many: str
    """Operations for all ranges of 1 to n partials at once; empty where it has no form for many ranges."""
    space: str
    """Partials and pointers held."""
    paper: str
    per_result: float
    """Nanoseconds for a result."""
    per_arrival: float = 0.0
    """Nanoseconds for a partial that arrives."""
    per_member: float = 0.0
    """Nanoseconds for a partial in the range."""
    per_level: float = 0.0
    """Nanoseconds for a doubling of the range."""

    def price(self, members: float, arrivals: float) -> float:
        """Estimate nanoseconds for a result whose range has so many partials, so many of them new."""
        levels = log2(max(1.0, members))
        rebuilt = self.per_level * levels * (1 + arrivals)
        return self.per_result + self.per_arrival * arrivals + self.per_member * members + rebuilt


TECHNIQUES = {
    technique.name: technique
    for technique in (
        Technique("naive", Need.ASSOCIATIVE, "n - 1", "n - 1", "n - 1", "n", "—", 1.0, per_member=0.8),
        Technique(
            "subtract_on_evict",
            Need.INVERTIBLE,
            "2",
            "2",
            "2n",
            "n + 1",
            "Tangwongsan, Hirzel, Schneider, Wu 2015; for many ranges SlickDeque (Inv)",
            1.5,
            per_arrival=1.5,
        ),
        Technique(
            "flatfat",
            Need.ASSOCIATIVE,
            "log n, and as much again where the order matters",
            "2 log n",
            "n log n",
            "2n to 4n",
            "Tangwongsan, Hirzel, Schneider, Wu 2015",
            5.0,
            per_level=2.0,
        ),
        Technique(
            "bint",
            Need.ASSOCIATIVE,
            "log n",
            "2 log n",
            "n log n",
            "2n to 4n",
            "Arasu, Widom 2004",
            5.0,
            per_level=2.0,
        ),
        Technique(
            "flatfit",
            Need.ASSOCIATIVE,
            "3",
            "n - 1, every n + 1 slides",
            "3n at most",
            "2n to 4n",
            "Shein, Chrysanthis, Labrinidis 2017",
            4.0,
            per_arrival=6.0,
        ),
        Technique(
            "two_stacks",
            Need.ASSOCIATIVE,
            "3",
            "n - 1",
            "",
            "2n",
            "adamax 2011; Tangwongsan, Hirzel, Schneider 2017",
            2.5,
            per_arrival=2.5,
        ),
        Technique(
            "daba",
            Need.ASSOCIATIVE,
            "5",
            "8",
            "",
            "2n to 4n",
            "Tangwongsan, Hirzel, Schneider 2017",
            3.0,
            per_arrival=8.0,
        ),
        Technique(
            "slick_deque",
            Need.SELECTIVE,
            "2 - 2/n on random input",
            "n",
            "n",
            "2 to 2n",
            "Shein, Chrysanthis, Labrinidis 2018",
            3.0,
            per_arrival=8.0,
        ),
    )
}
"""All techniques by name."""


def technique(name: str) -> Technique:
    """Give the technique of a name.

    >>> technique("daba").worst
    '8'
    """
    try:
        return TECHNIQUES[name]
    except KeyError:
        raise UnsupportedError(f"there is no technique {name!r}. Techniques are {', '.join(TECHNIQUES)}.") from None


def check(technique: Technique, operation: str, offers: Collection[Need], *, many: bool = False) -> None:
    """Refuse an operation that a technique cannot serve, and name those that can."""
    choices = ", ".join(able(offers, many=many))
    if technique.need not in offers:
        raise UnsupportedError(
            f"{technique.name} needs {technique.need.value}, which {operation} is not. Use {choices}."
        )
    if many and not technique.many:
        raise UnsupportedError(f"{technique.name} has no form for many ranges at once. Use {choices}.")


def able(offers: Collection[Need], *, many: bool = False) -> list[str]:
    """Name the techniques that serve an operation, or those of them that have a form for many ranges.

    >>> able({Need.SELECTIVE}), able({Need.ASSOCIATIVE}, many=True)
    (['slick_deque'], ['naive', 'flatfat', 'bint', 'flatfit'])
    """
    return [t.name for t in TECHNIQUES.values() if t.need in offers and (t.many or not many)]


def cheapest(offers: Collection[Need], members: float, arrivals: float) -> Technique:
    """Choose the technique that is quickest for ranges of so many partials, so many of them new in each.

    >>> cheapest({Need.ASSOCIATIVE}, 4, 4).name, cheapest({Need.ASSOCIATIVE}, 100, 1).name
    ('naive', 'two_stacks')
    """
    able = (technique for technique in TECHNIQUES.values() if technique.need in offers)
    return min(able, key=lambda technique: technique.price(members, arrivals))
