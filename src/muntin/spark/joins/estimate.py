"""An estimate of the pairs of a join before it runs, and a warning where they are very many."""

from __future__ import annotations

import warnings
from dataclasses import replace

from muntin import names
from muntin.duration import UNITS, Duration
from muntin.errors import MuntinWarning, QueryError
from muntin.kernels.protocol import Longs
from muntin.plan.pairs import PairEstimate, pairs_of_equal_keys
from muntin.plan.statistics import Statistics
from muntin.spark.input.statistics import SAMPLE, first_rows, measure_extent, of_sample
from muntin.spark.joins.request import Request, Side

MOST_PAIRS = 1_000_000_000
"""Pairs from which on a join warns, unless it is told otherwise."""


def check_most(most: object) -> None:
    """Refuse a bound that is not a number of pairs."""
    if most is not None and (isinstance(most, bool) or not isinstance(most, int) or most < 0):
        raise QueryError(f"most_pairs={most!r} is not a number of pairs. Use a whole number, or None for no estimate.")


def estimated(request: Request) -> PairEstimate | None:
    """Look at the first rows of both sides, in one small job each; streams are not looked at."""
    if any(side.is_streaming for side in request.sides):
        return None
    samples = [_first(side) for side in request.sides]
    left, right = (_known(side, sample) for side, sample in zip(request.sides, samples, strict=True))
    return PairEstimate(left, right, pairs_of_equal_keys(samples[0][:, 1], samples[1][:, 1], (left, right)))


def expected_rows(request: Request, known: PairEstimate) -> float:
    """Estimate the rows of the result: a pair in an instance is one, and in a range one however many hold it."""
    if request.ranges is not None:
        return known.equal_keys * request.band.share(known.span)
    shares = (min(1, window.longest / known.span) * window.longest / window.slide for window in request.windows)
    return known.equal_keys * sum(shares)


def warn_of_many(request: Request, known: PairEstimate, most: int) -> None:
    """Warn if more rows are to be expected."""
    rows = expected_rows(request, known)
    if rows <= most:
        return
    keys = max(known.left.keys, known.right.keys)
    unit = next((unit for unit in UNITS.values() if known.span >= 10 * unit), 1)  # two digits are enough
    warnings.warn(
        f"the join would give about {_short(rows)} rows: {known.left.rows:,} by {known.right.rows:,} rows of about "
        f"{keys:,} keys over {Duration(known.span - known.span % unit)}, by the first {SAMPLE:,} rows of each side. "
        "Use shorter ranges, more columns in on=, or windows= with aggregates=, which need no pairs. "
        f"most_pairs={_power(rows)} or None keeps this from being said.",
        MuntinWarning,
        stacklevel=3,
    )


def _first(side: Side) -> Longs:
    """Give time and key of a side's first rows that may have a partner."""
    present = " AND ".join(f"{key} IS NOT NULL" for key in side.events.keys)
    return first_rows(replace(side.events, frame=side.events.frame.where(present)))


def _known(side: Side, sample: Longs) -> Statistics:
    extent = measure_extent(side.events.frame, names.TIMESTAMP, len(sample))
    return of_sample(sample, extent.rows, extent.origin, extent.span)


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
