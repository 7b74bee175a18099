"""A physical plan on Spark: every group in its shape, windows put below one another, aggregates side by side."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.plan.physical.plans import Group, PhysicalPlan
from muntin.plan.physical.shapes import Shape
from muntin.spark.batch import by_kernels
from muntin.spark.batch.independent import independent, sessions
from muntin.spark.batch.marks import marks
from muntin.spark.batch.native import expand, slices_explode
from muntin.spark.batch.ordered import ordered, source_sessions
from muntin.spark.batch.tagged import tagged
from muntin.spark.input.parts import Recipe, Step
from muntin.spark.input.source import Source


def evaluate_batch(source: Source, physical: PhysicalPlan) -> DataFrame:
    """Give the DataFrame of a plan."""
    framed = tuple(group for group in physical.groups if group.is_framed)
    if not framed:
        return _periodic(source, physical)
    rest = replace(physical, groups=tuple(group for group in physical.groups if not group.is_framed))
    return reduce(
        DataFrame.union, [*([_periodic(source, rest)] if rest.groups else []), _below(source, framed, physical)]
    )


def _periodic(source: Source, physical: PhysicalPlan) -> DataFrame:
    bundles = physical.bundles
    if len(bundles) == 1:
        return _below(source, physical.groups, physical)
    parts = []
    for aggregates in bundles:
        bundled = source.only(aggregates)
        groups = tuple(group for group in physical.groups if group.aggregates == aggregates)
        parts.append(_safe(source, bundled, _below(bundled, groups, physical)))
    return _beside(source, parts)


def _below(source: Source, groups: tuple[Group, ...], physical: PhysicalPlan) -> DataFrame:
    """Evaluate groups of other windows, and put their results below one another."""
    return reduce(DataFrame.union, [_evaluated(source, group, physical) for group in groups])


def _safe(source: Source, bundled: Source, result: DataFrame) -> DataFrame:
    """Give the long layout of some of the aggregates under safe names, by their places in the whole query."""
    safe = {asked: names.result(place) for place, asked in enumerate(source.query.aggregates)}
    results = (safe[asked] for asked in bundled.query.aggregates)
    own = (names.FROM, names.TO) if source.query.measured else ()  # of no periodic window
    return result.toDF(names.LABEL, names.WINDOW, *own, *source.events.keys, *results).drop(*own)


def _beside(source: Source, parts: list[DataFrame]) -> DataFrame:
    """Put the aggregates of each instance side by side: every part has all instances, each of them once."""
    rows = reduce(lambda one, other: one.unionByName(other, allowMissingColumns=True), parts)
    values = [f"any_value({name}, true) AS {name}" for name in names.results(len(source.query.aggregates))]
    together = rows.groupBy(names.LABEL, names.WINDOW, *source.events.keys).agg(*map(F.expr, values))
    results = [_as_alone(made, name) for made, name in zip(source.events.recipes, source.events.plain, strict=True)]
    return source.named(together, results, names.LABEL, names.WINDOW)


def _as_alone(made: Recipe, name: Step) -> Step:
    """Give a result that is never null in plain Spark as one that is never null: counts alone are such."""
    return name if made.result is None or made.result.nullable else f"coalesce({name}, 0L)"


def _evaluated(source: Source, group: Group, physical: PhysicalPlan) -> DataFrame:
    match group.shape:
        case Shape.INDEPENDENT if group.is_framed:
            return sessions(source, group.windows)
        case Shape.INDEPENDENT:
            return independent(source, group.windows)
        case Shape.EXPAND:
            return expand(source, group.windows)
        case Shape.SLICES_EXPLODE:
            return slices_explode(source, group.windows, group.grids)
        case Shape.MARKS:
            return marks(source, group.windows)
        case Shape.RANGES_KERNEL:
            return by_kernels.evaluate(source.over_ranges(), group, physical.statistics)
        case Shape.SOURCE_SESSIONS:
            return source_sessions(source, group.windows)
        case Shape.ORDERED:
            return ordered(source, group.windows)
        case Shape.TAGGED:
            return tagged(source, group.windows)
    return by_kernels.evaluate(source, group, physical.statistics)
