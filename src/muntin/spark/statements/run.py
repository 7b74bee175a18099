"""mt.sql and mt.explain_sql: from SQL text and DataFrames to DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from muntin.choices import Sharing, TableScope
from muntin.errors import QueryError
from muntin.spark.statements.evaluation import Options
from muntin.spark.statements.job import Job
from muntin.spark.statements.mistakes import quietly
from muntin.spark.statements.plan import SqlPlan
from muntin.spark.statements.results import StatementResults
from muntin.spark.statements.tables import tables_of
from muntin.sqltext import read_for_spark
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
    tables: TableScope = "catalog",
    **sources: DataFrame,
) -> Any:
    """Run SQL over windows. Return a DataFrame for one statement, a mapping from names to DataFrames for several.

    Statements over one input are evaluated together. Statements without windows run as plain Spark. If a source is a
    stream, so is the result.

    Args:
        text: One statement or several, with ";" between them. "-- name: hourly" names the statement that follows.
        spark: The session; by default that of a source, or the active one.
        dialect: "azure" (Stream Analytics), "spark" or "flink"; by default recognised from the text.
        boundaries: "(]" if an instance includes its end and not its start, "[)" the other way round. By default "(]" in
            Azure's dialect and "[)" in the others.
        watermark: How late the rows of a stream may be, if the stream has no watermark yet.
        strategy: How the statements share their work, as in mt.evaluate.
        tables: "catalog" reads whatever the session can, files by their paths included; "given" reads only the sources,
            and refuses functions that call Java or read files.
        sources: The tables: DataFrames by keyword. Other names are looked up in Spark's catalog, if tables allows that.

    Raises:
        QueryError: If the SQL is wrong; the message points to the place.

    Example:
        ```python
        coldest = mt.sql(
            "SELECT device, System.Timestamp() AS until, MIN(temperature) AS low FROM readings TIMESTAMP BY ts "
            "GROUP BY device, Windows(TumblingWindow(minute, 20), TumblingWindow(minute, 30))",
            readings=readings,
        )
        coldest.show(3)
        ```
    """
    results = statement_results(
        text, spark, dialect, boundaries, watermark=watermark, strategy=strategy, tables=tables, **sources
    )
    return next(iter(results.values())) if len(results) == 1 else results


def statement_results(
    text: str,
    /,
    spark: SparkSession | None = None,
    dialect: Dialect | None = None,
    boundaries: Boundaries | None = None,
    *,
    watermark: Length | None = None,
    strategy: Sharing = "auto",
    tables: TableScope = "catalog",
    **sources: DataFrame,
) -> StatementResults:
    """Return the results of all statements with their plan, even if there is only one."""
    with quietly():
        return _job(text, spark, dialect, boundaries, Options(watermark, strategy), tables, sources).results()


def explain_sql(
    text: str,
    /,
    spark: SparkSession | None = None,
    dialect: Dialect | None = None,
    boundaries: Boundaries | None = None,
    *,
    watermark: Length | None = None,
    strategy: Sharing = "auto",
    tables: TableScope = "catalog",
    **sources: DataFrame,
) -> SqlPlan:
    """Return the plan that mt.sql would run, to print, draw or inspect.

    The plan says which statements share an input and how they are evaluated. It also says which statements run as plain
    Spark, and why.

    Args:
        text: One statement or several, with ";" between them. "-- name: hourly" names the statement that follows.
        spark: The session; by default that of a source, or the active one.
        dialect: "azure" (Stream Analytics), "spark" or "flink"; by default recognised from the text.
        boundaries: "(]" if an instance includes its end and not its start, "[)" the other way round. By default "(]" in
            Azure's dialect and "[)" in the others.
        watermark: How late the rows of a stream may be, if the stream has no watermark yet.
        strategy: How the statements share their work, as in mt.evaluate.
        tables: "catalog" reads whatever the session can, files by their paths included; "given" reads only the sources,
            and refuses functions that call Java or read files.
        sources: The tables: DataFrames by keyword. Other names are looked up in Spark's catalog, if tables allows that.

    Example:
        ```python
        text = "SELECT device, count(*) FROM readings GROUP BY device, window(ts, '10 minutes')"
        print(mt.explain_sql(text, readings=readings))
        ```
    """
    with quietly():
        return _job(text, spark, dialect, boundaries, Options(watermark, strategy), tables, sources).plan()


def _job(
    text: str,
    spark: SparkSession | None,
    dialect: Dialect | None,
    boundaries: Boundaries | None,
    options: Options,
    tables: TableScope,
    sources: Mapping[str, Any],
) -> Job:
    if not isinstance(text, str):
        raise QueryError(f"SQL was given as {text!r}. Give it as text.")
    known = tables_of(spark, sources, tables)
    quotes_names = '"' in text and known.quotes_names
    statements = read_for_spark(text, dialect, boundaries, quotes_names=quotes_names)
    return Job(text, statements, known, options)
