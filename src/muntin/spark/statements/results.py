"""The results of several statements, and what they have in common."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from muntin.errors import UnsupportedError
from muntin.paths import StrPath
from muntin.spark.queries.results import Results, Stream
from muntin.spark.queries.sinks import Sink
from muntin.spark.statements.plan import SqlPlan
from muntin.spark.stream.batch_folder import BatchFolder


class StatementResults(Results):
    """The DataFrame of every statement by its name, in the order of the text.

    What statements of a batch have in common is materialised once, by the first of them that is used, and released with
    `release()`, at the end of a `with` block, or when this object and its DataFrames are gone.

    Statements over one stream are started with `start`: one query, one read, and a sink for each of them.
    """

    def __init__(
        self, plan: SqlPlan, frames: Mapping[str, DataFrame], shared: tuple[Results, ...], stream: Stream | None
    ) -> None:
        super().__init__(plan, frames, stream=stream)  # type: ignore[arg-type]
        self._shared = shared

    def release(self) -> None:
        """Let go of what is materialised."""
        for results in self._shared:
            results.release()

    def start(
        self,
        sinks: Mapping[str, Sink],
        checkpoint: StrPath,
        trigger: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> StreamingQuery:
        """Start all statements over a stream as one query, with a sink for each one whose rows are wanted.

        A sink is a function of the rows and the number of a micro-batch, as foreachBatch takes it, or a folder of
        Parquet files. There, every micro-batch has a place of its own, under its number (column muntin_batch), so one
        that comes again after a failure takes its own place, and one of another checkpoint is refused.
        """
        if self._stream is None and any(frame.isStreaming for frame in self.values()):
            raise UnsupportedError(
                "the statements read several streams, or are not all about windows, and so are no single query. "
                "Start the DataFrame of each with writeStream."
            )
        written = {
            one: BatchFolder(sink).write if isinstance(sink, str | PathLike) else sink for one, sink in sinks.items()
        }
        return super().start(written, checkpoint, trigger, name)
