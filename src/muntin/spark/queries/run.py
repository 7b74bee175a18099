"""mt.evaluate: many queries over one input, evaluated together."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame

from muntin.choices import Late, Output, Sharing, check_choice
from muntin.errors import QueryError
from muntin.expressions import Named
from muntin.paths import StrPath
from muntin.plan.physical.plans import PhysicalPlan
from muntin.plan.sharing import Share, SharingPlan
from muntin.plan.statistics import Statistics
from muntin.query import Query, QuerySet
from muntin.spark.batch.choice import plan_batch
from muntin.spark.batch.evaluate import evaluate_batch
from muntin.spark.input.frame import check_frame
from muntin.spark.input.statistics import check_known
from muntin.spark.queries.asked import Asked, One, asked_of
from muntin.spark.queries.choice import Part, divide, told
from muntin.spark.queries.conditions import Conditions, Projection
from muntin.spark.queries.fragments import Fragments
from muntin.spark.queries.results import Results, Stream
from muntin.spark.run import aggregate, explain
from muntin.window import Length

Queries = Query | QuerySet | Iterable[Query]


def evaluate(
    df: DataFrame,
    queries: Queries,
    *,
    strategy: Sharing = "auto",
    statistics: Statistics | None = None,
    watermark: Length | None = None,
    late: Late = "drop",
    output: Output = "append",
    future: Length | None = None,
    checkpoint: StrPath | None = None,
) -> Results:
    """Evaluate many queries over one input together, although windows, aggregates, filters and keys differ.

    The result gives every query its own DataFrame, by its name, with the rows that the query has alone. In batch, the
    strategy is "auto" (by cost), "apart" (each query by itself), "conditions" (filters become conditions on what is
    lifted, for each set of keys) or "fragments" (rows are aggregated once, and queries merge what they count).

    A stream is one query with one read: call `start` on the result, with a sink for every query. Its options are those
    of mt.aggregate.
    """
    asked = _checked(df, queries, strategy, statistics)
    options = {"watermark": watermark, "late": late, "output": output, "future": future, "checkpoint": checkpoint}
    return _stream(asked, statistics, options) if df.isStreaming else _batch(df, asked, strategy, statistics)


def explain_queries(
    df: DataFrame, queries: Queries, *, strategy: Sharing = "auto", statistics: Statistics | None = None, **options: Any
) -> SharingPlan:
    """Give the plan that mt.evaluate would run: which queries are evaluated together, and how."""
    asked = _checked(df, queries, strategy, statistics)
    if df.isStreaming:
        return _stream_plan(asked, statistics, options)
    division = divide(asked, strategy, statistics)
    plans = {
        place: plan
        for place, part in enumerate(division.parts)
        if (plan := _plan_of(df, asked.only(part.ones), part)) is not None
    }
    return division.plan(plans)


def _checked(df: DataFrame, queries: Queries, strategy: Sharing, statistics: Statistics | None) -> Asked:
    check_frame(df)
    check_choice("strategy", strategy, Sharing)
    check_known(statistics)
    if isinstance(statistics, DataFrame):
        raise QueryError("statistics of many queries are figures. Use mt.Statistics(rows=…, keys=…, span='1 day').")
    return asked_of(df, queries if isinstance(queries, QuerySet) else QuerySet(queries))


def _batch(df: DataFrame, asked: Asked, strategy: Sharing, statistics: Statistics | None) -> Results:
    division = divide(asked, strategy, statistics)
    frames: dict[str, DataFrame] = {}
    kept: list[DataFrame] = []
    plans: dict[int, PhysicalPlan] = {}
    for place, part in enumerate(division.parts):
        own = asked.only(part.ones)
        if part.way == "apart":
            frames[part.ones[0].name] = _alone(df, part.ones[0], part.statistics)
            continue
        rows, projections = _fragments(own, part, plans, place) if part.way == "fragments" else _conditions(own, part)
        kept.append(rows.persist())
        frames |= {one.name: projections[one.name](kept[-1]) for one in part.ones}
    return Results(division.plan(plans), {one.name: frames[one.name] for one in asked.ones}, tuple(kept))


def _alone(df: DataFrame, one: One, statistics: Statistics | None) -> DataFrame:
    """Evaluate a query by itself, its filter where Spark can push it down."""
    return aggregate(**_asked_alone(df, one), statistics=statistics).toDF(*one.outputs)


def _asked_alone(df: DataFrame, one: One) -> dict[str, Any]:
    query, where = one.query, one.query.where
    return {
        "df": df if where is None else df.where(_given(where)),
        "time": _given(query.time),
        "by": [_given(key) for key in query.by],
        "windows": query.windows,
        "aggregates": query.aggregates,
    }


def _given(named: Named) -> Any:
    return named if isinstance(named, str) else named.value


def _conditions(asked: Asked, part: Part) -> tuple[DataFrame, dict[str, Projection]]:
    """Evaluate queries as one, in which filters are conditions."""
    shared = Conditions(asked)
    rows = aggregate(**_asked_together(shared), statistics=part.statistics)
    return rows, {one.name: shared.projection(one) for one in asked.ones}


def _asked_together(shared: Conditions) -> dict[str, Any]:
    return {
        "df": shared.frame(),
        "time": shared.asked.time,
        "by": shared.by,
        "windows": shared.named_windows(),
        "aggregates": shared.aggregates,
    }


def _fragments(
    asked: Asked, part: Part, plans: dict[int, PhysicalPlan], place: int
) -> tuple[DataFrame, dict[str, Projection]]:
    """Evaluate queries over common partials, for each group of windows that are cut into slices together."""
    shared = Fragments(asked)
    results = []
    for group in part.groups:
        source = shared.over(group)
        plan = plan_batch(source, "auto", part.statistics)
        plans[place] = plan
        results.append(evaluate_batch(source, plan))
    return reduce(DataFrame.union, results), {one.name: shared.projection(one) for one in asked.ones}


def _plan_of(df: DataFrame, asked: Asked, part: Part) -> PhysicalPlan | None:
    """Give the plan of the windows of a part."""
    if part.way == "fragments":
        return plan_batch(Fragments(asked).over(part.groups[0]), "auto", part.statistics)
    query = _asked_alone(df, part.ones[0]) if part.way == "apart" else _asked_together(Conditions(asked))
    plan = explain(**query, statistics=part.statistics)
    return plan if isinstance(plan, PhysicalPlan) else None


def _stream(asked: Asked, statistics: Statistics | None, options: dict[str, Any]) -> Results:
    shared = Conditions(asked)
    rows = aggregate(**_asked_together(shared), statistics=statistics, **options)
    projections = {one.name: shared.projection(one) for one in asked.ones}
    keys = {one.name: one.keys for one in asked.ones}
    frames = {name: project(rows) for name, project in projections.items()}
    plan = _stream_plan(asked, statistics, options)
    return Results(plan, frames, stream=Stream(rows, options["output"], projections, keys))


def _stream_plan(asked: Asked, statistics: Statistics | None, options: dict[str, Any]) -> SharingPlan:
    plan = explain(**_asked_together(Conditions(asked)), statistics=statistics, **options)
    filters = {one.where for one in asked.ones if one.where is not None}
    keys = tuple(dict.fromkeys(one.keys for one in asked.ones))
    share = Share("conditions", tuple(map(told, asked.ones)), plan.cost, filters=len(filters), keys=keys, plan=plan)
    return SharingPlan((share,), plan.statistics, streaming=True)
