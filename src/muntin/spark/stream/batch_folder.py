"""A folder of Parquet files in which every micro-batch of a stream has a place of its own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import groupby
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin.errors import InternalError, QueryError, UnsupportedError
from muntin.files import Files
from muntin.paths import StrPath, is_remote, pattern, place_of, url
from muntin.query import RESERVED
from muntin.safe_text import hide_user_info
from muntin.spark.hadoop import files_with
from muntin.spark.input.checking import quoted
from muntin.spark.stream.batch_schemas import BatchSchema, SchemaLog, check_successor, listed, newer_names

BATCH = "muntin_batch"
"""The column that the number of the micro-batch is kept in: of a partition here, of every row in merged tables."""
DONE = "_SUCCESS"
"""The file by which Spark says that a folder is complete."""
QUERY = "_query"
"""The file with the id of the query that writes the table; Spark does not read files with such names."""
COMPACTED = ".compacted"
"""The folder that a compaction writes to; it is there until the compaction has ended."""

Part = tuple[BatchSchema, tuple[int, ...]]
"""Micro-batches in a row that have one schema."""


class BatchFolder:
    """A folder of Parquet files in which every micro-batch of one query has a place of its own, under its number.

    A micro-batch that comes again after a failure takes its own place. A folder belongs to one checkpoint: a query with
    a new one counts its micro-batches from 0 again, and would write over what is there, so it is refused.
    """

    def __init__(self, path: StrPath) -> None:
        self.place = place_of(path, "table")
        self._label = hide_user_info(self.place)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._label!r})"

    @property
    def path(self) -> Path:
        """The folder, where it is one of this machine."""
        if is_remote(self.place):
            raise UnsupportedError(f"{self!r} is not a folder of this machine. Use its `place`.")
        return Path(self.place)

    def write(self, rows: DataFrame, batch: int, keys: Sequence[str] = ()) -> None:
        """Take the rows of a micro-batch, in place of those that an earlier attempt may have left.

        With keys, `latest` reads the folder, under the newest names of columns. Without, anybody does, who would not
        know that a column has another name since.
        """
        spark = rows.sparkSession
        files = files_with(spark, self.place)
        self._claim(files, query_of(rows), batch)
        schema = BatchSchema(rows.schema, tuple(keys)) if keys else BatchSchema.plain(rows.schema)
        self._take_schema(spark, files, batch, schema)
        marked = rows.write.mode("overwrite").option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "true")
        marked.parquet(url(self._folder(batch)))
        if keys:
            try:
                check_unique(self._read(spark, [batch], rows.schema), keys, f"micro-batch {batch} of {self._label}")
            except QueryError:
                files.remove(self._folder(batch))
                raise

    def latest(self, spark: SparkSession, keys: Sequence[str] = ()) -> DataFrame | None:
        """Return the row that was written last for each value of the keys; None without a complete micro-batch.

        Without keys, they are those that the micro-batches were written with.
        """
        files = files_with(spark, self.place)
        batches = self._batches(files)
        return _latest(*self._rows(spark, self._parts(spark, files, batches, keys))) if batches else None

    def compact(self, spark: SparkSession, keys: Sequence[str] = ()) -> None:
        """Put all micro-batches but the newest, which may come again, together; not while the table is read.

        A call that was interrupted can be repeated: until the old files are gone, old and new ones say the same.
        """
        files = files_with(spark, self.place)
        old = self._batches(files)[:-1]
        if len(old) < 2:
            return
        parts = self._parts(spark, files, old, keys)
        folders = [self._folder(batch) for batch in old]
        before = [f"{place}/{name}" for place in folders for name in files.list(place) if name != DONE]
        temporary = f"{self.place}/{COMPACTED}"
        rows, known = self._rows(spark, parts)
        _latest(rows, known).write.mode("overwrite").parquet(url(temporary))
        written = spark.read.parquet(pattern(temporary))
        self._check_complete(spark, parts, rows.select(*map(quoted, known)), written)
        schemas = SchemaLog(files, self.place)
        schemas.put(old[-1], BatchSchema(T.StructType([rows.schema[name] for name in written.columns]), known))
        for name in files.list(temporary):
            if name.endswith(".parquet"):
                files.move(f"{temporary}/{name}", f"{folders[-1]}/{name}")
        outdated = [schemas.file(number) for number in schemas.numbers() if number <= old[-1]][:-1]
        for place in (*before, *folders[:-1], *outdated, temporary):
            files.remove(place)

    def _check_complete(self, spark: SparkSession, parts: Sequence[Part], instances: DataFrame, new: DataFrame) -> None:
        """Refuse to remove old files if the new ones lack a column or an instance of theirs."""
        for schema, batches in parts:
            if unread := [name for name in self._columns(spark, batches).names if name not in schema.columns.names]:
                raise QueryError(
                    f"files of folder {self._label} have the column {unread[0]!r}, which is not in their schema, so it "
                    "would be lost. Nothing was removed. Take out the files that the query has not written."
                )
        before, after = instances.distinct().count(), new.count()
        if before != after:
            raise InternalError(
                f"folder {self._label} has {before} instances, of which {after} were written again. "
                "Nothing was removed. Please report this."
            )

    def _claim(self, files: Files, query: str, batch: int) -> None:
        """Refuse a micro-batch of another checkpoint than the one that has written what is there."""
        record = f"{self.place}/{QUERY}"
        owner = files.read(record) if files.exists(record) else ""
        check_owner("folder", self._label, owner, self._newest(files), query, batch)
        if query != owner and query:
            files.make(self.place)
            files.put(record, query)

    def _take_schema(self, spark: SparkSession, files: Files, batch: int, schema: BatchSchema) -> None:
        """Record the schema of a micro-batch if it is a new one; refuse one that does not fit those before."""
        schemas, newest = SchemaLog(files, self.place), self._newest(files, before=batch)
        if newest is not None:
            older = schemas.at(newest)
            if older is None:
                batches = [number for number in self._batches(files) if number <= newest]
                older = self._inferred(spark, files, batches, schema.keys)
                schemas.put(batches[0], older)
            check_successor(f"folder {self._label}", older, schema)
        schemas.put(batch, schema)

    def _parts(self, spark: SparkSession, files: Files, batches: Sequence[int], keys: Sequence[str]) -> list[Part]:
        """Return micro-batches by their schemas; refuse other keys than theirs."""
        schemas = SchemaLog(files, self.place)
        recorded = schemas.numbers()
        parts: list[Part] = []
        for _, group in groupby(batches, key=lambda batch: sum(number <= batch for number in recorded)):
            alike = tuple(group)
            schema = schemas.at(alike[0]) or self._inferred(spark, files, alike, keys or self._no_keys(spark, alike))
            parts.append((schema, alike))
        known = parts[-1][0].keys
        if not known:
            return [(self._inferred(spark, files, batches, keys or self._no_keys(spark, batches)), tuple(batches))]
        if keys and set(keys) != set(known):
            raise QueryError(
                f"folder {self._label} has the keys {listed(known)}, and by= makes them {listed(keys)}. Leave by= out."
            )
        return parts

    def _no_keys(self, spark: SparkSession, batches: Sequence[int]) -> Sequence[str]:
        """Return the columns of the window, if there are no others, which could be keys."""
        if others := [name for name in self._columns(spark, batches).names if name not in RESERVED]:
            raise QueryError(
                f"folder {self.place} does not say which of {listed(others)} are keys. Name all keys with by=; by=() "
                "if there are none."
            )
        return RESERVED

    def _inferred(self, spark: SparkSession, files: Files, batches: Sequence[int], keys: Sequence[str]) -> BatchSchema:
        """Return the schema of micro-batches that were written without keys, or before schemas were recorded."""
        newest = self._columns(spark, batches[-1:])
        if not keys:
            return BatchSchema.plain(newest)
        every = self._columns(spark, batches)
        if gone := [name for name in (*every.names, *keys) if name not in newest.names]:
            raise QueryError(
                f"folder {self._label} has no schemas with keys, and its newest micro-batch has no column {gone[0]!r}: "
                "what it is called now is not known. Read the files with spark.read.parquet, and write to another "
                "folder."
            )
        schema = BatchSchema(T.StructType([every[name] for name in newest.names]), tuple(keys))
        if not files.exists(f"{self.place}/{COMPACTED}"):  # where a compaction was interrupted, rows are there twice
            rows = self._read(spark, batches, schema.columns)
            check_unique(rows, (*keys, BATCH), f"folder {self._label}")
        return schema

    def _rows(self, spark: SparkSession, parts: Sequence[Part]) -> tuple[DataFrame, tuple[str, ...]]:
        """Return the rows of micro-batches under the newest names of their columns, and the keys among these."""
        newest = parts[-1][0]
        frames = []
        for schema, batches in reversed(parts):
            names = newer_names(schema.columns, newest.columns)
            columns = (F.col(quoted(name)).alias(names.get(name, name)) for name in schema.columns.names)
            frames.append(self._read(spark, batches, schema.columns).select(*columns, BATCH))
        rows = reduce(lambda newer, older: newer.unionByName(older, allowMissingColumns=True), frames)
        return rows, newest.keys

    def _columns(self, spark: SparkSession, batches: Sequence[int]) -> T.StructType:
        """Return all columns that the files of micro-batches have."""
        found = self._read(spark, batches).schema
        return T.StructType([field for field in found if field.name != BATCH])

    def _read(self, spark: SparkSession, batches: Sequence[int], schema: T.StructType | None = None) -> DataFrame:
        reader = spark.read.option("basePath", url(self.place)).option("mergeSchema", "true")
        reader = reader if schema is None else reader.schema(schema)
        return reader.parquet(*(pattern(self._folder(batch)) for batch in batches))

    def _folder(self, batch: int) -> str:
        return f"{self.place}/{BATCH}={batch:012d}"

    def _batches(self, files: Files) -> list[int]:
        """Return the numbers of the micro-batches that were written to the end."""
        return [number for number in self._begun(files) if self._is_done(files, number)]

    def _newest(self, files: Files, before: int | None = None) -> int | None:
        """Return the number of the newest micro-batch that was written to the end."""
        begun = (number for number in reversed(self._begun(files)) if before is None or number < before)
        return next((number for number in begun if self._is_done(files, number)), None)

    def _begun(self, files: Files) -> list[int]:
        """Return the numbers of all micro-batches that have a folder, in order."""
        return sorted(int(name.split("=")[1]) for name in files.list(self.place) if name.startswith(f"{BATCH}="))

    def _is_done(self, files: Files, batch: int) -> bool:
        return files.exists(f"{self._folder(batch)}/{DONE}")


def check_unique(rows: DataFrame, keys: Sequence[str], origin: str) -> int:
    """Return the number of rows; refuse rows that have the same keys, since only one of them would stay."""
    counts = rows.groupBy(*map(quoted, keys)).agg(F.count(F.lit(1)).alias("rows"))
    total, most = counts.agg(F.sum("rows"), F.max("rows")).collect()[0]
    if (most or 0) > 1:
        named = [key for key in keys if key != BATCH]
        raise QueryError(
            f"{origin} has {most} rows with the same {listed(named)}, of which the table would keep one. "
            "Name all keys of the query with by=."
        )
    return total or 0


def _latest(rows: DataFrame, names: Sequence[str]) -> DataFrame:
    """Return the row of the newest micro-batch for each value of the keys."""
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
