"""Prices from measurements: those that explain measured times best in proportion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from muntin.plan.physical.prices import Amounts, Prices

TRUST = 0.1
"""How much it weighs that a price stays as it was: what measurements do not tell apart does not run off."""
STEPS = 200
"""Steps of the search; a dozen are enough where it converges."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Units of work, and the core-microseconds that they took."""

    amounts: Amounts
    cost: float


def fitted(measurements: Sequence[Measured], start: Prices) -> Prices:
    """Solve for prices in least squares of the logarithms of estimates and times, beginning with other prices.

    A price is changed by a factor, so it stays above zero, and an estimate of half the time weighs as much as one of
    twice the time. The search is Gauss and Newton's: an estimate follows a price by the share that the price has in it.

    >>> truth = Prices(scan=0.3, stage=90_000)
    >>> made = [{"scan": n, "stage": s} for n in (1e5, 1e6, 1e7) for s in (1, 2, 9)] * 20
    >>> prices = fitted([Measured(units, truth.of(units)) for units in made], Prices())
    >>> round(prices.scan, 2), round(prices.stage, -4), prices.join == Prices().join
    (0.3, 90000.0, True)
    """
    before = asdict(start)
    names = sorted({name for one in measurements for name, units in one.amounts.items() if units})
    units = np.array([[one.amounts.get(name, 0) for name in names] for one in measurements], float)
    costs = np.log([one.cost for one in measurements])
    known = np.log([before[name] for name in names])
    prices = known.copy()
    for _ in range(STEPS):
        parts = units * np.exp(prices)
        estimates = parts.sum(axis=1)
        shares = parts / estimates[:, None]
        towards = shares.T @ (costs - np.log(estimates)) - TRUST * (prices - known)
        step = np.clip(np.linalg.solve(shares.T @ shares + TRUST * np.eye(len(names)), towards), -1, 1)
        prices += step
        if np.abs(step).max() < 1e-9:
            break
    return replace(start, **{name: float(price) for name, price in zip(names, np.exp(prices), strict=True)})


def errors(measurements: Sequence[Measured], prices: Prices) -> tuple[float, float]:
    """Give the median and the greatest relative error of estimates."""
    off = [abs(prices.of(one.amounts) / one.cost - 1) for one in measurements]
    return float(np.median(off)), max(off)
