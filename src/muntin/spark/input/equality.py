"""Equal expressions are one: aggregates of F.col("v") then share what they read, lift and keep.

Spark writes different columns alike: those of two DataFrames, a text and a number, a name and a literal. So the trees
are compared, as Spark sends them elsewhere. Trees that differ in anything but the line of the user's code are unequal.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame

from muntin.aggregates import Aggregate
from muntin.expressions import Expression


def with_equals_as_one(df: DataFrame, aggregates: tuple[Aggregate, ...]) -> tuple[Aggregate, ...]:
    """Give aggregates with one expression in the place of all that equal it; they have to be deterministic."""
    equals = Equals(df)

    def first(column: str | Expression) -> str | Expression:
        return column if isinstance(column, str) else equals.one(column)

    return tuple(replace(aggregate, columns=tuple(map(first, aggregate.columns))) for aggregate in aggregates)


class Equals:
    """The expressions over a DataFrame that are known so far, each once."""

    def __init__(self, df: DataFrame) -> None:
        self._df = df
        self._firsts: list[Expression] = []

    def one(self, given: Expression) -> Expression:
        """Give the first expression that equals another one, which may be itself."""
        for earlier in self._firsts:
            if earlier is given or (earlier.name == given.name and _are_equal(self._df, earlier.value, given.value)):
                return earlier
        self._firsts.append(given)
        return given


def _are_equal(df: DataFrame, one: Any, other: Any) -> bool:
    """Tell whether two columns are the same tree.

    In the JVM both its own equality and the bytes decide: the former takes 1 for 1.0, the latter leave out what is
    transient.
    """
    if "_jc" not in vars(one):
        return _connect_bytes(df, one) == _connect_bytes(df, other)
    return bool(one._jc.equals(other._jc)) and _classic_bytes(df, one) == _classic_bytes(df, other)


def _classic_bytes(df: DataFrame, column: Any) -> bytes:
    """Give the tree as the JVM writes it, without the lines of code that made it."""
    serialize = df.sparkSession.sparkContext._jvm.org.apache.spark.util.Utils.serialize  # type: ignore[union-attr]
    return bytes(serialize(column._jc.node().normalized()))


def _connect_bytes(df: DataFrame, column: Any) -> bytes:
    """Give the tree as it is sent to the server, without the lines of code that made it."""
    tree = column.to_plan(df.sparkSession.client)
    _forget_origins(tree)
    return bytes(tree.SerializeToString(deterministic=True))


def _forget_origins(tree: Any) -> None:
    """Remove the lines of code from a message of Spark Connect and from those within it."""
    for field, value in tree.ListFields():
        if field.name == "common":
            tree.ClearField(field.name)
        elif field.message_type is not None and not field.message_type.GetOptions().map_entry:
            for message in value if field.is_repeated else (value,):
                _forget_origins(message)
