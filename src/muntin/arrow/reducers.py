"""How each kind of partial is reduced over ranges of rows: Arrow columns in, arrays between, Arrow columns out.

A reducer lifts Arrow columns to arrays, reduces arrays over ranges as often as a plan has levels, and lowers arrays to
the same Arrow types again. Nulls travel as a mask beside the values, or None where there are none.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from muntin.aggregates import Merge
from muntin.kernels.catalogue import reduce_ranges, safe_offers
from muntin.kernels.operators import FirstMax, FirstMin, Max, Min, Sum, Wide
from muntin.kernels.operators import Moments as Merged
from muntin.kernels.protocol import Longs
from muntin.kernels.slick_deque import slick_deque_places
from muntin.techniques import Need

Arrays = tuple[Any, ...]
Valid = NDArray[np.bool_] | None


class Reducer(ABC):
    """Reduces the partial columns of one aggregate."""

    lifts_dearly: ClassVar[bool] = False
    """Whether lifting costs much, and depends on nothing but the columns."""

    @property
    @abstractmethod
    def offers(self) -> set[Need]:
        """What the operation offers to techniques without a loss of digits."""

    @abstractmethod
    def lift(self, columns: list[pa.Array]) -> Arrays:
        """Turn Arrow columns into arrays."""

    @abstractmethod
    def reduce(self, arrays: Arrays, lo: Longs, hi: Longs) -> Arrays:
        """Reduce arrays over ranges of rows."""

    @abstractmethod
    def lower(self, arrays: Arrays, columns: list[pa.Array]) -> list[pa.Array]:
        """Turn arrays into Arrow columns of the types of the lifted ones."""


@dataclass(frozen=True)
class Numbers(Reducer):
    """The sum, least or greatest of a column that numpy knows."""

    operator: Sum | Min | Max | FirstMin | FirstMax
    whole: bool
    """Whether the numbers have no fraction, so that sums can be undone."""
    strict: bool = True
    """Whether a sum beyond 64 bits is an error, as in Spark's ANSI mode."""

    @property
    def offers(self) -> set[Need]:
        """A sum of whole numbers can be undone; the least and the greatest are one of the values."""
        return safe_offers(self.operator, whole=self.whole)

    def lift(self, columns: list[pa.Array]) -> Arrays:
        """Fill nulls with what changes nothing: 0, or NaN, or a number that the mask hides."""
        (column,) = columns
        values, valid = numbers(column), mask(column)
        if valid is not None:
            values[~valid] = self._neutral(values.dtype)
        if isinstance(self.operator, Sum) and values.dtype.kind == "f":
            values += 0.0  # a sum begins with 0.0, so it is never -0.0
        return values, valid

    def _neutral(self, dtype: np.dtype[Any]) -> Any:
        if isinstance(self.operator, Sum):
            return 0
        least = isinstance(self.operator, Min | FirstMin)
        if dtype.kind == "f":
            return np.nan if least else -np.inf
        return np.iinfo(dtype).max if least else np.iinfo(dtype).min

    def reduce(self, arrays: Arrays, lo: Longs, hi: Longs) -> Arrays:
        """Reduce values, and say where none was valid."""
        values, valid = arrays
        if self.strict and self.whole and isinstance(self.operator, Sum) and _may_overflow(values, lo, hi):
            result = _checked_sums(values, lo, hi)
        else:
            result = reduce_ranges(self.operator, values, lo, hi)
        return result, _any_valid(valid, lo, hi)

    def lower(self, arrays: Arrays, columns: list[pa.Array]) -> list[pa.Array]:
        """Give the values their own type again."""
        values, valid = arrays
        return [typed(values, valid, columns[0].type)]


def _may_overflow(values: Longs, lo: Longs, hi: Longs) -> bool:
    """Tell whether a sum could leave 64 bits, by the greatest value and the longest range."""
    if not len(values) or not len(lo):
        return False
    return max(int(values.max()), -int(values.min())) * int((hi - lo).max()) >= 2**63


def _checked_sums(values: Longs, lo: Longs, hi: Longs) -> Longs:
    """Add in 128 bits, and refuse totals that do not fit in 64, whatever was taken in and out on the way."""
    words = np.stack((values, values >> 63), axis=1).view(np.uint64)
    low, high = reduce_ranges(Wide(), words, lo, hi).view(np.int64).T
    if (high != low >> 63).any():
        raise OverflowError("[ARITHMETIC_OVERFLOW] long overflow in a sum. Cast the column to decimal.")
    return np.ascontiguousarray(low)


@dataclass(frozen=True)
class WideSum(Reducer):
    """The sum of a decimal column, in 128 bits."""

    @property
    def offers(self) -> set[Need]:
        """A sum of decimals can be undone."""
        return safe_offers(Wide(), whole=True)

    def lift(self, columns: list[pa.Array]) -> Arrays:
        """Read the words of the decimals as they lie in memory."""
        (column,) = columns
        words = np.frombuffer(column.buffers()[1], np.uint64).reshape(-1, 2)
        values, valid = np.array(words[column.offset : column.offset + len(column)]), mask(column)
        if valid is not None:
            values[~valid] = 0
        return values, valid

    def reduce(self, arrays: Arrays, lo: Longs, hi: Longs) -> Arrays:
        """Add words with their carry."""
        values, valid = arrays
        return reduce_ranges(Wide(), values, lo, hi), _any_valid(valid, lo, hi)

    def lower(self, arrays: Arrays, columns: list[pa.Array]) -> list[pa.Array]:
        """Lay the words under an Arrow array."""
        values, valid = arrays
        bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
        return [pa.Array.from_buffers(columns[0].type, len(values), [bits, pa.py_buffer(np.ascontiguousarray(values))])]


