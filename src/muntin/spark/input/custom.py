"""A user's own lift, combine and lower in Spark SQL."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.aggregates import Aggregate, Function, Merge
from muntin.errors import QueryError
from muntin.spark.capabilities import SPATIAL
from muntin.spark.input.parts import Part, Recipe
from muntin.spark.worker_errors import sentence_first_of
from muntin.typed_values import BEGINNING, decode, encode


def custom(aggregate: Aggregate, inputs: Sequence[str], types: Sequence[T.DataType], time: str) -> Recipe:
    """Write a user's own lift, combine and lower: partials travel as typed text, in the order of time.

    Rows of one time are in the order of their values. Where Spark has none, they are sorted as text, in Python.
    """
    function, returns = aggregate.function, dict(aggregate.options)["returns"]
    values = f"struct({', '.join(f'{name} AS {names.value(i)}' for i, name in enumerate(inputs))})"
    fields = [f"{time} AS {names.TIME}", f"{values} AS {names.INPUTS}"]
    ordered, owner = all(map(_has_order, types)), f"aggregate {function.name!r}"

    @sentence_first_of
    def lift(rows: list[Any]) -> bytes | None:
        in_order = rows if ordered else sorted(rows, key=lambda row: (row[names.TIME], row[names.INPUTS_TEXT]))
        return encode_partial(_total(function, (function.lift(*row[names.INPUTS]) for row in in_order)), owner)

    @sentence_first_of
    def merge(parts: list[Any]) -> bytes | None:
        return encode_partial(_total(function, (decode_partial(part[names.STATE], owner) for part in parts)), owner)

    @sentence_first_of
    def lower(state: bytes | None) -> Any:
        return function.lower(decode_partial(state, owner))

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


def encode_partial(partial: Any, owner: str) -> bytes | None:
    """Return what Spark keeps of a partial: data, and never code.

    >>> encode_partial((3, "b"), "aggregate 'last'")
    b'{"format":1,"value":{"tuple":[3,"b"]}}'
    """
    return None if partial is None else encode(partial, f"a partial of {owner}").encode()


def decode_partial(state: bytes | bytearray | None, owner: str) -> Any:
    """Return a partial; refuse one that was pickled, since reading it could run any code."""
    if state is None:
        return None
    text = bytes(state).decode(errors="replace")
    if not text.startswith(BEGINNING):
        raise QueryError(
            f"the state of {owner} was pickled by an earlier version, which is not loaded. Use a new checkpoint."
        )
    return decode(text, f"the state of {owner}")
