"""Cheap statistics of an input: footers of its files or Spark's own estimate of its size, and its first rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from muntin import names
from muntin.errors import QueryError
from muntin.kernels.protocol import Longs
from muntin.plan.statistics import Statistics
from muntin.spark.input.events import Events
from muntin.spark.input.footers import read_footers
from muntin.spark.plans import leaf_bytes, plan_size
from muntin.window import LONGEST_WINDOW

SAMPLE = 4_000
"""Rows that are looked at; collected as rows, Spark reads no more than one partition for them."""

NO_TIME = ""
"""No column of a DataFrame, where only the number of rows is wanted."""
FAR = 50
"""How many times as long as by the pace of the first rows a known span is that a clock gone wrong may have made."""
_MOST = 10**11
"""Rows that are believed at most: Spark takes the size of a join for the product of its sides."""
_UNKNOWN = 2**59
"""A size from which on Spark says that it does not know."""


def known(given: Statistics | DataFrame | None, read: Callable[[DataFrame], Events]) -> Statistics | None:
    """Give the statistics that were given with a query, or measure a batch DataFrame with the columns of its input."""
    check_known(given)
    if not isinstance(given, DataFrame):
        return given
    try:
        history = read(given)
    except QueryError as error:
        raise QueryError(f"the DataFrame given as statistics does not fit the query: {error}") from error
    measured = measure(history)
    return replace(measured, source=f"{measured.source} of the DataFrame given")


def check_known(given: object) -> None:
    """Refuse what is no statistics."""
    if isinstance(given, DataFrame) and given.isStreaming:
        raise QueryError("the DataFrame given as statistics is a stream, which cannot be measured. Use spark.read.")
    if given is not None and not isinstance(given, Statistics | DataFrame):
        raise QueryError(
            f"statistics={given!r} are not statistics. Use mt.Statistics(rows=…, keys=…, span='1 day'), "
            "or a batch DataFrame with the columns of the input."
        )


@dataclass(frozen=True, slots=True)
class Extent:
    """How large an input is."""

    rows: int
    origin: str
    """Where the figures come from."""
    span: int | None = None
    """The microseconds from the first to the last event; None where only rows tell."""


def measure(events: Events) -> Statistics:
    """Estimate rows, keys, time span and order from the input's extent and the first rows; one small job."""
    sample = first_rows(events)
    extent = measure_extent(events.frame, names.TIMESTAMP, len(sample))
    return of_sample(sample, extent.rows, extent.origin, extent.span)


def measure_extent(frame: DataFrame, time: str, seen: int) -> Extent:
    """Return how large an input is whose first rows have been seen.

    That is known where these are all rows, and where Parquet files are read whole; otherwise Spark has an estimate.
    """
    if seen < SAMPLE:
        return Extent(seen, "all rows")
    if (files := read_footers(frame, time)) is not None:
        return Extent(max(seen, files.rows), f"{files.origin} and the first {seen} rows", files.span)
    return Extent(max(seen, estimated_rows(frame)), f"Spark's estimate and the first {seen} rows")


def first_rows(events: Events) -> Longs:
    """Give time and key, as a hash, of the first rows; one small job."""
    keys = ", ".join(f"CAST({key} AS STRING)" if is_nested(given) else key for key, given in _keys(events))
    rows = events.rows.selectExpr(names.TIME, f"xxhash64({keys})" if keys else "0L").limit(SAMPLE).collect()
    return np.array([tuple(row) for row in rows], np.int64).reshape(-1, 2)  # numpy would ask rows what they are not


def _keys(events: Events) -> Iterable[tuple[str, T.DataType]]:
    return zip(events.keys, events.key_types, strict=True)


def is_nested(given: T.DataType) -> bool:
    """Tell whether a type may hold maps, which Spark groups by but does not hash."""
    return isinstance(given, T.ArrayType | T.MapType | T.StructType)


def of_sample(sample: Longs, rows: int, origin: str, known_span: int | None = None) -> Statistics:
    """Estimate keys and order of so many rows from the first ones, and the time span where it is not known."""
    seen = len(sample)
    if not seen:
        return Statistics(0, 1, 1, source=origin)
    time, codes = sample.T
    ranks = np.argsort(np.argsort(time, kind="stable"), kind="stable")  # however late a late row is
    ordered = bool(time.min() == time.max() or np.corrcoef(ranks, np.arange(seen))[0, 1] > 0.9)
    span = max(1, int(time.max()) - int(time.min())) if known_span is None else known_span
    if ordered and seen < rows:  # the first rows are the first stretch of time; a few late ones do not make it longer
        early, late = np.quantile(time - time.min(), (0.05, 0.95))
        at_this_pace = max(1, int((late - early) / 0.9)) * rows // seen
        if known_span is None or (late > early and known_span > FAR * at_this_pace):
            span = at_this_pace
    return Statistics(rows, _distinct(codes, rows), min(span, LONGEST_WINDOW), ordered, origin)


def _distinct(codes: Longs, rows: int) -> int:
    """Estimate distinct keys of all rows: those seen, and more where many were seen only once (Chao's estimator)."""
    counts = np.unique(np.unique(codes, return_counts=True)[1], return_counts=True)
    often = dict(zip(counts[0].tolist(), counts[1].tolist(), strict=True))
    seen, once, twice = sum(often.values()), often.get(1, 0), often.get(2, 0)
    if seen == len(codes) and seen > 1:  # every key is new: they grow with the rows
        return max(1, rows // 2)
    return max(1, min(rows, int(seen + once * once / (2 * max(1, twice)))))


def estimated_rows(frame: DataFrame) -> int:
    """Estimate the number of rows from what Spark says of the plan's size; ten million if it says nothing."""
    size = plan_size(frame)
    if size is None:
        return 10_000_000
    if size.rows is not None:
        return min(_MOST, int(size.rows))
    return 10_000_000 if size.bytes >= _UNKNOWN else min(_MOST, int(size.bytes / _row_bytes(frame)))


def rows_of_leaves(frame: DataFrame) -> float:
    """Estimate how many rows all that a DataFrame reads would be; unlike in estimated_rows, joins multiply nothing."""
    return leaf_bytes(frame) / _row_bytes(frame)


def _row_bytes(frame: DataFrame) -> int:
    return 8 + sum(_width(field.dataType.typeName()) for field in frame.schema)


def _width(name: str) -> int:
    """Give the width that Spark's estimates assume for a type."""
    return {"string": 20, "binary": 100, "boolean": 1, "integer": 4, "float": 4, "date": 4}.get(name, 8)
