"""From Spark's own aggregates to those of Muntin: F.sum("v").alias("x") asks for mt.sum("v").

A Column is a tree of unresolved nodes, in the JVM or, with Spark Connect, in Python. Only the outermost call is looked
into; what it is called on stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame

from muntin.aggregates import Aggregate
from muntin.aggregates import functions as f
from muntin.errors import QueryError
from muntin.expressions import written
from muntin.hints import INSTEAD
from muntin.query import several
from muntin.sentences import sentence_of

Key = str | Column
Aggregates = Aggregate | Column | Iterable[Aggregate | Column]
"""Aggregates as users write them: our own, or those of Spark that we know."""

_NAMES = """
    sum avg mean:avg min max count count_if bool_and every:bool_and bool_or some:bool_or min_by max_by median corr
    covar_samp covar_pop variance var_samp:variance var_pop stddev std:stddev stddev_samp:stddev stddev_pop
"""
SAME = {spark: f.FUNCTIONS[ours or spark] for spark, _, ours in (name.partition(":") for name in _NAMES.split())}
"""Our functions of columns by Spark's names, where both give the same."""


@dataclass(frozen=True, slots=True)
class Star:
    """The argument of count(*)."""


@dataclass(frozen=True, slots=True)
class Constant:
    """An argument that is a literal."""

    value: Any
    column: Column


@dataclass(frozen=True, slots=True)
class Call:
    """A function of Spark and what it is called on."""

    function: str
    arguments: tuple[str | Column | Constant | Star, ...]
    distinct: bool


def as_aggregates(df: DataFrame, aggregates: Aggregate | Column | Iterable[Aggregate | Column]) -> tuple[Any, ...]:
    """Give aggregates with our own in the place of Spark's, under the names that Spark would give them."""
    given = several(aggregates)
    columns = [one for one in given if isinstance(one, Column)]
    if not columns:
        return given
    inputs = df.columns
    ours = [_aggregate(column, df, inputs) for column in columns]
    try:
        names = df.groupBy().agg(*columns).columns
    except AnalysisException as error:
        raise QueryError(f"the aggregates cannot be read: {sentence_of(error)}") from error
    named = (replace(aggregate, name=name) for aggregate, name in zip(ours, names, strict=True))
    return tuple(next(named) if isinstance(one, Column) else one for one in given)


def _aggregate(column: Column, df: DataFrame, inputs: list[str]) -> Aggregate:
    """Give the aggregate that a column asks for; plain columns of the input go by their names, as users write them."""
    tree = _unnamed(column)
    call = _call(tree, df, inputs)
    aggregate = None if call is None else _counterpart(call)
    if aggregate is None:
        raise _refusal(column, tree, call)
    return aggregate


def _counterpart(call: Call) -> Aggregate | None:
    """Give the aggregate that has the same rows as a call; None if there is none."""
    match call:
        case Call("count", (Star(),), False):
            return f.count()
        case Call("count", (Constant(value),), False) if value is not None:
            return f.count()
        case Call("count", (argument,), True) if not isinstance(argument, Star):
            return f.count_distinct(_column(argument))
        case Call("percentile", (argument, Constant(int() | float() as fraction), Constant(1)), False):
            return f.percentile(_column(argument), fraction)
        case Call("mode", (argument, Constant(False)), False):
            return f.mode(_column(argument))
        case Call(name, arguments, False) if name in SAME and len(arguments) in SAME[name].inputs:
            starred = any(isinstance(argument, Star) for argument in arguments)
            return None if starred else Aggregate(SAME[name], tuple(map(_column, arguments)))
    return None


def _column(argument: str | Column | Constant | Star) -> Any:
    return argument.column if isinstance(argument, Constant) else argument


