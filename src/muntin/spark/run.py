"""mt.aggregate: from a DataFrame and what is asked of it to a plan, and to a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from muntin.choices import AnyStrategy, Late, Layout, Output, ShapeName, Strategy, StreamShapeName, check_choice
from muntin.errors import InternalError, QueryError, UnsupportedError
from muntin.fingerprint import Fingerprint
from muntin.paths import StrPath
from muntin.plan.physical.options import StreamOptions
from muntin.plan.physical.plans import PhysicalPlan
from muntin.plan.physical.stream import StreamPlan, StreamShape
from muntin.plan.statistics import Statistics
from muntin.query import Windows, several
from muntin.registry import WindowRegistry
from muntin.spark.batch.ceiling import check_result_rows
from muntin.spark.batch.choice import plan_batch
from muntin.spark.batch.evaluate import evaluate_batch
from muntin.spark.batch.framed_choice import plan_framed
from muntin.spark.batch.wide import check_wide, wide
from muntin.spark.input.columns import Aggregates, Key, as_aggregates
from muntin.spark.input.events import Events
from muntin.spark.input.frame import check_frame
from muntin.spark.input.reading import prepare
from muntin.spark.input.sampling import sampled
from muntin.spark.input.source import Source
from muntin.spark.input.statistics import known, measure
from muntin.spark.stream.choice import evaluate_stream, plan_stream
from muntin.spark.stream.fingerprints import kept_fingerprints
from muntin.spark.stream.framed_choice import is_framed, plan_framed_stream
from muntin.spark.stream.observing import count_results
from muntin.spark.stream.registered import (
    ANY_KIND,
    ANY_WINDOW,
    check_registered,
    evaluate_registered,
    in_turn,
    plan_registered,
)
from muntin.spark.stream.watermark import prepare_stream
from muntin.spark.telling import log_plan
from muntin.window import Length


def aggregate(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key] = (),
    windows: Windows | WindowRegistry = (),
    aggregates: Aggregates = (),
    *,
    order_by: Key | Iterable[Key] = (),
    strategy: AnyStrategy = "auto",
    layout: Layout = "long",
    statistics: Statistics | DataFrame | None = None,
    watermark: Length | None = None,
    late: Late = "drop",
    output: Output = "append",
    future: Length | None = None,
    checkpoint: StrPath | None = None,
    late_rows: bool = False,
) -> DataFrame:
    """Evaluate aggregates over many windows of event time, per key, with the rows that plain Spark would give.

    The result has window_id, window (start and end), the keys and the aggregates. If the input is a stream, so is the
    result. The arguments watermark, late, output, future and checkpoint matter only for streams.

    Args:
        df: The events, a batch or a stream.
        time: The column of event time, TIMESTAMP or TIMESTAMP_NTZ, by name or as an expression.
        by: The keys: one column or several, by name or as expressions; none means one group.
        windows: One window or several, of any kind: mt.tumbling("1 hour"), or text such as "1 hour every 5 minutes".
            With a WindowRegistry, you can add and remove windows while a stream runs.
        aggregates: One aggregate or several: mt.sum("v"), or Spark's F.sum("v") if Muntin has the same aggregate.
            Without an alias, Spark's aggregates keep the name that Spark gives them.
        order_by: The order of rows with equal times, for windows that count rows or look at columns.
        strategy: "auto" (by cost), "independent" (the plain Spark plan), "native" (Spark SQL only), "kernel", or the
            name of a shape.
        layout: "long" gives a row per window instance; "wide" a row per key and window end, in batch.
        statistics: Known figures about the input, so that "auto" need not sample it in a small job. Or a batch
            DataFrame with the columns of the input, such as a stream's history, which "auto" measures instead.
        watermark: On a stream, how late rows may be, such as "10 minutes". Not together with withWatermark on the
            input.
        late: "drop" lets the shape decide which late rows count; "exact" counts a late row for every window that is
            still open, as plain Spark does.
        output: The mode in which you will write the result, "append" or "update".
        future: Drop rows that are further ahead of the clock than this, before they can close windows; needs
            `watermark`.
        checkpoint: The checkpoint that you will start the query with. Muntin compares the query with it at once, and
            "auto" keeps its shape. Without `checkpoint`, the comparison happens when the query starts.
        late_rows: Whether the result of a stream also has the rows that came too late for all their windows, in a
            column late_row. mt.split_late writes them to a separate sink.

    Raises:
        QueryError: If the query is wrong: a missing column, no time, the same window twice.
        UnsupportedError: If the query is valid but not supported here, such as a median in columnar state.

    Example:
        ```python
        low = mt.aggregate(
            readings,
            time="ts",
            by="device",
            windows=["10 minutes", mt.session_window("5 minutes", id="spell")],
            aggregates=[mt.min("temperature").alias("low"), mt.count()],
        )
        low.show(3)
        ```
    """
    query = plan_query(
        *(df, time, by, windows, aggregates),
        order_by=order_by,
        strategy=strategy,
        layout=layout,
        statistics=statistics,
        watermark=watermark,
        late=late,
        output=output,
        future=future,
        checkpoint=checkpoint,
        late_rows=late_rows,
    )
    return query.evaluate()


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A query that is checked and planned, and not evaluated yet."""

    source: Source
    plan: PhysicalPlan | StreamPlan
    layout: Layout = "long"
    registry: WindowRegistry | None = None
    kept: tuple[Fingerprint, ...] = ()
    """What the states of the checkpoint were made for, on a stream."""
    mark: Fingerprint | None = None
    """What the state of the query is made for, on a stream without a registry."""

    def evaluate(self) -> DataFrame:
        """Give the DataFrame of the plan."""
        source, plan, mark = self.source, self.plan, self.mark
        log_plan(plan)
        if isinstance(plan, PhysicalPlan):
            check_result_rows(source, plan.statistics)
            rows = evaluate_batch(source, plan)
            return wide(source, rows) if self.layout == "wide" else rows
        output = plan.options.output if plan.shape.updates else None
        if self.registry is not None:
            in_order = plan.shape is StreamShape.ORDERED
            rows = evaluate_registered(source, self.registry, self.kept, in_order=in_order)
        elif mark is not None:
            rows = evaluate_stream(replace(source, output=output), plan, self.kept, mark)
        else:
            raise InternalError(f"{plan!r} has no fingerprint")
        return count_results(rows, plan.shape.name.lower(), plan.scans, output)


