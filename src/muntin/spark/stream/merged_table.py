"""A Delta or Iceberg table that micro-batches are merged into, each of them once.

Every row has the number of the micro-batch that wrote it last. A merge is one commit, rows and numbers together: if any
row has the number of a micro-batch, all of it is there, and one that comes again after a failure is left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.errors import QueryError
from muntin.safe_text import hide_user_info
from muntin.spark.caching import persist_apart
from muntin.spark.input.checking import quoted
from muntin.spark.stream.batch_folder import BATCH, check_owner, check_unique, query_of
from muntin.spark.stream.batch_schemas import listed, plain
from muntin.spark.table_names import TableFormat, exists

COLUMNS = "muntin.columns"
"""The property that has the columns that were written last, and the keys among them, as JSON."""
OWNER = "muntin.query"
"""The property of a table that has the id of the query that writes it."""


@dataclass(frozen=True, slots=True)
class MergedTable:
    """A table that has one row for some keys, with the values that were merged last."""

    name: str = field(repr=False)
    """As SQL has it."""
    format: TableFormat

    @property
    def label(self) -> str:
        """The name as people see it: without the user info of a path."""
        return hide_user_info(self.name)

    def write(self, rows: DataFrame, batch: int, keys: Sequence[str]) -> None:
        """Merge the rows of a micro-batch; nothing happens if it was merged before."""
        spark, query = rows.sparkSession, query_of(rows)
        written = json.dumps({"keys": list(keys), "columns": rows.columns})
        self._create(spark, rows.schema, {OWNER: query, COLUMNS: written})
        properties = {row["key"]: row["value"] for row in spark.sql(f"SHOW TBLPROPERTIES {self.name}").collect()}
        there = spark.table(self.name).columns
        newest = self._newest(spark) if BATCH in there else None
        check_owner("table", self.label, properties.get(OWNER, ""), newest, query, batch)
        before = _NOTHING if newest is None else properties.get(COLUMNS, _NOTHING)
        self._check_columns(there, rows.columns, keys, **json.loads(before))
        numbered = persist_apart(rows.withColumn(BATCH, F.lit(batch).cast("long")))
        try:
            # All rows are computed, also where they are left out: the query's state is committed by computing them.
            count = check_unique(numbered, keys, f"micro-batch {batch} for table {self.label}")
            self._set(spark, properties, {COLUMNS: written} | ({OWNER: query} if query else {}))
            if count and (newest is None or batch > newest):
                with _viewed(numbered) as view:
                    spark.sql(self._merging(view, numbered, keys))
        finally:
            numbered.unpersist()

    def latest(self, spark: SparkSession, _keys: Sequence[str] = ()) -> DataFrame | None:
        """Return the rows without their numbers; None if there is no table yet."""
        if not exists(spark, self.name) or self._newest(spark) is None:
            return None
        return spark.table(self.name).drop(BATCH)

    def compact(self, spark: SparkSession, _keys: Sequence[str] = ()) -> None:
        """Put small files together, by what the format has for it."""
        if self.format == "delta":
            spark.sql(f"OPTIMIZE {self.name}")
            return
        catalog, _, table = self.name.partition(".")
        spark.sql(f"CALL {catalog}.system.rewrite_data_files(table => '{table.replace(chr(39), chr(39) * 2)}')")

    def _create(self, spark: SparkSession, schema: T.StructType, properties: Mapping[str, str]) -> None:
        """Make the table unless there is one; it belongs to the query from its first moment on."""
        if exists(spark, self.name):
            return
        columns = T.StructType([*plain(schema), _NUMBER])
        spark.sql(
            f"CREATE TABLE IF NOT EXISTS {self.name} ({columns.toDDL()}) USING {self.format} "
            f"TBLPROPERTIES ({_listed(properties)})"
        )

    def _set(self, spark: SparkSession, before: Mapping[str, str], properties: Mapping[str, str]) -> None:
        """Set those properties of the table that change."""
        if changed := {name: value for name, value in properties.items() if before.get(name) != value}:
            spark.sql(f"ALTER TABLE {self.name} SET TBLPROPERTIES ({_listed(changed)})")

    def _check_columns(
        self, there: Sequence[str], given: Sequence[str], by: Sequence[str], keys: Sequence[str], columns: Sequence[str]
    ) -> None:
        """Refuse other keys than before, and columns whose old values would stay beside new ones."""
        if keys and set(keys) <= set(there) and set(keys) != set(by):
            raise QueryError(
                f"table {self.label} has the keys {listed(keys)}, and this micro-batch {listed(by)}. "
                "Use the same keys, or another table."
            )
        missing = [name for name in (*given, BATCH) if name not in there]
        gone = [name for name in columns if name in there and name not in given]
        alter = f"ALTER TABLE {self.label}"
        if missing and gone:
            old, new = quoted(gone[0]), quoted(missing[0])
            raise QueryError(
                f"table {self.label} has no column {missing[0]!r}, and this micro-batch has no {gone[0]!r}. If they "
                f"are the same, rename it with {alter} RENAME COLUMN {old} TO {new}. Otherwise use another table."
            )
        if missing:
            raise QueryError(
                f"table {self.label} has no column {missing[0]!r}. Add it with {alter} ADD COLUMN, or use another "
                "table."
            )
        if gone:
            raise QueryError(
                f"this micro-batch has no column {gone[0]!r}, whose values in table {self.label} would no longer be "
                f"those of their rows. Remove it with {alter} DROP COLUMN {quoted(gone[0])}, or use another table."
            )

    def _newest(self, spark: SparkSession) -> int | None:
        """Give the number of the last micro-batch that left rows."""
        if self.format == "iceberg":
            spark.sql(f"REFRESH TABLE {self.name}")  # its catalog keeps what this session has seen
        newest: int | None = spark.table(self.name).agg(F.max(BATCH)).collect()[0][0]
        return newest

    def _merging(self, view: str, rows: DataFrame, keys: Sequence[str]) -> str:
        """Write the merge; keys may be null, and a row of a later micro-batch stays."""
        same = " AND ".join(f"t.{quoted(key)} <=> s.{quoted(key)}" for key in keys)
        values = ", ".join(f"t.{quoted(name)} = s.{quoted(name)}" for name in rows.columns if name not in keys)
        columns = ", ".join(quoted(name) for name in rows.columns)
        given = ", ".join(f"s.{quoted(name)}" for name in rows.columns)
        return (
            f"MERGE INTO {self.name} AS t USING {view} AS s ON {same}{_within(rows)} "
            f"WHEN MATCHED AND t.{BATCH} < s.{BATCH} THEN UPDATE SET {values} "
            f"WHEN NOT MATCHED THEN INSERT ({columns}) VALUES ({given})"
        )


_NUMBER = T.StructField(BATCH, T.LongType())
_NOTHING = '{"keys": [], "columns": []}'


def _listed(properties: Mapping[str, str]) -> str:
    """Write properties as SQL has them."""
    texts = ([text.replace("\\", "\\\\").replace("'", "\\'") for text in pair] for pair in properties.items())
    return ", ".join(f"'{name}' = '{value}'" for name, value in texts)


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
