"""The mode in which a query is written, which Muntin sees only when it runs, and output=, which it should equal."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.sql import DataFrame

from muntin.errors import QueryError
from muntin.spark.input.origins import output_of
from muntin.spark.stream.batch_folder import query_of


def mode_of(query: Any) -> str:
    """Return the output mode of a query; '' where Spark does not reveal it: for reports, and on Spark Connect."""
    with suppress(Py4JError):
        return str(query._jsq.streamingQuery().outputMode()) if hasattr(query, "_jsq") else ""  # noqa: SLF001 - Spark has no other name for it
    return ""


def other_mode(output: str, mode: str) -> str:
    """Say what is wrong if a query is written in another mode than it was made for; '' if nothing is.

    The state is the same in both modes, so that Spark takes it over at a restart. But update mode gives what changes
    from now on: an instance that append mode has left open, and that gets no more rows, is never given.

    >>> other_mode("append", "Update").split(":")[0]
    "written in update mode, and made for output='append'"
    >>> other_mode("append", "Append"), other_mode("append", "Complete")
    ('', '')
    """
    written = mode.lower()
    if written == output or {written, output} != {"append", "update"}:
        return ""
    return (
        f"written in {written} mode, and made for output={output!r}: instances that are open when the mode changes may "
        f"never be given. Use outputMode({output!r}), or output={written!r} and a new checkpoint"
    )


def check_mode(rows: DataFrame) -> None:
    """Refuse a micro-batch of a query that is written in another mode than it was made for."""
    if problem := other_mode(output_of(rows.schema), _mode_of_batch(rows)):
        raise QueryError(f"the query is {problem}.")


def _mode_of_batch(rows: DataFrame) -> str:
    """Return the output mode of the query whose micro-batch this is; '' where Spark does not reveal it."""
    query, session = query_of(rows), rows.sparkSession
    if not query or not hasattr(session, "_jsparkSession"):
        return ""
    with suppress(Py4JError):
        jvm: Any = session._jvm  # noqa: SLF001
        identity = jvm.java.util.UUID.fromString(query)
        running = session._jsparkSession.sharedState().activeStreamingQueries().get(identity)  # noqa: SLF001
        return "" if running is None else str(running.outputMode())
    return ""
