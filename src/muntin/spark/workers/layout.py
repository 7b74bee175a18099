"""What goes to Python workers: the columns, and how each is reduced there; and what cannot go."""

from __future__ import annotations

from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from muntin import names
from muntin.aggregates import Aggregate, Merge
from muntin.arrow.batches import Chunks, Layout
from muntin.arrow.reducers import Reducer, reducer
from muntin.spark.input.source import ATOMS, Events, Source, is_set


def obstacle(source: Events) -> str | None:
    """Say why kernels cannot take a query; None if they can."""
    for name, type in zip(source.by, source.key_types, strict=True):
        if not is_flat(type):
            return f"key {name!r} is of type {type.simpleString()}"
    for made in source.recipes:
        if not made.lift:
            return f"no kernel knows {made.aggregate!r}"
    schema = source.lifted_schema
    for made, partials in zip(source.recipes, source.partials, strict=True):
        types = [schema[name].dataType for name in partials]
        if not all(map(is_flat, types)) or None in _reducers_of(made.aggregate.function.merge, types, strict=True):
            kinds = ", ".join(type.simpleString() for type in types)
            return f"no kernel knows {made.aggregate!r} over {kinds}"
    return None


def layout(source: Events, chunks: Chunks | None = None) -> Layout:
    """Tell what is in the columns that go to Python, and how each is reduced."""
    _, reducers, counts = zip(*reduced_parts(source), strict=True)
    return Layout.numbered(reducers, counts, len(source.keys), chunks)


def tail(source: Source) -> list[T.StructField]:
    """Give the columns of keys and partials."""
    fields = [field for field in source.lifted_schema if field.name != names.TIME]
    return [T.StructField(f.name, f.dataType, f.nullable or f.name not in source.keys) for f in fields]


def window_schema(source: Source) -> T.StructType:
    """Give the columns of instances: the window's number, the start, keys and partials."""
    number, start = T.StructField(names.NUMBER, T.IntegerType()), T.StructField(names.START, T.LongType())
    return T.StructType([number, start, *tail(source)])


def reduced_parts(source: Events) -> list[tuple[Aggregate, Reducer, int]]:
    """Give the reducers of all partial columns in order, whose they are, and how many columns each takes."""
    schema = source.lifted_schema
    strict = is_set(source.frame, "spark.sql.ansi.enabled", "true")
    parts = []
    for made, partials in zip(source.recipes, source.partials, strict=True):
        types = [schema[name].dataType for name in partials]
        reducers = _reducers_of(made.aggregate.function.merge, types, strict=strict)
        parts += [(made.aggregate, r, len(partials) // len(reducers)) for r in reducers if r is not None]
    return parts


def _reducers_of(merge: Merge, types: list[T.DataType], *, strict: bool) -> list[Reducer | None]:
    """Give one reducer for all columns of a partial, or one for each where each is merged by itself."""
    if merge is Merge.SUM:
        if any(isinstance(type, T.DecimalType) and type.precision == 38 for type in types):
            return [None]  # a sum could leave 38 digits without leaving 128 bits
        return [reducer(merge, to_arrow_type(type, timezone="UTC"), strict=strict) for type in types]
    return [reducer(merge, to_arrow_type(types[0], timezone="UTC"), strict=strict)]


def is_flat(type: T.DataType) -> bool:
    """Tell whether Arrow compares a type's values as Spark does: no nested types, no collations, no intervals."""
    if isinstance(type, T.StringType):
        return type.simpleString() == "string"
    return isinstance(type, ATOMS)
