"""Cheap statistics of an input: Spark's own size estimate, and a sample of its first rows."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable
from contextlib import redirect_stdout

import numpy as np
from pyspark.sql import types as T

from muntin.kernels.protocol import Longs
from muntin.plan.physical import Statistics
from muntin.spark.source import LONGEST_WINDOW, Events

SAMPLE = 4_000
"""Rows that are looked at; collected as rows, Spark reads no more than one partition for them."""

_SIZE = re.compile(r"Statistics\(sizeInBytes=([\d.]+(?:E\+\d+)?) (\w+)(?:, rowCount=([\d.E+]+))?")
_UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40, "PiB": 2**50, "EiB": 2**60}
_MOST = 10**11
"""Rows that are believed at most: Spark takes the size of a join for the product of its sides."""
_UNKNOWN = 2**59
"""A size from which on Spark says that it does not know."""


def measure(source: Events) -> Statistics:
    """Estimate rows, keys, time span and order from Spark's size estimate and the first rows; one small job."""
    keys = ", ".join(f"CAST({key} AS STRING)" if _nested(found) else key for key, found in _keys(source))
    rows = source.rows.selectExpr("t", f"xxhash64({keys})" if keys else "0L").limit(SAMPLE).collect()
    sample = np.array([tuple(row) for row in rows], np.int64).reshape(-1, 2)  # numpy would ask rows what they are not
    seen = len(sample)
    if seen < SAMPLE:  # that is all of it
        return _of_sample(sample, seen, "all rows")
    return _of_sample(sample, max(seen, estimated_rows(source)), f"Spark's estimate and the first {seen} rows")


def _keys(source: Events) -> Iterable[tuple[str, T.DataType]]:
    return zip(source.keys, source.key_types, strict=True)


def _nested(found: T.DataType) -> bool:
    """Tell whether a type may hold maps, which Spark groups by but does not hash."""
    return isinstance(found, T.ArrayType | T.MapType | T.StructType)


def _of_sample(sample: Longs, rows: int, origin: str) -> Statistics:
    seen = len(sample)
    if not seen:
        return Statistics(0, 1, 1, source=origin)
    time, codes = sample.T
    ranks = np.argsort(np.argsort(time, kind="stable"), kind="stable")  # however late a late row is
    ordered = time.min() == time.max() or bool(np.corrcoef(ranks, np.arange(seen))[0, 1] > 0.9)
    span = max(1, int(time.max()) - int(time.min()))
    if ordered and seen < rows:  # the first rows are the first stretch of time; a few late ones do not make it longer
        early, late = np.quantile(time - time.min(), (0.05, 0.95))
        span = min(max(1, int((late - early) / 0.9)) * rows // seen, LONGEST_WINDOW)
    return Statistics(rows, _distinct(codes, rows), span, ordered, origin)


def _distinct(codes: Longs, rows: int) -> int:
    """Estimate distinct keys of all rows: those seen, and more where many were seen only once (Chao's estimator)."""
    counts = np.unique(np.unique(codes, return_counts=True)[1], return_counts=True)
    found = dict(zip(counts[0].tolist(), counts[1].tolist(), strict=True))
    seen, once, twice = sum(found.values()), found.get(1, 0), found.get(2, 0)
    if seen == len(codes) and seen > 1:  # every key is new: they grow with the rows
        return max(1, rows // 2)
    return max(1, min(rows, int(seen + once * once / (2 * max(1, twice)))))


def estimated_rows(source: Events) -> int:
    """Estimate the number of rows from what Spark says of the plan's size; ten million if it says nothing."""
    text = io.StringIO()
    with redirect_stdout(text):
        source.frame.explain(mode="cost")
    size = _SIZE.search(text.getvalue())
    if size is None:
        return 10_000_000
    if size[3]:
        return min(_MOST, int(float(size[3])))
    total = float(size[1]) * _UNITS.get(size[2], 1)
    width = 8 + sum(_width(field.dataType.typeName()) for field in source.frame.schema)
    return 10_000_000 if total >= _UNKNOWN else min(_MOST, int(total / width))


def _width(name: str) -> int:
    """Give the width that Spark's estimates assume for a type."""
    return {"string": 20, "binary": 100, "boolean": 1, "integer": 4, "float": 4, "date": 4}.get(name, 8)
