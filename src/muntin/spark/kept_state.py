"""mt.state: what the checkpoint of a streaming query keeps, window by window.

Spark's own reader of state stores does the work, so it can be asked while the query runs, from any process.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F

from muntin.duration import Duration
from muntin.errors import QueryError
from muntin.paths import StrPath, existing, url
from muntin.spark.bucket import Head
from muntin.spark.terms import any_open

SLICES = "slices"
"""What the slices of all windows together are called."""
_QUOTED = re.compile(r"""[\x00-\x1f"#%<>?\[\\\]^`{|}\x7f\s]""")
"""Characters that URLs quote: Spark 4.3 reads state from the folder with the quoted name, which does not exist."""


@dataclass(frozen=True, slots=True)
class Kept:
    """What an operator keeps: the open instances of windows of one length, or slices.

    Packed slices are counted for every window that still needs them, and once more for all together.
    """

    operator: int
    """Spark's number of the operator: 0 is the last step of the query."""
    name: str
    rows: int

    def __str__(self) -> str:
        return f"{self.name} {self.rows:,}"


def state(checkpoint: StrPath, spark: SparkSession | None = None) -> tuple[Kept, ...]:
    """Read from a checkpoint what is kept for which window, as of the last complete micro-batch.

    Windows have the name that their length gives, since state is kept by instance; in columnar state they have their
    ids. Operators that are not Muntin's are left out.
    """
    folder = _checkpoint(checkpoint)
    session = spark or SparkSession.getActiveSession()
    if session is None:
        raise QueryError("no Spark session is active. Call mt.session() first, or give spark=.")
    path = url(folder)
    operators = session.read.format("state-metadata").load(path)
    found = operators.select("operatorId", "operatorProperties", "operatorName").distinct().orderBy("operatorId")
    return tuple(kept for row in found.collect() for kept in _kept(session, path, row))


def _checkpoint(path: StrPath) -> Path:
    """Give the folder of a checkpoint; refuse one in which Spark would find nothing."""
    folder = existing(path, "checkpoint")
    if not (folder / "metadata").exists():
        raise QueryError(f"{folder} is no checkpoint of a streaming query. Give what its checkpointLocation was.")
    if quoted := _QUOTED.search(str(folder)):
        raise QueryError(
            f"Spark cannot read state from {folder}, since its path has {quoted[0]!r}. "
            "Make a symbolic link to it that has no such characters, and give that."
        )
    return folder


def _kept(spark: SparkSession, path: str, row: Row) -> Iterator[Kept]:
    """Give what one operator keeps; nothing if it is none of ours."""
    number = row["operatorId"]
    store = spark.read.format("statestore").option("operatorId", number)
    if row["operatorName"] == "stateStoreSave":
        yield from _instances(number, store.load(path))
    elif {"head", "segments"} <= _variables(row["operatorProperties"]):
        heads = store.option("stateVarName", "head").load(path).select("value.text").collect()
        yield from _packed(number, [Head.from_json(head["text"]) for head in heads])


def _instances(number: int, rows: DataFrame) -> Iterator[Kept]:
    """Count the instances of an aggregation by their length."""
    names = rows.select("key.*").columns
    if "slice" in names:
        yield Kept(number, SLICES, rows.count())
    elif "window" in names:
        length = F.unix_micros("key.window.end") - F.unix_micros("key.window.start")
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


def _variables(properties: str | None) -> set[str]:
    """Give the names of an operator's state variables."""
    return {variable["stateName"] for variable in json.loads(properties or "{}").get("stateVariables", ())}
