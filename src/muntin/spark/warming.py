"""Warm workers: what a columnar stream does in Python is done once, to a made-up row, before its first micro-batch.

A worker that starts has to import pyarrow, pandas and Numba and to load kernels, which takes it a second or two. A task
of columnar state needs two workers, and they would start one after the other within the first micro-batch. Here
they start while Spark prepares the query; Spark keeps idle workers for the next task that needs one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from threading import Thread

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin.spark import kernel
from muntin.spark.packing import Packing, packed_at_source
from muntin.spark.plans import is_classic
from muntin.spark.source import Source

_warm: set[str] = set()
"""The Spark applications of this process whose workers are warm, or will be soon."""


def warm(source: Source, packing: Packing, numbered: Callable[[Source], DataFrame]) -> Thread | None:
    """Start the workers of a stream in the background, once in an application; numbered gives their input.

    Nothing is lost if that fails, or if the stream starts first: a worker that is busy here is one less to start.
    """
    if not is_classic(source.frame):
        return None
    application = str(source.frame.sparkSession.sparkContext.applicationId)
    if application in _warm:
        return None
    _warm.add(application)
    thread = Thread(target=_run, args=(source, packing, numbered), name="muntin warm-up", daemon=True)
    thread.start()
    return thread


def _run(source: Source, packing: Packing, numbered: Callable[[Source], DataFrame]) -> None:
    with suppress(Exception):  # the session may end at any time, and the stream will say what is wrong with it
        rows = numbered(replace(source, frame=_made_up(source.frame)))
        task = (replace(packing, registry=None, grids=packing.grids or ((1, 0),)), rows.columns)
        for _ in range(2):  # one beside the other: two workers for every task
            rows = kernel.mapped(rows, rehearsed, task, rows.schema, source.shared)
        rows.count()


def rehearsed(batches: Iterable[pa.RecordBatch], task: tuple[Packing, list[str]]) -> Iterator[pa.RecordBatch]:
    """Pack batches, forget that, and pass them on as they were."""
    packing, names = task
    for batch in batches:
        for _ in packed_at_source([batch], packing):
            pass
        yield batch.select(names)


def _made_up(frame: DataFrame) -> DataFrame:
    """Give a row of the stream's types for every core: at time 0, with zeros for numbers and else with nulls."""
    spark = frame.sparkSession
    cores = spark.sparkContext.defaultParallelism
    return spark.range(0, cores, 1, cores).select(*(_any_value(field).alias(field.name) for field in frame.schema))


def _any_value(field: T.StructField) -> Column:
    if field.name == "ts":
        return F.timestamp_micros(F.lit(0))
    return F.lit(0 if isinstance(field.dataType, T.NumericType) else None).cast(field.dataType)
