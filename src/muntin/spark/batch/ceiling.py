"""How many rows the result of a batch query may have: more than anybody wants to write."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame

from muntin.errors import QueryError
from muntin.plan.physical.framed import instances
from muntin.plan.physical.work import Work
from muntin.plan.statistics import Statistics
from muntin.spark.input.checking import setting
from muntin.spark.input.source import Source
from muntin.spark.input.statistics import measure, rows_of_leaves
from muntin.window import AnyWindow

RESULT_ROWS = "spark.muntin.mostResultRows"
"""The setting of a session that allows results more or fewer rows."""
MOST_RESULT_ROWS = 10**12
"""Rows that a result may be expected to have, unless more are allowed: 24 TB, if a row has three numbers."""
FEW_INSTANCES = 1_000
"""Instances of a row that need no figures: a billion rows reach the ceiling with them."""


def check_result_rows(source: Source, figures: Statistics | None) -> None:
    """Refuse a query whose result would have too many rows; the input is measured if it matters and nobody has."""
    windows = source.query.windows
    if figures is None or figures.source == "assumed":
        if sum(window.instances_of_a_row for window in windows) <= FEW_INSTANCES:
            return
        figures = measure(source.events)
    check_rows_of(source.events.frame, windows, figures, figures.rows)


def check_rows_of(frame: DataFrame, windows: Iterable[AnyWindow], figures: Statistics, read: int) -> None:
    """Refuse windows that would have too many instances by figures of rows or of partials, from so many rows read."""
    rows = sum(instances(Work(figures), window) for window in windows)
    most = setting(frame.sparkSession, RESULT_ROWS, MOST_RESULT_ROWS)
    if rows <= most:
        return
    if figures.source.startswith("Spark"):  # which takes the size of a join for the product of its sides
        rows *= min(1.0, rows_of_leaves(frame) / max(1, figures.rows))
    if rows > most:
        raise QueryError(
            f"the result would have about {rows:.2g} rows, from {read:,} rows of {figures.keys:,} keys "
            f"({figures.source}), and at most {most:.2g} are allowed. Use longer slides or fewer keys, or allow more "
            f"with spark.conf.set({RESULT_ROWS!r}, …)."
        )
