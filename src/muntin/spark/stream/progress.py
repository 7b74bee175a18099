"""mt.progress: what Spark reports of a running query, in a few numbers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pyspark.sql.streaming.listener import StateOperatorProgress, StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

from muntin import names
from muntin.errors import QueryError
from muntin.sentences import sentence_of
from muntin.spark.stream.kept_state import Kept, state
from muntin.spark.stream.observing import (
    CHANGES_METRIC,
    FUTURE,
    FUTURE_METRIC,
    LATE_METRIC,
    ROWS,
    SHAPE_METRIC,
    damaged_changes,
    late_by_window,
    newest_change,
    observed,
    outputs_of,
    scans_of,
    shape_of,
)
from muntin.spark.stream.output_modes import mode_of, other_mode

FILE_BYTES = "rocksdbSstFileSize"
"""What Spark calls the size of RocksDB's files."""
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
    file_bytes: int | None = None
    """What RocksDB has in files for it; None for another store."""


@dataclass(frozen=True, slots=True)
class Progress:
    """A query's progress: sums over the micro-batches that Spark remembers, and the state after the last one.

    mt.progress gives it.

    >>> print(Progress(5, rows_in=7, rows_out=31, late=2, state=(), watermark=None, milliseconds=1750))
    5 micro-batches, 7 rows in, 31 out, 2 late, state 0, watermark none yet, last 1.75 s
    """

    batches: int
    rows_in: int
    """Rows that were read, each as often as it was read; changes of a registry are not among them."""
    rows_out: int | None
    """Rows that went to the sink; where it does not count them, rows of the result; None if nobody does."""
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
    """What is probably not meant: a query that is written in another mode than it was made for."""
    shape: str = ""
    """The shape of the query, such as 'chain' or 'columnar'; '' for a query that is not Muntin's."""
    scans: int = 1
    """How often every row is read: with independent once for each window."""
    late_groups: int = 0
    """Of the late ones, those that Spark's own operators dropped, as groups: with independent, expand and chain."""
    late_rows: tuple[tuple[str, int], ...] = ()
    """Rows that came too late for at least one instance, by window; counted with columnar, distinct and ordered."""
    missed: int | None = None
    """Rows that came too late for all their instances; None where only groups are counted."""
    packed: int | None = None
    """Slices and waiting rows in packed state, which Spark's operators count as a few values; None without it."""
    change: int | None = None
    """The newest change of the registry that the query has taken up; None without a registry."""
    damaged: int | None = None
    """Changes of the registry that cannot be read and were skipped; None unless it has skip_damaged=True."""
    steps: tuple[tuple[str, int], ...] = ()
    """Milliseconds of all micro-batches by step, as Spark names it; triggerExecution is the whole."""
    began: datetime | None = None
    """When the last micro-batch began, in UTC."""
    input_rate: float | None = None
    """Rows that arrived in a second, as of the last micro-batch."""
    processed_rate: float | None = None
    """Rows that the last micro-batch could read in a second."""
    error: str = ""
    """Why the query has failed, in a sentence; '' if it has not."""

    @property
    def state_rows(self) -> int:
        """The rows of state that all operators keep, as Spark counts them: packed ones are few."""
        return sum(operator.rows for operator in self.state)

    @property
    def kept(self) -> int:
        """What is kept, one by one, whatever the shape: instances, slices, waiting rows."""
        return self.state_rows if self.packed is None else self.packed

    def __str__(self) -> str:
        return f"{self.batches} micro-batches, {self.figures}"

    @property
    def figures(self) -> str:
        """What the micro-batches did, without their number."""
        out = "?" if self.rows_out is None else f"{self.rows_out:,}"
        kept = " + ".join(f"{operator.rows:,}" for operator in self.state) or "0"
        time = "none yet" if self.watermark is None else f"{self.watermark:%Y-%m-%d %H:%M:%S}"
        windows = f" ({', '.join(map(str, self.windows))})" if self.windows else ""
        ahead = f"{self.future:,} ahead of the clock, " if self.future else ""
        damaged = f"{self.damaged:,} damaged changes skipped, " if self.damaged else ""
        note = f"; {self.note}" if self.note else ""
        failed = f"; failed: {self.error}" if self.error else ""
        return (
            f"{self.rows_in:,} rows in, {out} out, {self.late:,} late, {ahead}{damaged}"
            f"state {kept}{windows}, watermark {time}, last {self.milliseconds / 1000:.2f} s{note}{failed}"
        )


