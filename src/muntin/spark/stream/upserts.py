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
    """A table in which every window instance has the row that was written last.

    Give `write` to foreachBatch. Every micro-batch counts once: one that is repeated after a failure changes nothing.

    A table belongs to one checkpoint. A query with a new checkpoint counts its micro-batches from 0 again, so the older
    rows would seem to be the newer ones. It is refused; use another table, or remove this one.

    Args:
        path: A folder of any file system that Spark knows. For Delta, a folder (a text with a slash) or the name of a
            table in a catalog; for Iceberg, such a name. It need not exist yet.
        by: The keys of the query.
        format: "parquet" keeps every micro-batch in a folder of its own, and `read` finds the latest rows. "delta" and
            "iceberg" merge every micro-batch into the table, which anybody can read; its column muntin_batch is the
            number of the micro-batch that wrote a row last.

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
        """The folder of Parquet files, where it is one of this machine."""
        if isinstance(self._kept, BatchFolder):
            return self._kept.path
        raise UnsupportedError(f"{self!r} is no folder of Parquet files. Read it with read(spark).")

    def write(self, rows: DataFrame, batch: int) -> None:
        """Take the rows of a micro-batch; one that was taken before changes nothing.

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
        """Give the latest row of every instance, as of the last complete micro-batch.

        Args:
            spark: A session that reads the table.
        """
        rows = self._kept.latest(spark, self.keys) if isinstance(self._kept, BatchFolder) else self._kept.read(spark)
        if rows is None:
            raise QueryError(f"{self!r} has no rows yet. Start a query with foreachBatch(table.write).")
        return rows

    def compact(self, spark: SparkSession) -> None:
        """Put the files of many micro-batches together. A folder of Parquet files must not be read meanwhile.

        The newest micro-batch of such a folder, which may come again, stays apart. A call that was interrupted can be
        repeated. Delta's tables are compacted by OPTIMIZE, Iceberg's by rewrite_data_files.

        Args:
            spark: A session that reads the table.
        """
        if isinstance(self._kept, BatchFolder):
            self._kept.compact(spark, self.keys)
        else:
            self._kept.compact(spark)
