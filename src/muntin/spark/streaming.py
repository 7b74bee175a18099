"""mt.aggregate on a stream: the watermark, the shapes that are possible, the choice among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pyspark.sql import DataFrame

from muntin.duration import Duration
from muntin.errors import QueryError, UnsupportedError
from muntin.plan.physical import Statistics, Work
from muntin.plan.streaming import ASSUMED, STRATEGIES, StreamPlan, StreamShape, StreamWork, Terms, choose_stream
from muntin.registry import WindowRegistry
from muntin.spark import kernel
from muntin.spark.columnar import columnar
from muntin.spark.future import set_aside
from muntin.spark.independent import independent
from muntin.spark.plans import analyzed_text, is_stacked, plan_text
from muntin.spark.sampling import sampled
from muntin.spark.sessions import PROVIDER, ROCKSDB
from muntin.spark.source import DELAY, Source
from muntin.spark.stateful import expand, slices_explode, storable
from muntin.window import Window

MARK = "EventTimeWatermark"
"""The operator that moves the watermark."""
REUSE = "spark.sql.exchange.reuse"
ANY_WINDOW = (Window("1 s"),)
"""What stands for the windows of a registry that is still empty."""


def prepare_stream(source: Source, terms: Terms) -> tuple[Source, Terms]:
    """Give the input with its watermark, and the terms with the delay that it has."""
    if not source.zoned:
        raise QueryError(
            f"time column {source.query.time!r} of the stream is of type timestamp_ntz; Spark gives it no watermark. "
            f"Use time=F.col({source.query.time!r}).cast('timestamp')."
        )
    found = source.frame.schema["ts"].metadata.get(DELAY)
    plan = analyzed_text(source.frame)
    if is_stacked(plan, MARK):
        raise QueryError(
            "the input calls withWatermark twice, and Spark ends such a query after its first micro-batch. "
            f"Call it once, on time column {source.query.time!r}."
        )
    if found is None:
        _check_first(source, terms, has_one=MARK in plan)
        frame = source.frame if terms.future is None else set_aside(source.frame, terms.future)
        frame = frame.withWatermark("ts", f"{terms.watermark:d} microseconds")
        return storable(replace(source, frame=frame)), terms
    if terms.watermark is not None:
        raise QueryError(
            f"time column {source.query.time!r} has a watermark of {Duration(found * 1000)} already, and "
            f"watermark={str(terms.watermark)!r} is given. Leave one of the two out."
        )
    if terms.future is not None:  # what has passed the watermark has moved it
        raise QueryError(
            f"time column {source.query.time!r} has a watermark already, which rows ahead of the clock would move "
            f"before future={str(terms.future)!r} could set them aside. Leave withWatermark out and add "
            f"watermark={str(Duration(found * 1000))!r}."
        )
    return storable(source), replace(terms, watermark=Duration(found * 1000))


def _check_first(source: Source, terms: Terms, *, has_one: bool) -> None:
    """Refuse a time that has no watermark and is given none, or that would be given a second one."""
    time = source.query.time
    if has_one:  # Spark would start the query, and end it after the first micro-batch
        raise QueryError(
            f"the input has a watermark, but not on time column {time!r}, and Spark keeps one only. "
            f"Call withWatermark({time!r}, …) instead, or use the time column that has it."
        )
    if terms.watermark is None:
        raise QueryError(
            f"time column {time!r} of the stream has no watermark, so no window would ever close. "
            "Add watermark='10 minutes', or call withWatermark on the input."
        )


def plan_stream(source: Source, strategy: str, statistics: Statistics | None, terms: Terms) -> StreamPlan:
    """Choose the shape of a query over a stream; what a strategy names and the terms forbid is refused."""
    named = STRATEGIES[strategy]
    forbidden = {shape: reason for shape in StreamShape if (reason := _forbidden(shape, terms))}
    if all(shape in forbidden for shape in named):
        raise QueryError(
            f"strategy {strategy!r} {forbidden[named[0]]}. Use strategy='auto', 'native' or 'independent'."
        )
    shareable = all(made.mergeable for made in source.recipes)
    packed = _packing_obstacle(source) if shareable else "partials cannot be merged"

    def allowed(shape: StreamShape) -> bool:
        unfit = (shape.needs_merge and not shareable) or (shape is StreamShape.COLUMNAR and packed)
        return not unfit and shape not in forbidden

    if statistics is None:
        statistics = sampled(source) if sum(map(allowed, named)) > 1 else ASSUMED
    columns = sum(len(names) for names in source.partials) or len(source.recipes)
    delay = terms.watermark or Duration(0)
    work = StreamWork(Work(statistics, columns, len(source.keys)), delay)
    found = choose_stream(work, source.query.windows, strategy, terms, allowed)
    return replace(found, notes=tuple(_notes(source, named, forbidden, packed, shareable=shareable)))


def _forbidden(shape: StreamShape, terms: Terms) -> str | None:
    """Say why the terms forbid a shape; None if they do not."""
    if terms.output == "update" and not shape.updates:
        return "gives a window when it closes, and has no output='update'"
    if terms.late == "exact" and not shape.exact:
        return "drops late rows with their slice, and has no late='exact'"
    return None


def _packing_obstacle(source: Source) -> str | None:
    """Say why slices cannot be packed together for kernels; None if they can."""
    if source.frame.sparkSession.conf.get(PROVIDER, "") != ROCKSDB:
        return f"it needs spark.conf.set({PROVIDER!r}, {ROCKSDB!r})"
    return kernel.obstacle(source)


def _notes(
    source: Source,
    named: tuple[StreamShape, ...],
    forbidden: dict[StreamShape, str],
    packed: str | None,
    *,
    shareable: bool,
) -> Iterator[str]:
    if not shareable:
        alone = next(made.aggregate for made in source.recipes if not made.mergeable)
        yield f"{alone!r} is evaluated from the rows of every window, and the others with it"
    for shape in named:
        if shape in forbidden:
            yield f"{shape.name.lower()} is left out: it {forbidden[shape]}"
        elif shape is StreamShape.COLUMNAR and packed:
            yield f"columnar is left out: {packed}"


def evaluate_stream(source: Source, plan: StreamPlan) -> DataFrame:
    """Give the streaming DataFrame of a plan."""
    match plan.shape:
        case StreamShape.INDEPENDENT:
            return _with_watermarks(source, independent(source, plan.windows), len(plan.windows))
        case StreamShape.EXPAND:
            return expand(source, plan.windows)
        case StreamShape.SLICES_EXPLODE:
            return slices_explode(source, plan.windows, plan.grids)
    return columnar(source, plan.windows, _buckets(source))


def check_registered(df: DataFrame, strategy: str, terms: Terms) -> None:
    """Refuse what a registry of windows is not for."""
    if not df.isStreaming:
        raise QueryError("a registry of windows is for streams. Give windows=registry.windows() for batch input.")
    if strategy not in ("auto", "kernel", "columnar"):
        raise QueryError(f"strategy {strategy!r} cannot follow a registry of windows. Use strategy='auto'.")
    if terms.output != "append":
        raise QueryError(f"output {terms.output!r} cannot follow a registry of windows. Use output='append'.")


def evaluate_registered(source: Source, registry: WindowRegistry) -> DataFrame:
    """Give the streaming DataFrame of windows that come and go: columnar state, where windows are data."""
    return columnar(source, registry, _buckets(source))


def _buckets(source: Source) -> int:
    """Give as many buckets of keys as shuffle partitions: each task has one, and each costs calls into the state."""
    return int(source.frame.sparkSession.conf.get("spark.sql.shuffle.partitions") or 200)


def _with_watermarks(source: Source, union: DataFrame, branches: int) -> DataFrame:
    """Refuse a union whose branches would share an exchange with the watermark below it.

    Spark 4.3 gives operators above a reused exchange no watermark: they never close a window, and keep all state. The
    setting is read when the query starts, so nothing that is done here and taken back would last until then.
    """
    if _watermarks(union) < branches * _watermarks(source.frame):
        raise UnsupportedError(
            "the input has a shuffle above its watermark, which the windows of strategy 'independent' would share, and "
            "Spark would close only one of them. Use strategy='native', put withWatermark after the shuffle, or "
            f"spark.conf.set({REUSE!r}, 'false') before the query starts."
        )
    return union


def _watermarks(frame: DataFrame) -> int:
    """Count the operators in a plan that move the watermark."""
    return plan_text(frame).count(MARK)
