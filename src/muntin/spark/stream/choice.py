"""mt.aggregate on a stream: the watermark, the shapes that are possible, the choice among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from muntin import names
from muntin.aggregates import Aggregate
from muntin.duration import Duration
from muntin.errors import MuntinError, QueryError, UnsupportedError
from muntin.fingerprint import Fingerprint, check_same
from muntin.plan.physical.options import StreamOptions
from muntin.plan.physical.stream import ASSUMED, STREAM_STRATEGIES, StreamPlan, StreamShape, choose_stream
from muntin.plan.physical.stream_work import StreamWork
from muntin.plan.physical.work import Work
from muntin.plan.statistics import Statistics
from muntin.registry import WindowRegistry
from muntin.spark.input.sampling import sampled
from muntin.spark.input.source import DELAY, Source
from muntin.spark.plans import analyzed_text, is_stacked, plan_text
from muntin.spark.sessions import PROVIDER, ROCKSDB
from muntin.spark.stream.columnar import check_columnar, columnar
from muntin.spark.stream.fingerprints import fingerprint
from muntin.spark.stream.future import set_aside
from muntin.spark.stream.shapes import chain, expand, independent, storable
from muntin.spark.workers.layout import obstacle
from muntin.window import Window, in_order

WATERMARK = "EventTimeWatermark"
"""The operator that moves the watermark."""
REUSE = "spark.sql.exchange.reuse"
ANY_WINDOW = (Window("1 s"),)
"""What stands for the windows of a registry that is still empty."""

COMING = "windows of a registry may come and go while the query runs; slices, forest and state then change with them"
"""What plans of a registry say."""


def prepare_stream(source: Source, options: StreamOptions) -> tuple[Source, StreamOptions]:
    """Give the input with its watermark, and the options with the delay that it has."""
    if not source.events.zoned:
        raise QueryError(
            f"time column {source.query.time!r} of the stream is of type timestamp_ntz; Spark gives it no watermark. "
            f"Use time=F.col({source.query.time!r}).cast('timestamp')."
        )
    delay = source.events.frame.schema[names.TIMESTAMP].metadata.get(DELAY)
    plan = analyzed_text(source.events.frame)
    if is_stacked(plan, WATERMARK):
        raise QueryError(
            "the input calls withWatermark twice, and Spark ends such a query after its first micro-batch. "
            f"Call it once, on time column {source.query.time!r}."
        )
    if delay is None:
        _check_first(source, options, has_one=WATERMARK in plan)
        frame = source.events.frame if options.future is None else set_aside(source.events.frame, options.future)
        frame = frame.withWatermark(names.TIMESTAMP, f"{options.watermark:d} microseconds")
        return storable(source.over(frame)), options
    if options.watermark is not None:
        raise QueryError(
            f"time column {source.query.time!r} has a watermark of {Duration(delay * 1000)} already, and "
            f"watermark={str(options.watermark)!r} is given. Leave one of the two out."
        )
    if options.future is not None:  # what has passed the watermark has moved it
        raise QueryError(
            f"time column {source.query.time!r} has a watermark already, which rows ahead of the clock would move "
            f"before future={str(options.future)!r} could set them aside. Leave withWatermark out and add "
            f"watermark={str(Duration(delay * 1000))!r}."
        )
    return storable(source), replace(options, watermark=Duration(delay * 1000))


def _check_first(source: Source, options: StreamOptions, *, has_one: bool) -> None:
    """Refuse a time that has no watermark and is given none, or that would be given a second one."""
    time = source.query.time
    if has_one:  # Spark would start the query, and end it after the first micro-batch
        raise QueryError(
            f"the input has a watermark, but not on time column {time!r}, and Spark keeps one only. "
            f"Call withWatermark({time!r}, …) instead, or use the time column that has it."
        )
    if options.watermark is None:
        raise QueryError(
            f"time column {time!r} of the stream has no watermark, so no window would ever close. "
            "Add watermark='10 minutes', or call withWatermark on the input."
        )


def plan_stream(
    source: Source,
    strategy: str,
    statistics: Statistics | None,
    options: StreamOptions,
    kept: tuple[Fingerprint, ...] = (),
) -> StreamPlan:
    """Choose the shape of a query over a stream, that of its checkpoint if it has one.

    A strategy that names one shape gets that shape, or an error that says what stands in its way.
    """
    obstacles = {shape: obstacle for shape in StreamShape if (obstacle := _obstacle(source, shape, options))}
    named, origin = STREAM_STRATEGIES[strategy], f"strategy {strategy!r}"
    if before := tuple(shape for shape in named if shape.name.lower() in {one.shape for one in kept}):
        named, origin = before, f"the checkpoint's shape {before[0].name.lower()!r}"
    if all(shape in obstacles for shape in named):
        obstacle = obstacles[named[0]]
        raise obstacle.error(f"{origin} {obstacle.reason}. {obstacle.remedy}")
    allowed = [shape for shape in named if shape not in obstacles]
    if statistics is None:
        statistics = sampled(source) if len(allowed) > 1 else ASSUMED
    columns = len(source.events.partials) or len(source.events.recipes)
    delay = options.watermark or Duration(0)
    work = StreamWork(Work(statistics, columns, len(source.events.keys)), delay)
    plan = choose_stream(work, source.query.windows, strategy, options, allowed, source.query.aggregates)
    _taken_up(kept, _fingerprint(source, plan))
    return replace(plan, notes=(*_notes(source, named, obstacles, before), *plan.notes))


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What stands in the way of a shape."""

    reason: str
    remedy: str = "Use strategy='auto', 'native' or 'independent'."
    error: type[MuntinError] = QueryError


