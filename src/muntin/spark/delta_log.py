"""mt.DeltaLog: a Delta table that decides which writer of a registry has a number."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import uuid4

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from muntin.errors import QueryError
from muntin.paths import StrPath
from muntin.safe_text import hide_user_info
from muntin.spark.table_names import exists, table_name

_COLUMNS = "number BIGINT, change STRING, writer STRING"
_CONFLICT = ("ConcurrentModification", "DELTA_CONCURRENT", "DELTA_METADATA_CHANGED", "DELTA_PROTOCOL_CHANGED")
"""What Delta's errors have in common where another writer was first."""


class DeltaLog:
    """The log of a registry whose file system cannot decide between two writers. Changes are rows of a Delta table.

    If two writers try the same number, Delta accepts one commit, and the other writer takes the next number. Queries
    still read the registry's folder. If a writer is killed after its commit, the next writer, or the next start of a
    query that has the log, adds the missing file to the folder.

    Args:
        table: The name of a Delta table in a catalog, or its folder (text with a slash). If it does not exist, it is
            created with the columns number, change (JSON) and writer.
        spark: A session with Delta; by default the active one.

    Example:
        <!-- not run: it needs a session with Delta -->
        ```python
        registry = mt.WindowRegistry("hdfs://cluster/windows", log=mt.DeltaLog("main.ops.windows_log"))
        registry.add("1 hour every 5 minutes")
        ```
    """

    def __init__(self, table: StrPath, spark: SparkSession | None = None) -> None:
        self.name = table_name(table, "delta")
        self._spark = spark

    def __repr__(self) -> str:
        return f"DeltaLog({hide_user_info(self.name)!r})"

    def append(self, number: int, change: str) -> bool:
        """Store a change under its number, unless the number is taken; return whether it was stored."""
        spark, writer = self._session(), uuid4().hex
        spark.sql(f"CREATE TABLE IF NOT EXISTS {self.name} ({_COLUMNS}) USING delta")
        text = f"decode(X'{change.encode().hex()}', 'UTF-8')"  # Delta's MERGE takes no parameters
        try:
            spark.sql(
                f"MERGE INTO {self.name} AS t "
                f"USING (SELECT {number}L AS number, {text} AS change, '{writer}' AS writer) AS s "
                "ON t.number = s.number WHEN NOT MATCHED THEN INSERT *"
            )
        except (PySparkException, Py4JError) as error:
            if not any(word in str(error) for word in _CONFLICT):
                raise
        return not spark.table(self.name).where(f"number = {number} AND writer = '{writer}'").isEmpty()

    def entries(self) -> Mapping[int, str]:
        """Return all changes by their numbers."""
        spark = self._session()
        if not exists(spark, self.name):
            return {}
        return {row["number"]: row["change"] for row in spark.table(self.name).orderBy("number").collect()}

    def _session(self) -> SparkSession:
        spark = self._spark or SparkSession.getActiveSession()
        if spark is None:
            raise QueryError(f"{self!r} needs a Spark session. Give spark=, or call mt.session() first.")
        return spark
