"""How many rows the result of a batch query may have: more than anybody can write."""

from __future__ import annotations

from muntin.errors import QueryError
from muntin.plan.physical.plans import PhysicalPlan
from muntin.spark.input.checking import setting
from muntin.spark.input.source import Source

RESULT_ROWS = "spark.muntin.mostResultRows"
"""The setting of a session that allows results more rows."""
MOST_RESULT_ROWS = 10**15
"""Rows that a result may be expected to have, unless more are allowed: estimates are rough."""


def check_result_rows(source: Source, plan: PhysicalPlan) -> None:
    """Refuse a query whose result would have too many rows by the figures of its input, where there are any."""
    figures, rows = plan.statistics, max(group.rows_out for group in plan.groups)
    if figures.source == "assumed" or rows <= MOST_RESULT_ROWS:
        return
    if rows > (most := setting(source.events.frame, RESULT_ROWS, MOST_RESULT_ROWS)):
        raise QueryError(
            f"the result would have about {rows:.2g} rows, from {figures.rows:,} rows of {figures.keys:,} keys "
            f"({figures.source}), and at most {most:.2g} are allowed. Use longer slides or fewer keys, or allow more "
            f"with spark.conf.set({RESULT_ROWS!r}, …)."
        )
