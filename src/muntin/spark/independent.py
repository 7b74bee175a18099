"""The plain Spark plan: one window aggregation for every window, and a union of them."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.spark.native import plain
from muntin.spark.source import Source
from muntin.window import Window


def independent(source: Source, windows: tuple[Window, ...]) -> DataFrame:
    """Evaluate every window alone, as a Spark user writes it."""
    return reduce(DataFrame.union, [alone(source, window, source.frame) for window in windows])


def spark_window(time: Column, window: Window) -> Column:
    """Give Spark's own window of a time."""
    return F.window(time, *(f"{length} microseconds" for length in window.shape))


def alone(source: Source, window: Window, frame: DataFrame, *within: str) -> DataFrame:
    """Evaluate one window over rows, whose groups some columns divide further."""
    groups = plain(source, frame, spark_window(F.col("ts"), window).alias("window"), *within)
    return source.named(groups, source.plain, F.lit(window.label), F.col("window"))
