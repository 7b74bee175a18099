"""An estimate of the pairs of a join before it runs, and a warning where they are very many."""

from __future__ import annotations

import warnings
from dataclasses import replace

from muntin.duration import UNITS, Duration
from muntin.errors import MuntinWarning, QueryError
from muntin.kernels.protocol import Longs
from muntin.plan.pairs import pairs_of_equal_keys
from muntin.plan.statistics import Statistics
from muntin.spark.input.statistics import SAMPLE, estimated_rows, first_rows, of_sample
from muntin.spark.joins.request import Request, Side

MOST_PAIRS = 1_000_000_000
"""Pairs from which on a join warns, unless it is told otherwise."""


def check_most(most: object) -> None:
    """Refuse a bound that is no number of pairs."""
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise QueryError(f"most_pairs={most!r} is no number of pairs. Use a whole number, or None for no estimate.")


def warn_of_many(request: Request, most: int | None) -> None:
    """Warn if more pairs are to be expected; one small job for each side, and none on streams."""
    if most is None or any(side.is_streaming for side in request.sides):
        return
    samples = [_first(side) for side in request.sides]
    known = (_known(request.left, samples[0]), _known(request.right, samples[1]))
    rows = expected_rows(request, samples, known)
    if rows <= most:
        return
    keys = max(side.keys for side in known)
    sizes = " by ".join(f"{side.rows:,}" for side in known)
    span = max(side.span for side in known)
    unit = next((unit for unit in UNITS.values() if span >= 10 * unit), 1)  # two digits are enough
    warnings.warn(
        f"the join would give about {_short(rows)} rows: {sizes} rows of about {keys:,} keys over "
        f"{Duration(span - span % unit)}, by the first {SAMPLE:,} rows of each side. Use shorter ranges, more columns "
        "in on=, or windows= with aggregates=, which need no pairs. "
        f"most_pairs={_power(rows)} or None keeps this from being said.",
        MuntinWarning,
        stacklevel=3,
    )


def expected_rows(request: Request, samples: list[Longs], known: tuple[Statistics, Statistics]) -> float:
    """Estimate the rows of the result: a pair in an instance is one, and in a range one however many hold it."""
    pairs = pairs_of_equal_keys(samples[0][:, 1], samples[1][:, 1], known)
    span = max(1, *(side.span for side in known))
    if request.ranges is not None:
        return pairs * request.band.share(span)
    return sum(pairs * min(1, window.longest / span) * window.longest / window.slide for window in request.windows)


def _first(side: Side) -> Longs:
    """Give time and key of a side's first rows that may have a partner."""
    present = " AND ".join(f"{key} IS NOT NULL" for key in side.events.keys)
    return first_rows(replace(side.events, frame=side.events.frame.where(present)))


def _known(side: Side, sample: Longs) -> Statistics:
    rows = len(sample) if len(sample) < SAMPLE else max(SAMPLE, estimated_rows(side.events.frame))
    return of_sample(sample, rows, "the first rows")


def _short(rows: float) -> str:
    """Write a large number in a word or two.

    >>> _short(2.34e9), _short(5e12), _short(12345)
    ('2.3 billion', '5 trillion', '12,345')
    """
    for size, word in ((10**12, "trillion"), (10**9, "billion"), (10**6, "million")):
        if rows >= size:
            return f"{float(f'{rows / size:.2g}'):,g} {word}"
    return f"{rows:,.0f}"


def _power(rows: float) -> str:
    """Give the next power of ten, as Python writes it.

    >>> _power(2.3e9)
    '10**10'
    """
    return f"10**{len(str(int(rows)))}"
