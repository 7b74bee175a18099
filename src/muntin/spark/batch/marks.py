"""Exact distinct counts over many windows: every item counts by its latest occurrence, as marks that are summed up.

An item counts for an instance that has its latest occurrence before the instance's end. So an occurrence counts for
ends after its own time up to the item's next occurrence, or up to a range later: for every window it makes one mark
where it begins to count and one where it ceases to. One sort by key and item gives the next occurrences; a running sum
of the marks gives the counts. Nothing is exploded into instances, and no set is kept.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.plan.slicing.grids import Grid, slicing
from muntin.spark.batch.native import latest, numbered, slice_start
from muntin.spark.input.source import Source
from muntin.window import Window


def marks(source: Source, windows: tuple[Window, ...]) -> DataFrame:
    """Evaluate distinct counts over windows by marks."""
    numbers, counts = numbered(source, windows), names.results(len(source.events.recipes))
    longest, grids = max(int(window.range) for window in windows), slicing(windows)
    lasting = reduce(DataFrame.union, [_lasting(source, place, grids, longest) for place in range(len(counts))])
    marked = lasting.selectExpr(
        *source.events.keys,
        *(names.PRESENT, *counts),
        f"inline(array({', '.join(mark for window in windows for mark in _marks(numbers[window], window))}))",
    )
    sums = [f"sum({names.SIGN} * {name}) AS {name}" for name in (names.PRESENT, *counts)]
    changes = marked.groupBy(*source.events.keys, names.NUMBER, names.FINISH).agg(*map(F.expr, sums))
    return source.finish(_instances(source, windows, changes, counts), [f"coalesce({name}, 0L)" for name in counts])


def next_time(source: Source, time: str, *items: str) -> str:
    """Give when the same items of the same key occur again; null if they do not."""
    together = ", ".join((*source.events.keys, *items))
    return f"lead({time}) OVER ({f'PARTITION BY {together}' if together else ''} ORDER BY {time})"


def first_end(time: str, window: Window) -> str:
    """Give the first end of an instance after a time."""
    residue = (int(window.offset) + int(window.range)) % int(window.slide)
    return f"({latest(time, window.slide, residue)} + {int(window.slide)}L)"


def counting(window: Window, time: str, again: str) -> tuple[str, str]:
    """Give the first end that an occurrence counts for, and the first after it that it does not."""
    return first_end(time, window), first_end(f"least({time} + {int(window.range)}L, {again})", window)


def _lasting(source: Source, place: int, grids: tuple[Grid, ...], longest: int) -> DataFrame:
    """Count occurrences by the slice that they lie in and the slice in which the item occurs again, if soon.

    Nulls, of which there may be many, are spread by their slices: they are not counted, and present all the same.
    """
    recipes, keys = source.events.recipes, source.events.keys
    rows = source.events.rows.selectExpr(
        *keys, f"{recipes[place].item} AS {names.ITEM}", f"{slice_start(names.TIME, grids)} AS {names.BEGIN}"
    )
    spread = f"CASE WHEN {names.ITEM} IS NULL THEN {names.BEGIN} END"
    rows = rows.selectExpr("*", f"{next_time(source, names.BEGIN, names.ITEM, spread)} AS {names.AGAIN}")
    last = rows.where(f"{names.AGAIN} IS NULL OR {names.AGAIN} > {names.BEGIN}")
    soon = f"CASE WHEN {names.AGAIN} < {names.BEGIN} + {longest}L THEN {names.AGAIN} END AS {names.AGAIN}"
    kept = last.selectExpr(*keys, names.ITEM, names.BEGIN, soon)
    counts = [f"count({names.ITEM})" if other == place else "0L" for other in range(len(recipes))]
    present = "count(1)" if place == 0 else "0L"
    steps = zip((present, *counts), (names.PRESENT, *names.results(len(recipes))), strict=True)
    return kept.groupBy(*keys, names.BEGIN, names.AGAIN).agg(*(F.expr(f"{step} AS {name}") for step, name in steps))


def _marks(number: str, window: Window) -> tuple[str, str]:
    ends = counting(window, names.BEGIN, names.AGAIN)
    return tuple(  # type: ignore[return-value]
        f"struct({number} AS {names.NUMBER}, {end} AS {names.FINISH}, {sign}L AS {names.SIGN})"
        for end, sign in zip(ends, (1, -1), strict=True)
    )


def _instances(source: Source, windows: tuple[Window, ...], changes: DataFrame, counts: list[str]) -> DataFrame:
    """Sum the marks up in order of ends, and give every instance that has rows, also between two marks."""
    keys = source.events.keys
    over = f"OVER (PARTITION BY {', '.join((*keys, names.NUMBER))} ORDER BY {names.FINISH}"
    summed = [f"sum({name}) {over} ROWS UNBOUNDED PRECEDING) AS {name}" for name in (names.PRESENT, *counts)]
    followed = f"lead({names.FINISH}) {over}) AS {names.UNTIL}"
    running = changes.selectExpr(*keys, names.NUMBER, names.FINISH, followed, *summed).where(f"{names.PRESENT} > 0")
    slide, range = (
        "CASE " + " ".join(f"WHEN {names.NUMBER} = {n} THEN {int(length)}L" for n, length in lengths) + " END"
        for lengths in zip(*(((n, w.slide), (n, w.range)) for w, n in numbered(source, windows).items()), strict=True)
    )
    ends = f"sequence({names.FINISH}, {names.UNTIL} - {slide}, {slide})"
    each = running.selectExpr(*keys, names.NUMBER, *counts, f"explode({ends}) AS {names.FINISH}")
    return each.selectExpr(*keys, names.NUMBER, f"{names.FINISH} - {range} AS {names.START}", *counts)
