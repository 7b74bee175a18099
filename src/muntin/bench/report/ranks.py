"""How well one ranking follows another."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from muntin.bench.record import Row


def rank_correlation(rows: Iterable[Row]) -> float:
    """Give Spearman's rank correlation of estimated cost and measured time.

    >>> rank_correlation([{"seconds": {"a": 1.0, "b": 2.0, "c": 5.0}, "estimates": {"a": 3.0, "b": 4.0, "c": 9.0}}])
    1.0
    """
    pairs = [(row["seconds"][name], row["estimates"][name]) for row in rows for name in row["estimates"]]
    ranks = np.argsort(np.argsort(np.array(pairs, float), axis=0), axis=0)
    return round(float(np.asarray(np.corrcoef(ranks.T))[0, 1]), 10)
