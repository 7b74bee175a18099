"""DataFrames that Spark takes for no other one, so that a cache belongs to whoever made it.

Spark caches plans, not DataFrames. A DataFrame with an equal plan reads the cache of another, even if files were added
in between, and whoever releases the cache, or drops a view of it, takes it from all.
"""

from __future__ import annotations

from uuid import uuid4

from pyspark.sql import DataFrame


def persist_apart(rows: DataFrame) -> DataFrame:
    """Return the rows, cached for the caller alone; what a user has cached below them is still read."""
    return unlike_others(rows).persist()


def unlike_others(rows: DataFrame) -> DataFrame:
    """Return the rows under a plan that equals no other: Spark compares conditions before it removes true ones."""
    return rows.where(f"'{uuid4().hex}' IS NOT NULL")
