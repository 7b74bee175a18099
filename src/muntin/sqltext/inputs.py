"""What a SELECT over windows reads: a table, a query, or steps of a WITH, as one query of Spark SQL."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from muntin.sqltext.azure_steps import MUNTIN_TIME, timed
from muntin.sqltext.calls import called
from muntin.sqltext.dialects import TIME
from muntin.sqltext.pointing import Wrong, refuse, unsupported
from muntin.sqltext.spelling import named, spark_sql
from muntin.sqltext.statement import Dialect, Input

MOST_WRITTEN = 1_000_000
"""How many characters of SQL are written for all statements of a text, whose steps stand in each that reads them."""


@dataclass(slots=True)
class Room:
    """How much SQL may still be written for the statements of a text."""

    left: int = field(default_factory=lambda: MOST_WRITTEN)

    def take(self, characters: int, at: exp.Expr) -> None:
        """Take what a statement needs; refuse one for which too little is left."""
        self.left -= characters
        if self.left < 0:
            raise Wrong(
                at,
                f"the steps and views of this text make more than {MOST_WRITTEN:,} characters in the statements that "
                "read them. Give their rows as tables, or use several texts.",
            )


@dataclass(slots=True)
class Steps:
    """Queries by their names: steps of a WITH, and views."""

    dialect: Dialect
    room: Room = field(default_factory=Room)
    spelled: dict[str, str] = field(default_factory=dict)
    """All identifiers in the queries by their names in lower case."""
    alike: tuple[str, ...] = ()
    """Two identifiers in them that differ only by case."""
    known: dict[str, exp.Expr] = field(default_factory=dict)
    done: dict[str, tuple[exp.Expr, bool]] = field(default_factory=dict)
    under_way: list[str] = field(default_factory=list)

    def add(self, name: str, query: exp.Expr) -> None:
        """Take a step; a later one of the same name takes its place."""
        self.known[name.casefold()] = query
        self.done.clear()
        self.alike = self.alike or differing(query, self.spelled)

    def add_all(self, query: exp.Expr) -> None:
        """Take the steps of a query's WITH, and leave the query without."""
        steps = query.args.get("with_")
        if steps is None:
            return
        if steps.args.get("recursive"):
            unsupported(steps, "steps that read themselves are not supported here.", "a step of it reads itself")
        for step in steps.expressions:
            if step.args["alias"].args.get("columns"):
                unsupported(
                    step, "a step does not rename its columns here. Use AS in its SELECT.", "a step renames columns"
                )
            self.add(step.alias, step.this)
        query.set("with_", None)

    def copy(self) -> Steps:
        """Give steps that others can be added to."""
        return Steps(self.dialect, self.room, known=dict(self.known))

    def has(self, table: exp.Expr) -> bool:
        """Tell whether a table is a step; one that reads its own name reads a table."""
        name = table.name.casefold()
        return isinstance(table, exp.Table) and not table.db and name in self.known and name not in self.under_way

    def query(self, table: exp.Expr) -> tuple[exp.Expr, bool]:
        """Give a step as a query that Spark reads, and whether it carries the event time."""
        name = table.name.casefold()
        if name not in self.done:
            self.under_way.append(name)
            try:
                self.done[name] = self.translated(self.known[name])
            finally:
                self.under_way.pop()
        return self.done[name]

    def translated(self, query: exp.Expr) -> tuple[exp.Expr, bool]:
        """Give a query that Spark reads, and whether it carries the event time."""
        return timed(query, self) if self.dialect == "azure" else (query, False)

    def complete(self, query: exp.Expr) -> exp.Expr:
        """Give a query with all steps that it reads in its WITH."""
        needed: dict[str, exp.CTE] = {}
        self._collect(query, needed)
        if not needed:
            return query
        query = query.copy()
        own = query.args.get("with_")
        steps = [*needed.values(), *([] if own is None else own.expressions)]
        query.set("with_", exp.With(expressions=steps, recursive=None if own is None else own.args.get("recursive")))
        return query

    def _collect(self, query: exp.Expr, needed: dict[str, exp.CTE]) -> None:
        for table in tables_in(query):
            name = table.name.casefold()
            if self.has(table) and name not in needed:
                step, _ = self.query(table)
                self.under_way.append(name)
                try:
                    self._collect(step, needed)
                finally:
                    self.under_way.pop()
                alias = exp.TableAlias(this=exp.to_identifier(table.name, quoted=True))
                needed[name] = exp.CTE(this=step.copy(), alias=alias)


def differing(query: exp.Expr, spelled: dict[str, str]) -> tuple[str, ...]:
    """Give two names in a query, or in it and among those that are spelled, that differ only by case."""
    for identifier in query.find_all(exp.Identifier):
        other = spelled.setdefault(identifier.name.casefold(), identifier.name)
        if other != identifier.name:
            return other, identifier.name
    return ()


def tables_in(query: exp.Expr) -> list[exp.Table]:
    """Give the tables that a query reads, but for steps of its own."""
    own = {step.alias.casefold() for step in query.find_all(exp.CTE)}
    tables = query.find_all(exp.Table)
    return [table for table in tables if table.name and (table.db or table.name.casefold() not in own)]


def table_name(table: exp.Table) -> str:
    """Give a table's name as sources are named; of several parts, strange ones are quoted."""
    parts = [part.name for part in table.parts]
    if len(parts) == 1:
        return parts[0]
    return ".".join(part if part.isidentifier() else f"`{part.replace('`', '``')}`" for part in parts)


def read_input(relation: exp.Expr, time: exp.Expr | None, steps: Steps) -> Input:
    """Read what a SELECT over windows reads."""
    carries = False
    if isinstance(relation, exp.Subquery):
        query, carries = steps.translated(_unnested(relation))
    elif steps.has(relation):
        query, carries = steps.query(relation)
    else:
        if not isinstance(relation.this, exp.Identifier | exp.Dot):
            unsupported(relation, "windows read a table or a query here.", "it reads a table function")
        query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=_plain(relation)))
    if carries and time is not None:
        refuse(time, "the step before has its event time already. Leave TIMESTAMP BY out here.")
    if carries:
        time = named(MUNTIN_TIME)
    if time is None:
        refuse(relation, "nothing says what the event time is. Write TIMESTAMP BY column after the table.")
    complete = steps.complete(query)
    if steps.dialect == "flink":
        check_no_windows(complete)
    tables = dict.fromkeys(map(table_name, tables_in(complete)))
    sql = spark_sql(complete)
    steps.room.take(len(sql), relation)
    return Input(tuple(tables), sql, spark_sql(time))


def check_no_windows(query: exp.Expr) -> None:
    """Refuse windows of Flink in what Spark is to run."""
    strange = {"descriptor", "tumble", "hop", "cumulate", "session"}
    if window := next((node for node in query.find_all(exp.Anonymous) if called(node) in strange), None):
        told = "windows stand in a query that others read, or that does not group by them."
        unsupported(window, f"{told} Only the last SELECT may have them.")


def _unnested(relation: exp.Subquery) -> exp.Expr:
    inner: exp.Expr = relation
    while isinstance(inner, exp.Subquery) and (inner is relation or _is_bare(inner)):
        inner = inner.this
    return inner


def _is_bare(query: exp.Expr) -> bool:
    return not any(value for name, value in query.args.items() if name != "this")


def _plain(table: exp.Expr) -> exp.Table:
    parts: dict[str, Any] = {
        name: table.args[name].copy() for name in ("this", "db", "catalog") if table.args.get(name)
    }
    return exp.Table(**parts)


__all__ = ["TIME", "Steps", "read_input", "table_name", "tables_in"]
