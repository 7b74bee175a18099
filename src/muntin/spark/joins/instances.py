"""Pairs in the same instance of a window, for all windows at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.spark.batch.native import exploded
from muntin.spark.input.source import WINDOW, chosen, literal, stretch
from muntin.spark.joins.pairs import near_pairs
from muntin.spark.joins.request import Request, Side
from muntin.window import Window


def same_instance(request: Request, *, stretches: bool) -> DataFrame:
    """Give every pair once for each instance of a window that holds both rows."""
    return request.named(in_instances(request, stretches=stretches), label(request), instance(request))


def in_instances(request: Request, *, stretches: bool) -> DataFrame:
    """Give every pair once for each instance, with the window's number and the start; left rows alone, if outer."""
    if request.outer:
        return by_instance(request)
    cell = common_cell(request.windows)
    if cell is None:
        return common(request, near_pairs(request, stretches=stretches))
    left, right = (side.rows() for side in request.sides)
    same = " = ".join(_start(time, cell) for time in request.times)
    return common(request, left.join(right, F.expr(f"{request.equal_keys} AND {same}")))


def common_cell(windows: tuple[Window, ...]) -> Window | None:
    """Give the window whose instances are made of those of all others; then rows meet by instance, and none twice.

    >>> common_cell((Window(60), Window(1440)))
    Window(1440, 1440)
    >>> common_cell((Window(60, 30), Window(1440))) is None, common_cell((Window(60), Window(1440, 60))) is None
    (True, True)
    """
    longest = max(windows, key=lambda window: window.longest)
    alone = longest.is_tumbling and all(longest.partitioned_by(window) for window in windows)
    return longest if alone else None


def common(request: Request, pairs: DataFrame) -> DataFrame:
    """Give every pair once for each instance that holds both times, with the window's number and the start."""
    arrays = list(_common_instances(request))
    instances = arrays[0] if len(arrays) == 1 else f"concat({', '.join(arrays)})"
    placed = pairs.selectExpr("*", f"explode({instances}) AS {names.INSTANCE}")
    return placed.selectExpr("*", *(f"{names.INSTANCE}.{name} AS {name}" for name in (names.NUMBER, names.START)))


def _common_instances(request: Request) -> Iterator[str]:
    """Write, for every window, the array of instances that hold both times of a pair."""
    earlier, later = (f"{which}({', '.join(request.times)})" for which in ("least", "greatest"))
    for number, window in enumerate(request.windows):
        last = _start(earlier, window)
        if window.is_tumbling:
            instance = f"array(struct({number} AS {names.NUMBER}, {last} AS {names.START}))"
            yield f"CASE WHEN {later} < {last} + {int(window.range)}L THEN {instance} ELSE array() END"
            continue
        slide = int(window.slide)
        earliest = f"({later} - {window.longest - 1}L)"
        first = f"({earliest} + pmod({int(window.offset)}L - {earliest}, {slide}L))"
        starts = f"sequence({first}, {last}, {slide}L)"
        instances = f"transform({starts}, begin -> struct({number} AS {names.NUMBER}, begin AS {names.START}))"
        yield f"CASE WHEN {first} <= {last} THEN {instances} ELSE array() END"


def by_instance(request: Request, *meeting: str) -> DataFrame:
    """Let rows meet in every instance of every window, so that a left row alone in one is known.

    Every row stands once for each instance that has it, as it does in the result. What rows meet by, beside the keys,
    is the number of the window and the start of the instance, unless it is said otherwise.
    """
    columns = meeting or (names.NUMBER, names.START)
    left, right = (_placed(request, side, columns) for side in request.sides)
    same = (f"{request.left.safe(name)} = {request.right.safe(name)}" for name in columns)
    pairs = left.join(right, F.expr(" AND ".join([request.equal_keys, *same])), request.how)
    return pairs.selectExpr("*", *(f"{request.left.safe(name)} AS {name}" for name in columns))


def _placed(request: Request, side: Side, columns: tuple[str, ...]) -> DataFrame:
    numbers = {window: str(number) for number, window in enumerate(request.windows)}
    frame = exploded(side.events.rows, numbers)
    if names.WINDOW in columns:
        frame = frame.select("*", instance(request, side.events.frame.schema[names.TIMESTAMP].metadata))
    return side.rows(*(f"{name} AS {side.safe(name)}" for name in columns), frame=frame)


def label(request: Request) -> Column:
    """Give the label of the window, from its number."""
    text = chosen(literal(window.label) for window in request.windows)
    return F.expr(f"coalesce({text}, '')").alias(names.LABEL)


def instance(request: Request, metadata: Mapping[str, Any] = MappingProxyType({})) -> Column:
    """Give the instance, from the window's number and the start; it says that it is a window, and what else is said."""
    length = chosen(f"{int(window.range)}L" for window in request.windows)
    window = stretch(names.START, f"{names.START} + {length}", zoned=request.zoned)
    return F.expr(window).alias(names.WINDOW, metadata={**metadata, WINDOW: True})


def _start(time: str, window: Window) -> str:
    """Give the latest start at or before a time."""
    return f"({time} - pmod({time} - {int(window.offset)}L, {int(window.slide)}L))"
