"""The plain Spark plan: one window aggregation for every window, and a union of them."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from muntin.spark.source import Source
from muntin.window import Window


def independent(source: Source, windows: tuple[Window, ...]) -> DataFrame:
    """Evaluate every window alone, as a Spark user writes it."""
    return reduce(DataFrame.union, [_alone(source, window) for window in windows])


def spark_window(time: Column, window: Window) -> Column:
    """Give Spark's own window of a time."""
    return F.window(time, *(f"{length} microseconds" for length in window.shape))


def _alone(source: Source, window: Window) -> DataFrame:
    frame = source.frame.groupBy(*source.keys, spark_window(F.col("ts"), window).alias("window")).agg(
        *(made.plain.alias(f"a{i}") for i, made in enumerate(source.recipes))
    )
    return frame.select(
        F.lit(window.label).alias("window_id"),
        F.col("window"),
        *(F.col(key).alias(name) for key, name in zip(source.keys, source.query.by, strict=True)),
        *(F.col(f"a{i}").alias(field.name) for i, field in enumerate(source.results)),
    )
