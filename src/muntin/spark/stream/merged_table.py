"""A Delta or Iceberg table that micro-batches are merged into, each of them once.

Every row has the number of the micro-batch that wrote it last. A merge is one commit, rows and numbers together: if any
row has the number of a micro-batch, all of it is there, and one that comes again after a failure is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.errors import QueryError
from muntin.spark.caching import persist_apart
from muntin.spark.input.checking import quoted
from muntin.spark.stream.batch_folder import BATCH, check_owner, query_of
from muntin.spark.table_names import TableFormat, exists

OWNER = "muntin.query"
"""The property of a table that has the id of the query that writes it."""


@dataclass(frozen=True, slots=True)
class MergedTable:
    """A table that has one row for some keys, with the values that were merged last."""

    name: str
    """As SQL has it."""
    format: TableFormat
    keys: tuple[str, ...]

    def merge(self, rows: DataFrame, batch: int) -> None:
        """Take the rows of a micro-batch; nothing happens if it was taken before."""
        spark = rows.sparkSession
        self._create(spark, rows.schema, query_of(rows))
        columns = spark.table(self.name).columns
        if missing := [name for name in (*rows.columns, BATCH) if name not in columns]:
            raise QueryError(
                f"table {self.name} has no column {missing[0]!r}. Add it with ALTER TABLE {self.name} ADD COLUMN, or "
                "use another table."
            )
        is_new = self._claim(spark, query_of(rows), batch)
        numbered = persist_apart(rows.withColumn(BATCH, F.lit(batch).cast("long")))
        try:
            # All rows are computed, also where they are left out: the query's state is committed by computing them.
            if numbered.count() and is_new:
                with _viewed(numbered) as view:
                    spark.sql(self._merging(view, numbered))
        finally:
            numbered.unpersist()

    def read(self, spark: SparkSession) -> DataFrame | None:
        """Give the rows without their numbers; None if there is no table yet."""
        if not exists(spark, self.name) or self._newest(spark) is None:
            return None
        return spark.table(self.name).drop(BATCH)

    def compact(self, spark: SparkSession) -> None:
        """Put small files together, by what the format has for it."""
        if self.format == "delta":
            spark.sql(f"OPTIMIZE {self.name}")
            return
        catalog, _, table = self.name.partition(".")
        spark.sql(f"CALL {catalog}.system.rewrite_data_files(table => '{table.replace(chr(39), chr(39) * 2)}')")

    def _create(self, spark: SparkSession, schema: T.StructType, query: str) -> None:
        """Make the table unless there is one; it belongs to the query from its first moment on."""
        if exists(spark, self.name):
            return
        columns = T.StructType([*(T.StructField(field.name, field.dataType) for field in schema), _NUMBER])
        spark.sql(
            f"CREATE TABLE IF NOT EXISTS {self.name} ({columns.toDDL()}) USING {self.format} "
            f"TBLPROPERTIES ('{OWNER}' = '{query}')"
        )

    def _claim(self, spark: SparkSession, query: str, batch: int) -> bool:
        """Tell whether a micro-batch is new; refuse one of another checkpoint."""
        properties = {row["key"]: row["value"] for row in spark.sql(f"SHOW TBLPROPERTIES {self.name}").collect()}
        owner, newest = properties.get(OWNER, ""), self._newest(spark)
        check_owner("table", self.name, owner, newest, query, batch)
        if query and query != owner:
            spark.sql(f"ALTER TABLE {self.name} SET TBLPROPERTIES ('{OWNER}' = '{query}')")
        return newest is None or batch > newest

    def _newest(self, spark: SparkSession) -> int | None:
        """Give the number of the last micro-batch that left rows."""
        if self.format == "iceberg":
            spark.sql(f"REFRESH TABLE {self.name}")  # its catalog keeps what this session has seen
        newest: int | None = spark.table(self.name).agg(F.max(BATCH)).collect()[0][0]
        return newest

    def _merging(self, view: str, rows: DataFrame) -> str:
        """Write the merge; keys may be null, and a row of a later micro-batch stays."""
        same = " AND ".join(f"t.{quoted(key)} <=> s.{quoted(key)}" for key in self.keys)
        values = ", ".join(f"t.{quoted(name)} = s.{quoted(name)}" for name in rows.columns if name not in self.keys)
        columns = ", ".join(quoted(name) for name in rows.columns)
        given = ", ".join(f"s.{quoted(name)}" for name in rows.columns)
        return (
            f"MERGE INTO {self.name} AS t USING {view} AS s ON {same}{_within(rows)} "
            f"WHEN MATCHED AND t.{BATCH} < s.{BATCH} THEN UPDATE SET {values} "
            f"WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ({given})"
        )


_NUMBER = T.StructField(BATCH, T.LongType())


def _within(rows: DataFrame) -> str:
    """Write between which times a micro-batch's instances are, so that the files of all others are not even read."""
    type = rows.schema[names.WINDOW].dataType
    if not isinstance(type, T.StructType) or not {"start", "end"} <= set(type.names):
        return ""
    if not isinstance(type["start"].dataType, T.TimestampType):
        return ""
    first, last = (bound(f"{names.WINDOW}.start") for bound in (F.min, F.max))
    low, high = rows.agg(F.unix_micros(first), F.unix_micros(last)).collect()[0]
    return "" if low is None else f" AND t.window.start BETWEEN timestamp_micros({low}) AND timestamp_micros({high})"


@contextmanager
def _viewed(rows: DataFrame) -> Iterator[str]:
    """Give rows a name that SQL knows."""
    view = f"muntin_{uuid4().hex}"
    rows.createOrReplaceTempView(view)
    try:
        yield view
    finally:
        rows.sparkSession.catalog.dropTempView(view)
