"""Names in a text of SQL, outside of strings and comments, in whatever case and quotes."""

from __future__ import annotations

import re
from collections.abc import Iterator

_TOKEN = re.compile(
    r"--[^\n]*|/\*.*?\*/|'(?:[^'\\]|''|\\.)*'"
    r"|(?P<name>`(?:[^`]|``)*`|\"(?:[^\"]|\"\")*\"|\[[^\]]*\]|[^\W\d]\w*)|.",
    re.DOTALL,
)
_AFTER_GROUP = frozenset(
    [
        "HAVING",
        "ORDER",
        "SORT",
        "CLUSTER",
        "DISTRIBUTE",
        "LIMIT",
        "OFFSET",
        "WINDOW",
        "UNION",
        "EXCEPT",
        "INTERSECT",
        "MINUS",
    ]
)


def place_of(text: str, name: str) -> int | None:
    """Give where a name stands in a text, outside of strings and comments, in whatever case and quotes.

    >>> place_of("SELECT 'x', T.`x` FROM t", "X"), place_of("SELECT 1", "x")
    (14, None)
    """
    return next((token.start() for token in _names(text) if _plain(token[0]).lower() == name.lower()), None)


def grouped_names(text: str) -> set[str]:
    """Give the names that stand after any GROUP BY, in lower case.

    >>> sorted(grouped_names("SELECT a FROM t GROUP BY `B`, f(c) HAVING d > 1"))
    ['b', 'c', 'f']
    """
    names, grouped, before = set(), False, ""
    for token in _names(text):
        word = token[0].upper()
        if word == "BY" and before == "GROUP":
            grouped = True
        elif word in _AFTER_GROUP:
            grouped = False
        elif grouped:
            names.add(_plain(token[0]).lower())
        before = word
    return names


def _names(text: str) -> Iterator[re.Match[str]]:
    return (token for token in _TOKEN.finditer(text) if token["name"] is not None)


def _plain(name: str) -> str:
    quote = name[0]
    if quote in '`"':
        return name[1:-1].replace(quote * 2, quote)
    return name[1:-1] if quote == "[" else name