def _obstacle(source: Source, shape: StreamShape, options: StreamOptions) -> Obstacle | None:
    """Say why a query cannot be evaluated in a shape; None if it can."""
    if options.output == "update" and not shape.updates:
        return Obstacle("gives a window when it closes, and has no output='update'")
    if options.late == "exact" and not shape.exact:
        return Obstacle("drops late rows with their slice, and has no late='exact'")
    if shape.needs_merge and (alone := _unmergeable(source)):
        return Obstacle(f"merges partials, and {alone!r} has none", error=UnsupportedError)
    if shape is StreamShape.COLUMNAR:
        if source.events.frame.sparkSession.conf.get(PROVIDER, "") != ROCKSDB:
            return Obstacle("needs RocksDB for its state", f"Set spark.conf.set({PROVIDER!r}, {ROCKSDB!r}).")
        if reason := obstacle(source.events):
            return Obstacle(f"needs kernels, and {reason}", error=UnsupportedError)
    return None


def _unmergeable(source: Source) -> Aggregate | None:
    return next((made.aggregate for made in source.events.recipes if not made.mergeable), None)


def _notes(
    source: Source,
    named: tuple[StreamShape, ...],
    obstacles: dict[StreamShape, Obstacle],
    before: tuple[StreamShape, ...],
) -> Iterator[str]:
    if before:
        yield f"the checkpoint has shape {before[0].name.lower()}, so no other was weighed"
    if alone := _unmergeable(source):
        yield f"{alone!r} is evaluated from the rows of every window, and the others with it"
    for shape in named:
        if shape in obstacles:
            yield f"{shape.name.lower()} is left out: it {obstacles[shape].reason}"


def _fingerprint(source: Source, plan: StreamPlan) -> Fingerprint:
    """Describe the state of a query; with expand and the chain, windows may change, since state is kept by instance."""
    name = plan.shape.name.lower()
    match plan.shape:
        case StreamShape.INDEPENDENT:
            return fingerprint(source, name, plan.windows, None)
        case StreamShape.COLUMNAR:
            return fingerprint(source, name, plan.windows, _buckets(source))
    return fingerprint(source, name, None, None)


