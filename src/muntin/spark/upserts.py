"""mt.UpsertTable: the current values of a stream in update mode, every micro-batch counted once."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from muntin.errors import QueryError
from muntin.spark.source import quoted

BATCH = "muntin_batch"
"""The partition column that the number of the micro-batch is kept in."""
DONE = "_SUCCESS"
"""The file by which Spark says that a folder is complete."""
WINDOW = ("window_id", "window")


class UpsertTable:
    """A folder of Parquet files in which every window instance has the row that was written last.

    Give `write` to foreachBatch. Each micro-batch has a folder of its own, under its number, so one that comes again
    after a failure takes its own place. The keys are those of the query: UpsertTable("windows", by=["device"]). The
    path is one of a file system that the driver and all workers see.
    """

    def __init__(self, path: str | os.PathLike[str], by: str | Iterable[str] = ()) -> None:
        self.path = Path(path).absolute()
        self.keys = (*WINDOW, *((by,) if isinstance(by, str) else by))

    def __repr__(self) -> str:
        return f"UpsertTable({str(self.path)!r}, by={list(self.keys[len(WINDOW) :])!r})"

    def write(self, rows: DataFrame, batch: int) -> None:
        """Take the rows of a micro-batch, in place of those that an earlier attempt may have left."""
        if missing := [key for key in self.keys if key not in rows.columns]:
            raise QueryError(f"{self!r} needs column {missing[0]!r}. There are {', '.join(map(repr, rows.columns))}.")
        rows.write.mode("overwrite").parquet(str(self._folder(batch)))

    def read(self, spark: SparkSession) -> DataFrame:
        """Give the latest row of every instance."""
        if not self._batches():
            raise QueryError(f"{self!r} has no rows yet. Start a query with foreachBatch(table.write).")
        return self._latest(spark.read.parquet(str(self.path)))

    def compact(self, spark: SparkSession) -> None:
        """Put all micro-batches but the newest, which may come again, together; not while the table is read.

        What was interrupted can be repeated: until the old files are gone, old and new ones say the same.
        """
        old = self._batches()[:-1]
        if len(old) < 2:
            return
        folders = [self._folder(batch) for batch in old]
        before = [file for folder in folders for file in folder.iterdir() if file.name != DONE]
        temporary = self.path / ".compacted"
        base = spark.read.option("basePath", str(self.path))
        self._latest(base.parquet(*map(str, folders))).write.mode("overwrite").parquet(str(temporary))
        for file in temporary.glob("*.parquet"):
            file.rename(folders[-1] / file.name)
        for file in before:
            file.unlink()
        for folder in (*folders[:-1], temporary):
            shutil.rmtree(folder)

    def _latest(self, rows: DataFrame) -> DataFrame:
        keys = [F.col(quoted(key)) for key in self.keys]
        names = [name for name in rows.columns if name not in (*self.keys, BATCH)]
        values = F.struct(*(F.col(quoted(name)) for name in names)) if names else F.struct(F.lit(0).alias("none"))
        last = rows.groupBy(*keys).agg(F.max_by(values, F.col(BATCH)).alias("last"))
        return last.select(*keys, *(F.col(f"last.{quoted(name)}") for name in names))

    def _folder(self, batch: int) -> Path:
        return self.path / f"{BATCH}={batch:012d}"

    def _batches(self) -> list[int]:
        """Give the numbers of the micro-batches that were written to the end."""
        return sorted(int(done.parent.name.split("=")[1]) for done in self.path.glob(f"{BATCH}=*/{DONE}"))
