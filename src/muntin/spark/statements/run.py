"""mt.sql and mt.explain_sql: from SQL text and DataFrames to DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from muntin.choices import Sharing
from muntin.errors import QueryError
from muntin.spark.statements.evaluation import Options
from muntin.spark.statements.job import Job
from muntin.spark.statements.mistakes import quietly
from muntin.spark.statements.plan import SqlPlan
from muntin.spark.statements.tables import tables_of
from muntin.sqltext import read
from muntin.sqltext.statement import Boundaries, Dialect
from muntin.window import Length


def sql(
    text: str,
    /,
    spark: SparkSession | None = None,
    dialect: Dialect | None = None,
    boundaries: Boundaries | None = None,
    *,
    watermark: Length | None = None,
    strategy: Sharing = "auto",
    **sources: DataFrame,
) -> Any:
    """Run SQL over windows: a DataFrame for one statement, a mapping of names to DataFrames for several.

    The dialect is "azure" (Stream Analytics), "spark" or "flink", told by the text if it is not given. Tables are the
    DataFrames given by keyword, as in events=df, and those of Spark's catalog. Statements over one input are evaluated
    together; one that is not about windows runs as plain Spark. An instance has its end and not its start, "(]", in
    Azure's dialect, and its start, "[)", in the others, unless boundaries says which.

    A stream gives a stream. Its watermark is that of the source, or the one given.
    """
    with quietly():
        results = _job(text, spark, dialect, boundaries, Options(watermark, strategy), sources).results()
    return next(iter(results.values())) if len(results) == 1 else results


def explain_sql(
    text: str,
    /,
    spark: SparkSession | None = None,
    dialect: Dialect | None = None,
    boundaries: Boundaries | None = None,
    *,
    watermark: Length | None = None,
    strategy: Sharing = "auto",
    **sources: DataFrame,
) -> SqlPlan:
    """Give the plan that mt.sql would run: print it, draw it, or look into it.

    It says which statements share an input, how that is evaluated, and which run as plain Spark, and why.
    """
    with quietly():
        return _job(text, spark, dialect, boundaries, Options(watermark, strategy), sources).plan()


def _job(
    text: str,
    spark: SparkSession | None,
    dialect: Dialect | None,
    boundaries: Boundaries | None,
    options: Options,
    sources: Mapping[str, Any],
) -> Job:
    if not isinstance(text, str):
        raise QueryError(f"SQL was given as {text!r}. Give it as text.")
    return Job(text, read(text, dialect, boundaries), tables_of(spark, sources), options)