def plan_query(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key] = (),
    windows: Windows | WindowRegistry = (),
    aggregates: Aggregates = (),
    *,
    order_by: Key | Iterable[Key] = (),
    strategy: AnyStrategy = "auto",
    layout: Layout = "long",
    statistics: Statistics | DataFrame | None = None,
    watermark: Length | None = None,
    late: Late = "drop",
    output: Output = "append",
    future: Length | None = None,
    checkpoint: StrPath | None = None,
    late_rows: bool = False,
    comparable: bool = False,
) -> PlannedQuery:
    """Check a query and choose its plan: mt.aggregate evaluates it, mt.explain shows it.

    The input is measured where the plan depends on its figures; with `comparable` also where only one shape can run, so
    that the costs of all strategies rest on the same figures. Windows of a registry are those that it has now.
    """
    check_frame(df)
    options = StreamOptions(watermark, late, output, future, late_rows)
    kept = _kept(df, checkpoint)
    registry: WindowRegistry | None = None
    if isinstance(windows, WindowRegistry):
        check_registered(df, strategy, options)
        registry = windows
        in_order = in_turn(registry, strategy, kept)
        windows = (*ANY_KIND, *registry.counted()) if in_order else registry.windows() or ANY_WINDOW
    keys = several(by)
    source = _checked(df, time, keys, windows, aggregates, strategy, layout, several(order_by), late_rows)
    figures = known(statistics, lambda history: _history(source, history, time, keys))
    if df.isStreaming:
        source, options = prepare_stream(source, options)
    if comparable and figures is None:
        figures = sampled(source) if df.isStreaming else measure(source.events)
    if registry is not None:
        plan = plan_registered(source, registry, strategy, figures, options, kept, in_order=in_order)
        return PlannedQuery(source, plan, registry=registry, kept=kept)
    if df.isStreaming:
        plan_it = plan_framed_stream if is_framed(source, strategy, kept) else plan_stream
        plan, mark = plan_it(source, strategy, figures, options, kept)
        return PlannedQuery(source, plan, kept=kept, mark=mark)
    physical = _batch_plan(source, strategy, figures)
    return PlannedQuery(source, replace(physical, notes=(*physical.notes, *_asides(options, layout))), layout)


def _batch_plan(source: Source, strategy: AnyStrategy, statistics: Statistics | None) -> PhysicalPlan:
    in_order = strategy in ("source_sessions", "ordered", "tagged")
    if in_order or len(source.query.periodic) < len(source.query.windows):
        return plan_framed(source, strategy, statistics)
    return plan_batch(source, strategy, statistics)


def _asides(options: StreamOptions, layout: Layout) -> Iterator[str]:
    """Say what of a batch query the plan does not depend on."""
    named = {"watermark": options.watermark, "future": options.future}
    yield from (f"{name} is for streams: this input is read to its end" for name in named if named[name] is not None)
    if layout == "wide":
        yield "layout wide puts the rows of one key and window end side by side afterwards, which is not in the costs"


def _kept(df: DataFrame, checkpoint: StrPath | None) -> tuple[Fingerprint, ...]:
    """Give what the states of a checkpoint were made for; nothing where there is none, and in batch."""
    if checkpoint is None or not df.isStreaming:
        return ()
    return kept_fingerprints(df.sparkSession, checkpoint)


def _checked(
    df: DataFrame,
    time: Key,
    keys: tuple[Key, ...],
    windows: Windows,
    aggregates: Aggregates,
    strategy: AnyStrategy,
    layout: Layout,
    order_by: tuple[Key, ...],
    late_rows: bool,
) -> Source:
    check_choice("strategy", strategy, Strategy, StreamShapeName if df.isStreaming else ShapeName)
    check_choice("layout", layout, Layout)
    if layout == "wide" and df.isStreaming:
        raise UnsupportedError(
            "layout 'wide' puts windows side by side that a stream gives at different times. Use layout='long'."
        )
    if late_rows and not df.isStreaming:
        raise QueryError("late_rows=True is for streams: the rows of a batch are never late. Leave it out.")
    asked = as_aggregates(df, aggregates)
    source = prepare(df, time, keys, windows, asked, order_by, late_rows=late_rows)
    if layout == "wide":
        check_wide(source)
    return source


def _history(source: Source, history: DataFrame, time: Key, keys: tuple[Key, ...]) -> Events:
    """Read another DataFrame for the query of a source."""
    return prepare(history, time, keys, source.query.windows, source.query.aggregates).events
