"""Inputs as DataFrames, batch or streams."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from muntin.cli.queries.inputs import Source
from muntin.errors import QueryError
from muntin.safe_text import hide_secrets, safe_cause, secret_values
from muntin.sentences import sentence_of

log = logging.getLogger(__name__)

OPTIONS = {
    "csv": {"header": "true", "inferSchema": "true"},
    "json": {"inferTimestamp": "true"},
}
"""How files are read that do not tell the types of their columns."""

PACKAGES = {
    "kafka": "--conf spark.jars.packages=org.apache.spark:spark-sql-kafka-0-10_2.13:VERSION",
    "delta": "--conf spark.jars.packages=io.delta:delta-spark_2.13:VERSION "
    "--conf spark.sql.extensions=io.delta.sql.DeltaSparkSessionExtension "
    "--conf spark.sql.catalog.spark_catalog=org.apache.spark.sql.delta.catalog.DeltaCatalog",
}

_NO_JARS = re.compile("Failed to find (the )?data source")


def frames(spark: SparkSession, sources: Iterable[Source], *, stream: bool) -> dict[str, DataFrame]:
    """Open every input under its name."""
    return {source.name: _frame(spark, source, stream=stream) for source in sources}


def require(spark: SparkSession, form: str) -> None:
    """Refuse a format that this session has no jars for, before anything is computed."""
    try:
        spark.read.format(form).load("/none").schema  # noqa: B018 - Spark looks when it is asked
    except (PySparkException, Py4JError) as error:
        if _NO_JARS.search(str(error)):
            raise QueryError(_missing(form)) from error


def _frame(spark: SparkSession, source: Source, *, stream: bool) -> DataFrame:
    with _explained(source):
        frame = (
            _topic(spark, source, stream=stream) if source.format == "kafka" else _files(spark, source, stream=stream)
        )
    log.info("input %s: %s, %s", source.name, source.format, frame.schema.simpleString())
    return frame


def _files(spark: SparkSession, source: Source, *, stream: bool) -> DataFrame:
    reader = spark.read.options(**OPTIONS.get(source.format, {}))
    if source.schema is not None:
        reader = reader.schema(source.schema)
    if not stream:
        return reader.format(source.format).load(source.path)
    arriving = spark.readStream.options(**OPTIONS.get(source.format, {})).format(source.format)
    if source.format == "delta":
        return arriving.load(source.path)
    schema = source.schema or reader.format(source.format).load(source.path).schema
    return arriving.schema(schema).load(source.path)


def _topic(spark: SparkSession, source: Source, *, stream: bool) -> DataFrame:
    """Read a topic from its begin; with a schema, the values are JSON of those columns."""
    reader = spark.readStream if stream else spark.read
    options = {"startingOffsets": "earliest"} | dict(source.options)
    options |= {"kafka.bootstrap.servers": source.servers, "subscribe": source.path}
    messages = reader.format("kafka").options(**options).load()
    text = F.col("value").cast("string")
    if source.schema is None:
        kept = [F.col(name) for name in messages.columns if name not in ("key", "value")]
        return messages.select(F.col("key").cast("string"), text.alias("value"), *kept)
    return messages.select(F.from_json(text, source.schema).alias("value")).select("value.*")


@contextmanager
def _explained(source: Source) -> Iterator[None]:
    """Say which input cannot be read, and what is missing."""
    secrets = tuple(secret_values(source.options))
    try:
        yield
    except (PySparkException, Py4JError) as error:
        if _NO_JARS.search(str(error)):
            raise QueryError(f"input {source.name!r}: {_missing(source.format)}") from safe_cause(error)
        text = hide_secrets(sentence_of(error), secrets)
        raise QueryError(f"input {source.name!r} cannot be read: {text}") from safe_cause(error, secrets)


def _missing(form: str) -> str:
    where = PACKAGES.get(form)
    remedy = f" Add them, for your versions: {where}" if where else ""
    return f"this Spark has no jars for {form}.{remedy}"
