"""What Spark refuses, said of the text that the user wrote: what is wrong, where, and what was perhaps meant."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pyspark.errors import AnalysisException
from pyspark.logger import PySparkLogger

from muntin.errors import QueryError, UnsupportedError
from muntin.sentences import sentence_of
from muntin.sqltext import did_you_mean, place_of_name, point
from muntin.sqltext.statement import Statement

_PART = re.compile(r"`((?:[^`]|``)*)`|[^.`]+")
_QUOTED = re.compile(r"'((?:[^']|'')+)'")
_PLACED = re.compile(r"line \d+, column \d+: ")
_CONDITIONS = {
    "UNRESOLVED_COLUMN": (("column", "objectName"),),
    "UNRESOLVED_FIELD": (("column", "fieldName"),),
    "FIELD_NOT_FOUND": (("column", "fieldName"),),
    "TABLE_OR_VIEW_NOT_FOUND": (("table", "relationName"),),
    "UNRESOLVED_ROUTINE": (("function", "routineName"),),
}
"""Conditions of Spark's errors that are about a name, and the parameters that have it."""
_LISTED = 12
"""How many names are listed at most."""


@contextmanager
def quietly() -> Iterator[None]:
    """Keep Spark from logging what it refuses in this thread: an error of ours will say it."""
    own = threading.get_ident()
    loggers = [PySparkLogger.getLogger(name) for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger")]

    def others(record: logging.LogRecord) -> bool:
        return record.thread != own

    for logger in loggers:
        logger.addFilter(others)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(others)


@dataclass(frozen=True)
class Text:
    """A statement within a text, and the names of columns and tables that it could have meant."""

    whole: str
    statement: Statement
    columns: Callable[[], Iterable[str]]
    tables: Callable[[], Iterable[str]]

    @contextmanager
    def pointing(self) -> Iterator[None]:
        """Let what Spark or Muntin refuses of the statement be an error that points into the text."""
        try:
            yield
        except AnalysisException as error:
            raise self.refusal(error) from error
        except (QueryError, UnsupportedError) as error:
            if _PLACED.match(str(error)):
                raise
            if isinstance(error.__cause__, AnalysisException) and _names(error.__cause__):
                raise self.refusal(error.__cause__) from error
            raise self._pointed(error) from error

    def refusal(self, error: AnalysisException) -> QueryError:
        """Say what Spark refuses, at the place of the name that it is about."""
        (kind, name), *_ = [*_names(error), ("", [""])]
        match kind:
            case "column":
                message = f"no column {name[-1]!r} in the input.{suggest_name(name[-1], self.columns())}"
            case "table":
                message = (
                    f"no table {'.'.join(name)!r}.{suggest_name(name[-1], self.tables())} "
                    f"Give it by keyword, as in {keyword_of(name[-1])}=df, or add it to Spark's catalog."
                )
            case "function":
                message = f"no function {name[-1]!r} in Spark."
            case _:
                return QueryError(self._at(_fragment(error), f"Spark refuses it: {sentence_of(error)}"))
        return QueryError(self._at(name[-1], message))

    def _pointed(self, error: Exception) -> Exception:
        """Give an error with the place of the first name in quotes that the statement has."""
        named = (name for name in _QUOTED.findall(str(error)) if self._place(name) is not None)
        return type(error)(self._at(next(named, ""), str(error)))

    def _at(self, name: str, message: str) -> str:
        own, place = self.statement.text, self._place(name)
        place = max(own.find(name), 0) if place is None else place
        return point(self.whole, max(self.whole.find(own), 0) + place, message)

    def _place(self, name: str) -> int | None:
        return place_of_name(self.statement.text, name, self.statement.dialect)


def _names(error: AnalysisException) -> list[tuple[str, list[str]]]:
    """Give the kind and the parts of the name that an error is about, if it is about one."""
    condition = (error.getCondition() or "").partition(".")[0]
    parameters = error.getMessageParameters() or {}
    named = [(kind, parameters[name]) for kind, name in _CONDITIONS.get(condition, ()) if name in parameters]
    return [(kind, parts(name)) for kind, name in named]


def _fragment(error: AnalysisException) -> str:
    """Give the part of the text that Spark refuses, where it says which."""
    contexts = [context for context in error.getQueryContext() if context.contextType().name == "SQL"]
    return contexts[0].fragment() if contexts else ""


def parts(name: str) -> list[str]:
    """Give the parts of a name as Spark writes it.

    >>> parts("`a.b`.`c``d`")
    ['a.b', 'c`d']
    """
    return [(part[1] or part[0]).replace("``", "`") for part in _PART.finditer(name)] or [name]


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Ask whether a name like it was meant, and list those that there are."""
    given = list(dict.fromkeys(known))
    others = ", ".join(map(repr, given[:_LISTED])) + (", …" if len(given) > _LISTED else "")
    return did_you_mean(name, given) + (f" There is {others}." if given else "")


def keyword_of(name: str) -> str:
    """Return a name that a table can be given by as a keyword."""
    return name if name.isidentifier() else "events"
