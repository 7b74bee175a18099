"""The wide layout, for feature tables: one row per key and window end, one column per aggregate and window."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.errors import QueryError
from muntin.spark.input.checking import alike, folding
from muntin.spark.input.source import Source, literal
from muntin.window import Window

END = "window_end"


def wide_names(source: Source) -> dict[tuple[str, str], str]:
    """Name the column of every aggregate and window: low_20min for low over the window with id '20 min'."""
    return {
        (aggregate.name, window.label): wide_name(aggregate.name, window.label)
        for aggregate in source.query.aggregates
        for window in source.query.windows
    }


def wide_name(aggregate: str, label: str) -> str:
    """Name the column of an aggregate over what has a label.

    >>> wide_name("low", "20 min")
    'low_20min'
    """
    return f"{aggregate}_{''.join(label.split())}"


def check_wide(source: Source) -> None:
    """Refuse windows whose ends are not among those of the window with the finest slide, and names that clash."""
    if other := [window for window in source.query.windows if not isinstance(window, Window)]:
        raise QueryError(f"window {other[0].label!r} has no ends in common with others. Use layout='long'.")
    finest = min(source.query.periodic, key=lambda window: (window.slide, window.range))
    for window in source.query.periodic:
        ends = window.offset + window.range - finest.offset - finest.range
        if window.slide % finest.slide or ends % finest.slide:
            raise QueryError(
                f"window {window.label!r} does not always end when {finest.label!r} does, so the wide layout has no "
                f"row for it. Use slides that are multiples of {finest.slide}, or layout='long'."
            )
    outputs = [END, *source.events.by, *wide_names(source).values()]
    if twice := alike(outputs, folding(source.events.frame)):
        raise QueryError(f"the wide layout would have two columns {twice}. Rename with .alias(…) or by ids.")


def wide(source: Source, result: DataFrame) -> DataFrame:
    """Turn the long layout wide; a window that has no rows, or does not end at that time, gives null."""
    outputs = wide_names(source)
    safe = {aggregate.name: names.result(i) for i, aggregate in enumerate(source.query.aggregates)}
    long = result.toDF(names.LABEL, names.WINDOW, *source.events.keys, *safe.values())
    cells = ", ".join(
        f"any_value(CASE WHEN {names.LABEL} = {literal(label)} THEN struct({safe[name]} AS {names.VALUE}) END, true) "
        f"AS {names.cell(i)}"
        for i, (name, label) in enumerate(outputs)
    )
    end = F.expr(f"{names.WINDOW}.`end` AS {names.STOP}")
    rows = long.groupBy(*source.events.keys, end).agg(F.expr(f"struct({cells}) AS {names.CELLS}"))
    values = (f"{names.CELLS}.{cell}.{names.VALUE} AS {cell}" for cell in map(names.cell, range(len(outputs))))
    return rows.selectExpr(names.STOP, *source.events.keys, *values).toDF(END, *source.events.by, *outputs.values())
