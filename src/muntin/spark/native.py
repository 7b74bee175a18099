"""Plans in Spark SQL alone: rows or slices exploded into their windows, and one aggregation over all windows."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.plan.slicing import Grid
from muntin.spark.source import Source
from muntin.window import Window


def expand(source: Source, windows: tuple[Window, ...]) -> DataFrame:
    """Explode every row into its windows and aggregate once."""
    exploded = _exploded(source, source.rows, windows)
    results = [f"a{i}" for i in range(len(source.recipes))]
    frame = exploded.groupBy(*source.keys, "w", "s").agg(
        *(made.plain.alias(name) for made, name in zip(source.recipes, results, strict=True))
    )
    return source.finish(frame, [F.col(name) for name in results])


def slices_explode(source: Source, windows: tuple[Window, ...], found: tuple[Grid, ...]) -> DataFrame:
    """Aggregate slices, explode them into their windows and merge."""
    return merged(source, _exploded(source, sliced(source, found), windows))


def sliced(source: Source, found: tuple[Grid, ...]) -> DataFrame:
    """Aggregate rows by key and slice; column t becomes the start of the slice."""
    columns = [column for made in source.recipes for column in made.partials]
    names = [name for group in source.partials for name in group]
    return (
        source.rows.withColumn("slice", slice_start(F.col("t"), found))
        .groupBy(*source.keys, "slice")
        .agg(*(column.alias(name) for column, name in zip(columns, names, strict=True)))
        .withColumnRenamed("slice", "t")
    )


def merged(source: Source, frame: DataFrame) -> DataFrame:
    """Merge partials of the same key and window instance, and give the results."""
    columns, names = [], []
    for made, group in zip(source.recipes, source.partials, strict=True):
        if made.merge is not None:
            columns += made.merge([F.col(name) for name in group])
            names += group
    total = frame.groupBy(*source.keys, "w", "s").agg(
        *(column.alias(name) for column, name in zip(columns, names, strict=True))
    )
    return source.finish(total, source.lowered())


def slice_start(time: Column, found: tuple[Grid, ...]) -> Column:
    """Give the latest edge at or before a time."""
    edges = [time - F.pmod(time - F.lit(residue), F.lit(slide)) for slide, residue in found]
    return edges[0] if len(edges) == 1 else F.greatest(*edges)


def _exploded(source: Source, frame: DataFrame, windows: tuple[Window, ...]) -> DataFrame:
    """Give every row once for each instance that contains it: w is the window's number, s the instance's start."""
    time, numbers = F.col("t"), {window: number for number, window in enumerate(source.query.windows)}
    single = [w for w in windows if w.is_tumbling]
    arrays = []
    if single:
        arrays.append(F.array(*(_instance(numbers[w], _last_start(time, w)) for w in single)))
    arrays += [_instances(numbers[w], time, w) for w in windows if not w.is_tumbling]
    instances = arrays[0] if len(arrays) == 1 else F.concat(*arrays)
    rest = [column for column in frame.columns if column != "ts"]
    exploded = frame.select(*rest, F.explode(instances).alias("instance"))
    return exploded.select(*rest, F.col("instance.w").alias("w"), F.col("instance.s").alias("s"))


def _last_start(time: Column, window: Window) -> Column:
    return time - F.pmod(time - F.lit(int(window.offset)), F.lit(int(window.slide)))


def _instance(number: int, start: Column) -> Column:
    return F.struct(F.lit(number).alias("w"), start.cast("long").alias("s"))


def _instances(number: int, time: Column, window: Window) -> Column:
    """Give the instances of a window that contain a time, the last one first."""
    last, slide, range = _last_start(time, window), int(window.slide), int(window.range)
    count = -(-range // slide)
    if range % slide:  # the earliest of so many instances may have ended already
        whole = F.lit(count) - F.when(time - last >= F.lit(range - (count - 1) * slide), F.lit(1)).otherwise(F.lit(0))
        steps = F.sequence(F.lit(0), whole - 1)
    else:
        steps = F.sequence(F.lit(0), F.lit(count - 1))
    return F.transform(steps, lambda step: _instance(number, last - step.cast("long") * F.lit(slide)))
