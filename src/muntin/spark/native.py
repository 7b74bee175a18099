"""Plans in Spark SQL alone: rows or slices exploded into their windows, and one aggregation over all windows."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.plan.slicing import Grid
from muntin.spark.source import Source
from muntin.window import Window


def expand(source: Source, windows: tuple[Window, ...]) -> DataFrame:
    """Explode every row into its windows and aggregate once."""
    frame = plain(source, exploded(source.rows, numbered(source, windows)), "w", "s")
    return source.finish(frame, source.plain)


def slices_explode(source: Source, windows: tuple[Window, ...], found: tuple[Grid, ...]) -> DataFrame:
    """Aggregate slices, explode them into their windows and merge."""
    return merged(source, exploded(sliced(source, found), numbered(source, windows)))


def sliced(source: Source, found: tuple[Grid, ...]) -> DataFrame:
    """Aggregate rows by key and slice; column t becomes the start of the slice."""
    rows = source.rows.withColumn("slice", slice_start(F.col("t"), found))
    return partials(source, rows, "slice").withColumnRenamed("slice", "t")


def merged(source: Source, frame: DataFrame) -> DataFrame:
    """Merge partials of the same key and window instance, and give the results."""
    return source.finish(merge(source, frame, "w", "s"), source.lowered())


def plain(source: Source, frame: DataFrame, *within: str | Column) -> DataFrame:
    """Aggregate rows by key and some columns, as a Spark user writes it."""
    return frame.groupBy(*source.keys, *within).agg(
        *(made.plain.alias(f"a{i}") for i, made in enumerate(source.recipes))
    )


def partials(source: Source, frame: DataFrame, *within: str) -> DataFrame:
    """Aggregate rows by key and some columns into partials."""
    columns = [column for made in source.recipes for column in made.partials]
    names = [name for group in source.partials for name in group]
    return frame.groupBy(*source.keys, *within).agg(
        *(column.alias(name) for column, name in zip(columns, names, strict=True))
    )


def merge(source: Source, frame: DataFrame, *within: str) -> DataFrame:
    """Merge partials by key and some columns."""
    columns, names = [], []
    for made, group in zip(source.recipes, source.partials, strict=True):
        if made.merge is not None:
            columns += made.merge([F.col(name) for name in group])
            names += group
    return frame.groupBy(*source.keys, *within).agg(
        *(column.alias(name) for column, name in zip(columns, names, strict=True))
    )


def slice_start(time: Column, found: tuple[Grid, ...]) -> Column:
    """Give the latest edge at or before a time."""
    edges = _latest(time, found)
    return edges[0] if len(edges) == 1 else F.greatest(*edges)


def slice_end(time: Column, found: tuple[Grid, ...]) -> Column:
    """Give the earliest edge after a time."""
    edges = [edge + F.lit(slide) for edge, (slide, _) in zip(_latest(time, found), found, strict=True)]
    return edges[0] if len(edges) == 1 else F.least(*edges)


def _latest(time: Column, found: tuple[Grid, ...]) -> list[Column]:
    return [time - F.pmod(time - F.lit(residue), F.lit(slide)) for slide, residue in found]


def numbered(source: Source, windows: tuple[Window, ...]) -> dict[Window, Column]:
    """Give windows their places in the query."""
    places = {window: F.lit(number) for number, window in enumerate(source.query.windows)}
    return {window: places[window] for window in windows}


def exploded(frame: DataFrame, numbers: Mapping[Window, Column], *, unique: bool = True) -> DataFrame:
    """Give every row once for each instance that contains it: w is the window's number, s the instance's start.

    Where two windows have one number, they may have instances in common; unique=False says so, and those count once.
    """
    time = F.col("t")
    single = [w for w in numbers if w.is_tumbling]
    arrays = []
    if single:
        arrays.append(F.array(*(_instance(numbers[w], _last_start(time, w)) for w in single)))
    arrays += [_instances(numbers[w], time, w) for w in numbers if not w.is_tumbling]
    instances = arrays[0] if len(arrays) == 1 else F.concat(*arrays)
    instances = instances if unique else F.array_distinct(instances)
    rest = [column for column in frame.columns if column != "ts"]
    found = frame.select(*rest, F.explode(instances).alias("instance"))
    return found.select(*rest, F.col("instance.w").alias("w"), F.col("instance.s").alias("s"))


def _last_start(time: Column, window: Window) -> Column:
    return time - F.pmod(time - F.lit(int(window.offset)), F.lit(int(window.slide)))


def _instance(number: Column, start: Column) -> Column:
    return F.struct(number.alias("w"), start.cast("long").alias("s"))


def _instances(number: Column, time: Column, window: Window) -> Column:
    """Give the instances of a window that contain a time, the last one first."""
    last, slide, range = _last_start(time, window), int(window.slide), int(window.range)
    count = -(-range // slide)
    if range % slide:  # the earliest of so many instances may have ended already
        whole = F.lit(count) - F.when(time - last >= F.lit(range - (count - 1) * slide), F.lit(1)).otherwise(F.lit(0))
        steps = F.sequence(F.lit(0), whole - 1)
    else:
        steps = F.sequence(F.lit(0), F.lit(count - 1))
    return F.transform(steps, lambda step: _instance(number, last - step.cast("long") * F.lit(slide)))
