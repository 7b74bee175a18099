"""Statements in the order in which they can run: inputs that several share, and plain Spark for what does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame

from muntin.errors import QueryError, UnsupportedError
from muntin.spark.statements.evaluation import Options, evaluated, explained
from muntin.spark.statements.inputs import SharedInput, shared_input
from muntin.spark.statements.merging import merged
from muntin.spark.statements.mistakes import pointing
from muntin.spark.statements.outputs import check_ordered, named, selected
from muntin.spark.statements.plan import PlainStatement, SharedPlan, SqlPlan
from muntin.spark.statements.stages import Together, named_selects, stages, together
from muntin.spark.statements.tables import Tables
from muntin.sql.statement import Statement

T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """Statements, what they read, and how they are evaluated."""

    text: str
    statements: tuple[Statement, ...]
    tables: Tables
    options: Options

    def results(self) -> dict[str, DataFrame]:
        """Give the result of every statement, in their order."""
        done: dict[str, DataFrame] = {}
        for statements in self._in_turn:
            done |= self._stage(statements, done).results()
        return {statement.name: done[statement.name] for statement in self.statements}

    def plan(self) -> SqlPlan:
        """Say how all statements would be evaluated; one that reads another needs that one's columns only."""
        done: dict[str, DataFrame] = {}
        plan = SqlPlan(())
        for statements in self._in_turn:
            stage = self._stage(statements, done)
            plan += stage.plan()
            if statements is not self._in_turn[-1]:
                done |= stage.results()
        return plan

    @cached_property
    def _in_turn(self) -> list[list[Statement]]:
        return list(stages([merged(named(statement)) for statement in self.statements], self.tables.given))

    def _stage(self, statements: Iterable[Statement], done: Mapping[str, DataFrame]) -> Stage:
        return Stage(self.text, tuple(statements), self.tables.with_more(done), self.options)


@dataclass(frozen=True)
class Stage:
    """Statements all of whose tables are there."""

    text: str
    statements: tuple[Statement, ...]
    tables: Tables
    options: Options

    def results(self) -> dict[str, DataFrame]:
        """Give the result of every statement."""
        outcomes, reasons = self._settled(self._windowed, lambda shared: evaluated(shared, self.options))
        rows = {name: frame for _, outcome in outcomes for name, frame in outcome.items()}
        return {
            statement.name: self._analysed[statement.name]
            if statement.name in reasons
            else self._result(statement, rows)
            for statement in self.statements
        }

    def plan(self) -> SqlPlan:
        """Say how every statement would be evaluated."""
        outcomes, reasons = self._settled(self._windowed, lambda shared: explained(shared, self.options))
        shared = (
            SharedPlan(tuple(it.name for it in group.statements), group.input.tables, group.boundaries, plan)
            for group, plan in outcomes
        )
        return SqlPlan(tuple(shared), tuple(PlainStatement(*named) for named in reasons.items()))

    @property
    def _windowed(self) -> list[Statement]:
        return [statement for statement in self.statements if statement.selects]

    @cached_property
    def _analysed(self) -> dict[str, DataFrame]:
        """What Spark makes of statements in its own words: their columns, or all that they are."""
        analysed = {}
        for statement in self.statements:
            if statement.spark is not None and (statement.dialect == "spark" or not statement.selects):
                with self._pointing(statement):
                    analysed[statement.name] = self.tables.query(statement.spark)
        return analysed

    def _settled(
        self, windowed: list[Statement], attempt: Callable[[SharedInput], T]
    ) -> tuple[list[tuple[Together, T]], dict[str, str]]:
        """Evaluate statements over windows together; give also those that run as plain Spark, and why.

        What cannot be evaluated is asked of every statement alone. Spark runs those that it is about, if it can.
        """
        reasons = {it.name: it.reason for it in self.statements if not it.selects}
        self._analysed  # noqa: B018 - what Spark refuses is said first
        try:
            return [(group, attempt(self._shared(group))) for group in together(windowed)], reasons
        except (QueryError, UnsupportedError, AnalysisException):
            refused = {it.name: why for it in windowed if (why := self._refusal(it, attempt)) is not None}
            if not refused:
                raise
        rest = [statement for statement in windowed if statement.name not in refused]
        outcomes, _ = self._settled(rest, attempt)
        return outcomes, reasons | refused

    def _refusal(self, statement: Statement, attempt: Callable[[SharedInput], object]) -> str | None:
        """Say why a statement cannot be evaluated alone; None if it can, an error if Spark cannot either."""
        try:
            with self._pointing(statement):
                for group in together([statement]):
                    attempt(self._shared(group))
        except (QueryError, UnsupportedError) as error:
            plain = self._analysed.get(statement.name)
            if plain is None or plain.isStreaming or self.options.strategy != "auto":
                raise
            return str(error)
        return None

    def _shared(self, group: Together) -> SharedInput:
        return shared_input(self.tables, group.input, group.boundaries, group.selects)

    def _result(self, statement: Statement, rows: Mapping[str, DataFrame]) -> DataFrame:
        plain = self._analysed.get(statement.name)
        own = [rows[name] for name in named_selects(statement)]
        check_ordered(statement, streaming=own[0].isStreaming)
        with self._pointing(statement):
            return selected(statement, own, None if plain is None else plain.schema, self.tables)

    def _pointing(self, statement: Statement) -> AbstractContextManager[None]:
        return pointing(self.text, statement.text, self.tables.known)
