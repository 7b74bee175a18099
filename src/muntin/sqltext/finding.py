"""Where a name stands in a text, for errors that come up after it was read."""

from __future__ import annotations

from functools import lru_cache

from sqlglot.errors import SqlglotError

from muntin.sqltext.dialects import sqlglot_dialect
from muntin.sqltext.statement import Dialect


def place_of_name(text: str, name: str, dialect: Dialect) -> int | None:
    """Give where a name first stands in a text, quoted or not and whatever its case; None where it does not.

    >>> place_of_name("SELECT 'v' AS x, max(`V`) FROM t", "v", "spark")
    21
    """
    return _places(text, dialect).get(name.casefold())


@lru_cache(maxsize=8)  # a text is asked for many names
def _places(text: str, dialect: Dialect) -> dict[str, int]:
    """Give where every word of a text first stands that may be a name."""
    try:
        tokens = sqlglot_dialect(dialect).tokenize(text)
    except SqlglotError:
        return {}
    places: dict[str, int] = {}
    for token in tokens:
        is_quoted = text[token.start] == '"'  # which may be a name, too
        if is_quoted or token.token_type.name not in ("STRING", "NUMBER"):
            places.setdefault(token.text.casefold(), int(token.start))
    return places
