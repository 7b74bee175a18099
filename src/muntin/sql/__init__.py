"""SQL that asks for windows: read from text with sqlglot, and written back."""

from muntin.sql.finding import place_of_name
from muntin.sql.pointing import did_you_mean, point
from muntin.sql.reading import read
from muntin.sql.renaming import with_tables
from muntin.sql.writing import write

__all__ = ["did_you_mean", "place_of_name", "point", "read", "with_tables", "write"]
