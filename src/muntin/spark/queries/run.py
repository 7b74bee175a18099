"""mt.evaluate: many queries over one input, evaluated together."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin.choices import Late, Output, Sharing, check_choice
from muntin.errors import QueryError, UnsupportedError
from muntin.expressions import Named
from muntin.paths import StrPath
from muntin.plan.physical.plans import PhysicalPlan
from muntin.plan.physical.stream import StreamPlan
from muntin.plan.sharing import Share, SharingPlan
from muntin.plan.show.shown import Shown
from muntin.plan.statistics import Statistics
from muntin.query import Query, QuerySet
from muntin.spark.batch.ceiling import check_rows_of
from muntin.spark.batch.choice import plan_batch
from muntin.spark.batch.evaluate import evaluate_batch
from muntin.spark.caching import persist_apart
from muntin.spark.input.checking import quoted
from muntin.spark.input.frame import check_frame
from muntin.spark.input.source import QUERIES
from muntin.spark.input.statistics import check_known
from muntin.spark.plans import is_classic
from muntin.spark.queries.asked import Asked, One, asked_of
from muntin.spark.queries.branches import Branches
from muntin.spark.queries.choice import Part, divide, own_windows, told, windows_of
from muntin.spark.queries.conditions import Conditions, Projection
from muntin.spark.queries.fragments import Fragments
from muntin.spark.queries.results import Results, Stream
from muntin.spark.queries.sinks import keyed
from muntin.spark.run import plan_query
from muntin.spark.stream.checkpoints import is_begun
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
    """Evaluate many queries over one input together, even if windows, aggregates, filters and keys differ.

    The result maps the name of every query to its DataFrame, with the rows that the query would give alone. On a
    stream, all queries run as one streaming query that reads the source once: call `start` on the result, with a sink
    for every query.

    Args:
        df: The events, a batch or a stream.
        queries: The queries: a list of mt.Query, or an mt.QuerySet.
        strategy: "auto" (by cost), "apart" (each query by itself), "conditions" (filters become conditions inside the
            aggregates, for each set of keys), "fragments" (rows are aggregated once, and each query merges the partial
            results that match its filter) or "branches" (rows go to Python once, and are sliced there for every filter
            and set of keys). A stream has "conditions" only.
        statistics: Known figures about the input, so that no small job needs to sample it.
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
        queries = [
            mt.Query("ts", "device", "10 minutes, 1 hour", mt.avg("temperature"), name="devices"),
            mt.Query("ts", "region", "1 hour", mt.max("temperature"), where="state = 'hot'", name="hot regions"),
        ]
        with mt.evaluate(readings, queries) as results:
            results["hot regions"].show(3)
        ```
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
        query = plan_query(**_described_together(Conditions(asked)), statistics=statistics, **options, comparable=True)
        return _stream_plan(asked, query.plan)
    division = divide(asked, strategy, statistics)
    return division.plan([_plans(df, asked.only(part.ones), part) for part in division.parts])


def _checked(df: DataFrame, queries: Queries, strategy: Sharing, statistics: Statistics | None) -> Asked:
    check_frame(df)
    check_choice("strategy", strategy, Sharing)
    if df.isStreaming and strategy not in ("auto", "conditions"):
        raise UnsupportedError(
            f"strategy {strategy!r} is for batch input: the queries of a stream are one query with one state. "
            "Use strategy='auto' or 'conditions'."
        )
    check_known(statistics)
    if isinstance(statistics, DataFrame):
        raise QueryError("statistics of many queries are figures. Use mt.Statistics(rows=…, keys=…, span='1 day').")
    return asked_of(df, queries if isinstance(queries, QuerySet) else QuerySet(queries))


def _batch(df: DataFrame, asked: Asked, strategy: Sharing, statistics: Statistics | None) -> Results:
    division = divide(asked, strategy, statistics)
    for part in division.parts:
        _check_rows(asked, part, division.statistics.rows)
    frames: dict[str, DataFrame] = {}
    kept: list[DataFrame] = []
    plans: list[tuple[Shown, ...]] = []
    for part in division.parts:
        rows, plan = _evaluated(df, asked.only(part.ones), part, kept)
        frames |= rows
        plans.append(plan)
    return Results(division.plan(plans), {one.name: frames[one.name] for one in asked.ones}, tuple(kept))


def _check_rows(asked: Asked, part: Part, read: int) -> None:
    """Refuse queries whose results would have too many rows; a part that is one query is checked as such."""
    for branch in part.branches:
        check_rows_of(asked.frame, branch.group.windows, branch.statistics, read)
    if part.groups:
        units = Fragments(asked.only(part.ones), part.in_rows).units
        for unit, statistics in zip(units, part.statistics, strict=True):
            check_rows_of(asked.frame, windows_of(unit.ones), statistics, read)


def _evaluated(
    df: DataFrame, asked: Asked, part: Part, kept: list[DataFrame]
) -> tuple[dict[str, DataFrame], tuple[Shown, ...]]:
    """Evaluate the queries of a part, and give the plans of its windows; what is kept for several of them is listed."""
    if part.way == "apart":
        one = part.ones[0]
        query = plan_query(**_asked_alone(df, one), statistics=part.figures)
        return {one.name: query.evaluate().toDF(*one.outputs)}, (query.plan,)
    if part.is_direct:
        shared = Conditions(asked)
        query = plan_query(**_asked_together(shared), statistics=part.figures)
        return _told(query.evaluate(), {one.name: shared.projection(one) for one in part.ones}, kept), (query.plan,)
    if part.branches:
        branches = Branches(asked, part.branches)
        frames = _told(branches.rows(), {one.name: branches.projection(one) for one in part.ones}, kept)
        return frames, tuple(branch.plan for branch in part.branches)
    base = Fragments(asked, part.in_rows)
    frames, plans = {}, []
    partials = {group: _kept(base.parts(group.grids), len(base.units), kept) for group in part.groups}
    for unit, statistics in zip(base.units, part.statistics, strict=True):
        results = []
        for group in part.groups:
            if windows := own_windows(unit, group):
                source = base.over(unit, partials[group], windows)
                plans.append(plan_batch(source, "auto", statistics))
                results.append(evaluate_batch(source, plans[-1]))
        frames |= _told(
            reduce(DataFrame.union, results), {one.name: base.projection(unit, one) for one in unit.ones}, kept
        )
    return frames, tuple(plans)


def _told(rows: DataFrame, projections: dict[str, Projection], kept: list[DataFrame]) -> dict[str, DataFrame]:
    """Tell the rows of every query from those of all."""
    together = _kept(rows, len(projections), kept)
    return {name: project(together) for name, project in projections.items()}


def _kept(rows: DataFrame, readers: int, kept: list[DataFrame]) -> DataFrame:
    """Keep rows that are read several times, as soon as they are."""
    if readers == 1:
        return rows
    kept.append(persist_apart(rows))
    return kept[-1]


def _asked_alone(df: DataFrame, one: One) -> dict[str, Any]:
    """Ask a query by itself, its filter where Spark can push it down."""
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


def _asked_together(shared: Conditions) -> dict[str, Any]:
    return {
        "df": shared.frame(),
        "time": shared.asked.time,
        "by": shared.by,
        "windows": shared.named_windows(),
        "aggregates": shared.aggregates,
    }


def _plans(df: DataFrame, asked: Asked, part: Part) -> tuple[Shown, ...]:
    """Give the plans of the windows of a part, one for each set of keys."""
    if part.is_direct:
        query = _asked_alone(df, part.ones[0]) if part.way == "apart" else _asked_together(Conditions(asked))
        return (plan_query(**query, statistics=part.figures, comparable=True).plan,)
    if part.branches:
        return tuple(branch.plan for branch in part.branches)
    base = Fragments(asked, part.in_rows)
    return tuple(
        plan_batch(base.over(unit, base.parts(group.grids), windows), "auto", statistics)
        for unit, statistics in zip(base.units, part.statistics, strict=True)
        for group in part.groups
        if (windows := own_windows(unit, group))
    )


def _stream(asked: Asked, statistics: Statistics | None, options: dict[str, Any]) -> Results:
    shared = Conditions(asked)
    arguments = _described_together(shared) | {"statistics": statistics}
    query = plan_query(**arguments, **options)
    rows = query.evaluate()
    session = rows.sparkSession

    def rows_from(checkpoint: StrPath) -> DataFrame:
        if str(checkpoint) == str(options["checkpoint"]) or not (is_classic(rows) and is_begun(session, checkpoint)):
            return rows
        return plan_query(**arguments, **options | {"checkpoint": checkpoint}).evaluate()

    keys: dict[str, tuple[str, ...] | None] = {one.name: one.keys for one in asked.ones}
    projections = {one.name: keyed(shared.projection(one), keys[one.name]) for one in asked.ones}
    frames = {name: project(rows) for name, project in projections.items()}
    stream = Stream(rows_from, options["output"], projections, keys)
    return Results(_stream_plan(asked, query.plan), frames, stream=stream)


def _described_together(shared: Conditions) -> dict[str, Any]:
    """Return the arguments of all queries together, over rows with the queries' texts, which checkpoints keep."""
    frame, time = shared.frame(), shared.asked.time
    metadata = frame.schema[time].metadata | {QUERIES: [one.text for one in shared.asked.ones]}
    described = frame.withColumn(time, F.col(quoted(time)).alias(time, metadata=metadata))
    return _asked_together(shared) | {"df": described}


def _stream_plan(asked: Asked, plan: PhysicalPlan | StreamPlan) -> SharingPlan:
    filters = {one.where for one in asked.ones if one.where is not None}
    keys = tuple(dict.fromkeys(one.keys for one in asked.ones))
    share = Share("conditions", tuple(map(told, asked.ones)), plan.cost, filters=len(filters), keys=keys, plans=(plan,))
    return SharingPlan((share,), plan.statistics, streaming=True)
