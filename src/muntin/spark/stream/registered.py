"""Windows of a registry: a query over a stream in which windows come and go."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame

from muntin.errors import QueryError
from muntin.fingerprint import Fingerprint
from muntin.plan.physical.options import StreamOptions
from muntin.plan.physical.stream import StreamPlan, StreamShape
from muntin.plan.statistics import Statistics
from muntin.registry import WindowRegistry
from muntin.spark.input.source import Source
from muntin.spark.stream.choice import buckets_of, plan_stream, taken_up
from muntin.spark.stream.columnar import check_columnar, columnar
from muntin.spark.stream.fingerprints import fingerprint
from muntin.spark.stream.framed_choice import plan_framed_stream
from muntin.spark.stream.ordered import ordered
from muntin.window import AnyWindow, Measured, Window

ANY_WINDOW = (Window("1 s"),)
"""What stands for the windows of a registry that is still empty."""

COMING = "windows of a registry may come and go while the query runs; slices, forest and state then change with them"
"""What plans of a registry say."""


ANY_KIND = (Measured(2**52, id="rows of a registry"),)
"""The same where rows are in order: windows with measures of their own may come."""


def in_turn(registry: WindowRegistry, strategy: str, kept: tuple[Fingerprint, ...]) -> bool:
    """Tell whether rows must be in order: a window of now is on no grid of time, or the shape is asked for or kept."""
    shape = StreamShape.ORDERED.name.lower()
    framed = not all(isinstance(window, Window) for window in registry.windows())
    return strategy == shape or (framed and not kept) or any(one.shape == shape for one in kept)


def check_registered(df: DataFrame, strategy: str, options: StreamOptions) -> None:
    """Refuse what a registry of windows is not for."""
    if not df.isStreaming:
        raise QueryError("a registry of windows is for streams. Give windows=registry.windows() for batch input.")
    if strategy not in ("auto", "kernel", "columnar", "ordered"):
        raise QueryError(f"strategy {strategy!r} cannot follow a registry of windows. Use strategy='auto'.")
    if options.output != "append":
        raise QueryError(f"output {options.output!r} cannot follow a registry of windows. Use output='append'.")


def plan_registered(
    source: Source,
    registry: WindowRegistry,
    strategy: str,
    statistics: Statistics | None,
    options: StreamOptions,
    kept: tuple[Fingerprint, ...],
    *,
    in_order: bool = False,
) -> StreamPlan:
    """Give the plan of the windows that a registry has now; where it has none, the source was made for ANY_WINDOW."""
    windows = registry.windows()
    check_columnar(source)
    if in_order:
        taken_up(kept, _fingerprint(source, registry, StreamShape.ORDERED))
        return _in_order(source, windows, strategy, statistics, options)
    taken_up(kept, _fingerprint(source, registry))
    plan, _ = plan_stream(source, StreamShape.COLUMNAR.name.lower(), statistics, options)
    plan = replace(plan, strategy=strategy)
    if windows:
        return replace(plan, notes=(*plan.notes, COMING))
    return StreamPlan(
        *((), plan.shape, strategy, plan.statistics, plan.options),
        cost=0.0,
        states=(),
        notes=(*plan.notes, "the registry has no windows now: rows count from when one is added", COMING),
        aggregates=plan.aggregates,
    )


def _in_order(
    source: Source,
    windows: tuple[AnyWindow, ...],
    strategy: str,
    statistics: Statistics | None,
    options: StreamOptions,
) -> StreamPlan:
    """Give the plan of windows that come and go where rows are in order; each has slices of its own."""
    asked = replace(source, query=replace(source.query, windows=windows or ANY_WINDOW))
    plan, _ = plan_framed_stream(asked, "ordered", statistics, options)
    return replace(plan, strategy=strategy, windows=windows, notes=(*plan.notes, COMING))


def evaluate_registered(
    source: Source, registry: WindowRegistry, kept: tuple[Fingerprint, ...], *, in_order: bool = False
) -> DataFrame:
    """Give the streaming DataFrame of windows that come and go: in columnar state, and in order, windows are data."""
    registry.settle()
    if in_order:
        source = replace(source, watching=replace(source.watching, whole=False))  # what comes may have fractions
        return ordered(source, taken_up(kept, _fingerprint(source, registry, StreamShape.ORDERED)), registry)
    return columnar(source, registry, taken_up(kept, _fingerprint(source, registry)))


def _fingerprint(source: Source, registry: WindowRegistry, shape: StreamShape = StreamShape.COLUMNAR) -> Fingerprint:
    """Describe the state of a query whose windows come and go."""
    order = source.watching.order_texts if shape is StreamShape.ORDERED else None
    identity = registry.identity()
    return fingerprint(source, shape.name.lower(), None, buckets_of(source), order=order, registry=identity)
