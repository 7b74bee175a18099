"""What Spark refuses, said of the text that the user wrote: what is wrong, where, and what was perhaps meant."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from pyspark.errors import AnalysisException

from muntin.errors import QueryError
from muntin.sqltext.pointing import did_you_mean, point

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|''|\\.)*'"
    r"|(?P<name>`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\"|\[[^\]]*\]|[^\W\d]\w*)|.",
    re.DOTALL,
)
_PART = re.compile(r"`((?:[^`]|``)*)`|[^.`]+")
_CODES = re.compile(r"^\[[\w.]+\] | SQLSTATE: .*$")


@contextmanager
def pointing(text: str, own: str, tables: Callable[[], Iterable[str]]) -> Iterator[None]:
    """Turn what Spark refuses of a statement into an error that points into the text.

    The statement's own text is a part of it. Names of tables are asked for if one is missing.
    """
    try:
        yield
    except AnalysisException as error:
        raise refusal(error, text, own, tables) from error


def refusal(error: AnalysisException, text: str, own: str, tables: Callable[[], Iterable[str]]) -> QueryError:
    """Say what Spark refuses, with the place of the name that it is about."""
    condition = (error.getCondition() or "").partition(".")[0]
    parameters = error.getMessageParameters() or {}
    match condition:
        case "UNRESOLVED_COLUMN" | "FIELD_NOT_FOUND" | "UNRESOLVED_FIELD" | "UNRESOLVED_MAP_KEY":
            name = parts(parameters.get("objectName") or parameters.get("fieldName", ""))
            known = [parts(it)[-1] for it in _listed(parameters.get("proposal") or parameters.get("fields", ""))]
            message = f"no column {name[-1]!r} in the input.{_meant(name[-1], known)}"
        case "TABLE_OR_VIEW_NOT_FOUND":
            name = parts(parameters.get("relationName", ""))
            given = sorted(set(tables()))
            message = (
                f"no table {'.'.join(name)!r}.{_meant(name[-1], given)} "
                f"Give it by keyword, as in {_keyword(name[-1])}=df, or add it to Spark's catalog."
            )
        case "UNRESOLVED_ROUTINE":
            name = parts(parameters.get("routineName", ""))
            message = f"no function {name[-1]!r} in Spark."
        case _:
            name = []
            message = f"Spark refuses it: {told(error)}"
    return QueryError(point(text, max(text.find(own), 0) + (place_of(own, name[-1]) or 0 if name else 0), message))


def told(error: Exception) -> str:
    """Give the first line of what Spark says, without its codes.

    >>> told(ValueError("[PARSE_SYNTAX_ERROR] Syntax error at end. SQLSTATE: 42601; line 1"))
    'Syntax error at end.'
    """
    first = str(error).strip().splitlines()[0]
    return _CODES.sub("", first).strip()


def place_of(text: str, name: str) -> int | None:
    """Give where a name stands in a text, outside of strings and comments, in whatever case and quotes.

    >>> place_of("SELECT 'x', T.`x` FROM t", "X"), place_of("SELECT 1", "x")
    (14, None)
    """
    for token in _TOKEN.finditer(text):
        if token["name"] is not None and _plain(token["name"]).lower() == name.lower():
            return token.start()
    return None


def parts(name: str) -> list[str]:
    """Give the parts of a name as Spark writes it.

    >>> parts("`a.b`.`c``d`")
    ['a.b', 'c`d']
    """
    return [(part[1] or part[0]).replace("``", "`") for part in _PART.finditer(name)] or [name]


def _listed(names: str) -> list[str]:
    return [name for name in names.split(", ") if name]


def _plain(name: str) -> str:
    quote = name[0]
    if quote in '`"':
        return name[1:-1].replace(quote * 2, quote)
    return name[1:-1] if quote == "[" else name


def _meant(name: str, known: list[str]) -> str:
    """Ask whether a name like it was meant, and list those that there are."""
    others = ", ".join(map(repr, known[:12]))
    return did_you_mean(name, known) + (f" There is {others}." if others else "")


def _keyword(name: str) -> str:
    return name if name.isidentifier() else "events"
