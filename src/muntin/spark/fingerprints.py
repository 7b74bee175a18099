"""Fingerprints in checkpoints: how state carries what it was made for, and how that is read back.

Spark compares the types of a state's keys at every start, before any task runs, and refuses others. So the keys of our
aggregations have one more column, always null. Its type has the digest of the fingerprint, and the names within the
type have the fingerprint itself. That costs a null in every key, and needs no file beside the checkpoint. Columnar
state has the fingerprint in the head of every bucket.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin.fingerprint import Computed, Fingerprint, Input
from muntin.spark.bucket import Head
from muntin.spark.source import Source
from muntin.window import Window

MARK = "muntin"
"""The column of a state's keys that has the fingerprint as its type."""
REMEDY = "mt.aggregate(…, checkpoint=) says what changed since the state was made, and what to do"
"""What people read in Spark's error beside the two fingerprints: a name within the type."""


def fingerprint(source: Source, shape: str, windows: tuple[Window, ...] | None, buckets: int | None) -> Fingerprint:
    """Describe what a query keeps in its state; windows are given where state belongs to them."""
    schema = source.frame.schema
    time, *keys = source.expressions
    columns = dict.fromkeys(column for aggregate in source.query.aggregates for column in aggregate.columns)
    inputs = {
        column: Input(str(column), schema[f"v{place}"].dataType.simpleString()) for place, column in enumerate(columns)
    }
    return Fingerprint(
        shape,
        Input(time, schema["ts"].dataType.simpleString()),
        tuple(Input(key, found.simpleString()) for key, found in zip(keys, source.key_types, strict=True)),
        tuple(
            Computed(asked.function.name, tuple(inputs[column] for column in asked.columns), asked.options)
            for asked in source.query.aggregates
        ),
        None if windows is None else tuple(sorted(window.shape for window in windows)),
        buckets,
        ".".join(source.frame.sparkSession.version.split(".")[:2]),
    )


def marked(frame: DataFrame, kept: Fingerprint) -> DataFrame:
    """Add the column whose type is the fingerprint; Spark drops constants from keys, so it depends on the task."""
    never = F.when(F.spark_partition_id() < 0, F.lit(None).cast(_mark(kept)))
    return frame.select("*", never.alias(MARK))


def _mark(kept: Fingerprint) -> T.StructType:
    """Write a fingerprint as a type, a decimal for each byte of its digest: Spark compares types and ignores names."""
    names = [kept.to_json(), REMEDY, *(f"digest {place}" for place in range(2, len(kept.digest)))]
    types = [T.DecimalType(20 + byte // 16, byte % 16) for byte in kept.digest]
    return T.StructType([T.StructField(name, found) for name, found in zip(names, types, strict=True)])


def kept_fingerprints(spark: SparkSession, checkpoint: str | os.PathLike[str]) -> tuple[Fingerprint, ...]:
    """Read what the states of a checkpoint were made for; nothing of one that is not there yet."""
    path = os.fspath(checkpoint)
    if not any(Path(path, "commits").glob("[0-9]*")):
        return ()
    fingerprints = [
        kept for operator in operators(spark, path) if (kept := _kept_fingerprint(spark, path, operator)) is not None
    ]
    return tuple(dict.fromkeys(fingerprints))


def _kept_fingerprint(spark: SparkSession, path: str, operator: Row) -> Fingerprint | None:
    if is_aggregation(operator):
        key = store(spark, path, operator).schema["key"].dataType
        mark = key[MARK].dataType if isinstance(key, T.StructType) and MARK in key.names else None
        return Fingerprint.from_json(mark.names[0]) if isinstance(mark, T.StructType) else None
    return next((head.fingerprint for head in heads(spark, path, operator)), None)


def operators(spark: SparkSession, path: str) -> list[Row]:
    """Give the operators with state of a checkpoint, the last step of the query first."""
    metadata = spark.read.format("state-metadata").load(path)
    return (
        metadata.select("operatorId", "operatorProperties", "operatorName").distinct().orderBy("operatorId").collect()
    )


def is_aggregation(operator: Row) -> bool:
    """Tell whether an operator is Spark's own aggregation."""
    return bool(operator["operatorName"] == "stateStoreSave")


def store(spark: SparkSession, path: str, operator: Row, **options: str) -> DataFrame:
    """Give the rows that an operator keeps."""
    reader = spark.read.format("statestore").option("operatorId", operator["operatorId"])
    return reader.options(**options).load(path)


def heads(spark: SparkSession, path: str, operator: Row) -> Iterator[Head]:
    """Give the heads of all buckets of an operator with columnar state; none of any other operator."""
    properties = json.loads(operator["operatorProperties"] or "{}")
    if {"head", "segments"} <= {variable["stateName"] for variable in properties.get("stateVariables", ())}:
        rows = store(spark, path, operator, stateVarName="head").select("value.text").collect()
        yield from (Head.from_json(row["text"]) for row in rows)


def of_window(kept: Fingerprint, window: Window) -> Fingerprint:
    """Give the fingerprint of one window's own state."""
    return replace(kept, windows=(window.shape,))
