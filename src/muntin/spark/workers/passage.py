"""Rows on their way through a step in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from muntin.spark.worker_errors import sentence_first
from muntin.spark.workers.leaving import leave_quietly

Given = TypeVar("Given")


def mapped(
    frame: DataFrame,
    step: Callable[[Iterator[pa.RecordBatch], Given], Iterator[pa.RecordBatch]],
    task: Given,
    schema: T.StructType,
    shared: Mapping[str, str] = MappingProxyType({}),
) -> DataFrame:
    """Send rows through a step in Python; columns that are the same as others are put beside them there."""
    same = dict(shared)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        leave_quietly()
        return sentence_first(step)(map(whole, batches) if same else batches, task)

    def whole(batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [*batch.columns, *(batch[other] for other in same.values())]
        return pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, *same])

    return frame.mapInArrow(run, schema)
