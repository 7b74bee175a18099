"""Tables of Delta and Iceberg as SQL names them: by a catalog's name, or by a path."""

from __future__ import annotations

import re
from typing import Literal

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from muntin.errors import UnsupportedError
from muntin.paths import StrPath, place_of, url
from muntin.safe_text import hide_user_info

TableFormat = Literal["delta", "iceberg"]

_NAME = re.compile(r"(`[^`]+`|\w+)(\.(`[^`]+`|\w+)){0,3}")


def table_name(table: StrPath, format: TableFormat) -> str:
    """Give a table's name as SQL has it; for Delta, a text with a slash is a path.

    >>> table_name("main.ops.windows", "iceberg"), table_name("s3a://bucket/windows", "delta")
    ('main.ops.windows', 'delta.`s3a://bucket/windows`')
    """
    if isinstance(table, str) and _NAME.fullmatch(table):
        return table
    if format == "iceberg":
        raise UnsupportedError(
            f"table {hide_user_info(repr(table))} is no name of a table, and Iceberg's tables are known by names. "
            "Use catalog.schema.table."
        )
    place = url(place_of(table, "table"))
    if "`" in place:
        shown = hide_user_info(repr(table))
        raise UnsupportedError(f"table {shown} has a backquote, which Delta's paths cannot have. Use another path.")
    return f"delta.`{place}`"


def exists(spark: SparkSession, name: str) -> bool:
    """Tell whether there is such a table; of a path, Delta says by an error that there is none."""
    try:
        return bool(spark.catalog.tableExists(name))
    except AnalysisException as error:
        if "DELTA_MISSING_DELTA_TABLE" in str(error):
            return False
        raise
