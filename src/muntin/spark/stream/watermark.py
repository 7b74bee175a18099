"""The watermark of a stream: that it has one, on the time column, and once."""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame

from muntin import names
from muntin.duration import Duration
from muntin.errors import QueryError
from muntin.plan.physical.options import StreamOptions
from muntin.spark.input.checking import is_set
from muntin.spark.input.source import DELAY, Source
from muntin.spark.plans import analyzed_plan
from muntin.spark.stream.future import set_aside
from muntin.spark.stream.shapes import storable

WATERMARK = "EventTimeWatermark"
"""The operator that moves the watermark."""

REUSE = "spark.sql.exchange.reuse"
_NARROW = {
    *(
        "Project",
        "Filter",
        "SubqueryAlias",
        "View",
        "CollectMetrics",
        "Generate",
        "Expand",
        "Union",
        "Coalesce",
        "Sample",
    ),
    *("EventTimeWatermark", "ResolvedHint", "UnresolvedHint", "WithCTE", "CTERelationDef", "CTERelationRef"),
    *("MapInArrow", "MapInPandas", "MapPartitions", "MapElements", "TypedFilter"),
    *("SerializeFromObject", "DeserializeToObject"),
}
"""The nodes of a plan above which rows are where they were: no exchange stands for them."""


def prepare_stream(source: Source, options: StreamOptions) -> tuple[Source, StreamOptions]:
    """Give the input with its watermark, and the options with the delay that it has."""
    if not source.events.zoned:
        raise QueryError(
            f"time column {source.query.time!r} of the stream is of type timestamp_ntz; Spark gives it no watermark. "
            f"Use time=F.col({source.query.time!r}).cast('timestamp')."
        )
    delay = source.events.frame.schema[names.TIMESTAMP].metadata.get(DELAY)
    plan = analyzed_plan(source.events.frame)
    marks = [node for node in (plan, *plan.below()) if node.name == WATERMARK]
    if any(under.name == WATERMARK for mark in marks for under in mark.below()):
        raise QueryError(
            "the input calls withWatermark twice, and Spark ends such a query after its first micro-batch. "
            f"Call it once, on time column {source.query.time!r}."
        )
    if delay is None:
        _check_first(source, options, has_one=bool(marks))
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


def shares_a_shuffle(frame: DataFrame) -> bool:
    """Tell whether two aggregations of an input would share an exchange with the watermark below it.

    Spark 4.3 gives operators above a reused exchange no watermark: they never close a window, and keep all state. The
    setting is read when the query starts, so nothing that is done here and taken back would last until then.
    """
    if not is_set(frame, REUSE, "true"):
        return False
    plan = analyzed_plan(frame)
    return any(
        node.name not in _NARROW and any(under.name == WATERMARK for under in node.below())
        for node in (plan, *plan.below())
    )
