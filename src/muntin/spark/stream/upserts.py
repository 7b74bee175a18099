"""mt.UpsertTable: the current values of a stream in update mode, every micro-batch counted once."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from muntin.errors import QueryError
from muntin.paths import StrPath, folder, pattern, put, url
from muntin.query import RESERVED
from muntin.spark.input.checking import quoted

BATCH = "muntin_batch"
"""The partition column that the number of the micro-batch is kept in."""
DONE = "_SUCCESS"
"""The file by which Spark says that a folder is complete."""
QUERY = "_query"
"""The file with the id of the query that writes the table; Spark does not read files with such names."""


class BatchFolder:
    """A folder of Parquet files in which every micro-batch of one query has a place of its own, under its number.

    A micro-batch that comes again after a failure takes its own place. A folder belongs to one checkpoint: a query with
    a new one counts its micro-batches from 0 again, and would write over what is there, so it is refused.
    """

    def __init__(self, path: StrPath) -> None:
        self.path = folder(path, "table")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"

    def write(self, rows: DataFrame, batch: int) -> None:
        """Take the rows of a micro-batch, in place of those that an earlier attempt may have left."""
        self._claim(_query(rows), batch)
        marked = rows.write.mode("overwrite").option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "true")
        marked.parquet(url(self._folder(batch)))

    def _claim(self, query: str, batch: int) -> None:
        """Refuse a micro-batch of another checkpoint than the one that has written what is there."""
        record = self.path / QUERY
        owner = record.read_text(encoding="utf-8") if record.exists() else ""
        batches = self._batches()
        if batches and (batch < batches[-1] or (query and owner and query != owner)):
            raise QueryError(
                f"{self!r} was written from another checkpoint: it has micro-batch {batches[-1]}"
                f"{f' of query {owner}' if owner else ''}, and this is {batch}{f' of query {query}' if query else ''}. "
                "Use another folder, or remove this one to begin anew."
            )
        if query != owner and query:
            self.path.mkdir(parents=True, exist_ok=True)
            put(record, query)

    def _folder(self, batch: int) -> Path:
        return self.path / f"{BATCH}={batch:012d}"

    def _batches(self) -> list[int]:
        """Give the numbers of the micro-batches that were written to the end."""
        return sorted(int(done.parent.name.split("=")[1]) for done in self.path.glob(f"{BATCH}=*/{DONE}"))


class UpsertTable(BatchFolder):
    """A folder of Parquet files in which every window instance has the row that was written last.

    Give `write` to foreachBatch. Each micro-batch has a folder of its own, under its number, so one that is repeated
    after a failure takes its own place.

    A table belongs to one checkpoint. A query with a new checkpoint counts its micro-batches from 0 again, so the older
    rows would seem to be the newer ones. It is refused; use another folder, or remove this one.

    Args:
        path: The folder, on a file system that the driver and all workers see.
        by: The keys of the query.

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

    def __init__(self, path: StrPath, by: str | Iterable[str] = ()) -> None:
        super().__init__(path)
        self.keys = (*RESERVED, *((by,) if isinstance(by, str) else by))

    def __repr__(self) -> str:
        return f"UpsertTable({str(self.path)!r}, by={list(self.keys[len(RESERVED) :])!r})"

    def write(self, rows: DataFrame, batch: int) -> None:
        """Take the rows of a micro-batch, in place of those that an earlier attempt may have left."""
        if missing := [key for key in self.keys if key not in rows.columns]:
            raise QueryError(f"{self!r} needs column {missing[0]!r}. There are {', '.join(map(repr, rows.columns))}.")
        super().write(rows, batch)

    def read(self, spark: SparkSession) -> DataFrame:
        """Give the latest row of every instance, as of the last complete micro-batch."""
        batches = self._batches()
        if not batches:
            raise QueryError(f"{self!r} has no rows yet. Start a query with foreachBatch(table.write).")
        return self._latest(spark, batches)

    def compact(self, spark: SparkSession) -> None:
        """Put all micro-batches but the newest, which may come again, together; not while the table is read.

        A call that was interrupted can be repeated: until the old files are gone, old and new ones say the same.
        """
        old = self._batches()[:-1]
        if len(old) < 2:
            return
        folders = [self._folder(batch) for batch in old]
        before = [file for place in folders for file in place.iterdir() if file.name != DONE]
        temporary = self.path / ".compacted"
        self._latest(spark, old).write.mode("overwrite").parquet(url(temporary))
        for file in temporary.glob("*.parquet"):
            file.rename(folders[-1] / file.name)
        for file in before:
            file.unlink()
        for place in (*folders[:-1], temporary):
            shutil.rmtree(place)

    def _latest(self, spark: SparkSession, batches: Iterable[int]) -> DataFrame:
        """Read micro-batches, and give the latest row of every instance."""
        reader = spark.read.option("basePath", url(self.path))
        rows = reader.parquet(*(pattern(self._folder(batch)) for batch in batches))
        keys = [F.col(quoted(key)) for key in self.keys]
        names = [name for name in rows.columns if name not in (*self.keys, BATCH)]
        values = F.struct(*(F.col(quoted(name)) for name in names)) if names else F.struct(F.lit(0).alias("none"))
        last = rows.groupBy(*keys).agg(F.max_by(values, F.col(BATCH)).alias("last"))
        return last.select(*keys, *(F.col(f"last.{quoted(name)}") for name in names))


def _query(rows: DataFrame) -> str:
    """Give the id of the query whose micro-batch this is, which its checkpoint keeps; Spark Connect does not say it."""
    context = getattr(rows.sparkSession, "sparkContext", None)
    return (context and context.getLocalProperty("sql.streaming.queryId")) or ""
