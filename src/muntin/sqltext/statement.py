"""What SQL text asks for, once it is read: inputs, windows, keys, aggregates, and how results are written.

Expressions are texts of Spark SQL with all names quoted, whatever dialect they were written in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from muntin.errors import MuntinError
from muntin.window import AnyWindow

Dialect = Literal["azure", "spark", "flink"]
Boundaries = Literal["[)", "(]"]
"""Which end belongs to an instance: its start, as in Spark and Flink, or its end, as in Azure Stream Analytics."""

KEY, RESULT = "muntin_key_{}", "muntin_result_{}"
"""Columns that outputs are written over: keys and aggregates by their places in the SELECT, beside these two."""
WINDOW, WINDOW_ID = "window", "window_id"


@dataclass(frozen=True, slots=True)
class Input:
    """The rows that a SELECT reads before it is about windows."""

    tables: tuple[str, ...]
    """Names of the tables that are read, each once, as they were written."""
    sql: str
    """A query of Spark SQL over those tables; steps of a WITH stand in it."""
    time: str
    """The event time: an expression over the query's columns."""


@dataclass(frozen=True, slots=True)
class Call:
    """An aggregate of expressions: the name of one of Muntin's functions, and what it is asked of."""

    function: str
    arguments: tuple[str, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class Output:
    """A result column: an expression over window_id, window, keys and results, and its name."""

    sql: str
    name: str | None = None
    """None where the user gave none: the name is then that which Spark gives, or the dialect."""


@dataclass(frozen=True, slots=True)
class Select:
    """One SELECT over windows, as inputs for a Query and what is done with its rows."""

    input: Input
    windows: tuple[AnyWindow, ...]
    keys: tuple[str, ...]
    calls: tuple[Call, ...]
    outputs: tuple[Output, ...]
    where: str | None = None
    having: str | None = None
    """A condition over window_id, window, keys and results."""
    boundaries: Boundaries = "[)"

    @property
    def expressions(self) -> Iterator[str]:
        """The texts of all its expressions, but for the input's event time."""
        yield from self.keys
        for call in self.calls:
            yield from call.arguments
        yield from (output.sql for output in self.outputs)
        yield from (text for text in (self.where, self.having) if text is not None)


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement under its name: one SELECT, or several that UNION ALL joins."""

    name: str
    dialect: Dialect
    text: str
    """As the user wrote it."""
    selects: tuple[Select, ...] = ()
    """None where the statement is not about windows that are known here: Spark runs it as it is."""
    spark: str | None = None
    """The whole statement in Spark SQL; None where Spark has no words for it."""
    reason: str = ""
    """Why Spark runs it as it is."""
    order: tuple[str, ...] = ()
    """ORDER BY over the outputs' names, with direction."""
    limit: int | None = None
    alike: tuple[str, ...] = ()
    """Two names in it that differ only by case, which are the same to most sessions and two names to others."""
    error: MuntinError | None = field(default=None, compare=False)
    """What is wrong with it, if Spark cannot read it either."""
