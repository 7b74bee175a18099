"""mt.aggregate on a stream: the watermark, the shapes that are possible, the choice among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from warnings import warn

from pyspark.sql import DataFrame

from muntin.duration import Duration
from muntin.errors import MuntinError, MuntinWarning, QueryError, UnsupportedError
from muntin.fingerprint import BY_INSTANCE, Fingerprint, check_same
from muntin.plan.physical.options import StreamOptions
from muntin.plan.physical.stream import ASSUMED, STREAM_STRATEGIES, StreamPlan, StreamShape, choose_stream
from muntin.plan.physical.stream_work import StreamWork
from muntin.plan.physical.work import Work
from muntin.plan.statistics import Statistics
from muntin.spark.input.parts import Recipe
from muntin.spark.input.sampling import sampled
from muntin.spark.input.source import Source
from muntin.spark.prices import price_notes, session_prices
from muntin.spark.sessions import PROVIDER, ROCKSDB
from muntin.spark.stream.columnar import columnar
from muntin.spark.stream.distinct import counted, distinct, distinct_obstacle
from muntin.spark.stream.fingerprints import fingerprint, of_window
from muntin.spark.stream.ordered import ordered
from muntin.spark.stream.shapes import chain, expand, independent
from muntin.spark.stream.watermark import REUSE, shares_a_shuffle
from muntin.spark.workers.layout import obstacle
from muntin.window import Window, in_order


def plan_stream(
    source: Source,
    strategy: str,
    statistics: Statistics | None,
    options: StreamOptions,
    kept: tuple[Fingerprint, ...] = (),
) -> tuple[StreamPlan, Fingerprint]:
    """Choose the shape of a query over a stream, that of its checkpoint if it has one; give also what its state is for.

    A strategy that names one shape gets that shape, or an error that says what stands in its way.
    """
    named, origin = _named(source, strategy), f"strategy {strategy!r}"
    obstacles: dict[StreamShape, Obstacle] = {
        shape: obstacle for shape in named if (obstacle := _obstacle(source, shape, options))
    }
    if before := tuple(shape for shape in named if shape.name.lower() in {one.shape for one in kept}):
        named, origin = before, f"the checkpoint's shape {before[0].name.lower()!r}"
    if all(shape in obstacles for shape in named):
        obstacle = obstacles[named[0]]
        if others := [one for one in obstacles.values() if options.late_rows and one is not UNSEEN]:
            obstacle = replace(others[0], remedy="Leave late_rows=True out.")
        raise obstacle.error(f"{origin} {obstacle.reason}. {obstacle.remedy}")
    allowed = [shape for shape in named if shape not in obstacles]
    if statistics is None:
        statistics = sampled(source) if len(allowed) > 1 else ASSUMED
    columns = len(source.events.partials) or len(source.events.recipes)
    prices, sets = session_prices(source.events.frame), len(counted(source))
    work = Work(statistics, columns, len(source.events.keys), prices, sets=sets)
    stream = StreamWork(work, options.watermark or Duration(0))
    left_out = _left_out(source, kept)
    windows = (*source.query.periodic, *left_out)
    plan = choose_stream(stream, windows, strategy, options, allowed, source.query.aggregates)
    mark = taken_up(kept, _fingerprint(source, plan))
    if mark.lacks_windows:
        warn(UNKNOWN_WINDOWS, MuntinWarning, stacklevel=4)
    silent = (f"{window.label} is not asked for now, and is counted all the same" for window in left_out)
    faster = price_notes(source.events.frame) if any(shape.packed for shape in allowed) else ()
    notes = (*_notes(source, named, obstacles, before), *silent, *plan.notes, *faster)
    return replace(plan, notes=(*notes, LATE_ROWS) if options.late_rows else notes), mark


UNKNOWN_WINDOWS = (
    "an earlier version of Muntin made the checkpoint, which does not say what windows it counts. Do not add a window: "
    "its first instances would lack rows. To add one, use a new checkpoint."
)

LATE_ROWS = "rows go to the state as they are, so that late ones can be given, and are sliced there; costs leave it out"
"""What plans say where late rows are asked for."""


def _named(source: Source, strategy: str) -> tuple[StreamShape, ...]:
    """Give the shapes that may be chosen; one that only counts items is none of several if there is more to do."""
    shapes = STREAM_STRATEGIES[strategy]
    only_counts = len(counted(source)) == len(source.query.aggregates)
    return tuple(one for one in shapes if only_counts or one is not StreamShape.DISTINCT or len(shapes) == 1)


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What stands in the way of a shape."""

    reason: str
    remedy: str = "Use strategy='auto', 'native' or 'independent'."
    error: type[MuntinError] = QueryError


