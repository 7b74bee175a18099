"""Expressions as Spark SQL: all names quoted, functions as they were written, and no comments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from muntin.errors import UnsupportedError
from muntin.sqltext.dialects import SparkWindows
from muntin.sqltext.pointing import Refused, unsupported

_WHOLE = (exp.Column, exp.Func, exp.Literal, exp.Paren, exp.Var, exp.Filter, exp.Window)
"""What needs no parentheses."""


def spark_sql(node: exp.Expr) -> str:
    """Write a node in Spark SQL.

    >>> spark_sql(exp.column("a`b") + 1)
    '`a``b` + 1'
    """
    return written(node, SparkWindows)


def written(node: exp.Expr, dialect: object, level: ErrorLevel = ErrorLevel.RAISE) -> str:
    """Write a node in a dialect; refuse what the dialect has no words for."""
    options = {"identify": True, "normalize_functions": False, "comments": False, "unsupported_level": level}
    try:
        return node.sql(dialect=dialect, **options)  # type: ignore[arg-type]
    except SqlglotError as error:
        unsupported(node, f"this has no equal in Spark SQL: {error}.", "a part of it has no words that are known here")
    except RecursionError:
        raise
    except Exception as error:
        raise Refused(node, "this cannot be written in Spark SQL.", "a part of it cannot be written again") from error


def folded(node: exp.Expr) -> exp.Expr:
    """Give a node that equals those which differ from it only by case or quotes of names, or by parentheses.

    >>> folded(exp.column("A")) == folded(exp.paren(exp.column("a", quoted=True)))
    True
    """
    copy = node.copy()
    while isinstance(copy, exp.Paren):
        copy = copy.this.pop()
    for part in list(copy.find_all(exp.Paren, exp.Identifier)):
        if isinstance(part, exp.Identifier):
            part.set("this", part.name.casefold())
            part.set("quoted", False)
        else:
            part.replace(part.this)
    return copy


def sizes(node: exp.Expr) -> dict[int, int]:
    """Give how many nodes every node has in it with itself, by the ids of nodes; parentheses do not count.

    Nodes that equal one another when they are folded have the same size.
    """
    found: dict[int, int] = {}
    for part in reversed(list(node.walk())):
        size = found.pop(id(part), 0) + (not isinstance(part, exp.Paren))
        found[id(part)] = size
        if part is not node and part.parent is not None:
            found[id(part.parent)] = found.get(id(part.parent), 0) + size
    return found


def within(node: exp.Expr) -> exp.Expr:
    """Give a node that can stand within any other: in parentheses, unless it holds together by itself."""
    return node if isinstance(node, _WHOLE) else exp.Paren(this=node)


def named(*parts: str) -> exp.Expr:
    """Make a column, or a field of one."""
    return column_of([exp.to_identifier(part, quoted=True) for part in parts])


def column_of(parts: Sequence[Any]) -> exp.Column:
    """Make a column of its parts, the widest first."""
    return exp.Column(**dict(zip(("this", "table", "db", "catalog"), reversed(parts), strict=False)))


def parsed(sql: str) -> exp.Expr:
    """Read Spark SQL that was written here: a query, or an expression."""
    dialect = SparkWindows()
    tokens = dialect.tokenize(sql)
    if tokens[0].text.upper() in ("SELECT", "WITH", "("):
        (tree,) = dialect.parser(error_level=ErrorLevel.IMMEDIATE).parse(tokens, sql)
        if isinstance(tree, exp.Query):
            return tree
    return parsed_order(sql).this  # type: ignore[no-any-return]


def rename_columns(sql: str, names: Mapping[str, str]) -> str:
    """Write an expression with other names for some columns.

    >>> rename_columns("`a` || 'a'", {"a": "b"})
    "`b` || 'a'"
    """

    def rename(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column) or node.parts[0].name not in names:
            return node
        first, *fields = node.parts
        return column_of([exp.to_identifier(names[first.name], quoted=True), *fields])

    return spark_sql(parsed(sql).transform(rename))


def parsed_order(sql: str) -> exp.Expr:
    """Read an expression with the direction that it is ordered in."""
    dialect = SparkWindows()
    parser = dialect.parser(error_level=ErrorLevel.IMMEDIATE)
    (tree,) = parser.parse_into(exp.Ordered, dialect.tokenize(sql), sql)
    if tree is None:
        raise UnsupportedError(f"{sql!r} is no expression.")
    return tree
