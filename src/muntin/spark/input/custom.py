"""A user's own lift, combine and lower in Spark SQL."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.aggregates import Aggregate, Function, Merge
from muntin.spark.capabilities import SPATIAL
from muntin.spark.input.parts import Part, Recipe


def custom(aggregate: Aggregate, inputs: Sequence[str], types: Sequence[T.DataType], time: str) -> Recipe:
    """Write a user's own lift, combine and lower: partials travel pickled, in the order of time.

    Rows of one time are in the order of their values. Where Spark has none, they are sorted as text, in Python.
    """
    function, returns = aggregate.function, dict(aggregate.options)["returns"]
    values = f"struct({', '.join(f'{name} AS {names.value(i)}' for i, name in enumerate(inputs))})"
    fields = [f"{time} AS {names.TIME}", f"{values} AS {names.INPUTS}"]
    ordered = all(map(_has_order, types))

    def lift(rows: list[Any]) -> bytes | None:
        in_order = rows if ordered else sorted(rows, key=lambda row: (row[names.TIME], row[names.INPUTS_TEXT]))
        return _dump(_total(function, (function.lift(*row[names.INPUTS]) for row in in_order)))

    def merge(parts: list[Any]) -> bytes | None:
        return _dump(_total(function, (_load(part[names.STATE]) for part in parts)))

    def lower(state: bytes | None) -> Any:
        return function.lower(_load(state))

    rows = (
        _in_order(*fields)
        if ordered
        else F.expr(_collected(*fields, f"CAST({values} AS STRING) AS {names.INPUTS_TEXT}"))
    )
    lifted = F.udf(lift, "binary")(rows)
    lowered = F.udf(lower, returns)
    part = Part(
        Merge.CUSTOM,
        partials=(f"min({time})", lifted),
        merge=lambda t, state: (
            f"min({t})",
            F.udf(merge, "binary")(_in_order(f"{t} AS {names.TIME}", f"{state} AS {names.STATE}")),
        ),
    )
    return Recipe(aggregate, lowered(lifted), (part,), lambda t, state: lowered(F.expr(state)))


def _in_order(*fields: str) -> Column:
    """Collect structs in the order of their first field."""
    return F.expr(f"array_sort({_collected(*fields)})")


def _collected(*fields: str) -> str:
    return f"collect_list(struct({', '.join(fields)}))"


def _has_order(given: T.DataType) -> bool:
    """Tell whether Spark compares a type's values."""
    match given:
        case T.StructType():
            return all(_has_order(field.dataType) for field in given)
        case T.ArrayType():
            return _has_order(given.elementType)
        case T.UserDefinedType():
            return _has_order(given.sqlType())
    return not isinstance(given, (T.MapType, T.VariantType, T.CalendarIntervalType, *SPATIAL))


def _total(function: Function, partials: Any) -> Any:
    total = None
    for partial in partials:
        if partial is not None:
            total = partial if total is None else function.combine(total, partial)
    return total


def _dump(state: Any) -> bytes | None:
    return None if state is None else pickle.dumps(state)


def _load(state: bytes | None) -> Any:
    return None if state is None else pickle.loads(bytes(state))  # noqa: S301 - written by _dump in the same job
