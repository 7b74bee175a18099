"""Columns and expressions of Spark that queries name: how they are told, and how Spark writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

from muntin.errors import QueryError

_NAME = r"\b[xyz]_\d+\b"
_ARROW = re.compile(rf"({_NAME}|\({_NAME}(?:, {_NAME})*\)) ->")
_BRACKET = re.compile(r"\bLambdaFunction\(|[(),]")


@dataclass(frozen=True, slots=True, eq=False)
class Expression:
    """A column expression of Spark under a name; whether two are equal, only spark.input.equality can tell."""

    value: Any
    """A Spark column, or the name of a column."""
    name: str

    def __str__(self) -> str:
        return self.name


Named = str | Expression
"""The name of a column, or an expression of Spark."""


def is_column(given: object) -> bool:
    """Tell whether something is a Spark column, without loading Spark to know one."""
    return type(given).__module__.startswith("pyspark.sql") and type(given).__name__ == "Column"


def column_named(given: Any, what: str) -> Named:
    """Take a name as it is and wrap a Spark column; refuse anything else, and say what it was given as.

    >>> column_named("v", "min")
    'v'
    >>> column_named(3, "min")
    Traceback (most recent call last):
    muntin.errors.QueryError: min was given 3 as a column. Use a column's name, or a Column.
    """
    if isinstance(given, Expression) or (isinstance(given, str) and given):
        return given
    if is_column(given):
        return Expression(given, written(given))
    raise QueryError(f"{what} was given {given!r} as a column. Use a column's name, or a Column.")


def written(column: Any) -> str:
    """Give a Spark column as Spark writes it."""
    return renumbered(str(column).removeprefix("Column<'").removesuffix("'>"))


def renumbered(text: str) -> str:
    """Give the variables of lambda functions numbers from 1 on, by first appearance.

    Spark counts them through the whole process, so the same expression has another text every time it is built.

    >>> renumbered("aggregate(a, 0, (x_31, y_32) -> +(x_31, y_32), x_33 -> *(x_33, 2))")
    'aggregate(a, 0, (x_1, y_2) -> +(x_1, y_2), x_3 -> *(x_3, 2))'
    """
    bound = {name for names in (*_ARROW.findall(text), *_arguments(text)) for name in re.findall(_NAME, names)}
    names = dict.fromkeys(re.findall(_NAME, text))
    columns = {name[2:] for name in names if name not in bound}
    numbers = (number for number in count(1) if str(number) not in columns)
    renamed = {name: f"{name[0]}_{next(numbers)}" for name in names if name in bound}
    return re.sub(_NAME, lambda match: renamed.get(match[0], match[0]), text)


def _arguments(text: str) -> Iterator[str]:
    """Give what follows the body in every LambdaFunction(body, x_1, y_2), as Spark Connect writes them."""
    lambdas: list[bool] = []  # of every bracket that is open
    comma = None  # where the last sign was, if that was a comma
    for match in _BRACKET.finditer(text):
        sign, place = match[0], match.start()
        if comma is not None and sign in ",)" and lambdas and lambdas[-1]:
            yield text[comma:place]
        if sign == ")" and lambdas:
            lambdas.pop()
        elif sign not in ",)":
            lambdas.append(sign != "(")
        comma = place if sign == "," else None