def _refusal(column: Column, tree: Any, call: Call | None) -> QueryError:
    """Say which call to use instead."""
    text = written(column)
    if _kind(tree) in ("SqlExpression", "SQLExpression"):
        return QueryError(f"aggregate {text!r} is SQL text, which is not looked into. Use F.sum('v') or mt.sum('v').")
    if call is not None and call.distinct:
        remedy = "Use mt.count_distinct(column), of one column, or plain Spark."
        return QueryError(f"aggregate {text!r} is of distinct values, which is not supported here. {remedy}")
    if call is not None and call.function in INSTEAD:
        return QueryError(f"aggregate {text!r} has no counterpart here. Use {INSTEAD[call.function]}.")
    return QueryError(
        f"{text!r} is not an aggregate that is known here. Use {', '.join(SAME)} of a column, "
        "and compute with the result."
    )


def _unnamed(column: Any) -> Any:
    """Give the tree of a column below its aliases: nodes of the JVM, or expressions of Spark Connect."""
    if "_jc" not in vars(column):
        tree = column._expr
        while _kind(tree) == "ColumnAlias":
            tree = tree._child
        return tree
    tree = column._jc.node()
    while _kind(tree) == "Alias":
        tree = tree.child()
    return tree


def sort_child(df: DataFrame, column: Any) -> str | Column | None:
    """Return what F.desc('v') and its like sort by: a column's name if it is one alone; None if nothing is sorted."""
    tree = _unnamed(column)
    if _kind(tree) != "SortOrder":
        return None
    if hasattr(tree, "getClass"):
        child = tree.child()
        if _kind(child) == "UnresolvedAttribute" and child.nameParts().size() == 1:
            return str(child.nameParts().apply(0))
        return _classic_column(df.sparkSession.sparkContext._jvm, child)
    child = tree._child
    if _kind(child) == "ColumnReference" and (name := _SINGLE.fullmatch(child._unparsed_identifier)):
        return name["plain"] or name["quoted"].replace("``", "`")
    return _connect_column(child)


_SINGLE = re.compile(r"(?P<plain>[^`.]+)|`(?P<quoted>(?:[^`]|``)+)`")
"""The name of a column as Spark reads it, without a field."""


def _kind(tree: Any) -> str:
    """Give the simple name of a node's class."""
    return str(tree.getClass().getSimpleName()) if hasattr(tree, "getClass") else type(tree).__name__


def _call(tree: Any, df: DataFrame, inputs: list[str]) -> Call | None:
    """Read the outermost call of a tree; None if there is none, or if it is a user's function."""
    if _kind(tree) != "UnresolvedFunction":
        return None
    if not hasattr(tree, "getClass"):
        return Call(tree._name, tuple(_connect_argument(one, inputs) for one in tree._args), tree._is_distinct)
    if tree.isUserDefinedFunction():
        return None
    nodes, jvm = tree.arguments(), df.sparkSession.sparkContext._jvm
    arguments = (_classic_argument(nodes.apply(i), jvm, inputs) for i in range(nodes.size()))
    return Call(tree.functionName(), tuple(arguments), tree.isDistinct())


def _classic_column(jvm: Any, node: Any) -> Column:
    from pyspark.sql.classic.column import Column as ClassicColumn

    return ClassicColumn(jvm.org.apache.spark.sql.Column(node))


def _connect_column(tree: Any) -> Column:
    from pyspark.sql.connect.column import Column as ConnectColumn

    return ConnectColumn(tree)


def _classic_argument(node: Any, jvm: Any, inputs: list[str]) -> str | Column | Constant | Star:
    column = _classic_column(jvm, node)
    match _kind(node):
        case "UnresolvedStar":
            return Star()
        case "Literal":
            return Constant(node.value(), column)
        case "UnresolvedAttribute" if node.nameParts().size() == 1 and node.nameParts().apply(0) in inputs:
            return str(node.nameParts().apply(0))
    return column


def _connect_argument(tree: Any, inputs: list[str]) -> str | Column | Constant | Star:
    column = _connect_column(tree)
    match _kind(tree):
        case "UnresolvedStar":
            return Star()
        case "LiteralExpression":
            return Constant(tree._value, column)
        case "ColumnReference" if tree._unparsed_identifier.isidentifier() and tree._unparsed_identifier in inputs:
            return str(tree._unparsed_identifier)
    return column
