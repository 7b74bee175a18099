"""What work costs in a session: rows go to Python faster where Spark does not limit the bytes of a batch."""

from __future__ import annotations

import re

from pyspark.sql import DataFrame

from muntin.plan.physical.prices import Prices
from muntin.spark.sessions import ARROW_BYTES, UNLIMITED

FASTER = (
    f"rows would go to Python twice as fast with spark.conf.set({ARROW_BYTES!r}, {UNLIMITED}), as mt.session() does"
)
"""What plans say where Spark limits the bytes."""


def session_prices(frame: DataFrame) -> Prices:
    """Return the prices of work in the session of a DataFrame."""
    return Prices().limited() if _is_limited(frame) else Prices()


def price_notes(frame: DataFrame) -> tuple[str, ...]:
    """Return what would make the session of a DataFrame faster."""
    return (FASTER,) if _is_limited(frame) else ()


def _is_limited(frame: DataFrame) -> bool:
    return bytes_of(str(frame.sparkSession.conf.get(ARROW_BYTES, "1"))) != UNLIMITED


def bytes_of(size: str) -> int | None:
    """Read a number of bytes as Spark does; None if it is none.

    >>> bytes_of("64MB"), bytes_of(" 2147483647b"), bytes_of("all")
    (67108864, 2147483647, None)
    """
    match = re.fullmatch(r"(-?[0-9]+)([a-z]*)", size.strip().lower())
    if match is None or match[2] not in _POWERS:
        return None
    return int(match[1]) << 10 * _POWERS[match[2]]


_POWERS = {"": 0, "b": 0} | {unit + byte: power for power, unit in enumerate("kmgtp", 1) for byte in ("", "b")}
"""The powers of 1024 that Spark's suffixes stand for."""
