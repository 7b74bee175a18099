"""Checkpoints of streaming queries, read by Spark's own readers of state: from any process, also while a query runs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from pyspark.sql import DataFrame, Row, SparkSession

from muntin import names
from muntin.arrow.state.head import Head
from muntin.errors import QueryError
from muntin.paths import StrPath, place_of, url
from muntin.safe_text import hide_user_info
from muntin.spark.hadoop import files_with

_QUOTED = re.compile(r"""[\x00-\x1f"#%<>?\[\\\]^`{|}\x7f\s]""")
"""Characters that URLs quote: Spark 4.3 reads state from the folder with the quoted name, which does not exist."""


def is_begun(spark: SparkSession, path: StrPath) -> bool:
    """Tell whether a query has completed a micro-batch; before that, a checkpoint has nothing to go on from."""
    place = place_of(path, "checkpoint")
    return any(name[0].isdigit() for name in files_with(spark, place).list(f"{place}/commits"))


def readable(spark: SparkSession, path: StrPath) -> str:
    """Give a checkpoint as Spark reads it; refuse one in which Spark would find nothing."""
    place = place_of(path, "checkpoint")
    files, shown = files_with(spark, place), hide_user_info(place)
    if not files.exists(place):
        raise QueryError(f"the checkpoint does not exist: there is no folder {shown}. Check the path.")
    if not files.exists(f"{place}/metadata"):
        raise QueryError(f"{shown} is no checkpoint of a streaming query. Give what its checkpointLocation was.")
    if quoted := _QUOTED.search(place):
        raise QueryError(
            f"Spark cannot read state from {shown}, since its path has {quoted[0]!r}. "
            "Make a symbolic link to it that has no such characters, and give that."
        )
    return url(place)


def operators(spark: SparkSession, place: str) -> list[Row]:
    """Give the operators with state of a checkpoint, the last step of the query first."""
    metadata = spark.read.format("state-metadata").load(place)
    return (
        metadata.select("operatorId", "operatorProperties", "operatorName").distinct().orderBy("operatorId").collect()
    )


def is_aggregation(operator: Row) -> bool:
    """Tell whether an operator is Spark's own aggregation."""
    return bool(operator["operatorName"] == "stateStoreSave")


def store(spark: SparkSession, place: str, operator: Row, **options: str) -> DataFrame:
    """Give the rows that an operator keeps."""
    reader = spark.read.format("statestore").option("operatorId", operator["operatorId"])
    return reader.options(**options).load(place)


def heads(spark: SparkSession, place: str, operator: Row) -> Iterator[Head]:
    """Give the heads of all buckets of an operator with columnar state; none of any other operator."""
    properties = json.loads(operator["operatorProperties"] or "{}")
    if {"head", "segments"} <= {variable["stateName"] for variable in properties.get("stateVariables", ())}:
        rows = store(spark, place, operator, stateVarName="head").select(f"value.{names.HEAD}").collect()
        yield from (Head.from_json(row[names.HEAD]) for row in rows)
