"""mt.rolling and mt.explain_rolling: for every event, aggregates over the time or the rows before it."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import DataFrame

from muntin.choices import RollingStrategy, check_choice
from muntin.plan.physical.rolling import RollingPlan, RollingShape
from muntin.plan.statistics import Statistics
from muntin.query import check_aggregates, several
from muntin.spark.input.columns import Aggregates, Key, as_aggregates
from muntin.spark.input.frame import check_frame
from muntin.spark.input.statistics import check_known, known, measure
from muntin.spark.rolling_windows.choice import plan_rolling
from muntin.spark.rolling_windows.evaluate import by_kernels, independent
from muntin.spark.rolling_windows.request import Request, checked, frames_of
from muntin.spark.telling import log_plan
from muntin.window import Length


def rolling(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key] = (),
    ranges: Length | Iterable[Length] = (),
    aggregates: Aggregates = (),
    *,
    rows: int | Iterable[int] = (),
    strategy: RollingStrategy = "auto",
    statistics: Statistics | DataFrame | None = None,
) -> DataFrame:
    """Add to every event the aggregates over the ranges of time that end at it, per key.

    A range of w is Spark's RANGE BETWEEN w PRECEDING AND CURRENT ROW in the order of time. It includes both ends, and
    all events with the same time. The result has the input's rows and columns, and a column such as sum_1h or
    sum_100rows for every aggregate and range.

    Args:
        df: The events, a batch.
        time: The column of event time, by name or as an expression.
        by: The keys: one column or several; none means one group.
        ranges: One length of time or several: "1 hour", ["1 hour", "30 days"].
        aggregates: One aggregate or several, as in mt.aggregate.
        rows: One number of rows or several: 100 means ROWS BETWEEN 99 PRECEDING AND CURRENT ROW.
        strategy: "auto" (by cost), "independent" (plain Spark) or "kernel"; plain Spark still evaluates
            what no kernel can.
        statistics: Known figures about the input, or a batch DataFrame that is measured instead of the input. Saves the
            sampling job.

    Raises:
        QueryError: If the query is wrong; for instance, if a result would have the name of an input column.
        UnsupportedError: If the input is a stream, or if neither Spark nor a kernel can evaluate an aggregate over such
            ranges (a sketch).

    Example:
        ```python
        payments = spark.read.parquet("payments")
        features = mt.rolling(payments, "ts", "card", ["1 hour", "1 day"], [mt.sum("amount"), mt.count()], rows=10)
        features.show(3)
        ```
    """
    request, plan = _planned(df, time, by, ranges, aggregates, rows, strategy, statistics)
    log_plan(plan)
    if plan.shape is RollingShape.INDEPENDENT:
        return independent(request)
    return by_kernels(request, plan.statistics)


def explain_rolling(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key] = (),
    ranges: Length | Iterable[Length] = (),
    aggregates: Aggregates = (),
    *,
    rows: int | Iterable[int] = (),
    strategy: RollingStrategy = "auto",
    statistics: Statistics | DataFrame | None = None,
) -> RollingPlan:
    """Return the plan that mt.rolling would run, to print or inspect.

    Args:
        df: The events.
        time: The column of event time.
        by: The keys.
        ranges: One length of time or several.
        aggregates: One aggregate or several.
        rows: One number of rows or several.
        strategy: "auto", "independent" or "kernel".
        statistics: Known figures about the input, or a batch DataFrame that is measured instead of the input.

    Example:
        ```python
        payments = spark.read.parquet("payments")
        print(mt.explain_rolling(payments, "ts", "card", "1 day", mt.sum("amount")))
        ```
    """
    return _planned(df, time, by, ranges, aggregates, rows, strategy, statistics, comparable=True)[1]


def _planned(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key],
    ranges: Length | Iterable[Length],
    aggregates: Aggregates,
    rows: int | Iterable[int],
    strategy: RollingStrategy,
    statistics: Statistics | DataFrame | None,
    *,
    comparable: bool = False,
) -> tuple[Request, RollingPlan]:
    """Check a query and choose how it is evaluated; with `comparable`, by figures that all strategies share."""
    check_frame(df)
    check_choice("strategy", strategy, RollingStrategy)
    check_known(statistics)
    keys, frames, asked = several(by), frames_of(ranges, rows), check_aggregates(as_aggregates(df, aggregates))
    request = checked(df, time, keys, frames, asked)
    figures = known(statistics, lambda history: checked(history, time, keys, frames, asked).events)
    if comparable and figures is None:
        figures = measure(request.events)
    return request, plan_rolling(request, strategy, figures)