@dataclass(frozen=True)
class Place(Reducer):
    """The row where the first column is least or greatest: all columns are taken from that row, of whatever type.

    It is the last of such rows, as in Spark.
    """

    operator: Min | Max

    @property
    def offers(self) -> set[Need]:
        """Only the technique that keeps places will do."""
        return {Need.SELECTIVE}

    def lift(self, columns: list[pa.Array]) -> Arrays:
        """Give every row its order, and itself as its best row; a null order counts for nothing."""
        order = columns[0]
        valid = mask(order)
        values = numbers(order) if is_number(order.type) else _ranks(order)
        rows = np.arange(len(order))
        return values, rows if valid is None else np.where(valid, rows, -1)

    def reduce(self, arrays: Arrays, lo: Longs, hi: Longs) -> Arrays:
        """Find the best row of every range."""
        values, rows = arrays
        places = slick_deque_places(self.operator, values, rows >= 0, lo, hi)
        return values[places], np.where(places >= 0, rows[places], -1)

    def lower(self, arrays: Arrays, columns: list[pa.Array]) -> list[pa.Array]:
        """Take the best rows of the lifted columns."""
        rows = pa.array(arrays[1], mask=arrays[1] < 0)
        return [column.take(rows) for column in columns]


@dataclass(frozen=True)
class Moments(Reducer):
    """Count, means and squared deviations of one column or of two."""

    pairs: bool

    @property
    def offers(self) -> set[Need]:
        """Merging moments cannot be undone."""
        return safe_offers(Merged(), whole=False)

    def lift(self, columns: list[pa.Array]) -> Arrays:
        """Put the columns side by side; those of a missing second column stay 0."""
        states = np.zeros((len(columns[0]), 6))
        for place, column in zip(self._places(), columns, strict=True):
            states[:, place] = column.to_numpy(zero_copy_only=False)
        return (states,)

    def _places(self) -> tuple[int, ...]:
        return (0, 1, 2, 3, 4, 5) if self.pairs else (0, 1, 3)

    def reduce(self, arrays: Arrays, lo: Longs, hi: Longs) -> Arrays:
        """Merge states."""
        return (reduce_ranges(Merged(), arrays[0], lo, hi),)

    def lower(self, arrays: Arrays, columns: list[pa.Array]) -> list[pa.Array]:
        """Give the columns one by one."""
        return [pa.array(np.ascontiguousarray(arrays[0][:, place])) for place in self._places()]


def reducer(merge: Merge, type: pa.DataType, *, strict: bool) -> Reducer | None:
    """Choose how partials whose first column is of an Arrow type are reduced; None where no kernel knows how.

    >>> reducer(Merge.MIN, pa.int32(), strict=True), reducer(Merge.MIN, pa.string(), strict=True)
    (Numbers(operator=Min(), whole=True, strict=True), Place(operator=Min()))
    """
    whole = not pa.types.is_floating(type)
    least, greatest = (Min(), Max()) if whole else (FirstMin(), FirstMax())  # Spark keeps the first of 0.0 and -0.0
    match merge:
        case Merge.SUM if pa.types.is_decimal128(type):
            return WideSum()
        case Merge.SUM if is_number(type):
            return Numbers(Sum(), whole, strict)
        case Merge.MIN | Merge.AND:
            return Numbers(least, whole) if is_number(type) else Place(Min()) if _is_ranked(type) else None
        case Merge.MAX | Merge.OR:
            return Numbers(greatest, whole) if is_number(type) else Place(Max()) if _is_ranked(type) else None
        case Merge.EARLIER if is_number(type) or _is_ranked(type):
            return Place(Min())
        case Merge.LATER if is_number(type) or _is_ranked(type):
            return Place(Max())
        case Merge.MOMENTS | Merge.COMOMENTS:
            return Moments(merge is Merge.COMOMENTS)
    return None


def is_number(type: pa.DataType) -> bool:
    """Tell whether numpy holds a type's values as 64-bit numbers in the same order."""
    kinds = (pa.types.is_signed_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_timestamp)
    return any(kind(type) for kind in kinds) or pa.types.is_date32(type)


def _is_ranked(type: pa.DataType) -> bool:
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(kind(type) for kind in kinds) or pa.types.is_decimal128(type)


def numbers(column: pa.Array) -> NDArray[Any]:
    """Give a column as 64-bit numbers of numpy, with anything for nulls; the array may be written to."""
    if pa.types.is_floating(column.type):
        column = column.cast(pa.float64())
        return np.array(pc.fill_null(column, 0.0).to_numpy(zero_copy_only=False))
    if pa.types.is_date32(column.type):
        column = column.cast(pa.int32())
    return np.array(pc.fill_null(column.cast(pa.int64()), 0).to_numpy(zero_copy_only=False))


def typed(values: NDArray[Any], valid: Valid, type: pa.DataType) -> pa.Array:
    """Give numbers of numpy an Arrow type."""
    column = pa.array(values, mask=None if valid is None else ~valid)
    if pa.types.is_date32(type):
        column = column.cast(pa.int32())
    return column if column.type == type else column.cast(type)


def mask(column: pa.Array) -> Valid:
    """Tell which rows are not null; None if all are."""
    return np.array(column.is_valid().to_numpy(zero_copy_only=False)) if column.null_count else None


def _ranks(column: pa.Array) -> Longs:
    return np.asarray(pc.rank(column, sort_keys="ascending", tiebreaker="dense").to_numpy(), np.int64)


def _any_valid(valid: Valid, lo: Longs, hi: Longs) -> Valid:
    if valid is None:
        return None
    before = np.concatenate(([0], np.cumsum(valid)))
    return np.asarray(before[hi] > before[lo])
