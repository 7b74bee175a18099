"""The checked input of a query under safe names: times, keys, values, and what is made of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from muntin import names
from muntin.spark.input.parts import Part, Recipe, Step


class NamedPart(NamedTuple):
    """A part and the safe names of its columns."""

    part: Part
    names: tuple[str, ...]


@dataclass(frozen=True)
class Events:
    """Checked input: columns ts, t (microseconds), k0, k1, … for keys and v0, v1, … for values."""

    by: tuple[str, ...]
    """The names of the keys."""
    frame: DataFrame
    key_types: tuple[T.DataType, ...]
    zoned: bool
    """Whether times are instants (TIMESTAMP) and not wall-clock times (TIMESTAMP_NTZ)."""
    recipes: tuple[Recipe, ...]
    carried: tuple[tuple[str, str], ...] = ()
    """Safe names of columns of the input (c0, …) that are also keys or values, and the safe names of those."""

    @cached_property
    def keys(self) -> list[str]:
        """The safe names of the keys."""
        return names.keys(len(self.key_types))

    @cached_property
    def parts(self) -> tuple[NamedPart, ...]:
        """The parts of all aggregates, each once, with the names of its columns: p0, p1, …."""
        return name_parts(self.recipes)

    @property
    def partials(self) -> list[str]:
        """The safe names of all partial columns."""
        return [name for kept in self.parts for name in kept.names]

    @property
    def rows(self) -> DataFrame:
        """The rows that have an event time."""
        return self.frame.where(f"{names.TIME} IS NOT NULL")

    @property
    def plain(self) -> list[Step]:
        """The results of aggregates over rows."""
        return [*names.results(len(self.recipes))]

    def lowered(self, prefix: str = "") -> list[Step]:
        """Give the results of the partial columns, whose names may have something before them."""
        columns = {kept.part.key: kept.names for kept in self.parts}
        return [
            made.lower(*(prefix + name for part in made.parts for name in columns[part.key]))
            for made in self.recipes
            if made.lower is not None
        ]

    @cached_property
    def lifted(self) -> DataFrame:
        """Every row as a partial of itself: t, the keys and the partials."""
        return self.lift(self.rows)

    def lift(self, frame: DataFrame, *others: str) -> DataFrame:
        """Give rows as partials of themselves, with other columns that they have; what is shared only once."""
        partials = [f"{text} AS {name}" for name, text in self._lifts.items() if name not in self.shared]
        rest = [name for name in others if name not in self.shared]
        return self.keyed(frame, *partials, *rest)

    def keyed(self, frame: DataFrame, *others: str) -> DataFrame:
        """Give the times and keys of rows, equal keys as the same bits, with other columns."""
        keys = ((key, one_of_equals(key, given)) for key, given in zip(self.keys, self.key_types, strict=True))
        return frame.selectExpr(names.TIME, *(key if key == one else f"{one} AS {key}" for key, one in keys), *others)

    def over_ranges(self) -> Events:
        """Give the same input with every aggregate as kernels evaluate it from the rows of ranges."""
        return replace(self, recipes=tuple(made.over_ranges() for made in self.recipes))

    @cached_property
    def shared(self) -> dict[str, str]:
        """Columns that are the same as an earlier one, which stands for them until the rows are in Python."""
        first = {key: key for key, given in zip(self.keys, self.key_types, strict=True) if _is_exact(given)}
        same = {}
        for name, text in (self._lifts | dict(self.carried)).items():
            earlier = first.setdefault(text, name)
            if earlier != name:
                same[name] = earlier
        return same

    @cached_property
    def _lifts(self) -> dict[str, str]:
        """The partials of one row."""
        return {
            name: text for part, columns in self.parts for name, text in zip(columns, part.lift, strict=bool(part.lift))
        }

    @cached_property
    def lifted_schema(self) -> T.StructType:
        """The types of time, keys and partials; those of a row's partials are those of a slice's."""
        partials = [
            T.StructField(name, given)
            for part, columns in self.parts
            for name, given in zip(columns, part.types, strict=True)
        ]
        return T.StructType([*(self.frame.schema[name] for name in (names.TIME, *self.keys)), *partials])


def name_parts(recipes: tuple[Recipe, ...]) -> tuple[NamedPart, ...]:
    """Give the parts of some aggregates their columns' names; parts that are written alike are one."""
    distinct = {part.key: part for made in recipes for part in made.parts}
    kept, place = [], 0
    for part in distinct.values():
        kept.append(NamedPart(part, tuple(names.partial(place + i) for i in range(len(part.partials)))))
        place += len(part.partials)
    return tuple(kept)


def one_of_equals(name: str, given: T.DataType, depth: int = 0) -> str:
    """Write a value as grouping gives it: equal floats have the same bits, with one zero and one NaN."""
    match given:
        case T.FloatType() | T.DoubleType():
            kind = given.simpleString()
            return f"CASE WHEN {name} = 0 THEN {kind}(0) WHEN isnan({name}) THEN {kind}('NaN') ELSE {name} END"
        case T.ArrayType() if not _is_exact(given):
            item = f"item{depth}"
            return f"transform({name}, {item} -> {one_of_equals(item, given.elementType, depth + 1)})"
        case T.StructType() if not _is_exact(given):
            quoted = ((f"`{field.name.replace('`', '``')}`", field.dataType) for field in given)
            fields = (f"{one_of_equals(f'{name}.{field}', kind, depth)} AS {field}" for field, kind in quoted)
            return f"CASE WHEN {name} IS NOT NULL THEN struct({', '.join(fields)}) END"
    return name


def _is_exact(given: T.DataType) -> bool:
    """Whether equal values of a type have the same bits."""
    match given:
        case T.FloatType() | T.DoubleType():
            return False
        case T.ArrayType():
            return _is_exact(given.elementType)
        case T.StructType():
            return all(_is_exact(field.dataType) for field in given)
    return True
