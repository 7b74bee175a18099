"""The files that a stream reads, as its plan names them, and the same plan over other rows.

Spark's public interface has neither, so this goes beneath it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from muntin.spark.plans import is_classic

_FORMATS = frozenset(["parquet", "orc", "json", "csv", "text", "avro", "xml"])
_NARROW = frozenset(["Project", "Filter", "EventTimeWatermark", "SubqueryAlias", "View", "CollectMetrics", "Generate"])
"""The nodes of a plan that change rows one by one."""
_CHANGES = ("WithColumns", "WithColumnsRenamed", "WithWatermark", "Drop", "ToSchema", "NADrop", "NAFill", "NAReplace")
_REMOTE_NARROW = frozenset(["Project", "Filter", "SubqueryAlias", "CollectMetrics", "ToDF", *_CHANGES])
"""The same, as Spark Connect calls them."""
_GLOB = re.compile(r"[*?\[{]")


@dataclass(frozen=True, slots=True)
class FileSource:
    """The files that a stream reads, as its reader was told."""

    format: str
    schema: T.StructType
    options: dict[str, str] = field(repr=False)  # a reader may be given passwords
    paths: tuple[str, ...] = field(repr=False)

    @property
    def per_trigger(self) -> int | None:
        """The files that a micro-batch reads at most; None where its reader was not told."""
        given = [value for name, value in self.options.items() if name.casefold() == "maxfilespertrigger"]
        return int(given[0]) if given else None

    def read(self, spark: SparkSession, paths: Sequence[str] | None = None) -> DataFrame:
        """Read the files as batch, or some of them; columns in the names of folders are kept."""
        reader = spark.read.format(self.format).schema(self.schema).options(**self.options)
        if paths is None:
            return reader.load(list(self.paths))
        if len(self.paths) == 1 and not _GLOB.search(self.paths[0]):
            reader = reader.option("basePath", self.paths[0])
        return reader.load(list(paths))


def file_source(frame: DataFrame) -> FileSource | None:
    """Give the files that a stream reads; None if it reads something else, or does more than change rows one by one."""
    source = _classic_source(frame) if is_classic(frame) else _remote_source(frame)
    return source if source is not None and source.format in _FORMATS and source.paths else None


def over(frame: DataFrame, rows: DataFrame) -> DataFrame:
    """Give what a stream of files gives, over batch rows with the columns of the files."""
    if not is_classic(frame):
        return type(frame)(_remote_over(frame._plan, rows._plan), frame.sparkSession)
    spark = frame.sparkSession
    jvm: Any = spark.sparkContext._jvm
    inner = rows._jdf.queryExecution().analyzed()
    plan = _classic_over(jvm, frame._jdf.queryExecution().analyzed(), inner)
    dataset = jvm.org.apache.spark.sql.classic.Dataset.ofRows(spark._jsparkSession, plan)
    return type(frame)(dataset, spark)


def _classic_source(frame: DataFrame) -> FileSource | None:
    jvm: Any = frame.sparkSession.sparkContext._jvm
    plan = frame._jdf.queryExecution().analyzed()
    while plan.children().size() == 1 and plan.nodeName() in _NARROW:
        plan = plan.children().head()
    if plan.nodeName() != "StreamingRelation":
        return None
    source = plan.dataSource()
    listed = jvm.scala.jdk.javaapi.CollectionConverters.asJava(source.options())
    options = {str(name): str(listed[name]) for name in listed}
    named = [options.pop(name) for name in list(options) if name.casefold() == "path"]
    paths = [source.paths().apply(place) for place in range(source.paths().size())]
    schema = T.StructType.fromJson(json.loads(plan.schema().json()))
    return FileSource(source.className().casefold(), schema, options, (*named, *paths))


def _classic_over(jvm: Any, plan: Any, rows: Any) -> Any:
    """Put rows in the place of a plan's source: the nodes above know its columns by their ids."""
    if plan.children().size():
        return plan.withNewChildren(jvm.PythonUtils.toSeq([_classic_over(jvm, plan.children().head(), rows)]))
    names = jvm.org.apache.spark.sql.catalyst.expressions
    columns = []
    for place in range(plan.output().size()):
        known, given = plan.output().apply(place), rows.output().apply(place)
        metadata = jvm.scala.Option.apply(known.metadata())
        nothing = jvm.PythonUtils.toSeq([])
        columns.append(names.Alias(given, known.name(), known.exprId(), known.qualifier(), metadata, nothing))
    return jvm.org.apache.spark.sql.catalyst.plans.logical.Project(jvm.PythonUtils.toSeq(columns), rows)


def _remote_source(frame: DataFrame) -> FileSource | None:
    plan: Any = frame._plan
    while plan._child is not None and type(plan).__name__ in _REMOTE_NARROW:
        plan = plan._child
    if type(plan).__name__ != "DataSource" or not plan._is_streaming or plan._child is not None:
        return None
    options = dict(plan._options or {})
    named = [options.pop(name) for name in list(options) if name.casefold() == "path"]
    leaf = type(frame)(plan, frame.sparkSession)
    return FileSource((plan._format or "").casefold(), leaf.schema, options, (*named, *(plan._paths or ())))


def _remote_over(plan: Any, rows: Any) -> Any:
    if plan._child is None:
        return rows
    above = copy(plan)
    above._child = _remote_over(plan._child, rows)
    return above
