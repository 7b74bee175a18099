"""How kernels reduce a part, as far as Arrow compares its types as Spark does."""

from __future__ import annotations

from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from muntin.aggregates import Merge
from muntin.arrow.reducers import Reducer, reducer
from muntin.spark.input.checking import ATOMS
from muntin.spark.input.parts import Part


def reducer_of(part: Part, *, strict: bool) -> Reducer | None:
    """Choose how a part of known types is reduced; None where no kernel knows how."""
    if not part.lift or not all(map(is_flat, part.types)):
        return None
    first = part.types[0]
    if part.how is Merge.SUM and isinstance(first, T.DecimalType) and first.precision == 38:
        return None  # a sum could leave 38 digits without leaving 128 bits
    return reducer(part.how, to_arrow_type(first, timezone="UTC"), strict=strict)


def is_flat(given: T.DataType) -> bool:
    """Tell whether Arrow compares a type's values as Spark does: no nested types, no collations, no intervals."""
    if isinstance(given, T.StringType):
        return given.simpleString() == "string"
    return isinstance(given, ATOMS)
