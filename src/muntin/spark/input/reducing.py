"""How kernels reduce a part, as far as Arrow compares its types as Spark does."""

from __future__ import annotations

import pyarrow as pa
from pyspark.sql import types as T

from muntin.aggregates import Merge
from muntin.arrow.reducers import Reducer, reducer
from muntin.spark.input.checking import ATOMS
from muntin.spark.input.parts import Part

ARROW_TYPES: dict[type[T.DataType], pa.DataType] = {
    T.BooleanType: pa.bool_(),
    T.ByteType: pa.int8(),
    T.ShortType: pa.int16(),
    T.IntegerType: pa.int32(),
    T.LongType: pa.int64(),
    T.FloatType: pa.float32(),
    T.DoubleType: pa.float64(),
    T.StringType: pa.string(),
    T.BinaryType: pa.binary(),
    T.DateType: pa.date32(),
    T.TimestampType: pa.timestamp("us", tz="UTC"),
    T.TimestampNTZType: pa.timestamp("us"),
}
"""The types that Spark sends to Python, but for decimals, whose digits differ."""


def reducer_of(part: Part, *, strict: bool) -> Reducer | None:
    """Choose how a part of known types is reduced; None where no kernel knows how."""
    if not part.lift or not all(map(is_flat, part.types)):
        return None
    first = part.types[0]
    if part.how is Merge.SUM and isinstance(first, T.DecimalType) and first.precision == 38:
        return None  # a sum could leave 38 digits without leaving 128 bits
    return reducer(part.how, arrow_type(first), strict=strict)


def arrow_type(given: T.DataType) -> pa.DataType:
    """Give the type that Arrow carries values of a flat type in.

    >>> arrow_type(T.DecimalType(12, 2)), arrow_type(T.TimestampType())
    (Decimal128Type(decimal128(12, 2)), TimestampType(timestamp[us, tz=UTC]))
    """
    if isinstance(given, T.DecimalType):
        return pa.decimal128(given.precision, given.scale)
    return ARROW_TYPES[type(given)]


def is_flat(given: T.DataType) -> bool:
    """Tell whether Arrow compares a type's values as Spark does: no nested types, no collations, no intervals."""
    if isinstance(given, T.StringType):
        return given.simpleString() == "string"
    return isinstance(given, ATOMS)
