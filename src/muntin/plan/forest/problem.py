"""The planning problem in exact integers: which windows, which of them may read which, and what a read costs.

Lengths are divided by their greatest common divisor and costs multiplied by the denominator of the rate, so that every
comparison is one of whole numbers, however large the least common multiple of the ranges grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from math import gcd

from muntin.plan.forest.horizon import Horizon
from muntin.window import Period, Window, on_grid

Cost = int | Fraction

Parents = dict[Period, Period | None]
"""A forest: for every window the one that it reads from, None for the raw input; parents stand before children."""


class Semantics(Enum):
    """What a window may read besides the raw input; it follows from the aggregates' properties."""

    COVERED_BY = "covered by"
    """Overlapping instances may be combined, as for min and max."""
    PARTITIONED_BY = "partitioned by"
    """Only disjoint instances may be combined, as for sum and count."""
    ALONE = "alone"
    """Nothing can be combined, as for an exact median."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Asked windows under one semantics, with the price of every read.

    A read from raw input costs `raw` per unit of range, a read of one parent instance costs `step`: the paper's η·r and
    M, both multiplied by the same number. Under any semantics an asked window may piggyback on another of equal range.
    """

    periods: tuple[Period, ...]
    semantics: Semantics
    raw: int
    step: int
    horizon: Horizon
    asked: frozenset[Period] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "asked", frozenset(self.periods))

    def instances(self, period: Period) -> int:
        """Count the instances in the horizon: the paper's n."""
        return self.horizon.instances(period[0], period[1])

    def inputs(self, child: Period, parent: Period) -> int:
        """Count the parent's instances that one instance of the child reads; 0 where it must not read them."""
        longer = child[0] - parent[0]
        if longer < 0 or child == parent or not on_grid(child, parent):
            return 0
        if longer == 0:
            return int(child in self.asked and parent in self.asked)
        match self.semantics:
            case Semantics.COVERED_BY:
                allowed = True
            case Semantics.PARTITIONED_BY:
                allowed = parent[0] == parent[1]
            case Semantics.ALONE:
                allowed = False
        return 1 + longer // parent[1] if allowed else 0

    def price(self, child: Period, parent: Period | None) -> int:
        """Tell what one instance costs that reads a parent, or the raw input."""
        return self.raw * child[0] if parent is None else self.step * self.inputs(child, parent)

    def cost(self, parents: Mapping[Period, Period | None]) -> int:
        """Add up what every window of a forest reads within the horizon."""
        return sum(self.instances(child) * self.price(child, parent) for child, parent in parents.items())


@dataclass(frozen=True, slots=True)
class Scale:
    """How a problem's integers translate back to windows and to the paper's costs."""

    unit: int
    denominator: int

    def period(self, window: Window) -> Period:
        """Give a window in the problem's unit."""
        range, slide, offset = window.period
        return range // self.unit, slide // self.unit, offset // self.unit

    def window(self, period: Period, timed: bool = False) -> Window:
        """Give a period as a window."""
        range, slide, offset = (length * self.unit for length in period)
        found = Window(range, slide, offset)
        return found.timed() if timed else found

    def cost(self, cost: int) -> Cost:
        """Give a problem's cost in the paper's unit."""
        return whole(Fraction(cost, self.denominator))


def whole(cost: Fraction) -> Cost:
    """Give a whole number as an int.

    >>> whole(Fraction(6, 2)), whole(Fraction(1, 2))
    (3, Fraction(1, 2))
    """
    return cost.numerator if cost.denominator == 1 else cost


def state(windows: Iterable[Window], semantics: Semantics, rate: Fraction, horizon: Horizon) -> tuple[Problem, Scale]:
    """State the planning problem of some windows; the rate is in events per unit of their lengths.

    >>> problem, scale = state([Window(20), Window(30)], Semantics.COVERED_BY, Fraction(1), Horizon(60))
    >>> problem.periods, problem.raw, scale.window((1, 1, 0))
    (((2, 2, 0), (3, 3, 0)), 10, Window(10, 10))
    """
    asked = sorted(windows)
    unit = gcd(*(length for window in asked for length in window.period))
    per_unit = rate * unit
    scale = Scale(unit, per_unit.denominator)
    periods = tuple(scale.period(window) for window in asked)
    return Problem(periods, semantics, per_unit.numerator, per_unit.denominator, horizon.scaled(unit)), scale
