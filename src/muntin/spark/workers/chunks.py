"""Keys cut into chunks of time, so that one hot key uses all cores, and rows brought into order."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.arrow.batches import Chunks
from muntin.plan.statistics import Statistics
from muntin.spark.input.events import Events
from muntin.window import LONGEST_WINDOW

MANY_KEYS = 64
"""From so many keys on, cutting hot ones by time is a precaution, and chunks may be long."""


def in_order(events: Events, parts: DataFrame, chunks: Chunks | None) -> DataFrame:
    """Bring rows of one key and chunk together, sorted by key and time."""
    together: list[str | Column] = list(events.keys)
    if chunks is not None:
        together.append(F.expr(_floor_div(names.PLACE, chunks.stride)))
    spread = parts.repartition(*together) if together else parts.repartition(1)
    when = names.TIME if chunks is None else names.PLACE
    return spread.sortWithinPartitions(*map(F.expr, (*events.keys, when)))  # a name alone would take more calls


def chunk_length(halo: int, statistics: Statistics) -> int:
    """Choose how long the time chunks are that keys are cut into, so that one hot key uses all cores.

    Every chunk also needs the rows of a halo after it, so chunks are several times as long.
    """
    halos = 8 if statistics.keys >= MANY_KEYS else 2
    return max(halos * halo, min(statistics.span, LONGEST_WINDOW) // 64)


def chunked(parts: DataFrame, chunks: Chunks, time: str = names.TIME, *, timeless: bool = False) -> DataFrame:
    """Give every row a place in each chunk whose windows may contain it, instead of its time.

    See Chunks for what a place is; it is null where a row has no time.
    """
    own = _floor_div(time, chunks.length)
    earliest = _floor_div(f"({time} - {chunks.halo - 1}L)", chunks.length)
    within = f"CASE WHEN {earliest} = {own} THEN array({own}) ELSE sequence({earliest}, {own}) END"
    places = f"transform({within}, chunk -> {time} + chunk * {chunks.halo}L)"
    rest = [name for name in parts.columns if name != time]
    explode = "explode_outer" if timeless else "explode"
    return parts.selectExpr(f"{explode}({places}) AS {names.PLACE}", *rest)


def _floor_div(value: str, length: int) -> str:
    """Divide whole numbers, rounding down; Spark's div rounds towards zero and its / is a float."""
    return f"(({value} - pmod({value}, {length}L)) div {length}L)"
