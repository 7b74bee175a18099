"""Where a name stands in a text, for errors that come up after it was read."""

from __future__ import annotations

from sqlglot.errors import SqlglotError

from muntin.sqltext.dialects import DIALECTS
from muntin.sqltext.statement import Dialect


def place_of_name(text: str, name: str, dialect: Dialect, start: int = 0) -> int | None:
    """Give where a name first stands in a text, quoted or not and whatever its case; None where it does not.

    >>> place_of_name("SELECT 'v' AS x, max(`V`) FROM t", "v", "spark")
    21
    """
    try:
        tokens = DIALECTS[dialect]().tokenize(text)
    except SqlglotError:
        return None
    names = (token for token in tokens if token.start >= start and token.token_type.name not in ("STRING", "NUMBER"))
    return next((int(token.start) for token in names if token.text.casefold() == name.casefold()), None)
