"""Merging: the two parts that save most are joined, again and again, as long as joining any two saves.

WeaveShare merges trees this way, in the papers' cost model; Spark's prices decide by it which windows share slices.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.int64]
Marks = npt.NDArray[np.bool_]
Element = TypeVar("Element", bound=np.generic)


class Parts(Protocol):
    """Parts that are joined two by two, and what they are charged. They keep the order of their first members."""

    @property
    def charges(self) -> Array:
        """What each part is charged."""

    def together(self, part: int) -> Array:
        """Estimate what one part is charged when it is joined with each part; with itself, anything."""

    def settle(self, one: int, other: int) -> Marks:
        """Count what was only estimated for two parts, and mark the parts whose estimates that changes."""

    def join(self, one: int, other: int) -> None:
        """Put a later part to an earlier one, and close the gap."""


def merge(parts: Parts) -> None:
    """Join the pair that saves most, of equals the first, as long as one saves.

    Every part remembers its best partner among the later ones. Where a join takes the partner away, what was
    remembered is still an upper bound, so the part looks again only when it is its turn. Savings that are only
    estimated are counted when it is their turn, and have another turn if that changes them.
    """
    count = len(parts.charges)
    quantum = 1e-12 * float(np.abs(parts.charges).sum())  # savings equal but for rounding are equal
    most, partner = np.full(count, -np.inf), np.zeros(count, dtype=np.int64)
    outdated = np.zeros(count, dtype=np.bool_)

    def savings(part: int) -> Array:
        saved: Array = np.rint((parts.charges[part] + parts.charges - parts.together(part)) / quantum)
        saved[part] = -np.inf
        return saved

    def remember(part: int, saved: Array) -> None:
        later = saved[part + 1 :]
        outdated[part] = False
        if len(later):
            partner[part] = part + 1 + int(later.argmax())
            most[part] = saved[partner[part]]
        else:
            most[part] = -np.inf

    for part in range(count):
        remember(part, savings(part))
    while len(most) > 1:
        one = int(most.argmax())
        if most[one] <= 0:
            break
        if outdated[one]:
            remember(one, savings(one))
            continue
        other = int(partner[one])
        if (changed := parts.settle(one, other)).any():
            outdated |= changed
            continue
        parts.join(one, other)
        most, partner, outdated = without(most, other), without(partner, other), without(outdated, other)
        outdated |= partner == other
        partner[partner > other] -= 1
        saved = savings(one)
        remember(one, saved)
        earlier = saved[:one]
        lost = (partner[:one] == one) | outdated[:one]
        outdated[:one] |= (partner[:one] == one) & (earlier < most[:one])
        gains = (earlier > most[:one]) | ((earlier == most[:one]) & (one < partner[:one]) & ~lost)
        most[:one][gains], partner[:one][gains], outdated[:one][gains] = earlier[gains], one, False


def without(array: npt.NDArray[Element], place: int) -> npt.NDArray[Element]:
    """Take one element out, in the array's own memory.

    >>> without(np.array([1, 2, 3, 4]), 1)
    array([1, 3, 4])
    """
    array[place:-1] = array[place + 1 :]
    return array[:-1]
