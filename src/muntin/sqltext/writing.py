"""Statements to text: what is read from it again is the same."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sqlglot import exp
from sqlglot.errors import ErrorLevel

from muntin.duration import UNIT_NAMES, natural_unit
from muntin.errors import QueryError, UnsupportedError
from muntin.sqltext.dialects import DIALECTS, SparkWindows
from muntin.sqltext.pointing import Refused
from muntin.sqltext.reading import read
from muntin.sqltext.spelling import within, written
from muntin.sqltext.statement import KEY, RESULT, WINDOW, WINDOW_ID, Call, Dialect, Input, Select, Statement
from muntin.window import AnyWindow, Cumulating, Session, Snapshot, Window

INPUT = "muntin_input"
"""The name of a query that a dialect cannot read in brackets."""

_AZURE = {"stddev": "STDEV", "stddev_pop": "STDEVP", "variance": "VAR", "var_pop": "VARP"}
_FLINK = {"first": "FIRST_VALUE", "last": "LAST_VALUE"}
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
    if isinstance(what, Select):
        text = _select(what, dialect)
        _check([what], text, dialect)
        return text
    if not what.selects:
        if dialect != "spark" or what.spark is None:
            raise UnsupportedError(f"statement {what.name!r} has no windows: it is written in Spark SQL only.")
        return f"-- name: {what.name}\n{what.spark}"
    text = (" UNION ALL " if dialect != "azure" else " UNION ").join(
        _select(select, dialect) for select in what.selects
    )
    if what.order:
        text += f" ORDER BY {', '.join(_expression(order, dialect) for order in what.order)}"
    if what.limit is not None:
        if dialect == "azure":
            raise UnsupportedError("a query of Azure has no LIMIT. Write it in another dialect.")
        text += f" LIMIT {what.limit}"
    text = f"-- name: {what.name}\n{text}"
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


def _select(select: Select, dialect: Dialect) -> str:
    parts = _Parts(select, dialect)
    before, relation = parts.relation()
    items = ", ".join(parts.item(output.sql, output.name) for output in select.outputs)
    keys = [_expression(key, dialect) for key in select.keys]
    text = f"{before}SELECT {items} FROM {relation}"
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
                    tree = _tree(value) if isinstance(value, str) else _aggregate(value, self.dialect)
                    return tree if node.parent is None else within(tree)
            return node

        return _written(_tree(sql).transform(change), self.dialect)

    def _end(self, name: str) -> exp.Expr:
        words = _ENDS[self.dialect].get(name)
        if words is None:
            raise UnsupportedError(f"{self.dialect} has no words for the window's {name or 'start and end'}.")
        return exp.Var(this=words.format("session_window" if isinstance(self.window, Session) else "window"))

    def relation(self) -> tuple[str, str]:
        """Write what is read, and the steps before it."""
        before, table = _steps(self.select.input, self.dialect)
        time = _expression(self.select.input.time, self.dialect)
        if self.dialect == "spark":
            return before, table
        if self.dialect == "azure":
            return before, f"{table} TIMESTAMP BY {time}"
        parts = ""
        if isinstance(self.window, Session) and self.select.keys:
            parts = f" PARTITION BY ({', '.join(_expression(key, self.dialect) for key in self.select.keys)})"
        name, lengths = _lengths(self.window, "flink")
        words = ", ".join(_interval(length) for length in lengths)
        return before, f"TABLE({name}(TABLE {table}{parts}, DESCRIPTOR({time}), {words}))"

    def grouping(self) -> list[str]:
        """Write the windows as GROUP BY has them."""
        if self.dialect == "flink":
            return ["window_start", "window_end"]
        if self.dialect == "spark":
            name, lengths = _lengths(self.window, "spark")
            words = ", ".join(f"'{_number_and_unit(length, ' ')}s'" for length in lengths)
            return [f"{name}({_expression(self.select.input.time, 'spark')}, {words})"]
        definitions = [self._definition(window) for window in self.select.windows]
        if self.window.id is not None:
            pairs = zip(self.select.windows, definitions, strict=True)
            definitions = [f"Window({_text(window.id or '')}, {definition})" for window, definition in pairs]
        alone = len(definitions) == 1 and self.window.id is None
        return definitions if alone else [f"Windows({', '.join(definitions)})"]

    def _definition(self, window: AnyWindow) -> str:
        if isinstance(window, Snapshot):
            return "SnapshotWindow()"
        name, lengths = _lengths(window, "azure")
        named = zip(
            ("Timeout",) if isinstance(window, Session) else ("Duration", "Hop", "Offset"), lengths, strict=False
        )
        if isinstance(window, Window) and window.is_tumbling:
            named = zip(("Duration", "Offset"), lengths, strict=False)
        words = ", ".join(f"{one}({_unit_and_number(length)})" for one, length in named)
        keys = ", ".join(_expression(key, "azure") for key in self.select.keys)
        over = f" OVER (PARTITION BY {keys})" if isinstance(window, Session) and keys else ""
        return f"{name}({words}){over}"


def _lengths(window: AnyWindow, dialect: Dialect) -> tuple[str, list[int]]:
    """Give the name of a window's function and its lengths, in the dialect's order."""
    match window:
        case Window():
            tumbling, offset = window.is_tumbling, [window.offset] if window.offset else []
            if dialect == "spark":
                return "window", [window.range, *([window.slide] if offset or not tumbling else []), *offset]
            if dialect == "azure":
                name = "TumblingWindow" if tumbling else "HoppingWindow"
                return name, [window.range, *([] if tumbling else [window.slide]), *offset]
            if tumbling:
                return "TUMBLE", [window.range, *offset]
            return "HOP", [window.slide, window.range, *offset]
        case Session() if window.longest is None:
            return {"spark": "session_window", "azure": "SessionWindow", "flink": "SESSION"}[dialect], [window.gap]
        case Cumulating() if dialect == "flink":
            return "CUMULATE", [window.step, window.range, *([window.offset] if window.offset else [])]
    raise UnsupportedError(f"{dialect} has no words for the window {window.label!r}. Write it in another dialect.")


def _aggregate(call: Call, dialect: Dialect) -> exp.Expr:
    """Write a call as a node of the dialect."""
    arguments: list[exp.Expr] = [_tree(argument) for argument in call.arguments]
    options = dict(call.options)
    name = call.function.upper()
    match call.function, dialect:
        case "count_distinct", _:
            return exp.Anonymous(this="COUNT", expressions=[exp.Distinct(expressions=arguments)])
        case "count", _ if not arguments:
            return exp.Anonymous(this="COUNT", expressions=[exp.Star()])
        case "count_if", "flink":
            count = exp.Anonymous(this="COUNT", expressions=[exp.Star()])
            return exp.Filter(this=count, expression=exp.Where(this=arguments[0]))
        case "percentile", "azure":
            order = exp.Order(expressions=[exp.Ordered(this=arguments[0], nulls_first=True)])
            return exp.Window(this=exp.Anonymous(this="PERCENTILE_CONT", expressions=[_number(options)]), order=order)
        case "percentile", _:
            return exp.Anonymous(this=name, expressions=[*arguments, _number(options)])
    return exp.Anonymous(
        this={"azure": _AZURE, "flink": _FLINK}.get(dialect, {}).get(call.function, name), expressions=arguments
    )


def _number(options: dict[str, Any]) -> exp.Expr:
    return exp.Literal.number(format(Decimal(repr(options["fraction"])), "f"))


def _steps(read_from: Input, dialect: Dialect) -> tuple[str, str]:
    """Write what is read: a table, or a query in brackets or as a step before."""
    query = _tree(read_from.sql)
    table = query.args["from_"].this if isinstance(query, exp.Select) and query.args.get("from_") else None
    plain = isinstance(table, exp.Table) and query == exp.Select(
        expressions=[exp.Star()], from_=exp.From(this=table.copy())
    )
    if plain and table is not None and not table.alias:
        return "", _written(table, dialect)
    text = _written(query, dialect)
    if dialect == "spark":
        return "", f"({text})"
    return f"WITH {_identifier(INPUT, dialect)} AS ({text}) ", _identifier(INPUT, dialect)


def _tree(sql: str) -> exp.Expr:
    """Read Spark SQL that was written here."""
    dialect = SparkWindows()
    parser = dialect.parser(error_level=ErrorLevel.IMMEDIATE)
    tokens = dialect.tokenize(sql)
    (tree,) = parser.parse(tokens, sql) if tokens[0].text in ("SELECT", "WITH", "(") else [None]
    if not isinstance(tree, exp.Query):
        (tree,) = parser.parse_into(exp.Ordered, tokens, sql)
        tree = tree.this if isinstance(tree, exp.Ordered) and tree.args.get("desc") is None else tree
    if tree is None:
        raise UnsupportedError(f"{sql!r} is no expression.")
    return tree


def _expression(sql: str, dialect: Dialect) -> str:
    return _written(_tree(sql), dialect)


def _written(node: exp.Expr, dialect: Dialect) -> str:
    try:
        return written(node, DIALECTS[dialect])
    except Refused as refused:
        raise UnsupportedError(f"{dialect} has no words for a part of this query: {refused.message}") from None


def _identifier(name: str, dialect: Dialect) -> str:
    return _written(exp.to_identifier(name, quoted=True), dialect)


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _number_and_unit(length: int, between: str) -> str:
    unit = natural_unit([abs(length)])
    return f"{length // unit}{between}{UNIT_NAMES[unit]}"


def _unit_and_number(length: int) -> str:
    unit = natural_unit([abs(length)])
    return f"{UNIT_NAMES[unit]}, {length // unit}"


def _interval(length: int) -> str:
    unit = natural_unit([abs(length)])
    return f"INTERVAL '{length // unit}' {UNIT_NAMES[unit].upper()}"
