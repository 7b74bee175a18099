"""Several slicings: windows in parts, each of which cuts the input at its own edges only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Generic, Protocol, Self, TypeVar

import numpy as np

from muntin.plan.slicing.cuts import Cuts
from muntin.plan.slicing.merging import Array, Marks, Numbers, merge, without
from muntin.window import Window


class Additive(Protocol):
    """What windows give and take before they are cut, which adds up."""

    def __add__(self, other: Self, /) -> Self:
        """Put the windows of two parts together."""


Weight = TypeVar("Weight", bound=Additive)
Charge = Callable[[Weight, float, int], float]
"""What a load is charged when it is cut at so many edges per unit of time, which lie on so many grids."""


class Slicings(Generic[Weight]):
    """Parts of windows, each with a slicing and charged for it.

    How two parts are cut together is estimated for every pair, and counted for those that are about to be joined.
    """

    def __init__(self, windows: Sequence[Window], load: Callable[[Window], Weight], charge: Charge[Weight]) -> None:
        self.windows: list[tuple[Window, ...]] = [(window,) for window in windows]
        self._cuts, self._charge = Cuts(windows), charge
        self._cut = [self._cuts.alone(window) for window in windows]
        self._load = [load(window) for window in windows]
        self.charges = np.array([charge(load, *cut.slicing) for load, cut in zip(self._load, self._cut, strict=True)])
        self._number = np.arange(len(windows))
        """The row and column of each part in the next two."""
        self._together = np.full((len(windows), len(windows)), np.nan)
        self._counted = np.zeros((len(windows), len(windows)), dtype=np.bool_)

    def together(self, part: int) -> Array:
        """Estimate what one part is charged when it is joined with each part, as far as that is not known."""
        number, load, cut = self._number[part], self._load[part], self._cut[part]
        self._together[number, number] = 0.0  # no pair
        unknown = np.flatnonzero(np.isnan(self._together[number, self._number]))
        self._know(
            part,
            unknown,
            [self._charge(load + self._load[other], *cut.slicing_with(self._cut[other])) for other in unknown.tolist()],
        )
        charges: Array = self._together[number, self._number]
        return charges

    def settle(self, one: int, other: int) -> Marks:
        """Count the edges of two parts together, if they were only estimated."""
        pair = self._number[one], self._number[other]
        marks = np.zeros(len(self.windows), dtype=np.bool_)
        if not self._counted[pair]:
            cut = self._cuts.joined(self._cut[one], self._cut[other])
            self._know(one, other, self._charge(self._load[one] + self._load[other], *cut.slicing))
            self._counted[pair] = marks[one] = marks[other] = True
        return marks

    def join(self, one: int, other: int) -> None:
        """Put the windows of a later part to those of an earlier one."""
        self.windows[one] += self.windows.pop(other)
        self._load[one] += self._load.pop(other)
        self._cut[one] = self._cuts.joined(self._cut[one], self._cut.pop(other))
        self.charges, self._number = without(self.charges, other), without(self._number, other)
        self.charges[one] = self._charge(self._load[one], *self._cut[one].slicing)
        number = self._number[one]
        self._together[number] = self._together[:, number] = np.nan
        self._counted[number] = self._counted[:, number] = False

    def _know(self, part: int, others: Numbers | int, charges: Sequence[float] | float) -> None:
        number, numbers = self._number[part], self._number[others]
        self._together[number, numbers] = self._together[numbers, number] = charges


def sliced_apart(
    windows: Sequence[Window], load: Callable[[Window], Weight], charge: Charge[Weight]
) -> list[tuple[Window, ...]]:
    """Part windows: those whose shared slicing costs less than their own stay together.

    >>> def charge(load: int, edges: float, grids: int) -> float:
    ...     return 1 + edges * load  # a pass over the input, and each window's work at each edge
    >>> sliced_apart([Window(4), Window(8), Window(9)], lambda window: 3, charge)
    [(Window(4, 4), Window(8, 8)), (Window(9, 9),)]
    """
    slicings = Slicings(windows, load, charge)
    merge(slicings)
    return slicings.windows
