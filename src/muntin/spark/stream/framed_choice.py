"""mt.aggregate on a stream with windows of other kinds: all are read from rows in order."""

from __future__ import annotations

from dataclasses import replace

from muntin.duration import Duration
from muntin.errors import QueryError, UnsupportedError
from muntin.fingerprint import Fingerprint
from muntin.plan.physical.framed import ordered_stream
from muntin.plan.physical.options import StreamOptions
from muntin.plan.physical.stream import StreamPlan, StreamShape
from muntin.plan.physical.stream_work import StreamWork
from muntin.plan.physical.work import Work
from muntin.plan.statistics import Statistics
from muntin.spark.input.sampling import sampled
from muntin.spark.input.source import Source
from muntin.spark.prices import price_notes, session_prices
from muntin.spark.stream.choice import buckets_of, taken_up
from muntin.spark.stream.fingerprints import fingerprint
from muntin.spark.stream.ordered import check_ordered
from muntin.window import Window


def is_framed(source: Source, strategy: str, kept: tuple[Fingerprint, ...]) -> bool:
    """Tell whether rows must be in order: a window is on no grid of time, or the shape is asked for or kept."""
    shape = StreamShape.ORDERED.name.lower()
    before = strategy == "auto" and any(one.shape == shape for one in kept)
    return strategy == shape or before or len(source.query.periodic) < len(source.query.windows)


def plan_framed_stream(
    source: Source,
    strategy: str,
    statistics: Statistics | None,
    options: StreamOptions,
    kept: tuple[Fingerprint, ...] = (),
) -> tuple[StreamPlan, Fingerprint]:
    """Give the only plan of a query over a stream in which a window is on no grid of time, and what its state is for.

    No choice depends on statistics, but the plan of several queries is shown with its cost, and is that of mt.explain.
    """
    _check(source, strategy, options)
    events = source.events
    work = Work(statistics or sampled(source), len(events.partials), len(events.keys), session_prices(events.frame))
    stream = StreamWork(work, options.watermark or Duration(0))
    plan = ordered_stream(stream, source.query.windows, strategy, options, source.query.aggregates)
    mark = taken_up(kept, ordered_fingerprint(source))
    return replace(plan, notes=(*plan.notes, *price_notes(events.frame))), mark


def ordered_fingerprint(source: Source) -> Fingerprint:
    """Describe the state of a query whose rows are read in order."""
    shape, order = StreamShape.ORDERED.name.lower(), source.watching.order_texts
    return fingerprint(source, shape, source.query.windows, buckets_of(source), order=order)


def _check(source: Source, strategy: str, options: StreamOptions) -> None:
    """Refuse what cannot run, and say what to do."""
    windows = source.query.windows
    label = next((window.label for window in windows if not isinstance(window, Window)), windows[0].label)
    if strategy not in ("auto", "kernel", "ordered"):
        raise UnsupportedError(
            f"strategy {strategy!r} is for windows on a grid of time, and {label!r} is none. Use strategy='auto'."
        )
    if options.output != "append":
        raise QueryError(f"window {label!r} is given when it has ended, and has no output='update'. Use 'append'.")
    if options.late == "exact":
        raise QueryError(f"window {label!r} takes rows in order, and has no late='exact'. Use a longer watermark.")
    check_ordered(source)
