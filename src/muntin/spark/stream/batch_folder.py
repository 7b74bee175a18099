"""A folder of Parquet files in which every micro-batch of a stream has a place of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from muntin.errors import QueryError, UnsupportedError
from muntin.files import Files
from muntin.paths import StrPath, is_remote, pattern, place_of, url
from muntin.spark.hadoop import files_with
from muntin.spark.input.checking import quoted

BATCH = "muntin_batch"
"""The column that the number of the micro-batch is kept in: of a partition here, of every row in merged tables."""
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
        self.place = place_of(path, "table")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.place!r})"

    @property
    def path(self) -> Path:
        """The folder, where it is one of this machine."""
        if is_remote(self.place):
            raise UnsupportedError(f"{self!r} is not a folder of this machine. Use its `place`.")
        return Path(self.place)

    def write(self, rows: DataFrame, batch: int) -> None:
        """Take the rows of a micro-batch, in place of those that an earlier attempt may have left."""
        self._claim(files_with(rows.sparkSession, self.place), query_of(rows), batch)
        marked = rows.write.mode("overwrite").option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "true")
        marked.parquet(url(self._folder(batch)))

    def latest(self, spark: SparkSession, keys: Sequence[str]) -> DataFrame | None:
        """Give the row that was written last for some keys, as of the last complete micro-batch; None without any."""
        batches = self._batches(files_with(spark, self.place))
        return self._latest(spark, batches, keys) if batches else None

    def compact(self, spark: SparkSession, keys: Sequence[str]) -> None:
        """Put all micro-batches but the newest, which may come again, together; not while the table is read.

        A call that was interrupted can be repeated: until the old files are gone, old and new ones say the same.
        """
        files = files_with(spark, self.place)
        old = self._batches(files)[:-1]
        if len(old) < 2:
            return
        folders = [self._folder(batch) for batch in old]
        before = [f"{place}/{name}" for place in folders for name in files.list(place) if name != DONE]
        temporary = f"{self.place}/.compacted"
        self._latest(spark, old, keys).write.mode("overwrite").parquet(url(temporary))
        for name in files.list(temporary):
            if name.endswith(".parquet"):
                files.move(f"{temporary}/{name}", f"{folders[-1]}/{name}")
        for file in before:
            files.remove(file)
        for place in (*folders[:-1], temporary):
            files.remove(place)

    def _claim(self, files: Files, query: str, batch: int) -> None:
        """Refuse a micro-batch of another checkpoint than the one that has written what is there."""
        record = f"{self.place}/{QUERY}"
        owner = files.read(record) if files.exists(record) else ""
        newest = next((number for number in reversed(self._begun(files)) if self._is_done(files, number)), None)
        check_owner("folder", self.place, owner, newest, query, batch)
        if query != owner and query:
            files.make(self.place)
            files.put(record, query)

    def _folder(self, batch: int) -> str:
        return f"{self.place}/{BATCH}={batch:012d}"

    def _batches(self, files: Files) -> list[int]:
        """Give the numbers of the micro-batches that were written to the end."""
        return [number for number in self._begun(files) if self._is_done(files, number)]

    def _begun(self, files: Files) -> list[int]:
        """Give the numbers of all micro-batches that have a folder, in order."""
        return sorted(int(name.split("=")[1]) for name in files.list(self.place) if name.startswith(f"{BATCH}="))

    def _is_done(self, files: Files, batch: int) -> bool:
        return files.exists(f"{self._folder(batch)}/{DONE}")

    def _latest(self, spark: SparkSession, batches: Iterable[int], names: Sequence[str]) -> DataFrame:
        reader = spark.read.option("basePath", url(self.place))
        rows = reader.parquet(*(pattern(self._folder(batch)) for batch in batches))
        keys = [F.col(quoted(key)) for key in names]
        others = [name for name in rows.columns if name not in (*names, BATCH)]
        values = F.struct(*(F.col(quoted(name)) for name in others)) if others else F.struct(F.lit(0).alias("none"))
        last = rows.groupBy(*keys).agg(F.max_by(values, F.col(BATCH)).alias("last"))
        return last.select(*keys, *(F.col(f"last.{quoted(name)}") for name in others))


def check_owner(kind: str, name: str, owner: str, newest: int | None, query: str, batch: int) -> None:
    """Refuse a micro-batch of another checkpoint than that of the newest one in a table, which may come again."""
    if newest is not None and (batch < newest or (query and owner and query != owner)):
        raise QueryError(
            f"{kind} {name} was written from another checkpoint: it has micro-batch {newest}"
            f"{f' of query {owner}' if owner else ''}, and this is {batch}{f' of query {query}' if query else ''}. "
            f"Use another {kind}, or remove this one to begin anew."
        )


def query_of(rows: DataFrame) -> str:
    """Give the id of the query whose micro-batch this is, which its checkpoint keeps; Spark Connect does not say it."""
    context = getattr(rows.sparkSession, "sparkContext", None)
    return (context and context.getLocalProperty("sql.streaming.queryId")) or ""
