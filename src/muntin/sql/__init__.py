"""SQL that asks for windows: read from text with sqlglot, and written back."""

from muntin.sql.pointing import point
from muntin.sql.reading import read
from muntin.sql.renaming import with_tables

__all__ = ["point", "read", "with_tables"]
