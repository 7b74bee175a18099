"""The check that a query is asked of a Spark DataFrame, and what to do with what is none."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

from pyspark.sql import DataFrame

from muntin.errors import QueryError
from muntin.safe_text import hide_user_info

_REMEDIES = {
    "pandas": "Use spark.createDataFrame(df), with spark = mt.session() or your own session.",
    "polars": "Use spark.createDataFrame(df.to_arrow()), with spark = mt.session() or your own session.",
    "pyarrow": "Use spark.createDataFrame(df), with spark = mt.session() or your own session.",
    "pyspark.pandas": "Use df.to_spark().",
    "pyspark.sql": "Use the DataFrame that it was made of, and by= for its keys.",
}
"""What to do with objects of other libraries, the most special name last that a module's name begins with."""


def check_frame(df: Any, role: str = "df") -> None:
    """Refuse what is no DataFrame, classic or of Spark Connect; the error calls it by its role.

    >>> check_frame("a.parquet")
    Traceback (most recent call last):
    muntin.errors.QueryError: df is the text 'a.parquet', not a Spark DataFrame. Use spark.read.parquet('a.parquet').
    """
    if isinstance(df, DataFrame):
        return
    if isinstance(df, str | PurePath):
        path = hide_user_info(str(df))
        kind = "text" if isinstance(df, str) else "path"
        raise QueryError(f"{role} is the {kind} {path!r}, not a Spark DataFrame. Use spark.read.parquet({path!r}).")
    if df is None:
        remedy = "Was it given by a call that returns nothing, such as df.show() or df.printSchema()?"
        raise QueryError(f"{role} is None, not a Spark DataFrame. {remedy}")
    module = type(df).__module__
    remedies = [
        remedy for library, remedy in _REMEDIES.items() if module == library or module.startswith(f"{library}.")
    ]
    name = f"{module.partition('.')[0]} {type(df).__name__}" if remedies else type(df).__name__
    remedy = remedies[-1] if remedies else "Use spark.read, spark.readStream or spark.createDataFrame to make one."
    raise QueryError(f"{role} is a {name}, not a Spark DataFrame. {remedy}")