def _taken_up(kept: tuple[Fingerprint, ...], now: Fingerprint) -> Fingerprint:
    """Give the fingerprint that a query goes on with: that of its checkpoint, if it has one, as it was written."""
    if not kept:
        return now
    alone = [one for one in kept if one.shape == StreamShape.INDEPENDENT.name.lower()]
    windows = in_order(window for one in alone for window in one.windows or ())
    together = [replace(one, windows=windows) for one in alone]
    return check_same([*together, *(one for one in kept if one not in alone)], now)


def evaluate_stream(source: Source, plan: StreamPlan, kept: tuple[Fingerprint, ...]) -> DataFrame:
    """Give the streaming DataFrame of a plan, whose state goes on from what a checkpoint has."""
    mark = _taken_up(kept, _fingerprint(source, plan))
    match plan.shape:
        case StreamShape.INDEPENDENT:
            return _with_watermarks(source, independent(source, plan.windows, mark), len(plan.windows))
        case StreamShape.EXPAND:
            return expand(source, plan.windows, mark)
        case StreamShape.CHAIN:
            return chain(source, plan.windows, plan.grids, mark)
    return columnar(source, plan.windows, mark)


def check_registered(df: DataFrame, strategy: str, options: StreamOptions) -> None:
    """Refuse what a registry of windows is not for."""
    if not df.isStreaming:
        raise QueryError("a registry of windows is for streams. Give windows=registry.windows() for batch input.")
    if strategy not in ("auto", "kernel", "columnar"):
        raise QueryError(f"strategy {strategy!r} cannot follow a registry of windows. Use strategy='auto'.")
    if options.output != "append":
        raise QueryError(f"output {options.output!r} cannot follow a registry of windows. Use output='append'.")


def plan_registered(
    source: Source,
    windows: tuple[Window, ...],
    strategy: str,
    statistics: Statistics | None,
    options: StreamOptions,
    kept: tuple[Fingerprint, ...],
) -> StreamPlan:
    """Give the plan of the windows that a registry has now; where it has none, the source was made for ANY_WINDOW."""
    check_columnar(source)
    _taken_up(kept, _registered(source))
    plan = replace(plan_stream(source, StreamShape.COLUMNAR.name.lower(), statistics, options), strategy=strategy)
    if windows:
        return replace(plan, notes=(*plan.notes, COMING))
    return StreamPlan(
        *((), plan.shape, strategy, plan.statistics, plan.options),
        cost=0.0,
        states=(),
        notes=(*plan.notes, "the registry has no windows now: rows count from when one is added", COMING),
        aggregates=plan.aggregates,
    )


def evaluate_registered(source: Source, registry: WindowRegistry, kept: tuple[Fingerprint, ...]) -> DataFrame:
    """Give the streaming DataFrame of windows that come and go: columnar state, where windows are data."""
    return columnar(source, registry, _taken_up(kept, _registered(source)))


def _registered(source: Source) -> Fingerprint:
    """Describe the state of a query whose windows come and go."""
    return fingerprint(source, StreamShape.COLUMNAR.name.lower(), None, _buckets(source))


def _buckets(source: Source) -> int:
    """Give as many buckets of keys as shuffle partitions: each task has one, and each costs calls into the state."""
    if not source.events.keys:
        return 1
    return int(source.events.frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)


def _with_watermarks(source: Source, union: DataFrame, branches: int) -> DataFrame:
    """Refuse a union whose branches would share an exchange with the watermark below it.

    Spark 4.3 gives operators above a reused exchange no watermark: they never close a window, and keep all state. The
    setting is read when the query starts, so nothing that is done here and taken back would last until then.
    """
    if _watermarks(union) < branches * _watermarks(source.events.frame):
        raise UnsupportedError(
            "the input has a shuffle above its watermark, which the windows of strategy 'independent' would share, and "
            "Spark would close only one of them. Use strategy='native', put withWatermark after the shuffle, or "
            f"spark.conf.set({REUSE!r}, 'false') before the query starts."
        )
    return union


def _watermarks(frame: DataFrame) -> int:
    """Count the operators in a plan that move the watermark."""
    return plan_text(frame).count(WATERMARK)
