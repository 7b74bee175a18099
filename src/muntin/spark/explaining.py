"""mt.explain: the plan of one query, or of many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, overload

from pyspark.sql import Column, DataFrame

from muntin.plan.physical.plans import PhysicalPlan
from muntin.plan.physical.stream import StreamPlan
from muntin.plan.sharing import SharingPlan
from muntin.query import Query, QuerySet, Windows
from muntin.registry import WindowRegistry
from muntin.spark.input.columns import Aggregates, Key
from muntin.spark.queries.run import Queries, explain_queries
from muntin.spark.run import explain as explain_query


@overload
def explain(df: DataFrame, time: Queries, **options: Any) -> SharingPlan: ...


@overload
def explain(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key] = ...,
    windows: Windows | WindowRegistry = ...,
    aggregates: Aggregates = ...,
    **options: Any,
) -> PhysicalPlan | StreamPlan: ...


def explain(
    df: DataFrame,
    time: Key | Queries,
    by: Key | Iterable[Key] = (),
    windows: Windows | WindowRegistry = (),
    aggregates: Aggregates = (),
    **options: Any,
) -> PhysicalPlan | StreamPlan | SharingPlan:
    """Return the plan that mt.aggregate would run for one query, or mt.evaluate for many, to print, draw or inspect.

    Nothing runs except a small job that samples the input, and not even that if you pass statistics.

    Args:
        df: The events, a batch or a stream.
        time: The column of event time; or the queries that mt.evaluate would take.
        by: The keys, as in mt.aggregate.
        windows: The windows, as in mt.aggregate. For a registry, the plan is for its current windows.
        aggregates: The aggregates, as in mt.aggregate.
        options: The keyword arguments of mt.aggregate or mt.evaluate.

    Example:
        ```python
        plan = mt.explain(readings, "ts", "device", "10 minutes, 1 hour", mt.avg("temperature"))
        print(plan)
        ```
    """
    if isinstance(time, Query | QuerySet) or (isinstance(time, Iterable) and not isinstance(time, str | Column)):
        return explain_queries(df, time, **options)
    return explain_query(df, time, by, windows, aggregates, **options)
