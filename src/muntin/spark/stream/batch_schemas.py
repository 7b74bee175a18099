"""The schemas of micro-batches: which columns of older ones are which of newer ones, whatever they are called."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from pyspark.sql import types as T

from muntin.errors import QueryError
from muntin.files import Files
from muntin.formats import FORMAT, check_format
from muntin.safe_text import hide_user_info
from muntin.spark.input.origins import origins_of

SCHEMAS = "_schemas"
"""The folder of schemas. Spark reads neither it nor its files, whose names begin likewise, not even by folder/*."""


@dataclass(frozen=True, slots=True)
class BatchSchema:
    """The columns of micro-batches, and which of them are keys."""

    columns: T.StructType
    keys: tuple[str, ...] = ()

    @staticmethod
    def plain(columns: T.StructType) -> BatchSchema:
        """Return the names and types of columns alone: who reads files himself does not know of other names."""
        return BatchSchema(plain(columns))

    def to_json(self) -> str:
        """Write the schema with its format."""
        return json.dumps({"format": FORMAT, "keys": self.keys, "columns": self.columns.jsonValue()}) + "\n"

    @staticmethod
    def from_json(text: str, origin: str) -> BatchSchema:
        """Read a schema back; refuse one of a later format.

        >>> schema = BatchSchema(T.StructType().add("k", "string"), ("k",))
        >>> BatchSchema.from_json(schema.to_json(), "a file") == schema
        True
        """
        fields = json.loads(text)
        check_format(fields["format"], origin)
        return BatchSchema(T.StructType.fromJson(fields["columns"]), tuple(fields["keys"]))


@dataclass(frozen=True, slots=True)
class SchemaLog:
    """The schemas of a folder's micro-batches, each in a file with the number of the first one that has it."""

    files: Files
    place: str = field(repr=False)

    def numbers(self) -> list[int]:
        """Return the numbers of the micro-batches from which on there is another schema."""
        names = self.files.list(f"{self.place}/{SCHEMAS}")
        return sorted(int(name[1:].removesuffix(".json")) for name in names if name.endswith(".json"))

    def at(self, batch: int) -> BatchSchema | None:
        """Return the schema of a micro-batch; None if it is not recorded."""
        numbers = [number for number in self.numbers() if number <= batch]
        if not numbers:
            return None
        file = self.file(max(numbers))
        return BatchSchema.from_json(self.files.read(file), hide_user_info(file))

    def put(self, batch: int, schema: BatchSchema) -> None:
        """Record the schema of a micro-batch, unless it is the one that is recorded."""
        if self.at(batch) != schema:
            self.files.make(f"{self.place}/{SCHEMAS}")
            self.files.put(self.file(batch), schema.to_json())

    def file(self, batch: int) -> str:
        """Return the path of a schema."""
        return f"{self.place}/{SCHEMAS}/_{batch:012d}.json"


def newer_names(older: T.StructType, newer: T.StructType) -> dict[str, str]:
    """Return what newer micro-batches call each column of older ones; what they do not have is left out.

    A column that stands for the same key or aggregate is the same one, and else one of the same name.

    >>> newer_names(T.StructType().add("a", "long").add("b", "long"), T.StructType().add("b", "long"))
    {'b': 'b'}
    """
    before, after = origins_of(older), origins_of(newer)
    moved = [name for name in newer.names if name not in older.names or before.of(name) != after.of(name)]
    found = {}
    for name in older.names:
        origin = before.of(name)
        renamed = next((other for other in moved if origin and after.of(other) == origin), None)
        if renamed and (name in moved or name not in newer.names):
            moved.remove(renamed)
            found[name] = renamed
        elif name in newer.names:
            found[name] = name
    return found


def check_successor(place: str, older: BatchSchema, newer: BatchSchema) -> None:
    """Refuse columns that cannot be put beside older ones: of other types or keys, or perhaps renamed."""
    names = newer_names(older.columns, newer.columns)
    for name, other in names.items():
        before, after = (schema.columns[column].dataType for schema, column in ((older, name), (newer, other)))
        if before.simpleString() != after.simpleString():
            raise QueryError(
                f"column {other!r} of {place} was {before.simpleString()}, and is {after.simpleString()} in this "
                f"micro-batch. Cast it, or {_ELSEWHERE}."
            )
    if {names.get(key, key) for key in older.keys} != set(newer.keys):
        raise QueryError(
            f"{place} has the keys {listed(older.keys)}, and this micro-batch {listed(newer.keys)}. "
            f"Use the same keys, or {_ELSEWHERE}."
        )
    gone = [name for name in older.columns.names if name not in names]
    come = [name for name in newer.columns.names if name not in names.values()]
    if len(set(names.values())) < len(names) or (gone and come):
        raise QueryError(
            f"{place} has {listed(gone or older.columns.names)}, and this micro-batch has "
            f"{listed(come or newer.columns.names)} instead: whether they are the same is not known. "
            f"Use the names that are there, or {_ELSEWHERE}."
        )


def plain(columns: T.StructType) -> T.StructType:
    """Return columns with their names and types alone."""
    return T.StructType([T.StructField(field.name, field.dataType) for field in columns])


def listed(columns: Sequence[str]) -> str:
    """Write names one after the other."""
    return ", ".join(map(repr, columns)) or "none"


_ELSEWHERE = "write to another place"
