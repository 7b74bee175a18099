"""mt.UpsertTable: the current values of a stream in update mode, every micro-batch counted once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

from pyspark.sql import DataFrame, SparkSession

from muntin.errors import QueryError, UnsupportedError
from muntin.paths import StrPath
from muntin.query import RESERVED
from muntin.spark.stream.batch_folder import BatchFolder
from muntin.spark.stream.merged_table import MergedTable
from muntin.spark.table_names import table_name

Format = Literal["parquet", "delta", "iceberg"]
FORMATS: tuple[Format, ...] = get_args(Format)


class UpsertTable:
    """A table that keeps the latest row of every window instance.

    Pass `write` to foreachBatch. Every micro-batch counts once: if Spark repeats one after a failure, nothing changes.

    A table belongs to one checkpoint. A query with a new checkpoint numbers its micro-batches from 0 again, so older
    rows would look newer. The table refuses such a query. Use another table, or delete this one.

    Args:
        path: A folder on any file system that Spark knows. For Delta, a folder (text with a slash) or the name of a
            table in a catalog; for Iceberg, such a name. The table need not exist yet.
        by: The keys of the query.
        format: "parquet" keeps every micro-batch in a separate folder, and `read` finds the latest rows. "delta" and
            "iceberg" merge every micro-batch into the table, which any reader can read. Its column muntin_batch is the
            number of the micro-batch that wrote the row last.

    Example:
        ```python
        stream = spark.readStream.schema(readings.schema).parquet("readings")
        out = mt.aggregate(stream, "ts", "device", "1 hour", mt.count(), watermark="5 minutes", output="update")
        table = mt.UpsertTable("current", by="device")
        updates = out.writeStream.outputMode("update").foreachBatch(table.write)
        updates.option("checkpointLocation", "state").start().processAllAvailable()
        table.read(spark).show(3)
        ```
    """

    def __init__(self, path: StrPath, by: str | Iterable[str] = (), format: Format = "parquet") -> None:
        if format not in FORMATS:
            raise QueryError(f"format {format!r} is unknown. Use {', '.join(map(repr, FORMATS))}.")
        self.keys = (*RESERVED, *((by,) if isinstance(by, str) else by))
        self.format = format
        self._kept: BatchFolder | MergedTable = (
            BatchFolder(path) if format == "parquet" else MergedTable(table_name(path, format), format, self.keys)
        )
        self._given = self._kept.place if isinstance(self._kept, BatchFolder) else str(path)

    def __repr__(self) -> str:
        form = "" if self.format == "parquet" else f", format={self.format!r}"
        return f"UpsertTable({self._given!r}, by={list(self.keys[len(RESERVED) :])!r}{form})"

    @property
    def path(self) -> Path:
        """The folder of Parquet files, if it is on this machine."""
        if isinstance(self._kept, BatchFolder):
            return self._kept.path
        raise UnsupportedError(f"{self!r} is not a folder of Parquet files. Read it with read(spark).")

    def write(self, rows: DataFrame, batch: int) -> None:
        """Write the rows of a micro-batch; a micro-batch that was written before changes nothing.

        Args:
            rows: The rows, with the columns window_id, window and the keys.
            batch: The number of the micro-batch, as foreachBatch gives it.
        """
        if missing := [key for key in self.keys if key not in rows.columns]:
            raise QueryError(f"{self!r} needs column {missing[0]!r}. There are {', '.join(map(repr, rows.columns))}.")
        if isinstance(self._kept, BatchFolder):
            self._kept.write(rows, batch)
        else:
            self._kept.merge(rows, batch)

    def read(self, spark: SparkSession) -> DataFrame:
        """Return the latest row of every instance, as of the last complete micro-batch.

        Args:
            spark: A session that reads the table.
        """
        rows = self._kept.latest(spark, self.keys) if isinstance(self._kept, BatchFolder) else self._kept.read(spark)
        if rows is None:
            raise QueryError(f"{self!r} has no rows yet. Start a query with foreachBatch(table.write).")
        return rows

    def compact(self, spark: SparkSession) -> None:
        """Merge the files of many micro-batches. Nobody may read a folder of Parquet files meanwhile.

        In such a folder, the newest micro-batch stays separate, since Spark may repeat it. If a call was interrupted,
        repeat it. Delta tables are compacted by OPTIMIZE, Iceberg tables by rewrite_data_files.

        Args:
            spark: A session that reads the table.
        """
        if isinstance(self._kept, BatchFolder):
            self._kept.compact(spark, self.keys)
        else:
            self._kept.compact(spark)
