"""mt.evaluate's results: a DataFrame for every query, and what they have in common."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from muntin.choices import Output
from muntin.errors import QueryError
from muntin.hints import meant
from muntin.paths import StrPath
from muntin.plan.sharing import SharingPlan
from muntin.spark.queries.conditions import Projection
from muntin.spark.queries.sinks import Sink, sink_of, written


@dataclass(frozen=True, slots=True)
class Stream:
    """The rows of all queries of a stream, and how those of each query are told from them."""

    rows: Callable[[StrPath], DataFrame]
    """Gives the rows as they go on from a checkpoint."""
    output: Output
    projections: Mapping[str, Projection]
    keys: Mapping[str, tuple[str, ...] | None]
    """The names of every query's keys; None where they are not known."""


class Results(Mapping[str, DataFrame]):
    """The DataFrames of several queries by name; mt.evaluate and mt.sql return it.

    In batch, the work that queries share is materialised once, when you first use one of the DataFrames. It is released
    by `release()`, at the end of a `with` block, or when this object and its DataFrames are garbage-collected. A
    DataFrame that you use after that still gives correct rows, but Spark evaluates it again.

    Start a stream with `start`: one streaming query that reads the source once, with a sink for each query.

    Example:
        ```python
        queries = [mt.Query("ts", key, "1 hour", mt.count(), name=key) for key in ("device", "region")]
        with mt.evaluate(readings, queries) as results:
            print(list(results), results["device"].count())
        ```
    """

    def __init__(
        self,
        plan: SharingPlan,
        frames: Mapping[str, DataFrame],
        kept: tuple[DataFrame, ...] = (),
        stream: Stream | None = None,
    ) -> None:
        self.plan = plan
        """Which queries are evaluated together, and how."""
        self._frames = dict(frames)
        for frame in self._frames.values():
            frame._muntin = self  # type: ignore[attr-defined]  # noqa: SLF001 - what is used keeps what it reads
        self._stream = stream
        self._finalizer = weakref.finalize(self, _release, kept)
        self._finalizer.atexit = False  # what is kept goes with the session

    def __getitem__(self, name: str) -> DataFrame:
        if name not in self._frames:
            raise KeyError(f"no query is called {name!r}.{meant(str(name), self._frames)}")
        return self._frames[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._frames)

    def __len__(self) -> int:
        return len(self._frames)

    def __repr__(self) -> str:
        return f"Results({', '.join(map(repr, self._frames))})"

    def __enter__(self) -> Results:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def explain(self) -> str:
        """Write the plan as text."""
        return self.plan.explain()

    def release(self) -> None:
        """Release what is materialised."""
        self._finalizer()

    def start(
        self,
        sinks: Mapping[str, Sink],
        checkpoint: StrPath,
        trigger: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> StreamingQuery:
        """Start all queries of a stream as one, with a sink for each query whose rows you want.

        After a failure, Spark repeats a micro-batch with the same number and rows.

        Args:
            sinks: A sink by the name of each query: a function of the rows and the micro-batch number, such as
                foreachBatch takes, or a folder that keeps each micro-batch under its number, like mt.UpsertTable.
            checkpoint: The folder of the checkpoint.
            trigger: What DataStreamWriter.trigger takes, such as {"processingTime": "10 seconds"} or {"availableNow":
                True}.
            name: The name of the streaming query.

        Raises:
            QueryError: If the input is not a stream, if there is no query for a sink, or if the checkpoint was made for
                other queries.
        """
        if self._stream is None:
            raise QueryError(
                "the input is not a stream, so there is nothing to start. Use the DataFrames of the results."
            )
        if not sinks:
            raise QueryError("no sinks are given, so nobody would have the results. Give one for each query.")
        for unknown in (name for name in sinks if name not in self._frames):
            raise QueryError(f"there is a sink for {unknown!r}, and no such query.{meant(unknown, self._frames)}")
        stream = self._stream
        taken = {
            name: (stream.projections[name], sink_of(sink, name, stream.keys[name])) for name, sink in sinks.items()
        }
        writer = (
            stream.rows(checkpoint).writeStream.outputMode(stream.output).option("checkpointLocation", str(checkpoint))
        )
        writer = writer.foreachBatch(written(taken))
        writer = writer.queryName(name) if name else writer
        return (writer.trigger(**trigger) if trigger else writer).start()


def _release(kept: tuple[DataFrame, ...]) -> None:
    for frame in kept:
        with suppress(Exception):  # the session may be gone, and what was kept with it
            frame.unpersist()
