"""Results as files: whole folders that appear when they are complete, with their rows counted on the way."""

from __future__ import annotations

import logging
from typing import Literal

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

from muntin.cli.queries.outputs import BATCH, QUERY
from muntin.files import Files
from muntin.paths import url
from muntin.safe_text import hide_user_info
from muntin.spark.stream.batch_schemas import BatchSchema, SchemaLog, check_successor

log = logging.getLogger(__name__)

FileFormat = Literal["parquet", "csv", "json", "delta"]


def write(frame: DataFrame, place: str, form: FileFormat, files: Files) -> int:
    """Write a result in place of what may be there, and give the number of its rows.

    The folder gets its name when it is complete, so a failure leaves what was there before. An object store gives
    names file by file.
    """
    folder, _, name = place.rpartition("/")
    unfinished = f"{folder}/.{name}.unfinished"
    files.remove(unfinished)
    try:
        rows = _save(frame, unfinished, form)
        files.remove(place)
        files.move(unfinished, place)
    finally:
        files.remove(unfinished)
    log.info("%s: %d rows", hide_user_info(place), rows)
    return rows


class FolderSink:
    """A folder that a stream writes: one inside it for every micro-batch, so one that comes again takes its place.

    Delta tables have no such folders: there the table itself knows which micro-batch it has.
    """

    def __init__(self, place: str, form: FileFormat, files: Files) -> None:
        self.place, self.form, self.files = place, form, files
        self.rows = 0
        """Rows that were written since the sink was made."""

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Write the rows of a micro-batch."""
        self._claim(frame)
        if self.form == "delta":
            self.rows += self._append(frame, batch)
            return
        self._check_columns(BatchSchema.plain(frame.schema), batch)
        self.rows += _save(frame, f"{self.place}/{BATCH}={batch:012d}", self.form)

    def _check_columns(self, schema: BatchSchema, batch: int) -> None:
        """Refuse a micro-batch whose columns have other names than before: readers would take them for others."""
        schemas = SchemaLog(self.files, self.place)
        if older := schemas.at(batch - 1):
            check_successor(f"output {hide_user_info(self.place)}", older, schema)
        schemas.put(batch, schema)

    def _claim(self, frame: DataFrame) -> None:
        """Note which query writes the folder: another one is refused before it starts."""
        record = f"{self.place}/{QUERY}"
        if not self.files.exists(record):
            self.files.make(self.place)
            self.files.put(record, query_id(frame))

    def _append(self, frame: DataFrame, batch: int) -> int:
        counted = Observation()
        once = {"txnAppId": f"{query_id(frame)}/{self.place.rsplit('/', 1)[-1]}", "txnVersion": str(batch)}
        writer = frame.observe(counted, F.count(F.lit(1)).alias("rows")).write.options(**once)
        writer.mode("append").format("delta").save(url(self.place))
        return int(counted.get["rows"])


def query_id(frame: DataFrame) -> str:
    """Give the id of the query whose micro-batch this is, which its checkpoint keeps."""
    return frame.sparkSession.sparkContext.getLocalProperty("sql.streaming.queryId") or ""


def flat(frame: DataFrame) -> DataFrame:
    """Make columns that CSV can hold: fields of structs beside each other, lists and maps as JSON."""
    return frame.select(*(column for field in frame.schema.fields for column in _flat(field.name, field.dataType)))


def _flat(name: str, type: object) -> list[Column]:
    own = F.col(f"`{name.replace('`', '``')}`")
    if isinstance(type, StructType):
        return [own.getField(inner).alias(f"{name}_{inner}") for inner in type.fieldNames()]
    if isinstance(type, ArrayType | MapType | VariantType):
        return [F.to_json(own).alias(name)]
    return [own]


def _save(frame: DataFrame, place: str, form: FileFormat) -> int:
    """Write files, and count their rows while they are written."""
    counted = Observation()
    plain = flat(frame) if form == "csv" else frame
    writer = plain.observe(counted, F.count(F.lit(1)).alias("rows")).write.mode("overwrite").format(form)
    if form == "csv":
        writer = writer.option("header", "true")
    writer.save(url(place))
    return int(counted.get["rows"])
