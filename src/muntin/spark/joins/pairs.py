"""Pairs within ranges: a band join over stretches of time, so that not all rows of a key meet one another.

The time of a key is cut into stretches. A row of one side is in the stretch that has its time; a row of the other side
is put into every stretch that may have a partner of it. Both meet by key and stretch, and the distance decides. Each
pair meets once, since one of its rows is in one stretch only. A key with many rows is spread over its stretches. Where
keys have few rows each, all of a key may meet: that is cheaper than rows in several stretches.
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.pairing import WITHIN, Band, Ranges
from muntin.spark.input.source import literal
from muntin.spark.input.statistics import estimated_rows
from muntin.spark.joins.request import Request, Side


def within_ranges(request: Request, ranges: Ranges, *, stretches: bool) -> DataFrame:
    """Give every pair within the longest range once, with the label of the shortest range that holds it."""
    return request.named(near_pairs(request, stretches=stretches), shortest(request, ranges))


def shortest(request: Request, ranges: Ranges) -> Column:
    """Give the label of the shortest range that holds a pair; null where a left row has no partner."""
    left, right = request.times
    named = zip(ranges.lengths, ranges.labels, strict=True)
    cases = [f"WHEN abs({right} - {left}) <= {length}L THEN {literal(label)}" for length, label in named]
    text = f"CASE {' '.join(cases)} END"
    return F.expr(text if request.outer else f"coalesce({text}, '')").alias(WITHIN)


def near_pairs(request: Request, *, stretches: bool) -> DataFrame:
    """Give all pairs that the band holds, columns of both sides under safe names; left rows without any, if outer."""
    left, right = request.times
    # Spark would make a column of the middle of a BETWEEN, and take the side for larger than it is.
    near = f"{right} >= {left} - {request.band.before}L AND {right} <= {left} + {request.band.after}L"
    if stretches:
        return _by_stretches(request, near)
    one, other = (side.rows() for side in request.sides)
    return one.join(other, F.expr(f"{request.equal_keys} AND {near}"), request.how)


def _by_stretches(request: Request, near: str) -> DataFrame:
    """Let rows meet by key and stretch; the begin of a row's own stretch is computed where it is looked at."""
    band, length = request.band, stretch_length(request.band)
    left, right = request.sides
    copied = right if request.outer or not _is_smaller(left, right) else left
    kept = left if copied is right else right
    # The left rows that a right row may meet are from `after` before it to `before` after it.
    reach = band if copied is left else Band(band.after, band.before)
    frames = {
        kept.prefix: kept.rows(),
        copied.prefix: copied.rows(f"explode({_begins(copied.own_micros, reach, length)}) AS {names.BAND}"),
    }
    condition = f"{request.equal_keys} AND {_begin(kept.micros, length)} = {names.BAND} AND {near}"
    return frames[left.prefix].join(frames[right.prefix], F.expr(condition), request.how)


def stretch_length(band: Band) -> int:
    """Give the length of a stretch: as long as the band, a row is put into two of them."""
    return max(1, band.width)


def _is_smaller(one: Side, other: Side) -> bool:
    """Tell whether Spark takes a side for clearly smaller than the other; streams it does not know."""
    if one.is_streaming or other.is_streaming:
        return False
    return 2 * estimated_rows(one.events.frame) < estimated_rows(other.events.frame)


def _begin(time: str, length: int) -> str:
    return f"({time} - pmod({time}, {length}L))"


def _begins(time: str, reach: Band, length: int) -> str:
    """Give the begins of all stretches from some time before a time to some time after it."""
    first, last = _begin(f"({time} - {reach.before}L)", length), _begin(f"({time} + {reach.after}L)", length)
    return f"sequence({first}, {last}, {length}L)"
