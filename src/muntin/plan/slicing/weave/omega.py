"""How many operations a technique of final aggregation does at each edge: Ω of the paper's Equations 3 to 7.

With E edges per unit of time a range r is put together from P = r·E partials on average.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from muntin.plan.slicing.merging import Array

_TABLE = 1024
_HARMONIC = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, _TABLE))])
_FACTORIAL = np.concatenate([[0.0], np.cumsum(1 / np.cumprod(np.arange(1.0, 20)))])


@dataclass(frozen=True, slots=True)
class Omega:
    """Ω of a technique: the operations at an edge, in parts that are quick to add up when trees merge."""

    name: str
    """The name of the technique."""
    weight: Callable[[Array, Array], Array]
    """What each window adds, by range and slide, whatever the edges."""
    look_up: Callable[[Array], Array] | None = None
    """What each window adds, by its partials."""
    longest: Callable[[Array], Array] | None = None
    """What the longest window adds, by its partials; must not fall with them."""
    by_range: bool = False
    """Whether windows of one range are computed once; each range weighs the same then."""

    @property
    def is_monotone(self) -> bool:
        """Whether windows add up, and more edges never make one cheaper: then equal edges always belong together."""
        return self.look_up is None and self.longest is None and not self.by_range

    def operations(self, ranges: Array, slides: Array, edges: float, length: float) -> float:
        """Count the operations at an edge of one tree, with so many edges in a length of time.

        >>> ranges, slides = np.array([6.0, 8.0]), np.array([2.0, 4.0])
        >>> [round(float(omega.operations(ranges, slides, 1, 2)), 4) for omega in OMEGAS["printed"].values()]
        [5.0, 3.75, 6.0, 4.0, 5.2083]
        """
        if self.by_range:
            ranges, first = np.unique(ranges, return_index=True)
            slides = slides[first]
        partials = ranges * edges / length
        total = float(self.weight(ranges, slides).sum())
        if self.look_up is not None:
            total += float(self.look_up(partials).sum())
        if self.longest is not None:
            total += float(self.longest(partials.max(keepdims=True))[0])
        return total


def _each(operations: float) -> Callable[[Array, Array], Array]:
    return lambda ranges, _: np.full(len(ranges), operations)


def _overlap(ranges: Array, slides: Array) -> Array:
    return ranges / slides


def _look_up(partials: Array) -> Array:
    """Estimate the nodes that a look-up combines (Equation 4), which is below zero for fewer than two partials.

    A single partial has no logarithm there; it needs nothing to be combined.
    """
    more = np.maximum(partials - 1, 0)
    levels = np.frexp(more)[1] - 1  # floor(log2), exactly
    whole = np.frexp(partials)[1] - 1
    return np.where(more > 0, levels + np.ldexp(more, -whole), 0.0)


def _look_up_repaired(partials: Array) -> Array:
    return np.where(partials < 2, 0.0, np.maximum(_look_up(partials), 0))


def _deque_printed(partials: Array) -> Array:
    length = _FACTORIAL[np.minimum(partials, len(_FACTORIAL) - 1).astype(np.int64)]
    operations: Array = 2 - 2 / partials + length
    return operations


def _deque_repaired(partials: Array) -> Array:
    """Count comparisons and a walk along the deque, whose mean length is a harmonic number."""
    whole = np.floor(partials)
    large = np.log(whole) + np.euler_gamma + 1 / (2 * whole) - 1 / (12 * whole * whole)
    length = np.where(whole < _TABLE, _HARMONIC[np.minimum(whole, _TABLE - 1).astype(np.int64)], large)
    return 2 - 2 / partials + length


def _named(*omegas: Omega) -> dict[str, Omega]:
    return {omega.name: omega for omega in omegas}


_PANES = Omega("panes", _overlap)
_FLATFIT = Omega("flatfit", _each(3))
_INVERTIBLE = Omega("slickdeque_inv", _each(2), by_range=True)

OMEGAS: dict[str, dict[str, Omega]] = {
    "printed": _named(
        _PANES,
        Omega("flatfat", _each(0), look_up=_look_up),
        _FLATFIT,
        _INVERTIBLE,
        Omega("slickdeque_non_inv", _each(1), longest=_deque_printed),
    ),
    "repaired": _named(
        _PANES,
        Omega("flatfat", _each(0), look_up=_look_up_repaired),
        _FLATFIT,
        _INVERTIBLE,
        Omega("slickdeque_non_inv", _each(1), longest=_deque_repaired),
    ),
}
"""By form, as the paper prints them or repaired, then by name."""

FORMS = tuple(OMEGAS)
