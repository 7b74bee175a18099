"""Windows that only the rows of a key in order tell: how many instances are expected of them, and what they cost."""

from __future__ import annotations

from math import exp

from muntin.aggregates import Aggregate
from muntin.plan.physical.options import StreamOptions
from muntin.plan.physical.plans import Group
from muntin.plan.physical.prices import Amounts, added
from muntin.plan.physical.shapes import Shape
from muntin.plan.physical.stream import StreamPlan, StreamShape
from muntin.plan.physical.stream_work import State, StreamWork
from muntin.plan.physical.work import TASK_ROWS, WRITTEN, Work
from muntin.window import (
    AnyWindow,
    Cumulating,
    Landmark,
    LastRows,
    LastTime,
    Measured,
    Session,
    Snapshot,
    Window,
)

ROWS_APART = 10
"""Rows that an instance is taken to have where nobody can know: rows themselves begin and end it."""
SESSION_ROW = 1.6
"""What a row of plain Spark's sessions costs, in rows shuffled and sorted: it is sorted twice and merged."""


def instances(work: Work, window: AnyWindow) -> float:
    """Estimate the instances of a window of any kind; of sessions as if rows came at random."""
    s = work.statistics
    match window:
        case Window():
            return work.instances(window)
        case Session():
            return s.keys + s.rows * exp(-min(700.0, float(s.rate) * int(window.gap)))
        case Measured(on=None):
            return s.rows / window.slide
        case LastTime():
            return s.rows / window.every
        case LastRows():
            return work.instances(Window(window.slide))
        case Cumulating():
            return work.instances(Window(window.range)) * window.range / window.step
        case Landmark():
            return s.keys * max(1.0, s.span / window.step)
        case Snapshot():
            return float(s.rows)
    return s.rows / ROWS_APART


def ordered(work: Work, windows: tuple[AnyWindow, ...], aggregates: tuple[Aggregate, ...], watched: int) -> Group:
    """Price windows that are read together from the rows of every key in order; windows may watch some columns."""
    out = sum(instances(work, window) for window in windows)
    units = ordered_amounts(work, len(windows), out, watched)
    return Group(windows, Shape.ORDERED, work.prices.of(units), out, aggregates=aggregates)


def ordered_amounts(work: Work, windows: int, out: float, watched: int) -> Amounts:
    """Count the units of work: rows are read, sorted, sent to Python and cut, and instances come back."""
    rows = work.statistics.rows
    own = {"branch": 1, "stage": 1, "python": 1, "exchange": rows * work.wide, "column": rows * watched}
    own["element"] = rows * (1 + work.columns + windows) + (1 + work.columns) * WRITTEN * out
    return added(own, work.reading(), work.sent_rows(), work.returned(out))


def tagged(work: Work, windows: tuple[AnyWindow, ...], aggregates: tuple[Aggregate, ...], watched: int) -> Group:
    """Price windows whose rows Python gives to instances and Spark aggregates."""
    rows = work.statistics.rows
    out = sum(instances(work, window) for window in windows)
    given = rows * sum(copies(work, window) for window in windows)
    own = {"branch": 1, "stage": 2, "python": 1, "exchange": rows * work.wide, "column": rows * watched}
    own |= {"element": rows * len(windows) + given, "group": given * work.wide, "emit": out * work.wide}
    units = added(own, work.reading(), work.sent_rows(), work.returned(given), work.heavy(given))
    return Group(windows, Shape.TAGGED, work.prices.of(units), out, aggregates=aggregates)


def copies(work: Work, window: AnyWindow) -> float:
    """Estimate the instances that a row lies in."""
    s = work.statistics
    match window:
        case Window() | Measured():
            return float(window.range / window.slide)
        case LastRows():
            return window.count * instances(work, window) / max(1, s.rows)
        case LastTime():
            return float(s.rate) * int(window.range) / window.every
        case Cumulating():
            return window.range / window.step / 2
        case Landmark():
            return max(1.0, s.span / window.step / 2)
    return 1.0


def source_sessions(work: Work, windows: tuple[AnyWindow, ...], aggregates: tuple[Aggregate, ...]) -> Group:
    """Price sessions that are made of partial ones at the source; the shortest gap tells how many these are."""
    s = work.statistics
    shortest = min((window for window in windows if isinstance(window, Session)), key=lambda window: window.gap)
    batches = max(1.0, s.rows / TASK_ROWS)
    spread = batches * work.occupied(s.keys, min(s.rows, TASK_ROWS))
    parts = min(float(s.rows), instances(work, shortest) + spread) if s.ordered else float(s.rows)
    out = sum(instances(work, window) for window in windows)
    own = {"branch": 1, "stage": 1, "python": 2, "exchange": parts * work.wide}
    own["element"] = (1 + work.columns) * (s.rows + parts) + parts * len(windows) + WRITTEN * out
    made = added(work.reading(), work.sent_rows(), work.ordering(), work.returned(parts), work.sent(parts))
    cost = work.prices.of(added(own, made, work.returned(out)))
    return Group(windows, Shape.SOURCE_SESSIONS, cost, out, parts, aggregates=aggregates)


def ordered_stream(
    stream: StreamWork,
    windows: tuple[AnyWindow, ...],
    strategy: str,
    options: StreamOptions,
    aggregates: tuple[Aggregate, ...],
) -> StreamPlan:
    """Give the plan of windows over a stream whose rows wait for the watermark and are read in order."""
    work, batches, s = stream.work, stream.batches, stream.work.statistics
    waiting = min(float(s.rows), s.rows * stream.behind / max(1, s.span))
    slices = float(s.keys * len(windows))
    out = sum(instances(work, window) for window in windows)
    own = {"operator": batches, "python": 2 * batches, "state_python": batches}
    own |= {"packed": batches * (waiting + slices)}
    cost = work.prices.of(added(own, work.reading(), work.sent_rows(), work.returned(out)))
    states = State("rows that wait", waiting), State("slices of open instances", slices)
    late = [window.label for window in windows if not window.deterministic]
    kept = f"{', '.join(late)}: where an instance begins is known only when it ends, so rows are kept for it"
    return StreamPlan(
        *(windows, StreamShape.ORDERED, strategy, s, options, cost, states),
        alternatives=(("ordered", cost),),
        alternative_rows=(waiting + slices,),
        notes=(kept,) if late else (),
        aggregates=aggregates,
        rows_out=out,
    )


def plain_sessions(work: Work, windows: tuple[AnyWindow, ...], aggregates: tuple[Aggregate, ...]) -> Group:
    """Price sessions as plain Spark evaluates them, each alone."""
    rows, each = work.statistics.rows, len(windows)
    out = sum(instances(work, window) for window in windows)
    own = {"branch": each, "stage": each, "exchange": SESSION_ROW * each * rows * work.wide, "emit": out * work.wide}
    cost = work.prices.of(added(own, work.reading(each)))
    return Group(windows, Shape.INDEPENDENT, cost, out, aggregates=aggregates)
