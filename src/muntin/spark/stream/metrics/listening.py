"""mt.listen: the metrics of all queries of a session, logged and as Prometheus text."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.sql import SparkSession
from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
)
from pyspark.sql.streaming.query import StreamingQuery

from muntin.errors import QueryError
from muntin.sentences import sentence_of
from muntin.spark.stream.metrics.counting import Counts
from muntin.spark.stream.metrics.serving import Endpoint
from muntin.spark.stream.metrics.telling import log_batch, log_end, log_note, log_start
from muntin.spark.stream.progress import note_of, progress


class Listening:
    """The metrics so far, and a way to stop listening; mt.listen returns it. A with block stops at its end.

    Example:
        ```python
        listening = mt.listen(spark)
        print(listening.text())
        listening.stop()
        ```
    """

    def __init__(self, spark: SparkSession, counts: Counts, endpoint: Endpoint | None) -> None:
        self._spark, self._counts, self._endpoint = spark, counts, endpoint
        self._listener: StreamingQueryListener | None = _Listener(spark, counts)
        spark.streams.addListener(self._listener)

    @property
    def url(self) -> str | None:
        """Where Prometheus reads the metrics; None without an endpoint."""
        return None if self._endpoint is None else self._endpoint.url

    def text(self) -> str:
        """Return the metrics of all queries as Prometheus text."""
        return self._counts.text()

    def stop(self) -> None:
        """Stop listening and serving; `text()` then stays as it is. A second call does nothing."""
        listener, endpoint = self._listener, self._endpoint
        self._listener = self._endpoint = None
        if endpoint is not None:
            endpoint.close()
        if listener is not None:
            self._spark.streams.removeListener(listener)

    def __enter__(self) -> Listening:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Listening at {self.url}>" if self.url else "<Listening>"


def listen(spark: SparkSession, *, port: int | None = None, host: str = "127.0.0.1") -> Listening:
    """Log what the streaming queries of a session do, and keep metrics for Prometheus.

    Args:
        spark: The session. The listener follows all its queries from now on, including those that already run and those
            that Muntin did not make. A session that is cloned from it needs its own listener.
        port: The port on which to serve the metrics over HTTP, at /metrics. 0 takes a free port, None serves nothing.
        host: The address of the endpoint. The default can be reached only from this machine. The endpoint has no
            password.

    Returns:
        A handle with `text()`, `url` and `stop()`, which is also a context manager.

    The loggers are below "muntin". docs/monitoring.md describes the metrics, which mean the same for all shapes. On
    Spark Connect the listener runs in the client, and receives nothing while the client is disconnected.

    Example:
        ```python
        stream = spark.readStream.schema(readings.schema).parquet("readings")
        counts = mt.aggregate(stream, "ts", "device", "1 hour", mt.count(), watermark="10 minutes")
        with mt.listen(spark, port=0) as listening:
            counts.writeStream.format("noop").option("checkpointLocation", "state").start().processAllAvailable()
            print(listening.url)
        ```
    """
    if not hasattr(spark, "streams"):
        raise QueryError(f"{spark!r} is no session. Use mt.listen(spark), with spark = mt.session() or your own.")
    if port is not None and (isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536):
        raise QueryError(f"port {port!r} is none. Use a number up to 65535, such as 9464, or 0 for one that is free.")
    counts = Counts(is_stopped=lambda: _is_stopped(spark))
    endpoint = None if port is None else Endpoint(host, port, counts.text)
    try:
        return Listening(spark, counts, endpoint)
    except Exception:
        if endpoint is not None:
            endpoint.close()
        raise


def _is_stopped(spark: SparkSession) -> bool:
    """Whether a session has ended."""
    context = getattr(spark, "sparkContext", None)
    if context is None:  # as on Spark Connect
        return bool(getattr(spark, "is_stopped", False))
    try:
        return context._jsc is None or bool(context._jsc.sc().isStopped())  # noqa: SLF001 - Spark has no other name for it
    except (Py4JError, OSError):  # its JVM is gone
        return True


class _Listener(StreamingQueryListener):
    """Spark's events, counted and logged."""

    def __init__(self, spark: SparkSession, counts: Counts) -> None:
        self.session = spark
        self.counts = counts
        self.names: dict[Any, str] = {}
        self.changes: dict[Any, int] = {}
        self.started: dict[Any, StreamingQuery | None] = {}
        """The queries whose first micro-batch has not ended, by their runs."""
        self.runs: set[Any] = set()
        """The runs whose output mode was looked at."""

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 - Spark's name
        """Note that a query runs."""
        self.counts.started(str(event.id), event.name)
        self.names[event.id] = event.name or str(event.id)
        self.started[event.runId] = self._query(event.runId)
        log_start(self.names[event.id])

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        """Count a micro-batch in."""
        report = event.progress
        one = progress(report)
        self.counts.progressed(str(report.id), report.name, one)
        log_batch(report.name or str(report.id), report.batchId, one, self.changes.get(report.id))
        if one.change is not None:
            self.changes[report.id] = one.change
        if report.runId not in self.runs:
            self.runs.add(report.runId)
            query = self.started.pop(report.runId, None) or self._query(report.runId)
            log_note(report.name or str(report.id), note_of(query, [report]))

    def _query(self, run: Any) -> StreamingQuery | None:
        """Return a query that runs; None if it has ended, and on Spark Connect, which does not reveal its mode."""
        if not hasattr(self.session, "_jsparkSession"):
            return None
        with suppress(Py4JError, OSError):
            return next((query for query in self.session.streams.active if query.runId == str(run)), None)
        return None

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        """Spark asks for this; nothing has happened."""

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        """Note that a query has ended."""
        self.counts.ended(str(event.id), failed=event.exception is not None)
        self.runs.discard(event.runId)
        self.started.pop(event.runId, None)
        error = None if event.exception is None else sentence_of(event.exception)
        log_end(self.names.pop(event.id, str(event.id)), error)
