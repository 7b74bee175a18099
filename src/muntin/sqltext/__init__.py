"""SQL that asks for windows: read from text with sqlglot, and written back."""

from muntin.sqltext.pointing import point
from muntin.sqltext.reading import read
from muntin.sqltext.renaming import with_tables

__all__ = ["point", "read", "with_tables"]
