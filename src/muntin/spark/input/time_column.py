"""How a column that is no timestamp becomes one: the advice of an error."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from muntin.expressions import Expression

_UNITS = {"seconds": 10**8, "millis": 10**11, "micros": 10**14, "nanos": 10**17}
"""The least number that is taken for one of these since 1970: from 1973 on for each, so that no two overlap."""


def conversion(values: DataFrame, time: Expression) -> list[str]:
    """Say how to make a timestamp of a column, given its values; nothing where nobody would.

    What a number counts shows in its size: that takes a look at one value, so a small job, unless they are a stream.
    """
    given = values.schema[0].dataType
    text = repr(time.value) if isinstance(time.value, str) else "…"
    match given:
        case T.StringType():
            return [f"Use time=F.to_timestamp({text})."]
        case T.DateType():
            return [f"Use time=F.col({text}).cast('timestamp')."]
        case T.NumericType():
            value = None if values.isStreaming else _some(values)
            if value is not None and (unit := unit_of(value)):
                return [f"Its value {value} looks like {unit} since 1970: use time={_call(unit, text, given)}."]
            choices = " or ".join(_call(unit, text, given) for unit in ("seconds", "millis", "micros"))
            return [f"Use time={choices}, by what its numbers count."]
    return []


def unit_of(value: float) -> str | None:
    """Tell what a number of today's size counts since 1970.

    >>> unit_of(1_714_521_600), unit_of(1_714_521_600_000), unit_of(1.5)
    ('seconds', 'millis', None)
    """
    return next((unit for unit, least in _UNITS.items() if least <= abs(value) < 1000 * least), None)


def _call(unit: str, text: str, given: T.DataType) -> str:
    """Write the conversion; only that of seconds takes fractions."""
    if unit == "nanos":  # what F.timestamp_nanos gives cannot be read in Python
        return f"F.timestamp_micros((F.col({text}) / 1000).cast('long'))"
    whole = unit == "seconds" or isinstance(given, T.IntegralType)
    return f"F.timestamp_{unit}({text})" if whole else f"F.timestamp_{unit}(F.col({text}).cast('long'))"


def _some(values: DataFrame) -> Any:
    row = values.toDF("value").where("value is not null").first()
    return None if row is None else row["value"]
