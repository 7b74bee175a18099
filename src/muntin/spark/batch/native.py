"""Plans in Spark SQL alone: rows or slices exploded into their windows, and one aggregation over all windows."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.plan.slicing.grids import Grid
from muntin.spark.input.parts import named
from muntin.spark.input.source import Source
from muntin.window import Window


def expand(source: Source, windows: tuple[Window, ...]) -> DataFrame:
    """Explode every row into its windows and aggregate once."""
    frame = plain(source, exploded(source.events.rows, numbered(source, windows)), names.NUMBER, names.START)
    return source.finish(frame, source.events.plain)


def slices_explode(source: Source, windows: tuple[Window, ...], grids: tuple[Grid, ...]) -> DataFrame:
    """Aggregate slices, explode them into their windows and merge."""
    return merged(source, exploded(sliced(source, grids), numbered(source, windows), time=names.BEGIN))


def sliced(source: Source, grids: tuple[Grid, ...]) -> DataFrame:
    """Aggregate rows by key and slice."""
    return partials(source, source.events.rows, F.expr(f"{slice_start(names.TIME, grids)} AS {names.BEGIN}"))


def merged(source: Source, frame: DataFrame) -> DataFrame:
    """Merge partials of the same key and window instance, and give the results."""
    return source.finish(merge(source, frame, names.NUMBER, names.START), source.events.lowered())


def plain(source: Source, frame: DataFrame, *within: str | Column) -> DataFrame:
    """Aggregate rows by key and some columns, as a Spark user writes it."""
    columns = (named(made.plain, names.result(i)) for i, made in enumerate(source.events.recipes))
    return frame.groupBy(*source.events.keys, *within).agg(*columns)


def partials(source: Source, frame: DataFrame, *within: str | Column) -> DataFrame:
    """Aggregate rows by key and some columns into partials."""
    steps = [step for kept in source.events.parts for step in kept.part.partials]
    return frame.groupBy(*source.events.keys, *within).agg(*map(named, steps, source.events.partials))


def merge(source: Source, frame: DataFrame, *within: str) -> DataFrame:
    """Merge partials by key and some columns."""
    steps = [
        named(step, name)
        for part, columns in source.events.parts
        if part.merge is not None
        for step, name in zip(part.merge(*columns), columns, strict=True)
    ]
    return frame.groupBy(*source.events.keys, *within).agg(*steps)


def slice_start(time: str, grids: tuple[Grid, ...]) -> str:
    """Give the latest edge at or before a time."""
    edges = [latest(time, *grid) for grid in grids]
    return edges[0] if len(edges) == 1 else f"greatest({', '.join(edges)})"


def slice_end(time: str, grids: tuple[Grid, ...]) -> str:
    """Give the earliest edge after a time."""
    edges = [f"{latest(time, *grid)} + {int(grid[0])}L" for grid in grids]
    return edges[0] if len(edges) == 1 else f"least({', '.join(edges)})"


def latest(time: str, slide: int, residue: int) -> str:
    """Give the latest time at or before another that leaves a residue."""
    return f"({time} - pmod({time} - {int(residue)}L, {int(slide)}L))"


def numbered(source: Source, windows: tuple[Window, ...]) -> dict[Window, str]:
    """Give windows their places in the query."""
    places = {window: str(number) for number, window in enumerate(source.query.windows)}
    return {window: places[window] for window in windows}


def exploded(
    frame: DataFrame,
    numbers: Mapping[Window, str],
    *,
    time: str = names.TIME,
    tag: str = names.NUMBER,
    unique: bool = True,
) -> DataFrame:
    """Give every row once for each instance that contains its time, with the window's number and the instance's start.

    The number may be another tag, its range say. Where two windows have one tag, they may have instances in common;
    unique=False says so, and those count once.
    """
    arrays = []
    if single := [_instance(numbers[w], latest(time, w.slide, w.offset), tag) for w in numbers if w.is_tumbling]:
        arrays.append(f"array({', '.join(single)})")
    arrays += [_instances(numbers[w], w, time, tag) for w in numbers if not w.is_tumbling]
    instances = arrays[0] if len(arrays) == 1 else f"concat({', '.join(arrays)})"
    instances = instances if unique else f"array_distinct({instances})"
    placed = frame.selectExpr("*", f"explode({instances}) AS {names.INSTANCE}")
    return placed.selectExpr("*", *(f"{names.INSTANCE}.{name} AS {name}" for name in (tag, names.START)))


def _instance(number: str, start: str, tag: str) -> str:
    return f"struct({number} AS {tag}, {start} AS {names.START})"


def _instances(number: str, window: Window, time: str, tag: str) -> str:
    """Give the instances of a window that contain a time, the last one first."""
    last, slide, range = latest(time, window.slide, window.offset), int(window.slide), int(window.range)
    count = -(-range // slide)
    steps = f"sequence(0, {count - 1})"
    if range % slide:  # the earliest of so many instances may have ended already
        rest = range - (count - 1) * slide
        steps = f"sequence(0, CASE WHEN {time} - {last} >= {rest}L THEN {count - 2} ELSE {count - 1} END)"
    return f"transform({steps}, step -> {_instance(number, f'{last} - step * {slide}L', tag)})"
