"""mt.split_late: the results of a stream to one sink, and the rows that missed all their windows to another."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike

from pyspark.sql import DataFrame

from muntin import names
from muntin.errors import QueryError
from muntin.paths import StrPath
from muntin.spark.caching import persist_apart
from muntin.spark.stream.batch_folder import BatchFolder
from muntin.spark.stream.upserts import UpsertTable

Writing = Callable[[DataFrame, int], None]
LateSink = Writing | BatchFolder | UpsertTable | StrPath
"""A function of the rows and the number of a micro-batch, a table, or the folder of one."""


def split_late(results: LateSink, late: LateSink) -> Writing:
    """Return a function for foreachBatch that writes the results and the late rows of a stream to separate sinks.

    Args:
        results: The sink for the results, without the column late_row: a function of the rows and the micro-batch
            number, such as foreachBatch takes, an mt.UpsertTable, or a folder of Parquet files that keeps each
            micro-batch under its number.
        late: The sink for the late rows, of the same kinds. They have all columns of the input, and the watermark that
            they missed.

    Returns:
        The function for DataStreamWriter.foreachBatch.

    After a failure, Spark repeats a micro-batch with the same number and rows, for both sinks. A folder or table then
    has the rows once; a function must recognise the repetition by the number. The results are written first.

    Example:
        ```python
        stream = spark.readStream.schema(readings.schema).parquet("readings")
        out = mt.aggregate(stream, "ts", "device", "1 hour", mt.count(), watermark="10 minutes", late_rows=True)
        writer = out.writeStream.foreachBatch(mt.split_late("windows", "late"))
        writer.option("checkpointLocation", "state").start().processAllAvailable()
        ```
    """
    write_results, write_late = _writing(results, "results"), _writing(late, "late")

    def write(rows: DataFrame, batch: int) -> None:
        if names.LATE_ROW not in rows.columns:
            raise QueryError(f"the stream has no column {names.LATE_ROW!r}. Add late_rows=True to mt.aggregate.")
        kept = persist_apart(rows)  # the state would be written once for each sink
        try:
            write_results(kept.where(f"{names.LATE_ROW} IS NULL").drop(names.LATE_ROW), batch)
            write_late(kept.where(f"{names.LATE_ROW} IS NOT NULL").select(f"{names.LATE_ROW}.*"), batch)
        finally:
            kept.unpersist()

    return write


def _writing(sink: LateSink, name: str) -> Writing:
    if isinstance(sink, BatchFolder | UpsertTable):
        return sink.write
    if isinstance(sink, str | PathLike):
        return BatchFolder(sink).write
    if callable(sink):
        return sink
    raise QueryError(f"{name} {sink!r} is no sink. Use a function of rows and a number, a table, or a folder.")
