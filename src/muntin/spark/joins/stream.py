"""Joins of two streams: one stream-stream join of Spark for the longest range, whose state the watermarks clear.

Spark keeps a row until the watermark says that no partner of it can come any more. It reads that off a condition on
the two timestamps themselves and lengths that are constant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.errors import QueryError, UnsupportedError
from muntin.pairing import Band, Ranges
from muntin.spark.input.source import DELAY
from muntin.spark.joins.instances import by_instance, common, instance, label
from muntin.spark.joins.pairs import shortest
from muntin.spark.joins.request import ROLES, Request, Side


def check_streams(request: Request, *, aggregated: bool) -> bool:
    """Tell whether both sides are streams; refuse what Spark does not join, and streams that would keep all rows."""
    streaming = [side for side in request.sides if side.is_streaming]
    if len(streaming) == 1:
        if aggregated:
            raise UnsupportedError(
                "aggregates of a stream with a batch input are not supported here: no watermark closes the batch "
                "input's windows. Read both sides as streams, or leave aggregates out."
            )
        if request.outer and request.right.is_streaming:
            raise UnsupportedError(
                "how='left' needs all right rows before it knows a left row without partners, and the right side alone "
                "is a stream. Use how='inner', or read the left side as a stream, too."
            )
    if len(streaming) < 2:
        return False
    for side in streaming:
        _check_watermark(side)
    return True


def _check_watermark(side: Side) -> None:
    role = ROLES[side.prefix]
    if not side.events.zoned:
        raise QueryError(
            f"{role}_time of the stream is of type timestamp_ntz; Spark gives it no watermark. "
            f"Cast the column to timestamp before {role}.withWatermark(…)."
        )
    if side.events.frame.schema[names.TIMESTAMP].metadata.get(DELAY) is None:
        raise QueryError(
            f"the {role} side is a stream whose {role}_time has no watermark, so it would be kept forever. "
            f"Use {role}.withWatermark('…', '10 minutes') on that column."
        )


def within_ranges(request: Request, ranges: Ranges) -> DataFrame:
    """Give every pair within the longest range, as batch does; a left row alone when no partner can come any more."""
    timed = _of_sides(request, _timed)
    return timed.named(_near(timed), shortest(timed, ranges))


def same_instance(request: Request) -> DataFrame:
    """Give every pair once for each instance that holds both rows, as batch does."""
    if request.outer:  # the watermark closes an instance, and tells which left rows are alone in it
        unmarked = _of_sides(request, _unmarked)
        return unmarked.named(by_instance(unmarked, names.NUMBER, names.WINDOW), label(request), names.WINDOW)
    timed = _of_sides(request, _timed)
    return timed.named(common(timed, _near(timed)), label(request), instance(request))


def _of_sides(request: Request, change: Callable[[Side], Side]) -> Request:
    return replace(request, left=change(request.left), right=change(request.right))


def _marked(side: Side) -> set[str]:
    """Give the safe names of carried columns that the watermark belongs to: Spark takes one such column of a side."""
    schema = side.events.frame.schema
    return {name for name in side.carried if DELAY in schema[name].metadata}


def _timed(side: Side) -> Side:
    """Give the time itself as the result's column of it, so that it is kept once."""
    marked = _marked(side)
    carried = tuple(names.TIMESTAMP if name in marked else name for name in side.carried)
    return replace(side, carried=carried, time=names.TIMESTAMP)


def _unmarked(side: Side) -> Side:
    """Take the watermark from carried columns: the instance has it."""
    frame = side.events.frame
    for name in _marked(side):
        rest = {key: value for key, value in frame.schema[name].metadata.items() if key != DELAY}
        frame = frame.withMetadata(name, rest)
    return replace(side, events=replace(side.events, frame=frame))


def _near(request: Request) -> DataFrame:
    """Give all pairs that the band holds, by one join whose state both watermarks clear."""
    left, right = (_kept(side) for side in request.sides)
    condition = f"{request.equal_keys} AND {_near_timestamps(request, request.band)}"
    if request.outer:  # a row without a time has no partner: Spark is told, or would wait for the watermark to reach it
        condition += f" AND {request.left.safe(names.TIMESTAMP)} IS NOT NULL"
    return left.join(right, F.expr(condition), request.how)


def _kept(side: Side) -> DataFrame:
    """Give what the state keeps of a row: the time, the keys and what results have, nothing twice."""
    columns = dict.fromkeys((names.TIMESTAMP, *side.events.keys, *side.carried))
    return side.events.frame.selectExpr(*(f"{name} AS {side.safe(name)}" for name in columns))


def _near_timestamps(request: Request, band: Band) -> str:
    left, right = (side.safe(names.TIMESTAMP) for side in request.sides)
    before, after = (f"INTERVAL '{length // 10**6}.{length % 10**6:06}' SECOND" for length in (band.before, band.after))
    return f"{right} >= {left} - {before} AND {right} <= {left} + {after}"
