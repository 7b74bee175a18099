"""Recipes: every aggregate in Spark SQL, and the partial columns that aggregates have in common.

A partial has the same columns and types whether it is lifted from one row, aggregated over a slice or merged, so that
every shape of plan is put together from the same five steps. Steps are texts over names of columns: a text reaches
Spark in one call, where a tree of columns takes one for each of its nodes.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin.aggregates import Aggregate, Merge
from muntin.arrow.reducers import Reducer

Step = str | Column
"""A text of Spark SQL; a column only where a function in Python is within, since texts have no name for it."""


@dataclass(frozen=True, eq=False)
class Part:
    """Partial columns that are merged together, for whichever aggregates need them."""

    how: Merge
    partials: tuple[Step, ...]
    """The partial of a slice's rows."""
    merge: Callable[..., tuple[Step, ...]] | None = None
    """The partial of several partials, whose columns' names it is given; None where kernels read rows alone."""
    lift: tuple[str, ...] = ()
    """The partial of one row; none where rows cannot stand for themselves."""
    types: tuple[T.DataType, ...] = ()
    """The types of the columns, once Spark has told them."""
    reducer: Reducer | None = None
    """How kernels reduce the columns, once their types are known; None where no kernel knows how."""

    @property
    def key(self) -> Hashable:
        """What two parts have in common that are written alike: they have the same columns."""
        return self.how, self.lift, tuple(step if isinstance(step, str) else id(step) for step in self.partials)


@dataclass(frozen=True)
class Recipe:
    """One aggregate over given columns: plain, and as parts that are lowered together."""

    aggregate: Aggregate
    plain: Step
    """The aggregate over rows, as a Spark user writes it."""
    parts: tuple[Part, ...] = ()
    """None where partials cannot be merged."""
    lower: Callable[..., Step] | None = None
    """The result of a partial, whose columns' names it is given."""
    result: T.StructField | None = None
    """Type and nullability of the result as Spark alone gives it, once Spark has told them."""
    item: str | None = None
    """What is counted once, where distinct values are counted and Spark can sort by them."""
    ranged: Part | None = None
    """What kernels read from the rows of a range: its only column is lifted from a row, and the result comes back."""
    lacking: str | None = None
    """What this Spark lacks to merge partials; None where they merge, or where no Spark merges them."""

    @property
    def mergeable(self) -> bool:
        """Whether slices can be shared."""
        return bool(self.parts) and all(part.merge is not None for part in self.parts)

    def over_ranges(self) -> Recipe:
        """Give the recipe as kernels evaluate it from the rows of ranges: the same where partials are merged."""
        if self.ranged is None:
            return self
        counts = self.result is not None and not self.result.nullable
        return replace(self, parts=(self.ranged,), lower="coalesce({}, 0L)".format if counts else str)

    @property
    def liftable(self) -> bool:
        """Whether a row can stand for a partial of itself."""
        return bool(self.parts) and all(part.lift for part in self.parts)


def column(step: Step) -> Column:
    """Give a step as a column."""
    return F.expr(step) if isinstance(step, str) else step


def named(step: Step, name: str) -> Column:
    """Give a step as a column under a safe name."""
    return F.expr(f"{step} AS {name}") if isinstance(step, str) else step.alias(name)


def selected(frame: DataFrame, steps: dict[str, Step]) -> DataFrame:
    """Select steps under safe names, in as few calls as can be."""
    if all(isinstance(step, str) for step in steps.values()):
        return frame.selectExpr(*(f"{step} AS {name}" for name, step in steps.items()))
    return frame.select(*(named(step, name) for name, step in steps.items()))
