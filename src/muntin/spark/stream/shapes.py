"""Shapes of plans over streams in Spark SQL alone; each keeps its groups until the watermark closes them.

State is kept by key and window instance, with no number of the window: what is asked may change between two runs from
one checkpoint, and an instance that two windows have in common is kept once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.aggregates import Merge
from muntin.errors import UnsupportedError
from muntin.fingerprint import Fingerprint
from muntin.plan.slicing.grids import Grid
from muntin.spark.batch.independent import alone
from muntin.spark.batch.native import exploded, merge, partials, plain, slice_end, slice_start
from muntin.spark.input.parts import Recipe, Step, named
from muntin.spark.input.source import Source, literal
from muntin.spark.stream.fingerprints import marked
from muntin.window import Window, in_order

_PLACES = (names.TIMESTAMP, names.END, names.INSTANCE, names.RANGE, names.START)
"""Columns that say where in time a row is, until its window says it."""


def storable(source: Source) -> Source:
    """Write exact distinct counts as sets: Spark refuses DISTINCT on streams, and keeps sets."""
    return replace(source, events=replace(source.events, recipes=tuple(map(_storable, source.events.recipes))))


def _storable(made: Recipe) -> Recipe:
    if made.aggregate.function.merge is not Merge.UNION:
        return made
    if made.lower is None:
        raise UnsupportedError(
            f"{made.aggregate!r} is over a type that Spark keeps no sets of on a stream. Use mt.approx_count_distinct."
        )
    return replace(made, plain=made.lower(*(step for part in made.parts for step in part.partials)))


def expand(source: Source, windows: tuple[Window, ...], kept: Fingerprint) -> DataFrame:
    """Explode every row into its windows and aggregate once: a late row counts for the windows that are open."""
    placed = _placed(source, marked(source.events.rows, kept), windows)
    return _finished(source, plain(source, placed, names.WINDOW, names.MARK), source.events.plain)


def chain(source: Source, windows: tuple[Window, ...], grids: tuple[Grid, ...], kept: Fingerprint) -> DataFrame:
    """Aggregate slices, explode those that the watermark has closed into their windows, and merge."""
    begin, end = slice_start(names.TIME, grids), slice_end(names.TIME, grids)
    slices = named(source.instance(begin, end), names.SLICE)
    rows = marked(source.events.rows, kept).select("*", slices)  # withColumn loses metadata on Spark Connect
    closed = partials(source, rows, names.SLICE, names.MARK)
    times = {
        names.BEGIN: F.expr(source.micros(f"{names.SLICE}.start")),
        names.END: F.expr(source.micros(f"{names.SLICE}.`end`")),
    }
    placed = _placed(source, closed.withColumns(times).drop(names.SLICE), windows, time=names.BEGIN)
    return _finished(source, merge(source, placed, names.WINDOW, names.MARK), source.events.lowered())


def independent(source: Source, marks: dict[Window, Fingerprint]) -> DataFrame:
    """Evaluate every window alone, in an order of our own: Spark knows the state of a branch by its place."""
    branches = [
        alone(source, window, marked(source.events.frame, marks[window]), names.MARK) for window in in_order(marks)
    ]
    return reduce(DataFrame.union, branches)


def _placed(source: Source, frame: DataFrame, windows: tuple[Window, ...], time: str = names.TIME) -> DataFrame:
    """Give every row once for each instance that contains its time, whichever windows have that instance.

    A slice has an end. Older slices may be coarser than windows that have come since a restart: they count only where
    they lie inside.
    """
    ranges = {window: f"{int(window.range)}L" for window in windows}
    unique = len(set(ranges.values())) == len(ranges)
    placed = exploded(frame, ranges, time=time, tag=names.RANGE, unique=unique)
    end = f"{names.START} + {names.RANGE}"
    if names.END in placed.columns:
        placed = placed.where(f"{names.END} <= {end}")
    window = named(source.instance(names.START, end), names.WINDOW)
    return placed.select(*(name for name in placed.columns if name not in _PLACES), window)


def _finished(source: Source, frame: DataFrame, aggregates: Iterable[Step]) -> DataFrame:
    """Give an instance once for each window that has it; instances of windows no longer asked for are left out.

    Spark would look for the ids below the aggregation, for every row instead of every instance, and not among old
    state; it moves nothing that depends on the partition.
    """
    start, end = source.micros(f"{names.WINDOW}.start"), source.micros(f"{names.WINDOW}.`end`")
    timed = frame.withColumns({names.START: F.expr(start), names.RANGE: F.expr(f"{end} - {start}")})
    labels = ", ".join(
        f"if({_has_instance(window)}, {literal(window.label)}, null)" for window in source.query.periodic
    )
    ids = F.expr(f"if(spark_partition_id() < 0, null, array_compact(array({labels})))")
    labelled = timed.withColumn(names.LABELS, ids).withColumn(names.LABEL, F.explode(names.LABELS))
    return source.named(labelled, aggregates, names.LABEL, names.WINDOW)


def _has_instance(window: Window) -> str:
    """Ask whether an instance is one of a window."""
    range, slide, offset = window.period
    return f"{names.RANGE} = {range}L and pmod({names.START} - {offset}L, {slide}L) = 0L"
