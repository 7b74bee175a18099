"""Statements to text: what is read from it again is the same."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from muntin.errors import QueryError, UnsupportedError
from muntin.sqltext.dialects import DIALECTS
from muntin.sqltext.pointing import Refused
from muntin.sqltext.reading import read
from muntin.sqltext.spelling import parsed, parsed_order, within, written
from muntin.sqltext.statement import KEY, RESULT, WINDOW, WINDOW_ID, Dialect, Input, Select, Statement
from muntin.window import AnyWindow, Session, Snapshot, Window
from tests.sql.wording import (
    interval,
    number_and_unit,
    text_in_quotes,
    unit_and_number,
    words_of_call,
    words_of_window,
)

INPUT = "muntin_input"
"""The name of a query that a dialect cannot read in brackets."""

_ENDS: dict[Dialect, dict[str, str]] = {
    "azure": {"end": "System.Timestamp()"},
    "flink": {"start": "window_start", "end": "window_end"},
    "spark": {"start": "{}.`start`", "end": "{}.`end`", "": "{}"},
}


def write(what: Statement | Select, dialect: Dialect) -> str:
    """Write a statement or a SELECT in a dialect, which reads the same again.

    Which end belongs to an instance is no part of the text: give it to read as boundaries.

    >>> (statement,) = read("SELECT MAX(v) AS top FROM t TIMESTAMP BY ts GROUP BY Tumbling(hour, 1)")
    >>> write(statement.selects[0], "spark")
    "SELECT MAX(`v`) AS `top` FROM `t` GROUP BY window(`ts`, '1 hours')"
    """
    steps: dict[str, str] = {}
    if isinstance(what, Select):
        text = _with(steps, _select(what, dialect, steps), dialect)
        _check([what], text, dialect)
        return text
    if not what.selects:
        if dialect != "spark" or what.spark is None:
            raise UnsupportedError(f"statement {what.name!r} has no windows: it is written in Spark SQL only.")
        return f"-- name: {what.name}\n{what.spark}"
    union = " UNION " if dialect == "azure" else " UNION ALL "
    text = union.join([_select(select, dialect, steps) for select in what.selects])
    if what.order:
        text += f" ORDER BY {', '.join(_written(parsed_order(order), dialect) for order in what.order)}"
    if what.limit is not None:
        if dialect == "azure":
            raise UnsupportedError("a query of Azure has no LIMIT. Write it in another dialect.")
        text += f" LIMIT {what.limit}"
    text = f"-- name: {what.name}\n{_with(steps, text, dialect)}"
    _check(what.selects, text, dialect)
    return text


def _check(selects: Any, text: str, dialect: Dialect) -> None:
    """Refuse what a dialect has no words for: what it reads would be something else."""
    try:
        (again,) = read(text, dialect, selects[0].boundaries)
        same = again.selects == tuple(selects)
    except (QueryError, UnsupportedError):
        same = False
    if not same:
        raise UnsupportedError(
            f"{dialect} has no words for all of this query. Write it in the dialect that it was read from."
        )


def _with(steps: dict[str, str], text: str, dialect: Dialect) -> str:
    """Write steps, which are names by their queries, before a query."""
    written = [f"{_identifier(name, dialect)} AS ({query})" for query, name in steps.items()]
    return f"WITH {', '.join(written)} {text}" if steps else text


def _select(select: Select, dialect: Dialect, steps: dict[str, str]) -> str:
    parts = _Parts(select, dialect)
    relation = parts.relation(steps)
    items = ", ".join(parts.item(output.sql, output.name) for output in select.outputs)
    keys = [_expression(key, dialect) for key in select.keys]
    text = f"SELECT {items} FROM {relation}"
    if select.where is not None:
        text += f" WHERE {_expression(select.where, dialect)}"
    text += f" GROUP BY {', '.join([*keys, *parts.grouping()])}"
    if select.having is not None:
        text += f" HAVING {parts.over(select.having)}"
    return text


class _Parts:
    """What is written of one SELECT."""

    def __init__(self, select: Select, dialect: Dialect) -> None:
        self.select, self.dialect = select, dialect
        if dialect != "azure" and len(select.windows) > 1:
            raise UnsupportedError(
                f"a SELECT of {dialect} has one window, not {len(select.windows)}. Write it for azure."
            )
        self.window = select.windows[0]

    def item(self, sql: str, name: str | None) -> str:
        return self.over(sql) + ("" if name is None else f" AS {_identifier(name, self.dialect)}")

    def over(self, sql: str) -> str:
        """Write an expression over window, keys and results."""

        def change(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column):
                return node
            parts = [part.name for part in node.parts]
            if parts[0] == WINDOW:
                return self._end(parts[1] if len(parts) > 1 else "")
            if parts[0] == WINDOW_ID:
                if self.dialect != "azure":
                    raise UnsupportedError(f"{self.dialect} has no ids of windows. Write it for azure.")
                return exp.Var(this="System.Window().Id")
            for names, values in ((KEY, self.select.keys), (RESULT, self.select.calls)):
                prefix = names.format("")
                if parts[0].startswith(prefix) and parts[0][len(prefix) :].isdecimal():
                    value: Any = values[int(parts[0][len(prefix) :])]
                    tree = parsed(value) if isinstance(value, str) else words_of_call(value, self.dialect)
                    return tree if node.parent is None else within(tree)
            return node

        return _written(parsed(sql).transform(change), self.dialect)

    def _end(self, name: str) -> exp.Expr:
        words = _ENDS[self.dialect].get(name)
        if words is None:
            raise UnsupportedError(f"{self.dialect} has no words for the window's {name or 'start and end'}.")
        return exp.Var(this=words.format("session_window" if isinstance(self.window, Session) else "window"))

    def relation(self, steps: dict[str, str]) -> str:
        """Write what is read; a query that needs a name is added to the steps."""
        table = _table(self.select.input, self.dialect, steps)
        time = _expression(self.select.input.time, self.dialect)
        if self.dialect == "spark":
            return table
        if self.dialect == "azure":
            return f"{table} TIMESTAMP BY {time}"
        parts = ""
        if isinstance(self.window, Session) and self.select.keys:
            parts = f" PARTITION BY ({', '.join(_expression(key, self.dialect) for key in self.select.keys)})"
        name, lengths = words_of_window(self.window, "flink")
        words = ", ".join(interval(length) for length in lengths)
        return f"TABLE({name}(TABLE {table}{parts}, DESCRIPTOR({time}), {words}))"

    def grouping(self) -> list[str]:
        """Write the windows as GROUP BY has them."""
        if self.dialect == "flink":
            return ["window_start", "window_end"]
        if self.dialect == "spark":
            name, lengths = words_of_window(self.window, "spark")
            words = ", ".join(f"'{number_and_unit(length, ' ')}s'" for length in lengths)
            return [f"{name}({_expression(self.select.input.time, 'spark')}, {words})"]
        definitions = [self._definition(window) for window in self.select.windows]
        if self.window.id is not None:
            pairs = zip(self.select.windows, definitions, strict=True)
            definitions = [f"Window({text_in_quotes(window.id or '')}, {definition})" for window, definition in pairs]
        alone = len(definitions) == 1 and self.window.id is None
        return definitions if alone else [f"Windows({', '.join(definitions)})"]

    def _definition(self, window: AnyWindow) -> str:
        if isinstance(window, Snapshot):
            return "SnapshotWindow()"
        name, lengths = words_of_window(window, "azure")
        named = zip(
            ("Timeout",) if isinstance(window, Session) else ("Duration", "Hop", "Offset"), lengths, strict=False
        )
        if isinstance(window, Window) and window.is_tumbling:
            named = zip(("Duration", "Offset"), lengths, strict=False)
        words = ", ".join(f"{one}({unit_and_number(length)})" for one, length in named)
        keys = ", ".join(_expression(key, "azure") for key in self.select.keys)
        over = f" OVER (PARTITION BY {keys})" if isinstance(window, Session) and keys else ""
        return f"{name}({words}){over}"


def _table(read_from: Input, dialect: Dialect, steps: dict[str, str]) -> str:
    """Write what is read: a table, or a query in brackets or as a step before."""
    query = parsed(read_from.sql)
    table = query.args["from_"].this if isinstance(query, exp.Select) and query.args.get("from_") else None
    plain = isinstance(table, exp.Table) and query == exp.Select(
        expressions=[exp.Star()], from_=exp.From(this=table.copy())
    )
    if plain and table is not None and not table.alias:
        return _written(table, dialect)
    text = _written(query, dialect)
    if dialect == "spark":
        return f"({text})"
    return _identifier(steps.setdefault(text, f"{INPUT}_{len(steps)}"), dialect)


def _expression(sql: str, dialect: Dialect) -> str:
    return _written(parsed(sql), dialect)


def _written(node: exp.Expr, dialect: Dialect) -> str:
    try:
        return written(node, DIALECTS[dialect])
    except Refused as refused:
        raise UnsupportedError(f"{dialect} has no words for a part of this query: {refused.message}") from None


def _identifier(name: str, dialect: Dialect) -> str:
    return _written(exp.to_identifier(name, quoted=True), dialect)