UNSEEN = Obstacle(
    "drops late rows in operators of Spark, where nobody sees them, and has no late_rows=True",
    "Use strategy='auto' or 'kernel'.",
    UnsupportedError,
)


def _obstacle(source: Source, shape: StreamShape, options: StreamOptions) -> Obstacle | None:
    """Say why a query cannot be evaluated in a shape; None if it can."""
    if options.output == "update" and not shape.updates:
        return Obstacle("gives a window when it closes, and has no output='update'")
    if options.late_rows and not shape.packed:
        return UNSEEN
    if options.late == "exact" and not shape.exact:
        return Obstacle("drops late rows with their slice, and has no late='exact'")
    if shape.needs_merge and (alone := _unmergeable(source)):
        why = alone.lacking or f"{alone.aggregate!r} has none"
        return Obstacle(f"merges partials, and {why}", error=UnsupportedError)
    if shape.alone and len(source.query.windows) > 1 and shares_a_shuffle(source.events.frame):
        return Obstacle(
            "would share the shuffle that the input has above its watermark, and Spark would close one window only",
            "Use strategy='native', put withWatermark after the shuffle, or "
            f"spark.conf.set({REUSE!r}, 'false') before the query starts.",
            UnsupportedError,
        )
    if shape in (StreamShape.COLUMNAR, StreamShape.DISTINCT):
        if source.events.frame.sparkSession.conf.get(PROVIDER, "") != ROCKSDB:
            return Obstacle("needs RocksDB for its state", f"Set spark.conf.set({PROVIDER!r}, {ROCKSDB!r}).")
        if reason := obstacle(source.events) if shape is StreamShape.COLUMNAR else distinct_obstacle(source):
            return Obstacle(f"needs kernels, and {reason}", error=UnsupportedError)
    return None


def _unmergeable(source: Source) -> Recipe | None:
    return next((made for made in source.events.recipes if not made.mergeable), None)


def _notes(
    source: Source,
    named: tuple[StreamShape, ...],
    obstacles: dict[StreamShape, Obstacle],
    before: tuple[StreamShape, ...],
) -> Iterator[str]:
    if before:
        yield f"the checkpoint has shape {before[0].name.lower()}, so no other was weighed"
    if (alone := _unmergeable(source)) and not alone.lacking:
        yield f"{alone.aggregate!r} is evaluated from the rows of every window, and the others with it"
    for shape in named:
        if shape in obstacles:
            yield f"{shape.name.lower()} is left out: it {obstacles[shape].reason}"


def _left_out(source: Source, kept: tuple[Fingerprint, ...]) -> tuple[Window, ...]:
    """Return the windows that expand or chain count in a checkpoint, and that the query does not ask for.

    They are counted on, so that their instances are complete if a later start asks for them again.
    """
    counted = (window for one in kept if one.shape in BY_INSTANCE for window in one.windows or ())
    asked = set(source.query.periodic)
    return tuple(window.timed() for window in counted if isinstance(window, Window) and window not in asked)


def _fingerprint(source: Source, plan: StreamPlan) -> Fingerprint:
    """Describe the state of a query."""
    shape = plan.shape
    buckets = buckets_of(source) if shape.packed else None
    output = plan.options.output if shape.updates else None
    return fingerprint(source, shape.name.lower(), plan.windows, buckets, output=output)


def taken_up(kept: tuple[Fingerprint, ...], now: Fingerprint) -> Fingerprint:
    """Give the fingerprint that a query goes on with: that of its checkpoint, if it has one, as it was written."""
    if not kept:
        return now
    alone = [one for one in kept if one.shape == StreamShape.INDEPENDENT.name.lower()]
    windows = in_order(window for one in alone for window in one.windows or ())
    together = [replace(one, windows=windows) for one in alone]
    return check_same([*together, *(one for one in kept if one not in alone)], now)


def evaluate_stream(source: Source, plan: StreamPlan, kept: tuple[Fingerprint, ...], mark: Fingerprint) -> DataFrame:
    """Give the streaming DataFrame of a plan, whose state goes on from what a checkpoint has."""
    match plan.shape:
        case StreamShape.INDEPENDENT:
            return independent(source, {window: of_window(kept, mark, window) for window in plan.windows})
        case StreamShape.EXPAND:
            return expand(source, plan.windows, mark)
        case StreamShape.CHAIN:
            return chain(source, plan.windows, plan.grids, mark)
        case StreamShape.DISTINCT:
            return distinct(source, plan.windows, mark)
        case StreamShape.ORDERED:
            return ordered(source, mark)
    return columnar(source, plan.windows, mark)


def buckets_of(source: Source) -> int:
    """Give as many buckets of keys as shuffle partitions: each task has one, and each costs calls into the state."""
    if not source.events.keys:
        return 1
    return int(source.events.frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)
