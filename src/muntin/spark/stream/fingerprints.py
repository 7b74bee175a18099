"""Fingerprints in checkpoints: how state carries what it was made for, and how that is read back.

Spark compares the types of a state's keys at every start, before any task runs, and refuses others. So the keys of our
aggregations have one more column, always null. Its type has the digest of the fingerprint, and the names within the
type have the fingerprint itself. That costs a null in every key, and needs no file beside the checkpoint. Columnar
state has the fingerprint in the head of every bucket.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.fingerprint import Computed, Fingerprint, Input
from muntin.paths import StrPath
from muntin.spark.input.source import QUERIES, Source
from muntin.spark.stream.checkpoints import heads, is_aggregation, is_begun, operators, readable, store
from muntin.window import AnyWindow, by_names, in_order
from muntin.window.user import check_states

REMEDY = "mt.aggregate(…, checkpoint=) says what changed since the state was made, and what to do"
"""What people read in Spark's error beside the two fingerprints: a name within the type."""


def fingerprint(
    source: Source,
    shape: str,
    windows: tuple[AnyWindow, ...] | None,
    buckets: int | None,
    *,
    output: str | None = None,
    order: tuple[str, ...] | None = None,
    registry: str | None = None,
) -> Fingerprint:
    """Describe what a query keeps in its state; windows are None where they come from a registry."""
    check_states(windows or ())
    schema = source.events.frame.schema
    time, *keys = source.expressions
    columns = dict.fromkeys(column for aggregate in source.query.aggregates for column in aggregate.columns)
    inputs = {
        column: Input(str(column), schema[names.value(number)].dataType.simpleString())
        for number, column in enumerate(columns)
    }
    return Fingerprint(
        shape,
        Input(time, schema[names.TIMESTAMP].dataType.simpleString()),
        tuple(Input(key, type.simpleString()) for key, type in zip(keys, source.events.key_types, strict=True)),
        tuple(
            Computed(asked.function.name, tuple(inputs[column] for column in asked.columns), asked.options)
            for asked in source.query.aggregates
        ),
        None if windows is None else in_order(map(by_names, windows)),
        buckets,
        ".".join(source.events.frame.sparkSession.version.split(".")[:2]),
        queries=tuple(schema[names.TIMESTAMP].metadata.get(QUERIES, ())) or None,
        output=output,
        order=order,
        registry=registry,
    )


def marked(frame: DataFrame, kept: Fingerprint) -> DataFrame:
    """Add the column whose type is the fingerprint; Spark drops constants from keys, so it depends on the task."""
    never = F.when(F.spark_partition_id() < 0, F.lit(None).cast(_mark(kept)))
    return frame.select("*", never.alias(names.MARK))


def _mark(kept: Fingerprint) -> T.StructType:
    """Write a fingerprint as a type, a decimal for each byte of its digest: Spark compares types and ignores names."""
    texts = [kept.to_json(), REMEDY, *(f"digest {place}" for place in range(2, len(kept.digest)))]
    types = [T.DecimalType(20 + byte // 16, byte % 16) for byte in kept.digest]
    return T.StructType([T.StructField(text, type) for text, type in zip(texts, types, strict=True)])


def kept_fingerprints(spark: SparkSession, checkpoint: StrPath) -> tuple[Fingerprint, ...]:
    """Read what the states of a checkpoint were made for; nothing of one that has no micro-batch yet."""
    if not is_begun(spark, checkpoint):
        return ()
    place = readable(spark, checkpoint)
    fingerprints = [
        kept for operator in operators(spark, place) if (kept := _kept_fingerprint(spark, place, operator)) is not None
    ]
    return tuple(dict.fromkeys(fingerprints))


def _kept_fingerprint(spark: SparkSession, place: str, operator: Row) -> Fingerprint | None:
    if is_aggregation(operator):
        key = store(spark, place, operator).schema["key"].dataType
        mark = key[names.MARK].dataType if isinstance(key, T.StructType) and names.MARK in key.names else None
        return Fingerprint.from_json(mark.names[0]) if isinstance(mark, T.StructType) else None
    return next((head.fingerprint for head in heads(spark, place, operator)), None)


def of_window(kept: tuple[Fingerprint, ...], now: Fingerprint, window: AnyWindow) -> Fingerprint:
    """Give the fingerprint of one window's own state: as a checkpoint has it, else as a query of now has it."""
    own = replace(now, windows=(window,))
    return next((one for one in kept if one.shape == own.shape and one.windows == own.windows), own)
