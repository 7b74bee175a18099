"""Buckets where Spark gives stateful processors pandas frames and no rows, as Spark 4.0 does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle


class PandasBuckets(StatefulProcessor):
    """A processor of rows behind one of frames: every frame is read row by row, and all rows given are one frame."""

    def __init__(self, of_rows: Any, columns: list[str]) -> None:
        self.of_rows, self.columns = of_rows, columns

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Name the state."""
        self.of_rows.init(handle)

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        """Take rows."""
        taken = (row for frame in rows for row in frame.to_dict("records"))
        return self._framed(self.of_rows.handleInputRows(key, taken, timerValues))

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        """Hear that a time has come."""
        return self._framed(self.of_rows.handleExpiredTimer(key, timerValues, expiredTimerInfo))

    def close(self) -> None:
        """Have nothing to close."""

    def _framed(self, given: Iterable[Row]) -> Iterator[pd.DataFrame]:
        if rows := list(given):
            yield pd.DataFrame([row.asDict() for row in rows], columns=self.columns, dtype=object)
