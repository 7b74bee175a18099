"""Reducers of aggregates that need all rows of a range: what they lift serves all ranges of a batch.

Their results are final: no reducer reads them again. So windows read the rows themselves, never one another.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from muntin.arrow.reducers import Arrays, Reducer, mask, numbers, typed
from muntin.kernels.holistic.counting import distinct_counts, modes
from muntin.kernels.holistic.wavelet import percentiles, wavelet
from muntin.kernels.protocol import Longs
from muntin.techniques import Need


class Holistic(Reducer):
    """Reads the result of every range from its rows."""

    lifts_dearly: ClassVar[bool] = True

    @property
    def offers(self) -> set[Need]:
        """Rows are no partials that a technique could combine."""
        return set()

    @property
    @abstractmethod
    def technique(self) -> str:
        """How ranges are read, for people."""


@dataclass(frozen=True)
class Percentile(Holistic):
    """The value at a fraction of all sorted numbers."""

    fraction: float

    @property
    def technique(self) -> str:
        """How ranges are read."""
        return "wavelet_matrix"

    def lift(self, columns: list[pa.Array]) -> Arrays:
        """Build the matrix of all numbers, and count those before every row, unless every row has one."""
        (column,) = columns
        values, valid = numbers(column.cast(pa.float64())), mask(column)
        before = None if valid is None else np.concatenate(([0], np.cumsum(valid)))
        distinct, codes = np.unique(_in_order(values if valid is None else values[valid]), return_inverse=True)
        return before, _flipped(distinct).view(np.float64), wavelet(codes, len(distinct))

    def reduce(self, arrays: Arrays, lo: Longs, hi: Longs) -> Arrays:
        """Give the percentile of every range, and say where there is none."""
        before, distinct, matrix = arrays
        begins, ends = (lo, hi) if before is None else (before[lo], before[hi])
        return percentiles(matrix, distinct, begins, ends, self.fraction), ends > begins

    def lower(self, arrays: Arrays, columns: list[pa.Array]) -> list[pa.Array]:
        """Give the percentiles as doubles."""
        values, valid = arrays
        return [typed(values, valid, pa.float64())]


def _in_order(values: NDArray[np.float64]) -> Longs:
    """Return whole numbers in the order of Spark's percentiles: -0.0 before 0.0, and all NaN as one, the greatest."""
    return _flipped(np.where(np.isnan(values), np.nan, values).view(np.int64))


def _flipped(bits: Longs) -> Longs:
    """Let the bits of negative doubles, which fall as the doubles rise, rise with them; twice gives the same bits."""
    return bits ^ (bits >> 63 & np.int64(2**63 - 1))


@dataclass(frozen=True)
class Mode(Holistic):
    """The most frequent value, of any type."""

    @property
    def technique(self) -> str:
        """How ranges are read."""
        return "lists_of_equal_counts"

    def lift(self, columns: list[pa.Array]) -> Arrays:
        """Give every value a code, and every code a row that has it."""
        codes, distinct = value_codes(columns[0])
        rows = np.full(distinct + 1, -1, np.int64)
        rows[codes] = np.arange(len(codes))
        rows[-1] = -1  # of no value
        return codes, rows

    def reduce(self, arrays: Arrays, lo: Longs, hi: Longs) -> Arrays:
        """Give a row that has the most frequent value of each range."""
        codes, rows = arrays
        return (rows[modes(codes, len(rows) - 1, lo, hi)],)

    def lower(self, arrays: Arrays, columns: list[pa.Array]) -> list[pa.Array]:
        """Take the values from those rows."""
        (rows,) = arrays
        return [columns[0].take(pa.array(rows, mask=rows < 0))]


@dataclass(frozen=True)
class Members(Holistic):
    """The number of distinct values, of any type."""

    @property
    def technique(self) -> str:
        """How ranges are read."""
        return "counts_of_values"

    def lift(self, columns: list[pa.Array]) -> Arrays:
        """Give every value a code."""
        return value_codes(columns[0])

    def reduce(self, arrays: Arrays, lo: Longs, hi: Longs) -> Arrays:
        """Count the distinct values of every range."""
        codes, distinct = arrays
        return (distinct_counts(codes, distinct, lo, hi),)

    def lower(self, arrays: Arrays, columns: list[pa.Array]) -> list[pa.Array]:
        """Give the counts."""
        return [pa.array(arrays[0])]


def value_codes(column: pa.Array) -> tuple[Longs, int]:
    """Give equal values the same number, and nulls -1; tell also how many values there are.

    >>> codes, distinct = value_codes(pa.array(["a", None, "b", "a"]))
    >>> codes.tolist(), distinct
    ([0, -1, 1, 0], 2)
    """
    encoded = column.dictionary_encode()
    codes = pc.fill_null(encoded.indices, -1).to_numpy(zero_copy_only=False)
    return np.asarray(codes, np.int64), len(encoded.dictionary)
