"""How well estimates rank what was measured, and how far auto is from the best shape."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from muntin_bench.record import Row

NEAR = 1.1
"""How much longer than the best shape auto may take."""


def rank_correlation(rows: Iterable[Row]) -> float:
    """Give Spearman's rank correlation of estimated cost and measured time.

    >>> rank_correlation([{"seconds": {"a": 1.0, "b": 2.0, "c": 5.0}, "estimates": {"a": 3.0, "b": 4.0, "c": 9.0}}])
    1.0
    """
    pairs = [(row["seconds"][name], row["estimates"][name]) for row in rows for name in row["estimates"]]
    ranks = np.argsort(np.argsort(np.array(pairs, float), axis=0), axis=0)
    return round(float(np.asarray(np.corrcoef(ranks.T))[0, 1]), 10)


def beside_the_best(times: Iterable[tuple[str, float, float]]) -> str:
    """Say how far auto is from the best shape, by rows of label, its time and the best time.

    >>> beside_the_best([("a", 1.0, 1.0), ("b", 3.0, 2.0)])
    'auto is within 10 % of the best shape in 1 of 2 rows; not in: b (50 %).'
    """
    rows = list(times)
    far = [f"{label} ({auto / best - 1:.0%})".replace("%", " %") for label, auto, best in rows if auto > NEAR * best]
    near = f"auto is within 10 % of the best shape in {len(rows) - len(far)} of {len(rows)} rows"
    return f"{near}; not in: {', '.join(far)}." if far else f"{near}."
