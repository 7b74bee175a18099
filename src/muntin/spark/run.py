"""mt.aggregate and mt.explain: from a DataFrame and what is asked of it to a DataFrame."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

from pyspark.sql import Column, DataFrame

from muntin.aggregates import Aggregate
from muntin.choices import AnyStrategy, Late, Layout, Output, ShapeName, Strategy, StreamShapeName, check_choice
from muntin.duration import natural_unit
from muntin.errors import UnsupportedError
from muntin.fingerprint import Fingerprint
from muntin.paths import StrPath
from muntin.plan import plan as plan_windows
from muntin.plan.physical import (
    STRATEGIES,
    Group,
    PhysicalPlan,
    Prices,
    Shape,
    Statistics,
    Work,
    choose,
)
from muntin.plan.streaming import StreamPlan, Terms
from muntin.query import Windows, several
from muntin.registry import WindowRegistry
from muntin.spark import kernel
from muntin.spark.columns import as_aggregates
from muntin.spark.fingerprints import kept_fingerprints
from muntin.spark.frame import check_frame
from muntin.spark.independent import independent
from muntin.spark.native import expand, slices_explode
from muntin.spark.sessions import ARROW_BYTES, UNLIMITED
from muntin.spark.source import Events, Source, prepare
from muntin.spark.statistics import check_known, known, measure
from muntin.spark.streaming import (
    ANY_WINDOW,
    check_registered,
    evaluate_registered,
    evaluate_stream,
    plan_stream,
    prepare_stream,
)
from muntin.spark.wide import check_wide, wide
from muntin.window import Length, Window

if TYPE_CHECKING:
    from muntin.plan.logical import Plan

Key = str | Column
Aggregates = Aggregate | Column | Iterable[Aggregate | Column]
"""Aggregates as users write them: our own, or those of Spark that we know."""


def aggregate(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key] = (),
    windows: Windows | WindowRegistry = (),
    aggregates: Aggregates = (),
    *,
    strategy: AnyStrategy = "auto",
    layout: Layout = "long",
    statistics: Statistics | DataFrame | None = None,
    watermark: Length | None = None,
    late: Late = "drop",
    output: Output = "append",
    future: Length | None = None,
    checkpoint: StrPath | None = None,
) -> DataFrame:
    """Evaluate aggregates over many windows of event time, per key, in one pass; the rows are those of Spark alone.

    The result has window_id, window (start and end), the keys and the aggregates; layout="wide" gives one row per key
    and window end instead. The strategy is "auto" (by cost), "independent" (the plain Spark plan), "native" (Spark SQL
    only) or "kernel". Statistics, if given, save the small job that "auto" samples the input with; a batch DataFrame
    with the columns of the input, such as a stream's history, is measured in its place.

    A stream gives a stream. Its watermark is that of the input, or the one given; late="exact" counts late rows for
    every window that is open; output is the mode that the result will be written in; future="1 hour" sets aside rows
    that are further ahead of the clock, before they close windows. With the checkpoint that the query will be started
    with, what it was made for is compared here, and "auto" keeps its shape; without it, Spark compares when the query
    starts. Batch input needs none of these. A registry instead of windows lets them come and go while a stream runs.

    Windows may be texts, such as "1 hour every 5 minutes", and aggregates may be those of Spark, such as F.sum("v"),
    where it has the same; without an alias they keep the name that Spark gives them.
    """
    check_frame(df)
    terms = Terms(watermark, late, output, future)
    kept = _kept(df, checkpoint)
    if isinstance(windows, WindowRegistry):
        check_known(statistics)
        check_registered(df, strategy, terms)
        source = _checked(df, time, by, windows.windows() or ANY_WINDOW, aggregates, strategy, layout)
        return evaluate_registered(prepare_stream(source, terms)[0], windows, kept)
    keys = several(by)
    source = _checked(df, time, keys, windows, aggregates, strategy, layout)
    figures = known(statistics, lambda history: _history(source, history, time, keys))
    if df.isStreaming:
        source, terms = prepare_stream(source, terms)
        return evaluate_stream(source, plan_stream(source, strategy, figures, terms, kept), kept)
    physical = _physical(source, strategy, figures)
    result = reduce(DataFrame.union, [_evaluated(source, group, physical) for group in physical.groups])
    return wide(source, result) if layout == "wide" else result


def explain(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key] = (),
    windows: Windows = (),
    aggregates: Aggregates = (),
    *,
    strategy: AnyStrategy = "auto",
    layout: Layout = "long",
    statistics: Statistics | DataFrame | None = None,
    watermark: Length | None = None,
    late: Late = "drop",
    output: Output = "append",
    future: Length | None = None,
    checkpoint: StrPath | None = None,
) -> PhysicalPlan | StreamPlan:
    """Give the plan that mt.aggregate would run: print it, or look into it."""
    check_frame(df)
    terms = Terms(watermark, late, output, future)
    keys = several(by)
    source = _checked(df, time, keys, windows, aggregates, strategy, layout)
    figures = known(statistics, lambda history: _history(source, history, time, keys))
    if df.isStreaming:
        source, terms = prepare_stream(source, terms)
        return plan_stream(source, strategy, figures, terms, _kept(df, checkpoint))
    physical = _physical(source, strategy, figures)
    named = {"watermark": terms.watermark, "future": terms.future}
    ignored = (f"{name} is for streams: this input is read to its end" for name in named if named[name] is not None)
    return replace(physical, notes=(*physical.notes, *ignored))


def _kept(df: DataFrame, checkpoint: StrPath | None) -> tuple[Fingerprint, ...]:
    """Give what the states of a checkpoint were made for; nothing where there is none, and in batch."""
    if checkpoint is None or not df.isStreaming:
        return ()
    return kept_fingerprints(df.sparkSession, checkpoint)


def _checked(
    df: DataFrame,
    time: Key,
    by: Key | Iterable[Key],
    windows: Windows,
    aggregates: Aggregates,
    strategy: AnyStrategy,
    layout: Layout,
) -> Source:
    check_choice("strategy", strategy, Strategy, StreamShapeName if df.isStreaming else ShapeName)
    check_choice("layout", layout, Layout)
    if layout == "wide" and df.isStreaming:
        raise UnsupportedError(
            "layout 'wide' puts windows side by side that a stream gives at different times. Use layout='long'."
        )
    source = prepare(df, time, several(by), windows, as_aggregates(df, aggregates))
    if layout == "wide":
        check_wide(source)
    return source


def _history(source: Source, history: DataFrame, time: Key, keys: tuple[Key, ...]) -> Source:
    """Read another DataFrame for the query of a source."""
    return prepare(history, time, keys, source.query.windows, source.query.aggregates)


def _physical(source: Source, strategy: str, statistics: Statistics | None) -> PhysicalPlan:
    """Choose the physical plan; unless it can only be the plain one, that needs statistics, and so a small job."""
    notes = []
    shareable = all(made.mergeable for made in source.recipes)
    stopped = kernel.obstacle(source) if shareable else None
    if not shareable:
        holistic = next(made.aggregate for made in source.recipes if not made.mergeable)
        notes.append(f"{holistic!r} is evaluated from the rows of every window, and the others with it")
    elif stopped:
        notes.append(f"kernels are left out: {stopped}")

    windows = source.query.windows
    alone = strategy == "auto" and len(windows) == 1 and windows[0].is_tumbling  # nothing is shared with anything

    def allowed(shape: Shape) -> bool:
        unfit = (shape.needs_merge and not shareable) or (shape.uses_kernel and stopped)
        return not unfit and not (alone and shape is not Shape.INDEPENDENT)

    shapes = [shape for shape in STRATEGIES[strategy] if allowed(shape)]
    if statistics is None:
        statistics = Statistics(1_000_000, source="assumed") if _only_one_way(shapes) else measure(source)
    charged, hint = prices(source)
    notes += hint
    columns = sum(len(names) for names in source.partials) or len(source.recipes)
    work = Work(statistics, columns, len(source.keys), charged, len(source.shared))
    physical = choose(work, source.query.windows, strategy, allowed)
    logical = _forest(source, source.query.windows, statistics)
    return replace(
        physical,
        groups=tuple(_with_forest(source, group, physical, logical) for group in physical.groups),
        logical=logical,
        notes=tuple(notes),
    )


def _only_one_way(shapes: list[Shape]) -> bool:
    """Tell whether no statistics could change a plan: one shape is left, and it has neither slices nor chunks."""
    return shapes in ([Shape.INDEPENDENT], [Shape.EXPAND])


def _with_forest(source: Source, group: Group, physical: PhysicalPlan, logical: Plan) -> Group:
    """Give a group that kernels combine the forest of its own windows."""
    if not group.shape.uses_kernel:
        return group
    together = len(physical.groups) == 1
    forest = logical if together else _forest(source, group.windows, physical.statistics)
    return replace(group, forest=forest, techniques=kernel.techniques(source, group, forest, physical.statistics))


def prices(source: Events) -> tuple[Prices, list[str]]:
    """Give the prices in the DataFrame's own session, and what would make it quicker."""
    conf = source.frame.sparkSession.conf
    if conf.get(ARROW_BYTES, "1") == str(UNLIMITED):
        return Prices(), []
    return Prices(transfer=0.25, column=0.08), [
        f"rows would go to Python twice as fast with spark.conf.set({ARROW_BYTES!r}, {UNLIMITED}), as mt.session() does"
    ]


def _forest(source: Source, windows: tuple[Window, ...], statistics: Statistics) -> Plan:
    unit = natural_unit([length for window in windows for length in window.shape])
    return plan_windows(windows, source.query.aggregates, rate=statistics.rate * unit)


def _evaluated(source: Source, group: Group, physical: PhysicalPlan) -> DataFrame:
    match group.shape:
        case Shape.INDEPENDENT:
            return independent(source, group.windows)
        case Shape.EXPAND:
            return expand(source, group.windows)
        case Shape.SLICES_EXPLODE:
            return slices_explode(source, group.windows, group.grids)
    return kernel.evaluate(source, group, physical.statistics)
