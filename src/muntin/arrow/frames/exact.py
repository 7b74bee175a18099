"""Numbers that windows compare without rounding: a decimal is a whole multiple of its last digit."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from muntin.arrow.reducers import numbers
from muntin.errors import QueryError
from muntin.window.steps import EXACT

ROOM = 2**62
"""Below this, two whole numbers can be added in 64 bits."""


@dataclass(frozen=True)
class Exact:
    """A column as doubles, or as whole numbers that are multiples of a unit."""

    values: NDArray[Any]
    """Python's own numbers where 64 bits do not hold all of them; nulls are 0."""
    unit: int | None
    """How many of them make 1; None for doubles."""
    is_decimal: bool = False
    """Whether sums may leave 64 bits."""

    @staticmethod
    def of(column: pa.Array) -> Exact:
        """Read a column."""
        if not pa.types.is_decimal(column.type):
            return Exact(numbers(column), None if pa.types.is_floating(column.type) else 1)
        column = pc.fill_null(column, pa.scalar(0, column.type))
        words = np.frombuffer(column.buffers()[1], np.int64).reshape(-1, 2)
        low, high = words[column.offset : column.offset + len(column)].T
        unit = 10**column.type.scale
        if (high == low >> 63).all():
            return Exact(np.ascontiguousarray(low), unit, is_decimal=True)
        return Exact((high.astype(object) << 64) + low.view(np.uint64).astype(object), unit, is_decimal=True)

    def text(self, number: Any) -> str:
        """Write one of the numbers as people read it."""
        return str(number) if self.unit is None else f"{self.decimals(np.array([number]))[0]:f}"

    def limit(self, limit: float | Fraction, *, up: bool) -> Any:
        """Return a limit in units, rounded to a whole number that the values meet just as they do the limit."""
        if self.unit is None:
            return float(limit)
        return (ceil if up else floor)(Fraction(str(limit)) * self.unit)

    def fits(self, state: NDArray[Any], limit: Any, rows: int) -> bool:
        """Whether 64 bits hold sums of so many rows and a state, and the limit."""
        if self.unit is None:
            return True
        peaks = [max(abs(int(array.min())), abs(int(array.max()))) for array in (self.values, state) if len(array)]
        return bool(max([abs(limit), *peaks]) * (rows + 1) < ROOM)

    def from_state(self, state: NDArray[Any], known: NDArray[np.bool_]) -> NDArray[Any]:
        """Return what is kept of every key in units; 0 where nothing is known."""
        if self.unit is None:
            return state.astype(np.float64)
        if self.unit == 1 and state.dtype.kind == "i":
            return state
        whole = np.zeros(len(state), object)
        for group in np.flatnonzero(known):
            whole[group] = round(Fraction(state[group]) * self.unit)
            if isinstance(state[group], float) and abs(whole[group]) > EXACT:
                raise QueryError(
                    f"the checkpoint has {state[group]} as a double, as an earlier version kept it, which may be "
                    "rounded. Use a new checkpoint."
                )
        return whole

    def to_state(self, whole: NDArray[Any]) -> NDArray[Any]:
        """Return numbers in units as they are kept: a decimal as such, whose unit may be another at the next start."""
        if self.is_decimal:
            return self.decimals(whole)
        return whole.astype(np.float64 if self.unit is None else np.int64)

    def decimals(self, whole: NDArray[Any]) -> NDArray[Any]:
        """Return numbers in units as decimals."""
        digits = len(str(self.unit)) - 1
        decimals = np.empty(len(whole), object)
        decimals[:] = [Decimal(f"{number}E-{digits}") for number in whole.tolist()]
        return decimals
