"""What goes to Python workers: the columns, and how each is reduced there; and what cannot go."""

from __future__ import annotations

from collections.abc import Hashable

from pyspark.sql import types as T

from muntin import names
from muntin.arrow.batches import Chunks, ColumnLayout
from muntin.arrow.reducers import Reducer
from muntin.spark.input.events import Events
from muntin.spark.input.parts import Recipe
from muntin.spark.input.reducing import is_flat


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
        if part.reducer is None:
            types = ", ".join(given.simpleString() for given in part.types)
            return f"no kernel knows {made.aggregate!r} over {types}"
    return None


def layout(events: Events, chunks: Chunks | None = None) -> ColumnLayout:
    """Tell what is in the columns that go to Python, and how each is reduced."""
    counts = tuple(len(kept.names) for kept in events.parts)
    return ColumnLayout.numbered(tuple(reducers(events).values()), counts, len(events.keys), chunks)


def tail(events: Events) -> list[T.StructField]:
    """Give the columns of keys and partials."""
    fields = [field for field in events.lifted_schema if field.name != names.TIME]
    return [T.StructField(f.name, f.dataType, f.nullable or f.name not in events.keys) for f in fields]


def window_schema(events: Events) -> T.StructType:
    """Give the columns of instances: the window's number, the start, keys and partials."""
    number, start = T.StructField(names.NUMBER, T.IntegerType()), T.StructField(names.START, T.LongType())
    return T.StructType([number, start, *tail(events)])


def reducers(events: Events) -> dict[Hashable, Reducer]:
    """Give the reducers of all parts, in order, of a query that kernels can take."""
    return {kept.part.key: kept.part.reducer for kept in events.parts if kept.part.reducer is not None}
