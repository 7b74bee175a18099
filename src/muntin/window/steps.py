"""Where instances of a measure begin and end, by their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muntin.window.kind import Longs

EXACT = 2**53
"""Up to here a double holds every whole number."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The instances [offset + k·slide, … + range), whose lengths are whole multiples of a unit.

    An edge is a whole number divided once, so it is the double nearest to what was written: 3 · 0.1 is 0.3. The end of
    an instance equals the begin of the one that follows it, however far from 0 they are.

    >>> steps = Steps.of(0.2, 0.1, 0)
    >>> steps.begin(3), steps.stop(1), steps.begun(np.array([0.25, 0.3])).tolist()
    (0.3, 0.3, [2, 3])
    """

    range: int
    slide: int
    offset: int
    unit: int
    """How many of the lengths' unit make 1."""

    @staticmethod
    def of(range: float, slide: float, offset: float) -> Steps:
        """Read lengths as the decimals that people write."""
        fractions = [Fraction(str(length)) for length in (range, slide, offset)]
        unit = lcm(*(fraction.denominator for fraction in fractions))
        length, step, shift = (int(fraction * unit) for fraction in fractions)
        return Steps(length, step, shift, unit)

    def begin(self, step: Any) -> Any:
        """Return where an instance begins, or each of several."""
        return self._edge(step, self.offset)

    def stop(self, step: Any) -> Any:
        """Return where an instance ends, or each of several."""
        return self._edge(step, self.offset + self.range)

    def begun(self, places: NDArray[Any], unit: int | None = None) -> Longs:
        """Return the last instance that begins at or before each place.

        Places are numbers, or whole multiples of a unit; then so many of them make 1, and nothing is rounded.
        """
        return self._latest(places, self.offset, unit)

    def ended(self, places: NDArray[Any], unit: int | None = None) -> Longs:
        """Return the last instance that ends at or before each place."""
        return self._latest(places, self.offset + self.range, unit)

    def first(self, place: Fraction) -> int:
        """Return the last instance that ends at or before a place."""
        return int((place * self.unit - self.range - self.offset) // self.slide)

    def exact_edges(self, step: int) -> tuple[Fraction, Fraction]:
        """Return where an instance begins and ends, not rounded."""
        begin = step * self.slide + self.offset
        return Fraction(begin, self.unit), Fraction(begin + self.range, self.unit)

    def _edge(self, step: Any, shift: int) -> Any:
        if isinstance(step, np.ndarray) and not self._is_small(step, shift):
            step = step.astype(object)
        place = step * self.slide + shift
        if self.unit == 1:
            return place
        edge = place / self.unit
        return edge.astype(np.float64) if isinstance(edge, np.ndarray) else edge

    def _latest(self, places: NDArray[Any], shift: int, unit: int | None) -> Longs:
        if unit is not None:
            return self._latest_exact(places, shift, unit)
        if self.unit == 1:
            return np.asarray((np.floor(places).astype(np.int64) - shift) // self.slide)
        steps = np.floor((places - shift / self.unit) / (self.slide / self.unit)).astype(np.int64)
        while (is_late := self._edge(steps, shift) > places).any():
            steps -= is_late
        while (is_early := self._edge(steps + 1, shift) <= places).any():
            steps += is_early
        return steps

    def _latest_exact(self, places: NDArray[Any], shift: int, unit: int) -> Longs:
        common = lcm(self.unit, unit)
        more, scale = common // unit, common // self.unit
        furthest = max(abs(int(places.min())), abs(int(places.max()))) if len(places) else 0
        fits = (furthest + 1) * more + (abs(shift) + self.slide) * scale < 2**63
        numbers = places.astype(np.int64 if fits else object)
        return np.asarray((numbers * more - shift * scale) // (self.slide * scale)).astype(np.int64)

    def _is_small(self, steps: Longs, shift: int) -> bool:
        """Whether 64 bits hold edges in units, and doubles too where they are divided."""
        if not len(steps):
            return True
        furthest = max(abs(int(steps.min())), abs(int(steps.max()))) * self.slide + abs(shift)
        return furthest < (2**63 if self.unit == 1 else EXACT) and self.unit < EXACT
