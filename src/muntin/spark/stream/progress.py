"""mt.progress: what Spark reports of a running query, in a few numbers."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pyspark.sql.streaming.listener import StateOperatorProgress, StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

from muntin import names
from muntin.errors import QueryError
from muntin.spark.stream.columnar import LATE_METRIC
from muntin.spark.stream.future import FUTURE_METRIC
from muntin.spark.stream.kept_state import Kept, state

NO_UPDATES = "written in update mode, but columnar state gives a window once, when it closes: add output='update'"


@dataclass(frozen=True, slots=True)
class OperatorState:
    """What one operator with state keeps, and did in its last micro-batch."""

    operator: str
    rows: int
    """Groups that it keeps."""
    updated: int
    removed: int
    late: int
    """Groups of rows that it dropped as late."""
    bytes: int
    """Memory that its stores take."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A query's progress: sums over the micro-batches that Spark remembers, and the state after the last one.

    mt.progress gives it.

    >>> print(Progress(5, rows_in=7, rows_out=31, late=2, state=(), watermark=None, milliseconds=1750))
    5 micro-batches, 7 rows in, 31 out, 2 late, state 0, watermark none yet, last 1.75 s
    """

    batches: int
    rows_in: int
    rows_out: int | None
    """Rows that went to the sink; None if it does not count them."""
    late: int
    """Groups of late rows that were dropped: the rows of one micro-batch, key and window instance are one group."""
    state: tuple[OperatorState, ...]
    """The operators with state, the last step of the query first."""
    watermark: datetime | None
    """Where the watermark stood in the last micro-batch, in UTC."""
    milliseconds: int
    """How long the last micro-batch took."""
    future: int = 0
    """Rows that were set aside because they were too far ahead of the clock."""
    windows: tuple[Kept, ...] = ()
    """What is kept for which window, if the checkpoint was read."""
    note: str = ""
    """What is probably not meant: a query that is written in a mode which its shape does not have."""

    @property
    def state_rows(self) -> int:
        """The groups that all operators keep."""
        return sum(operator.rows for operator in self.state)

    def __str__(self) -> str:
        out = "?" if self.rows_out is None else f"{self.rows_out:,}"
        kept = " + ".join(f"{operator.rows:,}" for operator in self.state) or "0"
        time = "none yet" if self.watermark is None else f"{self.watermark:%Y-%m-%d %H:%M:%S}"
        windows = f" ({', '.join(map(str, self.windows))})" if self.windows else ""
        ahead = f"{self.future:,} ahead of the clock, " if self.future else ""
        note = f"; {self.note}" if self.note else ""
        return (
            f"{self.batches} micro-batches, {self.rows_in:,} rows in, {out} out, {self.late:,} late, {ahead}"
            f"state {kept}{windows}, watermark {time}, last {self.milliseconds / 1000:.2f} s{note}"
        )


def progress(
    query: StreamingQuery | StreamingQueryProgress | Iterable[StreamingQueryProgress],
    checkpoint: str | os.PathLike[str] | None = None,
) -> Progress:
    """Sum up how far a query is.

    Args:
        query: The query, or what its recentProgress, lastProgress or a listener gave.
        checkpoint: The query's checkpoint, to tell state by window, too; that is read by a Spark job of its own, as in
            mt.state.

    Example:
        ```python
        stream = spark.readStream.schema(readings.schema).parquet("readings")
        out = mt.aggregate(stream, "ts", "device", "10 minutes", mt.count(), watermark="5 minutes")
        query = out.writeStream.option("checkpointLocation", "state").start("counts")
        query.processAllAvailable()
        print(mt.progress(query))
        ```
    """
    if checkpoint is not None:
        return replace(progress(query), windows=state(checkpoint))
    if isinstance(query, StreamingQueryProgress):
        return _summed([query])
    given = list(query) if isinstance(query, Iterable) else getattr(query, "recentProgress", [query])
    reports = [report for report in given if isinstance(report, StreamingQueryProgress)]
    if len(reports) < len(given):
        raise QueryError(f"{query!r} has no progress. Give a StreamingQuery, or its recentProgress.")
    return replace(_summed(reports), note=_note(query, reports))


def _note(query: object, reports: list[StreamingQueryProgress]) -> str:
    """Say that columnar state has no updates, where they are asked of it: the writer's mode is not seen before."""
    columnar = any(name.startswith(LATE_METRIC) for report in reports for name in report.observedMetrics)
    return NO_UPDATES if columnar and _mode(query) == "Update" else ""


def _mode(query: Any) -> str:
    """Give the output mode of a query; nothing where Spark does not tell it: for reports, and on Spark Connect."""
    if not hasattr(query, "_jsq"):
        return ""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]

    with suppress(Py4JError):
        return str(query._jsq.streamingQuery().outputMode())  # noqa: SLF001 - Spark has no other name for it
    return ""


def _summed(reports: list[StreamingQueryProgress]) -> Progress:
    if not reports:
        return Progress(0, 0, 0, 0, (), None, 0)
    last = reports[-1]
    written = [count for report in reports if (count := report.sink.numOutputRows) >= 0]
    mark = last.eventTime.get("watermark")
    return Progress(
        batches=len({report.batchId for report in reports}),
        rows_in=sum(report.numInputRows or 0 for report in reports),
        rows_out=sum(written) if written else None,
        late=sum(_late(report) for report in reports),
        state=tuple(map(_operator, last.stateOperators)),
        watermark=datetime.fromisoformat(mark) if mark else None,
        milliseconds=last.durationMs.get("triggerExecution", 0),
        future=sum(_observed(report, FUTURE_METRIC, "future") for report in reports),
    )


def _late(report: StreamingQueryProgress) -> int:
    dropped = [operator.numRowsDroppedByWatermark for operator in report.stateOperators]
    return int(sum(dropped)) + _observed(report, LATE_METRIC, names.LATE)


def _observed(report: StreamingQueryProgress, prefix: str, metric: str) -> int:
    """Sum up what was counted under names that begin alike."""
    counts = [counted[metric] or 0 for name, counted in report.observedMetrics.items() if name.startswith(prefix)]
    return int(sum(counts))


def _operator(operator: StateOperatorProgress) -> OperatorState:
    return OperatorState(
        operator.operatorName,
        operator.numRowsTotal,
        operator.numRowsUpdated,
        operator.numRowsRemoved,
        operator.numRowsDroppedByWatermark,
        operator.memoryUsedBytes,
    )
