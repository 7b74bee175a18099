"""What work costs in a session: rows go to Python faster where Spark does not limit the bytes of a batch."""

from __future__ import annotations

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
    return frame.sparkSession.conf.get(ARROW_BYTES, "1") != str(UNLIMITED)
