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

from muntin.aggregates import Merge
from muntin.errors import UnsupportedError
from muntin.fingerprint import Fingerprint
from muntin.plan.slicing.grids import Grid
from muntin.spark.batch.independent import alone
from muntin.spark.batch.native import exploded, merge, partials, plain, slice_end, slice_start
from muntin.spark.input.recipes import Recipe, Step, named
from muntin.spark.input.source import Source, literal
from muntin.spark.stream.fingerprints import MARK, marked, of_window
from muntin.window import Window, in_order

_PLACES = ("ts", "e", "instance", "w", "s")
"""Columns that say where in time a row is, until its window says it."""


def storable(source: Source) -> Source:
    """Write exact distinct counts as sets: Spark refuses DISTINCT on streams, and keeps sets."""
    return replace(source, recipes=tuple(map(_storable, source.recipes)))


def _storable(made: Recipe) -> Recipe:
    if made.aggregate.function.merge is not Merge.UNION:
        return made
    if made.lower is None:
        raise UnsupportedError(
            f"{made.aggregate!r} is over a type that Spark keeps no sets of on a stream. Use mt.approx_count_distinct."
        )
    return replace(made, plain=made.lower(*made.partials))


def expand(source: Source, windows: tuple[Window, ...], kept: Fingerprint) -> DataFrame:
    """Explode every row into its windows and aggregate once: a late row counts for the windows that are open."""
    placed = _placed(source, marked(source.rows, kept), windows)
    return _finished(source, plain(source, placed, "window", MARK), source.plain)


def chain(source: Source, windows: tuple[Window, ...], grids: tuple[Grid, ...], kept: Fingerprint) -> DataFrame:
    """Aggregate slices, explode those that the watermark has closed into their windows, and merge."""
    slices = named(source.instance(slice_start("t", grids), slice_end("t", grids)), "slice")
    rows = marked(source.rows, kept).select("*", slices)  # withColumn loses metadata on Spark Connect
    closed = partials(source, rows, "slice", MARK)
    times = {"t": F.expr(source.micros("slice.start")), "e": F.expr(source.micros("slice.`end`"))}
    starts = closed.withColumns(times).drop("slice")
    return _finished(source, merge(source, _placed(source, starts, windows), "window", MARK), source.lowered())


def independent(source: Source, windows: tuple[Window, ...], kept: Fingerprint) -> DataFrame:
    """Evaluate every window alone, in an order of our own: Spark knows the state of a branch by its place."""
    branches = [
        alone(source, window, marked(source.frame, of_window(kept, window)), MARK) for window in in_order(windows)
    ]
    return reduce(DataFrame.union, branches)


def _placed(source: Source, frame: DataFrame, windows: tuple[Window, ...]) -> DataFrame:
    """Give every row once for each instance that contains it, whichever windows have that instance.

    With an end e, a row is a slice from t on. Older ones may be coarser than windows that have come since a restart:
    they count only where they lie inside.
    """
    found = exploded(
        frame,
        {window: f"{int(window.range)}L" for window in windows},
        unique=_unique(window.range for window in windows),
    )
    if "e" in found.columns:
        found = found.where("e <= s + w")
    window = named(source.instance("s", "s + w"), "window")
    return found.select(*(name for name in found.columns if name not in _PLACES), window)


def _finished(source: Source, frame: DataFrame, aggregates: Iterable[Step]) -> DataFrame:
    """Give an instance once for each window that has it; instances of windows no longer asked for are left out.

    Spark would look for the ids below the aggregation, for every row instead of every instance, and not among old
    state; it moves nothing that depends on the partition.
    """
    start, end = source.micros("window.start"), source.micros("window.`end`")
    timed = frame.withColumns({"s": F.expr(start), "r": F.expr(f"{end} - {start}")})
    labels = ", ".join(
        f"if(r = {int(w.range)}L and pmod(s - {int(w.offset)}L, {int(w.slide)}L) = 0L, {literal(w.label)}, null)"
        for w in source.query.windows
    )
    ids = F.expr(f"if(spark_partition_id() < 0, null, array_compact(array({labels})))")
    labelled = timed.withColumn("ids", ids).withColumn("id", F.explode("ids"))
    return source.named(labelled, aggregates, "id", "window")


def _unique(ranges: Iterable[int]) -> bool:
    found = list(ranges)
    return len(set(found)) == len(found)
