"""Which of Spark's types go to Python in Arrow batches and come back as they were."""

from __future__ import annotations

from pyspark.sql import types as T

from muntin.query import repeated
from muntin.spark.capabilities import SPATIAL, TIMES

_PLAIN = (
    T.NumericType,
    T.BooleanType,
    T.StringType,
    T.CharType,
    T.VarcharType,
    T.BinaryType,
    T.DayTimeIntervalType,
    T.VariantType,
    T.NullType,
    *TIMES,
    *SPATIAL,
)


def travels(given: T.DataType) -> bool:
    """Tell whether a type's values come back from Python unchanged; intervals of months and years do not.

    >>> travels(T.MapType(T.StringType(), T.ArrayType(T.VariantType()))), travels(T.YearMonthIntervalType())
    (True, False)

    Arrow has no column of nothing that is never null, which is what array() and map() consist of, and no struct with
    two fields of one name.

    >>> travels(T.ArrayType(T.NullType(), containsNull=True)), travels(T.ArrayType(T.NullType(), containsNull=False))
    (True, False)
    """
    match given:
        case T.StructType():
            return repeated(given.names) is None and all(_travels_within(f.dataType, f.nullable) for f in given)
        case T.ArrayType():
            return _travels_within(given.elementType, given.containsNull)
        case T.MapType():
            return _travels_within(given.keyType, False) and _travels_within(given.valueType, given.valueContainsNull)
        case T.UserDefinedType():
            return travels(given.sqlType())
    return isinstance(given, _PLAIN)


def _travels_within(given: T.DataType, nullable: bool) -> bool:
    return travels(given) and (nullable or not isinstance(given, T.NullType))
