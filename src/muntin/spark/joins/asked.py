"""Aggregates of pairs, checked: which side each of their columns is of."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.aggregates import Aggregate
from muntin.aggregates.model import Repetition
from muntin.errors import QueryError
from muntin.expressions import Expression, written
from muntin.query import RESERVED, check_aggregates, repeated
from muntin.sentences import sentence_of
from muntin.spark.input.checking import folding, quoted
from muntin.spark.input.columns import Aggregates, as_aggregates
from muntin.spark.joins.request import ROLES

DIGITS = 12
"""Digits of a count of rows that a sum of decimals is multiplied by."""


@dataclass(frozen=True, slots=True)
class Input:
    """A column that an aggregate of pairs reads, and the side that it is of."""

    column: Any
    """A Spark column."""
    side: str | None
    """What stands before the names of the side's columns; None if the column reads both sides."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An aggregate of pairs."""

    aggregate: Aggregate
    """With the name that its results have."""
    inputs: tuple[Input, ...]

    @property
    def side(self) -> str | None:
        """The only side that it reads; None for both, or for neither, as count() does."""
        sides = {given.side for given in self.inputs}
        return sides.pop() if len(sides) == 1 else None


def check_asked(left: DataFrame, right: DataFrame, by: tuple[str, ...], aggregates: Aggregates) -> tuple[Asked, ...]:
    """Check aggregates against both inputs; nothing runs."""
    both = left.select(F.struct("*").alias("left")).join(right.select(F.struct("*").alias("right")))
    given = check_aggregates(as_aggregates(both, aggregates))
    asked = tuple(_asked(left, right, both, aggregate) for aggregate in given)
    outputs = [*RESERVED, *by, *(one.aggregate.name for one in asked)]
    if twice := repeated(map(folding(left), outputs)):
        raise QueryError(f"output name {twice!r} appears twice among {outputs}. Rename one with .alias(…).")
    return asked


def _asked(left: DataFrame, right: DataFrame, both: DataFrame, aggregate: Aggregate) -> Asked:
    inputs = tuple(_input(left, right, both, aggregate, column) for column in aggregate.columns)
    if aggregate.function.takes_time and inputs[0].side is None:
        raise QueryError(
            f"{aggregate!r} is of no side whose time it could go by. Use min_by or max_by with an order of your own."
        )
    last = str(aggregate.columns[-1]) if aggregate.columns else ""
    by_default = aggregate.name.startswith(f"{aggregate.function.name}_") and aggregate.name.endswith(last)
    name = aggregate.name.replace("left.", "left_").replace("right.", "right_") if by_default else aggregate.name
    return Asked(replace(aggregate, name=name), inputs)


def _input(left: DataFrame, right: DataFrame, both: DataFrame, aggregate: Aggregate, given: str | Expression) -> Input:
    if isinstance(given, Expression) and isinstance(given.value, Column):
        _check_expression(both, given)
        return Input(given.value, side_of(written(given.value)))
    text = str(given)
    role, _, name = text.partition(".")
    side = {"left": (names.LEFT, left), "right": (names.RIGHT, right)}.get(role)
    if side is None or not name:
        raise QueryError(
            f"{aggregate!r} does not say which side {text!r} is of. Write 'left.{text}' or 'right.{text}'."
        )
    fold = folding(left)
    if fold(name) not in map(fold, side[1].columns):
        columns = ", ".join(map(repr, side[1].columns))
        raise QueryError(f"no column {name!r} on the {role} side. Its columns are {columns}.")
    return Input(F.col(f"{role}.{quoted(name)}"), side[0])


def _check_expression(both: DataFrame, given: Expression) -> None:
    try:
        _ = both.select(given.value).schema
    except AnalysisException as error:
        raise QueryError(
            f"column {given.name!r} cannot be read: {sentence_of(error)} Write F.col('left.…') or F.col('right.…')."
        ) from error


def side_of(text: str) -> str | None:
    """Tell the only side that an expression names in Spark's text of it; None where that is not clear.

    What is not clear is taken to read both sides, which is never wrong. To ask Spark would log an error.

    >>> side_of("(right.x * 2)"), side_of("(left.x * right.x)"), side_of("right(left.x, 3)")
    ('right_', None, None)
    """
    named = [role for role in ROLES if re.search(rf"\b{ROLES[role]}\b", text)]
    unclear = [role for role in named if re.search(rf"\b{ROLES[role]}\b(?!\.)", text)]
    return named[0] if len(named) == 1 and not unclear else None


def needs_pairs(left: DataFrame, right: DataFrame, asked: tuple[Asked, ...]) -> bool:
    """Tell whether an aggregate cannot be had from the aggregates of each side.

    The pairs of one instance and key are all rows of one side with all of the other. So every row of a side comes
    equally often, as many times as the other side has rows.
    """
    return any(not _is_derived(left, right, one) for one in asked)


def _is_derived(left: DataFrame, right: DataFrame, one: Asked) -> bool:
    if not one.inputs:
        return True
    if one.side is None or one.aggregate.function.repetition is Repetition.OTHER:
        return False
    if one.aggregate.function.repetition is Repetition.SAME or one.aggregate.function.counts:
        return True
    frame = left.alias("left") if one.side == names.LEFT else right.alias("right")
    return times(_sum_type(frame, one), "", "") is not None


def _sum_type(frame: DataFrame, one: Asked) -> T.DataType:
    """Give the type of a sum; one that Spark does not take is refused when the side is aggregated."""
    try:
        return frame.select(F.sum(one.inputs[0].column)).schema[0].dataType
    except AnalysisException:
        return T.LongType()


def times(kind: T.DataType, total: str, count: str) -> str | None:
    """Multiply a sum of a type by a count, in that type; None where digits might get lost.

    >>> times(T.DecimalType(20, 2), "total", "n")
    'CAST(total * CAST(n AS DECIMAL(12, 0)) AS decimal(20,2))'
    >>> times(T.DecimalType(38, 18), "total", "n") is None
    True
    """
    match kind:
        case T.LongType() | T.DoubleType():
            return f"{total} * {count}"
        case T.DecimalType() if kind.precision + DIGITS < 38:  # a product has one digit more than both together
            return f"CAST({total} * CAST({count} AS DECIMAL({DIGITS}, 0)) AS {kind.simpleString()})"
    return None


def of_side(asked: tuple[Asked, ...], side: str) -> Iterator[tuple[int, Asked]]:
    """Yield the aggregates that read one side only, with their places."""
    return ((place, one) for place, one in enumerate(asked) if one.side == side)
