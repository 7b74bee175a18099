"""mt.state: what the checkpoint of a streaming query keeps, window by window."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from muntin import names
from muntin.arrow.state.head import Head
from muntin.arrow.state.terms import any_open
from muntin.duration import Duration
from muntin.errors import QueryError
from muntin.paths import StrPath
from muntin.spark.stream.checkpoints import heads, is_aggregation, operators, readable, store

SLICES = "slices"
"""What the slices of all windows together are called."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What an operator keeps: the open instances of windows of one length, or slices. mt.state returns it.

    Packed slices are counted for every window that still needs them, and once more for all together.

    >>> print(Kept(operator=0, name="1h", rows=1200))
    1h 1,200
    """

    operator: int
    """Spark's number of the operator: 0 is the last step of the query."""
    name: str
    rows: int

    def __str__(self) -> str:
        return f"{self.name} {self.rows:,}"


def state(checkpoint: StrPath, spark: SparkSession | None = None) -> tuple[Kept, ...]:
    """Read from a checkpoint how much state each window keeps, as of the last complete micro-batch.

    Windows are named by their length, since state is kept by instance. In columnar state they are named by their ids.
    Operators that Muntin did not make are left out.

    Args:
        checkpoint: The folder of the checkpoint; its query may be running.
        spark: The session to read with; by default the active one.

    Example:
        ```python
        stream = spark.readStream.schema(readings.schema).parquet("readings")
        out = mt.aggregate(stream, "ts", "device", "10 minutes", mt.count(), watermark="5 minutes")
        out.writeStream.option("checkpointLocation", "state").start("counts").processAllAvailable()
        print(*mt.state("state", spark), sep="; ")
        ```
    """
    session = spark or SparkSession.getActiveSession()
    if session is None:
        raise QueryError("no Spark session is active. Call mt.session() first, or give spark=.")
    place = readable(session, checkpoint)
    return tuple(kept for operator in operators(session, place) for kept in _kept(session, place, operator))


def _kept(spark: SparkSession, place: str, operator: Row) -> Iterator[Kept]:
    """Give what one operator keeps; nothing if it is none of ours."""
    number = operator["operatorId"]
    if is_aggregation(operator):
        yield from _instances(number, store(spark, place, operator))
    elif buckets := list(heads(spark, place, operator)):
        yield from _packed(number, buckets)


def _instances(number: int, rows: DataFrame) -> Iterator[Kept]:
    """Count the instances of an aggregation by their length."""
    columns = rows.select("key.*").columns
    if names.SLICE in columns:
        yield Kept(number, SLICES, rows.count())
    elif names.WINDOW in columns:
        length = F.unix_micros(f"key.{names.WINDOW}.end") - F.unix_micros(f"key.{names.WINDOW}.start")
        for row in rows.groupBy(length.alias("length")).count().orderBy("length").collect():
            yield Kept(number, str(Duration(row["length"])), row["count"])


def _packed(number: int, heads: list[Head]) -> Iterator[Kept]:
    """Count packed slices, all of them and those of segments that each window still needs."""
    counted = Counter({SLICES: 0})
    for head in heads:
        first, last, rows = (np.array([segment[place] for segment in head.segments], np.int64) for place in (1, 2, 3))
        counted[SLICES] += int(rows.sum())
        for term in head.terms:
            counted[term.id] += int(rows[any_open([term], first, last, head.watermark)].sum())
    return (Kept(number, name, count) for name, count in counted.items())
