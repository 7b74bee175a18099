"""What the columns of a stream's result are, whatever they are called: keys and aggregates of a query.

The metadata of the window column has it, and goes with the rows to a sink. So a table knows the keys of the query, and
takes a result under a new name for the same one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from muntin import names

ORIGINS = "muntin.columns"
OUTPUT = "muntin.output"
"""The metadata of the window column that has output= of the query, if its shape gives other rows in another mode."""


@dataclass(frozen=True, slots=True)
class Origins:
    """The names of a query's keys and results, in the order of the query, which its checkpoint keeps."""

    keys: tuple[str, ...] = ()
    results: tuple[str, ...] = ()

    def metadata(self) -> dict[str, Any]:
        """Return what the window column says of the others."""
        return {ORIGINS: {"keys": list(self.keys), "results": list(self.results)}}

    def of(self, name: str) -> tuple[str, int] | None:
        """Return which key or result a column is; None if that is not known."""
        if name in self.keys:
            return "key", self.keys.index(name)
        return ("result", self.results.index(name)) if name in self.results else None


def origins_of(schema: T.StructType) -> Origins:
    """Return what the columns of a result are, as far as its window column says."""
    return Origins(**{kind: tuple(columns) for kind, columns in _metadata(schema).get(ORIGINS, {}).items()})


def is_described(schema: T.StructType) -> bool:
    """Whether the window column says what the others are; the result of a query without keys says so, too."""
    return ORIGINS in _metadata(schema)


def output_of(schema: T.StructType) -> str:
    """Return the output mode that the query was made for; '' if its rows do not depend on it, or it is not known."""
    return str(_metadata(schema).get(OUTPUT, ""))


def _metadata(schema: T.StructType) -> dict[str, Any]:
    return schema[names.WINDOW].metadata if names.WINDOW in schema.names else {}


def described(frame: DataFrame, origins: Origins) -> DataFrame:
    """Let the window column say what the others are; a result without a window says nothing."""
    if names.WINDOW not in frame.columns:
        return frame
    return frame.withMetadata(names.WINDOW, frame.schema[names.WINDOW].metadata | origins.metadata())
