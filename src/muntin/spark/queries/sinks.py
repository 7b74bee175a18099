"""Sinks of the queries that a stream evaluates together: every micro-batch is divided among them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike

from pyspark.sql import DataFrame

from muntin.errors import QueryError
from muntin.paths import StrPath
from muntin.spark.caching import persist_apart
from muntin.spark.input.origins import Origins, described
from muntin.spark.queries.conditions import Projection
from muntin.spark.stream.upserts import UpsertTable

Writing = Callable[[DataFrame, int], None]
Sink = Writing | UpsertTable | StrPath
"""A function of the rows and the number of a micro-batch, a table, or the folder of one."""


def sink_of(sink: Sink, query: str, keys: tuple[str, ...] | None) -> Writing:
    """Give what takes the rows of a query."""
    if isinstance(sink, UpsertTable):
        return sink.write
    if isinstance(sink, str | PathLike):
        return UpsertTable(sink, keys).write
    if callable(sink):
        return sink
    raise QueryError(f"the sink of {query!r} is {sink!r}. Use a function of rows and a number, or a folder.")


def keyed(project: Projection, keys: tuple[str, ...] | None) -> Projection:
    """Return a projection whose rows say which of their columns are keys; what is not known is left as it is."""
    return project if keys is None else lambda rows: described(project(rows), Origins(keys))


def written(sinks: Mapping[str, tuple[Projection, Writing]]) -> Writing:
    """Give what divides a micro-batch among sinks; its rows are computed once."""

    def write(rows: DataFrame, batch: int) -> None:
        kept = persist_apart(rows)
        try:
            for project, sink in sinks.values():
                sink(project(kept), batch)
        finally:
            kept.unpersist()

    return write
