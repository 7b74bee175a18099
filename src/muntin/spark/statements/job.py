"""Statements in the order in which they can run: inputs that several share, and plain Spark for what does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, TypeVar

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame

from muntin.errors import QueryError, UnsupportedError
from muntin.plan.sharing import SharingPlan
from muntin.spark.batch.independent import check_plain
from muntin.spark.input.checking import check_ceiling
from muntin.spark.input.origins import ORIGINS
from muntin.spark.queries.results import Results, Stream
from muntin.spark.queries.sinks import keyed
from muntin.spark.statements.evaluation import Options, evaluated, explained
from muntin.spark.statements.inputs import SharedInput, shared_input
from muntin.spark.statements.merging import merged
from muntin.spark.statements.mistakes import Text
from muntin.spark.statements.outputs import check_stream, key_names, selected
from muntin.spark.statements.plan import PlainStatement, SharedPlan, SqlPlan
from muntin.spark.statements.results import StatementResults
from muntin.spark.statements.stages import Together, named_selects, stages, together
from muntin.spark.statements.tables import Tables
from muntin.sqltext import place_of_name
from muntin.sqltext.statement import WINDOW, Statement
from muntin.window import Window

T = TypeVar("T")


@dataclass(frozen=True)
class Job:
    """Statements, what they read, and how they are evaluated."""

    text: str
    statements: tuple[Statement, ...]
    tables: Tables
    options: Options

    def results(self) -> StatementResults:
        """Give the result of every statement, in their order."""
        try:
            return self._results()
        finally:
            self.tables.release()

    def plan(self) -> SqlPlan:
        """Say how all statements would be evaluated; one that reads others has them evaluated, but no row read."""
        try:
            return self._plan()
        finally:
            self.tables.release()

    def _results(self) -> StatementResults:
        done: dict[str, DataFrame] = {}
        plan = SqlPlan(())
        shared: list[Results] = []
        stream = None
        for statements in self._in_turn:
            stage = self._stage(statements, done)
            settled = stage.settled(lambda given: evaluated(given, self.options))
            plan += settled.plan(lambda results: results.plan)
            shared += [results for _, results in settled.shared]
            stream = stage.stream(settled)
            done |= stage.results(settled)
        frames = {statement.name: done[statement.name] for statement in self.statements}
        return StatementResults(plan, frames, tuple(shared), stream if len(self._in_turn) == 1 else None)

    def _plan(self) -> SqlPlan:
        plan = SqlPlan(())
        done: dict[str, DataFrame] = {}
        for statements in self._in_turn:
            stage = self._stage(statements, done)
            plan += stage.settled(lambda given: explained(given, self.options)).plan(lambda shared: shared)
            if statements is not self._in_turn[-1]:
                done |= stage.results(stage.settled(lambda given: evaluated(given, self.options)))
        return plan

    @cached_property
    def _in_turn(self) -> list[list[Statement]]:
        return list(stages(self.statements, self.tables.given))

    def _stage(self, statements: Iterable[Statement], done: Mapping[str, DataFrame]) -> Stage:
        return Stage(self.text, tuple(statements), self.tables.with_more(done), self.options)


@dataclass(frozen=True)
class Settled(Generic[T]):
    """What became of statements: inputs that some share, and reasons why others run as plain Spark."""

    shared: list[tuple[Together, T]]
    reasons: dict[str, str]

    def plan(self, plan_of: Callable[[T], SharingPlan]) -> SqlPlan:
        """Say it, given the plan of what an input became."""
        shared = (
            SharedPlan(
                tuple(it.name for it in group.statements), group.input.tables, group.boundaries, plan_of(outcome)
            )
            for group, outcome in self.shared
        )
        return SqlPlan(tuple(shared), tuple(PlainStatement(*named) for named in self.reasons.items()))


@dataclass(frozen=True)
class Stage:
    """Statements all of whose tables are there."""

    text: str
    statements: tuple[Statement, ...]
    tables: Tables
    options: Options

    def settled(self, attempt: Callable[[SharedInput], T]) -> Settled[T]:
        """Evaluate statements over windows together by an attempt at every input; the others run as plain Spark.

        What cannot be evaluated is asked of every statement alone. Spark runs those that it is about, if it can.
        """
        self._check_windows()
        _ = self._analysed  # what Spark refuses comes first
        plain = {it.name: it.reason for it in self.statements if not it.selects} | self._mixed_cases()
        windowed = [merged(statement) for statement in self.statements if statement.name not in plain]
        try:
            return Settled(self._attempted(windowed, attempt), plain)
        except (QueryError, UnsupportedError, AnalysisException):
            refused = {it.name: why for it in windowed if (why := self._refusal(it, attempt)) is not None}
            if not refused:
                raise
        rest = [statement for statement in windowed if statement.name not in refused]
        return Settled(self._attempted(rest, attempt), plain | refused)

    def _check_windows(self) -> None:
        """Refuse windows with too many instances, before Spark plans each of them."""
        for statement in self.statements:
            windows = [window for select in statement.selects for window in select.windows]
            with self._pointing(statement):
                check_ceiling(self.tables.spark, windows)
                if statement.dialect == "spark":
                    check_plain(window for window in windows if isinstance(window, Window))

    def _mixed_cases(self) -> dict[str, str]:
        """Say which statements have names that differ only by case, where those are two names to the session."""
        mixed = [it for it in self.statements if it.selects and it.alike and self.tables.is_case_sensitive]
        reasons = {it.name: f"its names {' and '.join(map(repr, it.alike))} differ only by case" for it in mixed}
        for statement in mixed:
            if statement.name not in self._analysed:
                raise UnsupportedError(f"statement {statement.name!r}: {reasons[statement.name]}. Rename one of them.")
        return reasons

    def results(self, settled: Settled[Results]) -> dict[str, DataFrame]:
        """Give the result of every statement."""
        rows = {name: frame for _, results in settled.shared for name, frame in results.items()}
        return {
            it.name: self._analysed[it.name]
            if it.name in settled.reasons
            else self._result(it, [rows[name] for name in named_selects(it)])
            for it in map(merged, self.statements)
        }

    def stream(self, settled: Settled[Results]) -> Stream | None:
        """Give the one stream that all statements are made of; None where there is none, or more than one."""
        if len(settled.shared) > 1 or not settled.shared or settled.reasons:
            return None
        stream = settled.shared[0][1]._stream  # noqa: SLF001
        if stream is None:
            return None

        def projection(statement: Statement) -> Callable[[DataFrame], DataFrame]:
            parts = [stream.projections[name] for name in named_selects(statement)]
            return lambda rows: self._result(statement, [project(rows) for project in parts])

        statements = list(map(merged, self.statements))
        return Stream(
            stream.rows,
            stream.output,
            {statement.name: projection(statement) for statement in statements},
            {statement.name: self._keys(statement) for statement in statements},
        )

    @cached_property
    def _analysed(self) -> dict[str, DataFrame]:
        """What Spark makes of statements in its own words: their columns, or all that they are."""
        analysed = {}
        for statement in self.statements:
            if statement.spark is not None and (statement.dialect == "spark" or not statement.selects):
                with self._pointing(statement):
                    analysed[statement.name] = self._query(statement, statement.spark)
        return analysed

    def _query(self, statement: Statement, text: str) -> DataFrame:
        try:
            frame = self.tables.query(text)
            _ = frame.schema  # Spark Connect analyses only what it is asked for
        except ParseException:
            if statement.error is None:
                raise
            raise statement.error from None
        return frame

    def _attempted(
        self, statements: Iterable[Statement], attempt: Callable[[SharedInput], T]
    ) -> list[tuple[Together, T]]:
        return [
            (group, attempt(shared_input(self.tables, group.input, group.boundaries, group.selects)))
            for group in together(statements)
        ]

    def _refusal(self, statement: Statement, attempt: Callable[[SharedInput], object]) -> str | None:
        """Say why a statement cannot be evaluated alone; None if it can, an error if Spark cannot either."""
        try:
            with self._pointing(statement):
                self._attempted([statement], attempt)
        except (QueryError, UnsupportedError) as error:
            plain = self._analysed.get(statement.name)
            if plain is None or plain.isStreaming or self.options.strategy != "auto":
                raise
            return str(error)
        return None

    def _result(self, statement: Statement, rows: list[DataFrame]) -> DataFrame:
        plain = self._analysed.get(statement.name)
        with self._pointing(statement):
            check_stream(statement, rows[0])
            result = selected(statement, rows, None if plain is None else plain.schema, self.tables)
        is_stream = ORIGINS in rows[0].schema[WINDOW].metadata  # or a micro-batch of one
        return keyed(lambda result: result, self._keys(statement))(result) if is_stream else result

    def _keys(self, statement: Statement) -> tuple[str, ...] | None:
        plain = self._analysed.get(statement.name)
        return key_names(statement, None if plain is None else plain.schema)

    def _pointing(self, statement: Statement) -> AbstractContextManager[None]:
        return Text(self.text, statement, lambda: self._columns(statement), self.tables.known).pointing()

    def _columns(self, statement: Statement) -> list[str]:
        """List the columns of what a statement reads, as far as Spark reads it."""
        text, dialect = statement.text, statement.dialect
        named = (name for name in self.tables.given if place_of_name(text, name, dialect) is not None)
        columns = [column for name in named for column in self.tables.given[name].columns]
        for select in statement.selects:
            with suppress(AnalysisException, QueryError):
                columns += self.tables.query(select.input.sql).columns
        return columns
