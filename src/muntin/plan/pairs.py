"""How many pairs a join of two inputs will give, by their first rows, and how its rows should meet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muntin.pairing import Band
from muntin.plan.statistics import Statistics
from muntin.window.kind import Longs

ROW = 10
"""What it costs to put a row into a stretch of time, in pairs of rows that are compared."""


@dataclass(frozen=True, slots=True)
class PairEstimate:
    """What is known of both sides of a join."""

    left: Statistics
    right: Statistics
    equal_keys: float
    """Pairs of rows that have equal keys, however far apart."""

    @property
    def span(self) -> int:
        """The time that the longer side takes."""
        return max(1, self.left.span, self.right.span)

    def prefers_stretches(self, band: Band) -> bool:
        """Tell whether rows should meet by stretches of time as long as the band, and not all rows of a key.

        >>> few, many = (PairEstimate(Statistics(10**6), Statistics(10**5), pairs) for pairs in (10**6, 10**9))
        >>> few.prefers_stretches(Band(0, 10**6)), many.prefers_stretches(Band(0, 10**6))
        (False, True)
        """
        met = self.equal_keys * min(1, 2 * band.width / self.span)
        return met + ROW * (self.left.rows + 2 * self.right.rows) < self.equal_keys


def pairs_of_equal_keys(left: Longs, right: Longs, known: tuple[Statistics, Statistics]) -> float:
    """Estimate how many pairs of rows have equal keys, from the first keys of each side and what is known of all.

    Where the rows of a key stand together, the first rows have few of the keys, and all rows have more. Otherwise the
    keys that the first rows of both sides have in common tell also of keys with many rows.

    >>> keys = np.array([1, 2, 1, 2])
    >>> pairs_of_equal_keys(keys, keys, (Statistics(40, 2, 9), Statistics(4, 2, 9)))
    80.0
    """
    if not len(left) or not len(right):
        return 0.0
    scales = [side.rows / len(codes) for side, codes in zip(known, (left, right), strict=True)]
    numbers = [side.keys for side in known]
    common = _in_common(left, right)
    if common and not (_is_clustered(left) or _is_clustered(right)):
        return common * scales[0] * scales[1]
    for place, codes in enumerate((left, right)):
        if _is_clustered(codes):
            numbers[place] = int(len(np.unique(codes)) * scales[place])
    return known[0].rows * known[1].rows / max(1, *numbers)


def _in_common(left: Longs, right: Longs) -> float:
    """Count the pairs of some rows that have equal keys."""
    keys, counts = np.unique(left, return_counts=True)
    others, times = np.unique(right, return_counts=True)
    _, here, there = np.intersect1d(keys, others, assume_unique=True, return_indices=True)
    return float(np.dot(counts[here].astype(float), times[there].astype(float)))


def _is_clustered(codes: Longs) -> bool:
    """Tell whether the rows of every key stand together, several keys one after the other."""
    runs = 1 + int(np.count_nonzero(codes[1:] != codes[:-1]))
    keys = len(np.unique(codes))
    return 1 < keys == runs < len(codes)
