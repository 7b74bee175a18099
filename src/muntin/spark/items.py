"""mt.distinct: the items of every instance, each with the latest time at which it occurred."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame

from muntin import names
from muntin.aggregates.functions import max
from muntin.choices import Late, Output
from muntin.errors import QueryError
from muntin.paths import StrPath
from muntin.query import Windows, several
from muntin.spark.batch.ceiling import check_result_rows
from muntin.spark.batch.marks import counting, next_time
from muntin.spark.batch.native import numbered
from muntin.spark.input.columns import Key
from muntin.spark.input.frame import check_frame
from muntin.spark.input.reading import prepare
from muntin.spark.input.recipes import is_sortable
from muntin.spark.input.source import Source
from muntin.spark.run import aggregate
from muntin.window import Length, Window

LATEST = "latest"
"""The output column with the latest time of an item in the instance."""


def distinct(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key] = (),
    columns: Key | Iterable[Key] = (),
    windows: Windows = (),
    *,
    watermark: Length | None = None,
    late: Late = "drop",
    output: Output = "append",
    future: Length | None = None,
    checkpoint: StrPath | None = None,
) -> DataFrame:
    """Return the distinct items of every window instance, each with the latest time at which it occurred there.

    The result has window_id, window, the keys, the columns and `latest`. These are the rows that Spark gives for
    groupBy(window, keys, columns).agg(max(time)), window by window. In batch, one sort serves all periodic windows. On
    a stream, for windows that are not periodic, and for maps, it runs mt.aggregate by keys and columns.

    Args:
        df: The events, a batch or a stream.
        time: The column of event time.
        by: The keys.
        columns: The columns whose values together are an item; null counts as a value.
        windows: One window or several, as in mt.aggregate.
        watermark: On a stream, how late rows may be, such as "10 minutes". Not together with withWatermark on the
            input.
        late: "drop" lets the shape decide which late rows count; "exact" counts a late row for every window that is
            still open, as plain Spark does.
        output: The mode in which you will write the result, "append" or "update".
        future: Drop rows that are further ahead of the clock than this, before they can close windows; needs
            `watermark`.
        checkpoint: The checkpoint that you will start the query with. Muntin compares the query with it at once, and
            "auto" keeps its shape. Without `checkpoint`, the comparison happens when the query starts.

    Example:
        ```python
        seen = mt.distinct(readings, "ts", "region", columns="device", windows="1 hour")
        seen.show(3)
        ```
    """
    check_frame(df)
    items = several(columns)
    if not items:
        raise QueryError("no columns were given. Give at least one, such as columns=['user'].")
    together = (*several(by), *items)
    asked = max(time).alias(LATEST)
    source = prepare(df, time, together, windows, asked)
    if not _fits_one_sort(source):
        return aggregate(
            *(df, time, together, windows, asked),
            watermark=watermark,
            late=late,
            output=output,
            future=future,
            checkpoint=checkpoint,
        )
    check_result_rows(source, None)
    return _in_batch(source)


def _fits_one_sort(source: Source) -> bool:
    """Whether one sort by keys and items serves all windows; Spark groups by maps, but sorts by none."""
    periodic = len(source.query.periodic) == len(source.query.windows)
    return periodic and not source.events.frame.isStreaming and all(map(is_sortable, source.events.key_types))


def _in_batch(source: Source) -> DataFrame:
    """Give every occurrence to the instances that it is the latest one in."""
    events, numbers = source.events, numbered(source, source.query.periodic)
    rows = events.keyed(events.rows)
    rows = rows.selectExpr("*", f"{next_time(source, names.TIME)} AS {names.AGAIN}")
    rows = rows.where(f"{names.AGAIN} IS NULL OR {names.AGAIN} > {names.TIME}")
    instances = ", ".join(_instances(number, window) for window, number in numbers.items())
    placed = rows.selectExpr(names.TIME, *events.keys, f"inline(concat({instances}))")
    return source.finish(placed, [source.moment(names.TIME)])


def _instances(number: str, window: Window) -> str:
    """Give the instances for which an occurrence counts."""
    first, after = counting(window, names.TIME, names.AGAIN)
    slide, range = int(window.slide), int(window.range)
    ends = f"CASE WHEN {first} < {after} THEN sequence({first}, {after} - {slide}L, {slide}L) ELSE array() END"
    return f"transform({ends}, finish -> struct({number} AS {names.NUMBER}, finish - {range}L AS {names.START}))"
