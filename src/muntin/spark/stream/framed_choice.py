"""mt.aggregate on a stream with windows of other kinds: all are read from rows in order."""

from __future__ import annotations

from collections.abc import Iterator

from muntin.duration import Duration
from muntin.errors import QueryError, UnsupportedError
from muntin.fingerprint import Fingerprint
from muntin.plan.physical import framed
from muntin.plan.physical.options import StreamOptions
from muntin.plan.physical.prices import added
from muntin.plan.physical.stream import ASSUMED, StreamPlan, StreamShape
from muntin.plan.physical.stream_work import State, StreamWork
from muntin.plan.physical.work import Work
from muntin.plan.statistics import Statistics
from muntin.spark.input.sampling import sampled
from muntin.spark.input.source import Source
from muntin.spark.stream.choice import buckets_of, taken_up
from muntin.spark.stream.columnar import check_columnar
from muntin.spark.stream.fingerprints import fingerprint
from muntin.window import Window


def is_framed(source: Source, strategy: str) -> bool:
    """Tell whether rows must be in order: a window is on no grid of time, or that shape is asked for."""
    return strategy == "ordered" or len(source.query.periodic) < len(source.query.windows)


def plan_framed_stream(
    source: Source,
    strategy: str,
    statistics: Statistics | None,
    options: StreamOptions,
    kept: tuple[Fingerprint, ...] = (),
) -> StreamPlan:
    """Give the plan of a query over a stream in which a window is on no grid of time."""
    _check(source, strategy, options)
    if statistics is None:
        statistics = sampled(source) if strategy == "auto" else ASSUMED
    work = Work(statistics, len(source.events.partials), len(source.events.keys))
    stream = StreamWork(work, options.watermark or Duration(0))
    states, cost, out = _priced(stream, source)
    taken_up(kept, ordered_fingerprint(source))
    return StreamPlan(
        *(source.query.windows, StreamShape.ORDERED, strategy, statistics, options, cost, states),
        alternatives=(("ordered", cost),),
        alternative_rows=(sum(state.rows for state in states),),
        notes=tuple(_notes(source)),
        aggregates=source.query.aggregates,
        rows_out=out,
    )


def ordered_fingerprint(source: Source) -> Fingerprint:
    """Describe the state of a query whose rows are read in order."""
    return fingerprint(source, StreamShape.ORDERED.name.lower(), source.query.windows, buckets_of(source))


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
    check_columnar(source)


def _priced(stream: StreamWork, source: Source) -> tuple[tuple[State, ...], float, float]:
    """Estimate what is kept, what it costs, and the result rows."""
    work, batches = stream.work, stream.batches
    s = work.statistics
    waiting = min(s.rows, s.rows * stream.behind / max(1, s.span))
    slices = float(s.keys * len(source.query.windows))
    out = sum(framed.instances(work, window) for window in source.query.windows)
    own = {"operator": batches, "python": batches, "state_python": s.rows, "packed": batches * (waiting + slices)}
    cost = work.prices.of(added(own, work.reading(), work.returned(out)))
    return (State("rows that wait", waiting), State("slices of open instances", slices)), cost, out


def _notes(source: Source) -> Iterator[str]:
    if rows := [window.label for window in source.query.windows if not window.deterministic]:
        yield f"{', '.join(rows)}: where an instance begins is known only when it ends, so rows are kept for it"
