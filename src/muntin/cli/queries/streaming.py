"""A running stream: what it has done so far, and how it is stopped."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from types import FrameType
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

from muntin.spark.stream.metrics.telling import log_batch, log_start
from muntin.spark.stream.progress import Progress, progress

Sink = Callable[[DataFrame, int], None]
PAUSE = 0.25
"""Seconds between two looks at a stream."""
PATIENCE = 10.0
"""Seconds that the last report of a stream is waited for."""


@dataclass(slots=True)
class Tally:
    """What a stream has done since it was started."""

    started: float
    batches: int = 0
    events: int = 0
    late: int = 0
    rate: float = 0.0
    """Events a second in the last micro-batch that had any."""
    watermark: datetime | None = None

    def add(self, one: Progress) -> None:
        """Count a micro-batch in."""
        self.batches += 1
        self.events += one.rows_in
        self.late += one.late
        if one.watermark is not None and one.watermark.timestamp() > 0:  # Spark's word for none yet
            self.watermark = one.watermark
        if one.rows_in:
            self.rate = one.rows_in / max(one.milliseconds / 1000, 0.001)

    def __str__(self) -> str:
        """Write how far the stream is, the more important first, as a terminal may be narrow."""
        mark = "" if self.watermark is None else f", watermark {self.watermark:%Y-%m-%d %H:%M}"
        return f"{self.events:,} events, {self.rate:,.0f}/s, {self.late:,} late, {self.in_batches}{mark}"

    @property
    def in_batches(self) -> str:
        """Write how many micro-batches there were."""
        return f"{self.batches:,} micro-batch{'' if self.batches == 1 else 'es'}"


class Reports(StreamingQueryListener):
    """Spark's reports of one stream: none is missed, and none but the last is kept."""

    def __init__(self) -> None:
        self.tally = Tally(time.monotonic())
        self.over = threading.Event()

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Note that it runs."""
        log_start(event.name or str(event.id))

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Count a micro-batch in."""
        report = event.progress
        one = progress(report)
        self.tally.add(one)
        log_batch(report.name or str(report.id), report.batchId, one)

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Spark asks for this; nothing has happened."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Note that no report comes any more."""
        self.over.set()


def follow(
    spark: SparkSession, start: Callable[[], StreamingQuery], shown: Callable[[Tally], None]
) -> tuple[Tally, bool]:
    """Run a stream to its end, or until Ctrl-C stops it; give what it did, and whether it was stopped."""
    reports = Reports()
    spark.streams.addListener(reports)
    with _stop_signals() as stopped:
        query = start()
        try:
            while query.isActive and not stopped.wait(PAUSE):
                shown(reports.tally)
        finally:
            query.stop()
    if (error := query.exception()) is not None and not stopped.is_set():
        raise error
    reports.over.wait(PATIENCE)
    spark.streams.removeListener(reports)
    return reports.tally, stopped.is_set()


def single(frame: DataFrame, sink: Sink, checkpoint: str, trigger: dict[str, Any]) -> StreamingQuery:
    """Start the stream of a single statement."""
    writer = frame.writeStream.foreachBatch(sink).option("checkpointLocation", checkpoint)
    return (writer.trigger(**trigger) if trigger else writer).start()


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """Take Ctrl-C, and the signal by which services are ended, for the wish to stop; a second one is an error."""
    stopped = threading.Event()

    def stop(number: int, frame: FrameType | None) -> None:
        if stopped.is_set():
            raise KeyboardInterrupt
        stopped.set()

    earlier = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stopped
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
