"""Exact distinct counts over a stream: the latest occurrences of items, packed, in one state for all windows.

rows → slices of every item at the source → one Arrow message per task and bucket → state per bucket → counts, packed
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from muntin import names
from muntin.aggregates import Aggregate, Merge
from muntin.arrow.batches import ColumnLayout
from muntin.arrow.state.distinct import DistinctJob, distinct_step
from muntin.arrow.state.packing import Packing, bucket_labels
from muntin.arrow.state.terms import Term
from muntin.fingerprint import Fingerprint
from muntin.plan.slicing.grids import slicing
from muntin.spark.input.events import one_of_equals
from muntin.spark.input.reducing import is_flat
from muntin.spark.input.source import Source
from muntin.spark.stream.columnar import buckets_for, check_packed, given_rows, numbered, sent, stepped
from muntin.spark.workers.layout import key_obstacle, window_schema
from muntin.window import Window


def counted(source: Source) -> list[Aggregate]:
    """Give the aggregates that are exact distinct counts."""
    return [one for one in source.query.aggregates if one.function.merge is Merge.UNION]


def distinct_obstacle(source: Source) -> str | None:
    """Say why a query is not one of distinct counts that kernels can take; None if it is."""
    for asked in source.query.aggregates:
        if asked not in counted(source):
            return f"{asked!r} is no exact distinct count"
    for name, column in zip(_values(source), _columns(source), strict=True):
        given = source.events.frame.schema[name].dataType
        if not is_flat(given):
            return f"no kernel compares {str(column)!r}, which is of type {given.simpleString()}"
    return key_obstacle(source.events)


def distinct(source: Source, windows: tuple[Window, ...], kept: Fingerprint) -> DataFrame:
    """Count items over a stream; an instance is given once, when the watermark passes its end.

    The items are further keys of slices. Buckets are by the keys of the query, so that a bucket has all items of a key.
    """
    check_packed(source)
    keys, items = tuple(source.events.keys), tuple(names.items(len(_values(source))))
    labels = bucket_labels(kept.buckets or 1)
    columns = ColumnLayout((), (), (*keys, *items))
    schema = source.events.frame.schema
    values = (one_of_equals(name, schema[name].dataType) for name in _values(source))
    named = (f"{value} AS {item}" for value, item in zip(values, items, strict=True))
    keyed = source.events.keyed(source.events.rows, *named, *source.carried)
    rows = numbered(source, keyed, len(labels), (*items, *source.carried))
    packing = Packing(columns, labels, slicing(windows), items=items)
    packed = sent(source, rows, packing)
    numbers = source.numbers
    terms = tuple(Term(numbers[window], window, window.label) for window in windows)
    job = DistinctJob(columns.of_slices(), True, kept, terms, keys, items)
    given = stepped(packed, buckets_for(source, job, distinct_step, labels[0], packing=packing))
    results = names.results(len(items))
    told = [field for field in window_schema(source.events) if field.name not in source.events.partials]
    counts = [T.StructField(name, T.LongType()) for name in results]
    instances = given_rows(source, given, T.StructType([*told, *counts]))
    places = {column: place for place, column in enumerate(_columns(source))}
    return source.finish(
        instances, [f"coalesce({results[places[asked.columns[0]]]}, 0L)" for asked in source.query.aggregates]
    )


def _columns(source: Source) -> list[object]:
    """Give the columns whose items are counted, each once."""
    return [*dict.fromkeys(column for asked in source.query.aggregates for column in asked.columns)]


def _values(source: Source) -> list[str]:
    """Give the safe names of these columns."""
    return [names.value(number) for number in range(len(_columns(source)))]
