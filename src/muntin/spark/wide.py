"""The wide layout, for feature tables: one row per key and window end, one column per aggregate and window."""

from __future__ import annotations

from collections import Counter

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin.errors import QueryError
from muntin.spark.source import Source, quoted

END = "window_end"


def wide_names(source: Source) -> dict[tuple[str, str], str]:
    """Name the column of every aggregate and window: low_20min for low over the window with id '20 min'."""
    return {
        (aggregate.name, window.label): f"{aggregate.name}_{''.join(window.label.split())}"
        for aggregate in source.query.aggregates
        for window in source.query.windows
    }


def check_wide(source: Source) -> None:
    """Refuse windows whose ends are not among those of the window with the finest slide, and names that clash."""
    finest = min(source.query.windows, key=lambda window: (window.slide, window.range))
    for window in source.query.windows:
        ends = window.offset + window.range - finest.offset - finest.range
        if window.slide % finest.slide or ends % finest.slide:
            raise QueryError(
                f"window {window.label!r} does not always end when {finest.label!r} does, so the wide layout has no "
                f"row for it. Use slides that are multiples of {finest.slide}, or layout='long'."
            )
    names = Counter([END, *source.query.by, *wide_names(source).values()])
    if twice := [name for name, count in names.items() if count > 1]:
        raise QueryError(f"column {twice[0]!r} would stand twice in the wide layout. Rename with .alias(…) or by ids.")


def wide(source: Source, result: DataFrame) -> DataFrame:
    """Turn the long layout wide; a window that has no rows, or does not end at that time, gives null."""
    names = wide_names(source)
    cells = [
        F.any_value(
            F.when(F.col("window_id") == label, F.struct(F.col(quoted(aggregate)).alias("value"))), F.lit(True)
        ).alias(f"c{i}")
        for i, (aggregate, label) in enumerate(names)
    ]
    keys = [F.col(quoted(name)).alias(safe) for safe, name in zip(source.keys, source.query.by, strict=True)]
    rows = result.groupBy(*keys, F.col("window.end").alias("e")).agg(*cells)
    return rows.select(
        F.col("e").alias(END),
        *(F.col(safe).alias(name) for safe, name in zip(source.keys, source.query.by, strict=True)),
        *(F.col(f"c{i}")["value"].alias(name) for i, name in enumerate(names.values())),
    )
