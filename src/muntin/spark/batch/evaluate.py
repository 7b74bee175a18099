"""A physical plan on Spark: every group in its shape, and their union."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame

from muntin.plan.physical.plans import Group, PhysicalPlan
from muntin.plan.physical.shapes import Shape
from muntin.spark.batch import by_kernels
from muntin.spark.batch.independent import independent
from muntin.spark.batch.native import expand, slices_explode
from muntin.spark.input.source import Source


def evaluate_batch(source: Source, physical: PhysicalPlan) -> DataFrame:
    """Give the DataFrame of a plan."""
    return reduce(DataFrame.union, [_evaluated(source, group, physical) for group in physical.groups])


def _evaluated(source: Source, group: Group, physical: PhysicalPlan) -> DataFrame:
    match group.shape:
        case Shape.INDEPENDENT:
            return independent(source, group.windows)
        case Shape.EXPAND:
            return expand(source, group.windows)
        case Shape.SLICES_EXPLODE:
            return slices_explode(source, group.windows, group.grids)
    return by_kernels.evaluate(source, group, physical.statistics)
