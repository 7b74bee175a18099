"""What goes to Python workers: the columns, and how each is reduced there; and what cannot go."""

from __future__ import annotations

from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from muntin import names
from muntin.aggregates import Merge
from muntin.arrow.batches import Chunks, Layout
from muntin.arrow.reducers import Reducer, reducer
from muntin.spark.input.checking import ATOMS, is_set
from muntin.spark.input.events import Events
from muntin.spark.input.parts import Part, Recipe


def obstacle(events: Events) -> str | None:
    """Say why kernels cannot take a query; None if they can."""
    return key_obstacle(events) or next(filter(None, map(aggregate_obstacle, events.recipes)), None)


def key_obstacle(events: Events) -> str | None:
    """Say which key kernels cannot take; None if they can take all."""
    for name, given in zip(events.by, events.key_types, strict=True):
        if not is_flat(given):
            return f"key {name!r} is of type {given.simpleString()}"
    return None


def aggregate_obstacle(made: Recipe) -> str | None:
    """Say why kernels cannot take an aggregate; None if they can."""
    if not made.liftable:
        return f"no kernel knows {made.aggregate!r}"
    for part in made.parts:
        if not all(map(is_flat, part.types)) or reducer_of(part, strict=True) is None:
            types = ", ".join(given.simpleString() for given in part.types)
            return f"no kernel knows {made.aggregate!r} over {types}"
    return None


def layout(events: Events, chunks: Chunks | None = None) -> Layout:
    """Tell what is in the columns that go to Python, and how each is reduced."""
    counts = tuple(len(kept.names) for kept in events.parts)
    return Layout.numbered(reducers(events), counts, len(events.keys), chunks)


def tail(events: Events) -> list[T.StructField]:
    """Give the columns of keys and partials."""
    fields = [field for field in events.lifted_schema if field.name != names.TIME]
    return [T.StructField(f.name, f.dataType, f.nullable or f.name not in events.keys) for f in fields]


def window_schema(events: Events) -> T.StructType:
    """Give the columns of instances: the window's number, the start, keys and partials."""
    number, start = T.StructField(names.NUMBER, T.IntegerType()), T.StructField(names.START, T.LongType())
    return T.StructType([number, start, *tail(events)])


def reducers(events: Events) -> tuple[Reducer, ...]:
    """Give the reducers of all parts, in order, of a query that kernels can take."""
    strict = is_set(events.frame, "spark.sql.ansi.enabled", "true")
    known = (reducer_of(kept.part, strict=strict) for kept in events.parts)
    return tuple(reduces for reduces in known if reduces is not None)


def reducer_of(part: Part, *, strict: bool) -> Reducer | None:
    """Choose how a part is reduced; None where no kernel knows how."""
    first = part.types[0]
    if part.how is Merge.SUM and isinstance(first, T.DecimalType) and first.precision == 38:
        return None  # a sum could leave 38 digits without leaving 128 bits
    return reducer(part.how, to_arrow_type(first, timezone="UTC"), strict=strict)


def is_flat(given: T.DataType) -> bool:
    """Tell whether Arrow compares a type's values as Spark does: no nested types, no collations, no intervals."""
    if isinstance(given, T.StringType):
        return given.simpleString() == "string"
    return isinstance(given, ATOMS)
