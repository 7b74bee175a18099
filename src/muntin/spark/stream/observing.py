"""What a query tells of itself in Spark's progress: observed metrics, written into its plan and read from a report.

Names of observed metrics begin as below and end in letters of their own: a query may have two of us, even two alike,
and Spark refuses two metrics of one name.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from uuid import uuid4

from pyspark.sql import Column, DataFrame, Row
from pyspark.sql import functions as F
from pyspark.sql.streaming.listener import StreamingQueryProgress

from muntin import names

SHAPE_METRIC = "muntin_shape"
"""Rows of the result, under names that tell the shape, how often it reads its input, and perhaps the output mode
that the query was made for: muntin_shape_chain_1_…, muntin_shape_expand_1_append_….

Such metrics have rows.
"""
LATE_METRIC = "muntin_late"
"""What packed state tells: late, dropped, late_by_window, kept, newest and damaged."""
FUTURE_METRIC = "muntin_future"
"""Rows that were set aside because they are ahead of the clock: such metrics have future."""
CHANGES_METRIC = "muntin_changes"
"""Changes of a registry, which Spark counts as input: such metrics have rows."""
ROWS, FUTURE = "rows", "future"


def count_results(frame: DataFrame, shape: str, scans: int = 1, output: str | None = None) -> DataFrame:
    """Count the rows of a result, and let progress tell the shape that they come from, and their output mode."""
    name = "_".join([SHAPE_METRIC, shape, str(scans), *([output] if output else [])])
    return frame.observe(_unique(name), F.count(F.lit(1)).alias(ROWS))


def count_packed(given: DataFrame) -> DataFrame:
    """Count what buckets tell of themselves; each tells it in every micro-batch."""
    sums = (F.coalesce(F.sum(name), F.lit(0)).alias(name) for name in (names.LATE, names.DROPPED, names.KEPT))
    texts = F.concat_ws(",", F.collect_list(names.LATE_BY_WINDOW)).alias(names.LATE_BY_WINDOW)
    most = (F.max(name).alias(name) for name in (names.NEWEST, names.DAMAGED))
    return given.observe(_unique(LATE_METRIC), *sums, texts, *most)


def count_future(frame: DataFrame, is_ahead: Column) -> DataFrame:
    """Count the rows that are ahead of the clock."""
    return frame.observe(_unique(FUTURE_METRIC), F.count_if(is_ahead).alias(FUTURE))


def count_changes(files: DataFrame) -> DataFrame:
    """Count the changes of a registry that are read, so that they can be told from events."""
    return files.observe(_unique(CHANGES_METRIC), F.count(F.lit(1)).alias(ROWS))


def _unique(name: str) -> str:
    return f"{name}_{uuid4().hex[:8]}"


def observed(report: StreamingQueryProgress, prefix: str, metric: str) -> int | None:
    """Sum up what was counted under names that begin alike; None if nothing was."""
    counts = [row[metric] or 0 for row in _rows(report, prefix)]
    return int(sum(counts)) if counts else None


def shape_of(report: StreamingQueryProgress) -> str:
    """Give the shape of a query: chain, columnar, …; of a query with several, all of them; '' if none is Muntin's."""
    return "+".join(sorted({shape for shape, *_ in _shapes(report)}))


def scans_of(report: StreamingQueryProgress) -> int:
    """Give how often a query reads its input; once, if nothing else is known."""
    shapes = _shapes(report)
    return shapes[0][1] if len(shapes) == 1 else 1


def outputs_of(report: StreamingQueryProgress) -> set[str]:
    """Give the output modes that a query was made for, where its rows depend on them."""
    return {output for *_, output in _shapes(report) if output}


def _shapes(report: StreamingQueryProgress) -> list[tuple[str, int, str]]:
    named = (name.split("_")[2:-1] for name in report.observedMetrics if name.startswith(f"{SHAPE_METRIC}_"))
    return [(shape, int(scans), "".join(output)) for shape, scans, *output in named]


def late_by_window(report: StreamingQueryProgress) -> dict[str, int]:
    """Give the rows that came too late for at least one instance of each window."""
    counts: Counter[str] = Counter()
    for row in _rows(report, LATE_METRIC):
        for bucket in json.loads(f"[{row[names.LATE_BY_WINDOW] or ''}]"):
            counts.update(bucket)
    return dict(counts)


def newest_change(report: StreamingQueryProgress) -> int | None:
    """Give the newest change of a registry that was taken up."""
    return _largest(report, names.NEWEST)


def damaged_changes(report: StreamingQueryProgress) -> int | None:
    """Return how many changes of a registry are skipped; None where none would be."""
    return _largest(report, names.DAMAGED)


def _largest(report: StreamingQueryProgress, metric: str) -> int | None:
    figures = [row[metric] for row in _rows(report, LATE_METRIC)]
    return max((figure for figure in figures if figure is not None), default=None)


def _rows(report: StreamingQueryProgress, prefix: str) -> Iterator[Row]:
    return (row for name, row in report.observedMetrics.items() if name.startswith(f"{prefix}_"))