def progress(
    query: StreamingQuery | StreamingQueryProgress | Iterable[StreamingQueryProgress],
    checkpoint: str | os.PathLike[str] | None = None,
) -> Progress:
    """Summarise the progress of a streaming query.

    Args:
        query: The query, or the progress from recentProgress, lastProgress or a listener.
        checkpoint: The query's checkpoint, to include the state of each window. A separate Spark job reads it, as in
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
    return replace(_summed(reports), note=note_of(query, reports), error=_error(query))


def _error(query: Any) -> str:
    """Return the sentence of the error that ended a query; '' if none did, and for reports."""
    error = query.exception() if hasattr(query, "exception") else None
    return "" if error is None else sentence_of(error)


def note_of(query: object, reports: Iterable[StreamingQueryProgress]) -> str:
    """Say what is wrong with the writer's mode, which nobody sees before the query runs; '' if nothing is."""
    mode = mode_of(query)
    for report in reports if mode else ():
        if mode == "Update" and observed(report, LATE_METRIC, names.LATE) is not None:
            return NO_UPDATES
        for output in outputs_of(report):
            if problem := other_mode(output, mode):
                return problem
    return ""


def _summed(reports: list[StreamingQueryProgress]) -> Progress:
    if not reports:
        return Progress(0, 0, 0, 0, (), None, 0)
    last = reports[-1]
    mark = last.eventTime.get("watermark")
    late_groups = sum(int(one.numRowsDroppedByWatermark) for report in reports for one in report.stateOperators)
    late_rows: Counter[str] = Counter()
    steps: Counter[str] = Counter()
    for report in reports:
        late_rows.update(late_by_window(report))
        steps.update(report.durationMs)
    return Progress(
        batches=len({report.batchId for report in reports}),
        rows_in=sum(map(_events, reports)),
        rows_out=_total(map(_written, reports)),
        late=late_groups + (_total(observed(report, LATE_METRIC, names.LATE) for report in reports) or 0),
        state=tuple(map(_operator, last.stateOperators)),
        watermark=datetime.fromisoformat(mark) if mark else None,
        milliseconds=last.durationMs.get("triggerExecution", 0),
        future=_total(observed(report, FUTURE_METRIC, FUTURE) for report in reports) or 0,
        shape=next(filter(None, map(shape_of, reversed(reports))), ""),
        scans=max(map(scans_of, reports)),
        late_groups=late_groups,
        late_rows=tuple(sorted(late_rows.items())),
        missed=_total(observed(report, LATE_METRIC, names.DROPPED) for report in reports),
        packed=observed(last, LATE_METRIC, names.KEPT),
        change=max((change for report in reports if (change := newest_change(report)) is not None), default=None),
        damaged=damaged_changes(last),
        steps=tuple(sorted(steps.items())),
        began=datetime.fromisoformat(last.timestamp),
        input_rate=_of_events(last.inputRowsPerSecond, last),
        processed_rate=_of_events(last.processedRowsPerSecond, last),
    )


def _events(report: StreamingQueryProgress) -> int:
    """Return the rows that were read, without the changes of a registry, which Spark counts among them."""
    return (report.numInputRows or 0) - (observed(report, CHANGES_METRIC, ROWS) or 0)


def _of_events(rate: float | None, report: StreamingQueryProgress) -> float | None:
    """Return the part of a rate that is due to events."""
    return rate and rate * _events(report) / (report.numInputRows or 1)


def _total(counts: Iterable[int | None]) -> int | None:
    """Sum up what was counted; None if nothing was."""
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _written(report: StreamingQueryProgress) -> int | None:
    """Give the rows that went to the sink, or else those of the result."""
    written = int(report.sink.numOutputRows)
    return written if written >= 0 else observed(report, SHAPE_METRIC, ROWS)


def _operator(operator: StateOperatorProgress) -> OperatorState:
    return OperatorState(
        operator.operatorName,
        operator.numRowsTotal,
        operator.numRowsUpdated,
        operator.numRowsRemoved,
        operator.numRowsDroppedByWatermark,
        operator.memoryUsedBytes,
        operator.customMetrics.get(FILE_BYTES),
    )
