"""Expressions as Spark SQL: all names quoted, functions as they were written, and no comments."""

from __future__ import annotations

from sqlglot import exp
from sqlglot.errors import ErrorLevel, SqlglotError

from muntin.sqltext.dialects import SparkWindows
from muntin.sqltext.pointing import Refused, unsupported


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
    """Give a node that equals those which differ from it only by case or quotes of names, or by parentheses."""

    def fold(part: exp.Expr) -> exp.Expr:
        while isinstance(part, exp.Paren):
            part = part.this
        if isinstance(part, exp.Identifier):
            return exp.Identifier(this=part.name.casefold(), quoted=False)
        return part

    copy = node.copy().transform(fold, copy=False)
    for part in copy.walk():
        part.comments = None
    return copy


def named(*parts: str) -> exp.Expr:
    """Make a column, or a field of one."""
    column: exp.Expr = exp.column(exp.to_identifier(parts[0], quoted=True))
    return (
        column if len(parts) == 1 else exp.column(*(exp.to_identifier(part, quoted=True) for part in reversed(parts)))
    )
