"""What is known of the rows of many queries: one look at the first rows of their input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.kernels.protocol import Longs
from muntin.plan.statistics import Statistics
from muntin.spark.input.checking import quoted
from muntin.spark.input.source import micros
from muntin.spark.input.statistics import SAMPLE, is_nested, measure_extent, of_sample
from muntin.spark.queries.asked import Asked
from muntin.window.kind import Flags

_MIXING = 0x5851F42D4C957F2D
"""An odd number by which codes of keys are mixed."""
ASSUMED_SHARE = 0.5
"""The share of rows that a filter is taken to leave where nobody has looked."""


@dataclass(frozen=True, slots=True)
class Looked:
    """Times, keys and filters of the first rows; or figures that a user gave, and no rows."""

    rows: int
    origin: str
    times: Longs
    keys: Mapping[str, Longs] = field(default_factory=dict)
    """Each key of the rows, as a hash."""
    truths: Mapping[str, Flags] = field(default_factory=dict)
    """Which rows satisfy a filter."""
    given: Statistics | None = None
    span: int | None = None
    """The time span of all rows, where it is known."""

    def statistics(self, by: tuple[str, ...], filters: Iterable[str | None], apart: Iterable[str] = ()) -> Statistics:
        """Estimate rows that satisfy one of some filters, with keys that further filters divide."""
        filters, apart = tuple(filters), tuple(apart)
        if self.given is not None:
            rows = self.rows if None in filters else int(self.rows * ASSUMED_SHARE)
            keys = (self.given.keys if by else 1) * 2 ** min(len(apart), 4)
            return Statistics(rows, keys, self.given.span, self.given.ordered, self.origin)
        among = self._among(filters)
        share = float(among.mean()) if len(among) else 0.0
        codes = np.zeros(len(self.times), np.int64)
        for code in (*(self.keys[key] for key in by), *(self.truths[name].astype(np.int64) for name in apart)):
            codes = codes * _MIXING + code
        sample = np.column_stack([self.times, codes])[among]
        return of_sample(sample, max(len(sample), int(self.rows * share)), self.origin, self.span)

    def copies(self, filters: Iterable[str | None]) -> float:
        """Estimate for how many of some filters, which may repeat, a row counts that counts for any."""
        filters = tuple(filters)
        if self.given is not None:
            return sum(1.0 if where is None else ASSUMED_SHARE for where in filters)
        rows = max(1, int(self._among(filters).sum()))
        return sum(int(self._among([where]).sum()) for where in filters) / rows

    def _among(self, filters: Iterable[str | None]) -> Flags:
        flags = [np.ones(len(self.times), bool) if where is None else self.truths[where] for where in filters]
        return np.logical_or.reduce(flags) if flags else np.ones(len(self.times), bool)


def look(asked: Asked, given: Statistics | None) -> Looked:
    """Look at the first rows; one small job, unless figures are given."""
    if given is not None:
        return Looked(given.rows, given.source, np.empty(0, np.int64), given=given)
    filters = tuple(dict.fromkeys(one.where for one in asked.ones if one.where is not None))
    keys = tuple(dict.fromkeys(key for one in asked.ones for key in one.by))
    zoned = isinstance(asked.types[asked.time], T.TimestampType)
    hashed = (_hash(asked, key) for key in keys)
    columns = [f"{micros(quoted(asked.time), zoned=zoned)} AS {names.TIME}", *hashed, *map(quoted, filters)]
    frame = asked.frame.selectExpr(*columns).where(F.col(names.TIME).isNotNull())
    rows = frame.limit(SAMPLE).collect()
    times, *others = zip(*rows, strict=True) if rows else [()] * len(columns)
    codes, truths = others[: len(keys)], others[len(keys) :]
    extent = measure_extent(asked.frame, asked.time, len(rows))
    return Looked(
        extent.rows,
        extent.origin,
        np.array(times, np.int64),
        {key: np.array(code, np.int64) for key, code in zip(keys, codes, strict=True)},
        {where: np.array(truth, bool) for where, truth in zip(filters, truths, strict=True)},
        span=extent.span,
    )


def _hash(asked: Asked, key: str) -> str:
    return f"xxhash64({f'CAST({quoted(key)} AS STRING)' if is_nested(asked.types[key]) else quoted(key)})"
