"""mt.UpsertTable: the current values of a stream in update mode, every micro-batch counted once."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Literal, get_args

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from muntin.errors import QueryError, UnsupportedError
from muntin.paths import StrPath
from muntin.query import RESERVED
from muntin.safe_text import hide_user_info
from muntin.spark.input.origins import is_described, origins_of
from muntin.spark.stream.batch_folder import BatchFolder
from muntin.spark.stream.batch_schemas import listed
from muntin.spark.stream.merged_table import MergedTable
from muntin.spark.stream.output_modes import check_mode
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
        by: The keys of the query. By default the table takes them from the result of mt.aggregate that is written. If
            you have renamed them, or made the rows in another way, name all of them; () says that there are none.
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

    def __init__(self, path: StrPath, by: str | Iterable[str] | None = None, format: Format = "parquet") -> None:
        if format not in FORMATS:
            raise QueryError(f"format {format!r} is unknown. Use {', '.join(map(repr, FORMATS))}.")
        self.by = (by,) if isinstance(by, str) else None if by is None else tuple(by)
        self.format = format
        self._table: BatchFolder | MergedTable = (
            BatchFolder(path) if format == "parquet" else MergedTable(table_name(path, format), format)
        )
        self._path = self._table.place if isinstance(self._table, BatchFolder) else str(path)

    def __repr__(self) -> str:
        by = "" if self.by is None else f", by={list(self.by)!r}"
        form = "" if self.format == "parquet" else f", format={self.format!r}"
        return f"UpsertTable({hide_user_info(self._path)!r}{by}{form})"

    @property
    def path(self) -> Path:
        """The folder of Parquet files, if it is on this machine."""
        if isinstance(self._table, BatchFolder):
            return self._table.path
        raise UnsupportedError(f"{self!r} is not a folder of Parquet files. Read it with read(spark).")

    def write(self, rows: DataFrame, batch: int) -> None:
        """Write the rows of a micro-batch; a micro-batch that was written before changes nothing.

        Args:
            rows: The rows, with the columns window_id, window and the keys.
            batch: The number of the micro-batch, as foreachBatch gives it.
        """
        check_mode(rows)
        self._table.write(rows, batch, self._keys(rows.schema))

    def _keys(self, schema: T.StructType) -> tuple[str, ...]:
        """Return the columns that tell instances apart; refuse to leave out a key of the query."""
        origins = origins_of(schema)
        keys = origins.keys if self.by is None else self.by
        others = [name for name in schema.names if name not in RESERVED]
        if self.by is None and others and not is_described(schema):
            raise QueryError(
                f"{self!r} does not know which of {listed(others)} are keys: the rows are not a result of "
                "mt.aggregate, or their window is a new one. Name all keys with by=; by=() if there are none."
            )
        if self.by is None and (unknown := [key for key in keys if key not in schema.names]):
            raise QueryError(
                f"{self!r} does not know its keys: the query's {unknown[0]!r} has another name now. "
                "Name all keys with by=."
            )
        if missing := [key for key in (*RESERVED, *keys) if key not in schema.names]:
            raise QueryError(f"{self!r} needs column {missing[0]!r}. There are {', '.join(map(repr, schema.names))}.")
        if lacking := [key for key in origins.keys if key in schema.names and key not in keys]:
            raise QueryError(
                f"{self!r} lacks {lacking[0]!r}, a key of the query: rows of one instance would replace one another. "
                "Leave by= out, or name all keys."
            )
        if len(set(keys)) < len(origins.keys):
            raise QueryError(
                f"{self!r} has as keys {listed(keys)}, and the query has {listed(origins.keys)}: "
                "rows of one instance would replace one another. Keep all keys in the rows, and name them."
            )
        if results := [key for key in keys if key in origins.results]:
            raise QueryError(f"by={results[0]!r} is a result of the query. Leave by= out, or name the keys.")
        return (*RESERVED, *keys)

    def read(self, spark: SparkSession) -> DataFrame:
        """Return the latest row of every instance, as of the last complete micro-batch.

        Args:
            spark: A session that reads the table.
        """
        rows = self._table.latest(spark, self._columns)
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
        self._table.compact(spark, self._columns)

    @property
    def _columns(self) -> tuple[str, ...]:
        """The columns that tell instances apart, if they are named; none for those that the table knows."""
        return () if self.by is None else (*RESERVED, *self.by)
