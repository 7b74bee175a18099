"""SQL that asks for windows, read from text with sqlglot."""

from muntin.sqltext.finding import place_of_name
from muntin.sqltext.pointing import did_you_mean, point
from muntin.sqltext.reading import read, read_for_spark
from muntin.sqltext.spelling import rename_columns

__all__ = ["did_you_mean", "place_of_name", "point", "read", "read_for_spark", "rename_columns"]
