"""Other names for the tables that a query of Spark SQL reads."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot.errors import ErrorLevel

from muntin.sqltext.dialects import SparkWindows
from muntin.sqltext.inputs import tables_in


def with_tables(sql: str, names: Mapping[str, str]) -> str:
    """Give a query that reads other tables; all else stays as it was written.

    Names are found whatever their case; those of several parts stay.

    >>> with_tables("SELECT v FROM Events e JOIN db.events d", {"events": "source_1"})
    'SELECT v FROM `source_1` e JOIN db.events d'
    """
    others = {name.casefold(): other for name, other in names.items()}
    dialect = SparkWindows()
    places = []
    for tree in dialect.parser(error_level=ErrorLevel.IMMEDIATE).parse(dialect.tokenize(sql), sql):
        for table in [] if tree is None else tables_in(tree):
            if not table.db and table.name.casefold() in others and "start" in table.this.meta:
                # without an alias, columns may still be qualified by the old name
                told = "" if table.alias else f" AS {_quoted(table.name)}"
                shown = _quoted(others[table.name.casefold()]) + told
                places.append((table.this.meta["start"], table.this.meta["end"], shown))
    for start, end, shown in sorted(places, reverse=True):
        sql = sql[:start] + shown + sql[end + 1 :]
    return sql


def _quoted(name: str) -> str:
    return f"`{name.replace('`', '``')}`"
