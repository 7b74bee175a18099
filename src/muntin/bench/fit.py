"""Prices from measurements: the prices, none below zero, that explain measured times best in proportion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
from numpy.typing import NDArray

from muntin.plan.physical.prices import Amounts, Prices

TRUST = 0.05
"""How much it weighs that a price stays as it was: what measurements do not tell apart does not run off."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Units of work, and the core-microseconds that they took."""

    amounts: Amounts
    cost: float


def fitted(measurements: Sequence[Measured], start: Prices) -> Prices:
    """Solve for prices in least squares of relative errors, beginning with other prices.

    >>> truth = Prices(scan=0.3, stage=90_000)
    >>> made = [{"scan": n, "stage": s} for n in (1e5, 1e6, 1e7) for s in (1, 2, 9)]
    >>> prices = fitted([Measured(units, truth.of(units)) for units in made], Prices())
    >>> round(prices.scan, 2), round(prices.stage, -4), prices.join == Prices().join
    (0.3, 90000.0, True)
    """
    before = asdict(start)
    names = sorted({name for one in measurements for name, units in one.amounts.items() if units})
    shares = np.array([[one.amounts.get(name, 0) * before[name] / one.cost for name in names] for one in measurements])
    rows = np.vstack([shares, np.eye(len(names)) * TRUST])
    wanted = np.concatenate([np.ones(len(measurements)), np.full(len(names), TRUST)])
    factors = _least_squares(rows, wanted)
    return replace(start, **{name: before[name] * float(factor) for name, factor in zip(names, factors, strict=True)})


def _least_squares(rows: NDArray[np.float64], wanted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Minimize the distance of rows @ x from what is wanted, no x below zero, one of them after the other."""
    normal, right = rows.T @ rows, rows.T @ wanted
    x = np.ones(len(right))
    for _ in range(20_000):
        before = x.copy()
        for place in range(len(x)):
            rest = right[place] - normal[place] @ x + normal[place, place] * x[place]
            x[place] = max(0.0, rest / normal[place, place])
        if np.abs(x - before).max() < 1e-9:
            break
    return x


def errors(measurements: Sequence[Measured], prices: Prices) -> tuple[float, float]:
    """Give the median and the greatest relative error of estimates."""
    off = [abs(prices.of(one.amounts) / one.cost - 1) for one in measurements]
    return float(np.median(off)), max(off)
