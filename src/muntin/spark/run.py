"""mt.aggregate and mt.explain: from a DataFrame and what is asked of it to a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pyspark.sql import DataFrame

from muntin.choices import AnyStrategy, Late, Layout, Output, ShapeName, Strategy, StreamShapeName, check_choice
from muntin.errors import QueryError, UnsupportedError
from muntin.fingerprint import Fingerprint
from muntin.paths import StrPath
from muntin.plan.physical.options import StreamOptions
from muntin.plan.physical.plans import PhysicalPlan
from muntin.plan.physical.stream import ASSUMED, StreamPlan
from muntin.plan.statistics import Statistics
from muntin.query import Windows, several
from muntin.registry import WindowRegistry
from muntin.spark.batch.choice import plan_batch
from muntin.spark.batch.evaluate import evaluate_batch
from muntin.spark.batch.framed_choice import plan_framed
from muntin.spark.batch.wide import check_wide, wide
from muntin.spark.input.columns import Aggregates, Key, as_aggregates
from muntin.spark.input.events import Events
from muntin.spark.input.frame import check_frame
from muntin.spark.input.reading import prepare
from muntin.spark.input.source import Source
from muntin.spark.input.statistics import check_known, known
from muntin.spark.stream.choice import evaluate_stream, plan_stream, taken_up
from muntin.spark.stream.fingerprints import kept_fingerprints
from muntin.spark.stream.framed_choice import is_framed, ordered_fingerprint, plan_framed_stream
from muntin.spark.stream.observing import count_results
from muntin.spark.stream.ordered import ordered
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
    check_frame(df)
    options = StreamOptions(watermark, late, output, future, late_rows)
    kept = _kept(df, checkpoint)
    if isinstance(windows, WindowRegistry):
        check_known(statistics)
        check_registered(df, strategy, options)
        in_order = in_turn(windows, strategy, kept)
        now = (*ANY_KIND, *windows.counted()) if in_order else windows.windows() or ANY_WINDOW
        source = _checked(df, time, by, now, aggregates, strategy, layout, order_by, late_rows)
        rows = evaluate_registered(prepare_stream(source, options)[0], windows, kept, in_order=in_order)
        return count_results(rows, "ordered" if in_order else "columnar")
    source, figures = _asked(df, time, by, windows, aggregates, strategy, layout, statistics, order_by, late_rows)
    if df.isStreaming:
        source, options = prepare_stream(source, options)
        if is_framed(source, strategy, kept):
            plan = plan_framed_stream(source, strategy, figures or ASSUMED, options, kept)
            rows = ordered(source, taken_up(kept, ordered_fingerprint(source)))
        else:
            plan = plan_stream(source, strategy, figures, options, kept)
            rows = evaluate_stream(source, plan, kept)
        log_plan(plan)
        return count_results(rows, plan.shape.name.lower(), plan.scans)
    physical = _plan(source, strategy, figures)
    log_plan(physical)
    result = evaluate_batch(source, physical)
    return wide(source, result) if layout == "wide" else result


def explain(
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
) -> PhysicalPlan | StreamPlan:
    """Give the plan that mt.aggregate would run: print it, draw it, or look into it.

    For a registry this is the plan of the windows that it has now.
    """
    check_frame(df)
    options = StreamOptions(watermark, late, output, future, late_rows)
    if isinstance(windows, WindowRegistry):
        check_registered(df, strategy, options)
        some, before = windows.windows() or ANY_WINDOW, _kept(df, checkpoint)
        source, figures = _asked(df, time, by, some, aggregates, strategy, layout, statistics, order_by, late_rows)
        source, options = prepare_stream(source, options)
        in_order = in_turn(windows, strategy, before)
        return plan_registered(source, windows, strategy, figures, options, before, in_order=in_order)
    source, figures = _asked(df, time, by, windows, aggregates, strategy, layout, statistics, order_by, late_rows)
    if df.isStreaming:
        source, options = prepare_stream(source, options)
        before = _kept(df, checkpoint)
        planned = plan_framed_stream if is_framed(source, strategy, before) else plan_stream
        return planned(source, strategy, figures, options, before)
    physical = _plan(source, strategy, figures)
    return replace(physical, notes=(*physical.notes, *_asides(options, layout)))


def _plan(source: Source, strategy: AnyStrategy, statistics: Statistics | None) -> PhysicalPlan:
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


def _asked(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key],
    windows: Windows,
    aggregates: Aggregates,
    strategy: AnyStrategy,
    layout: Layout,
    statistics: Statistics | DataFrame | None,
    order_by: Key | Iterable[Key],
    late_rows: bool,
) -> tuple[Source, Statistics | None]:
    """Check a query; give also what is known of its input, where that is given."""
    keys = several(by)
    source = _checked(df, time, keys, windows, aggregates, strategy, layout, order_by, late_rows)
    return source, known(statistics, lambda history: _history(source, history, time, keys))


def _checked(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key],
    windows: Windows,
    aggregates: Aggregates,
    strategy: AnyStrategy,
    layout: Layout,
    order_by: Key | Iterable[Key],
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
    source = prepare(df, time, several(by), windows, asked, several(order_by), late_rows=late_rows)
    if layout == "wide":
        check_wide(source)
    return source


def _history(source: Source, history: DataFrame, time: Key, keys: tuple[Key, ...]) -> Events:
    """Read another DataFrame for the query of a source."""
    return prepare(history, time, keys, source.query.windows, source.query.aggregates).events
