"""Rows ahead of the clock: set aside before they move the watermark, and counted."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.spark.stream.observing import count_future
from muntin.window import LONGEST_WINDOW


def set_aside(frame: DataFrame, ahead: int) -> DataFrame:
    """Leave out rows that are further ahead of the clock than so many microseconds, and count them.

    Spark's clock stands still within a micro-batch and is logged with its offsets, so a micro-batch that is repeated
    after a failure leaves out the same rows. The count stands between the filter and the source, where no filter is
    pushed past it.
    """
    limit = F.unix_micros(F.current_timestamp()) + F.lit(int(min(ahead, LONGEST_WINDOW)))
    is_ahead = F.col(names.TIME) > limit
    return count_future(frame, is_ahead).where(~is_ahead)
