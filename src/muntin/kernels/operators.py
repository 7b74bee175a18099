"""Operators that techniques combine partials with, in plain Python.

An operator is a named tuple, most of them empty: its type alone tells Numba what to compile, and compiled code is kept
on disk by that type. A partial is a number, or a tuple of numbers where values are rows of a matrix. Operators that
wrap another one count or time what a technique does, without a second version of it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muntin.kernels.compiling import ticks
from muntin.kernels.protocol import combine, commutes, displaces, exchange, load, remove, store


class Sum(NamedTuple):
    """The sum of numbers."""

    def combine(self, a: Any, b: Any) -> Any:
        """Add."""
        return a + b

    def remove(self, total: Any, old: Any) -> Any:
        """Subtract; floats drift."""
        return total - old

    def exchange(self, total: Any, old: Any, new: Any) -> Any:
        """Take the oldest out and the newest in; the difference does not wait for the total."""
        return total + (new - old)

    def commutes(self) -> bool:
        """Say yes."""
        return True


class Wide(NamedTuple):
    """The sum of whole numbers of 128 bits, rows of a low and a high word in two's complement."""

    def combine(self, a: Any, b: Any) -> Any:
        """Add words with their carry."""
        low = a[0] + b[0]
        carry = np.uint64(1) if low < a[0] else np.uint64(0)
        return low, a[1] + b[1] + carry

    def remove(self, total: Any, old: Any) -> Any:
        """Subtract words with their borrow."""
        borrow = np.uint64(1) if total[0] < old[0] else np.uint64(0)
        return total[0] - old[0], total[1] - old[1] - borrow

    def exchange(self, total: Any, old: Any, new: Any) -> Any:
        """Take the oldest out and the newest in."""
        return combine(self, remove(self, total, old), new)

    def commutes(self) -> bool:
        """Say yes."""
        return True

    def load(self, values: Any, place: Any) -> Any:
        """Read a row."""
        return values[place, 0], values[place, 1]

    def store(self, values: Any, place: Any, partial: Any) -> None:
        """Write a row."""
        values[place, 0], values[place, 1] = partial


class Min(NamedTuple):
    """The least; NaN is the greatest number, as in Spark."""

    def combine(self, a: Any, b: Any) -> Any:
        """Choose the lesser; a != a holds for NaN alone."""
        return b if b < a or a != a else a

    def displaces(self, new: Any, old: Any) -> Any:
        """Tell whether an older value can never be the result again."""
        return new <= old or old != old

    def commutes(self) -> bool:
        """Say yes."""
        return True


class Max(NamedTuple):
    """The greatest; NaN is the greatest number."""

    def combine(self, a: Any, b: Any) -> Any:
        """Choose the greater."""
        return b if b > a or b != b else a

    def displaces(self, new: Any, old: Any) -> Any:
        """Tell whether an older value can never be the result again."""
        return new >= old or new != new

    def commutes(self) -> bool:
        """Say yes."""
        return True


class FirstMin(NamedTuple):
    """The earliest of the least."""

    def combine(self, a: Any, b: Any) -> Any:
        """Choose the lesser, the earlier of equals."""
        return b if displaces(self, b, a) else a

    def displaces(self, new: Any, old: Any) -> Any:
        """Tell whether an older value can never be the result again: not while an equal one may follow."""
        return new < old or (old != old and new == new)


class FirstMax(NamedTuple):
    """The earliest of the greatest."""

    def combine(self, a: Any, b: Any) -> Any:
        """Choose the greater, the earlier of equals."""
        return b if displaces(self, b, a) else a

    def displaces(self, new: Any, old: Any) -> Any:
        """Tell whether an older value can never be the result again."""
        return new > old or (new != new and old == old)


class Moments(NamedTuple):
    """Count, means of x and y, squared deviations of x, of y and of their products: rows of six numbers.

    One column is a pair whose second half is nothing. Merging is Chan's, which loses no digits far from zero.
    """

    def combine(self, a: Any, b: Any) -> Any:
        """Merge two states; a count of 0 stands for no values."""
        if a[0] == 0:
            return b
        if b[0] == 0:
            return a
        dx, dy, weight = b[1] - a[1], b[2] - a[2], b[0] / (a[0] + b[0])
        to_x, to_y = dx * weight, dy * weight  # in this order nothing is infinite that need not be
        return (
            a[0] + b[0],
            a[1] + to_x,
            a[2] + to_y,
            a[3] + b[3] + dx * to_x * a[0] + (dx - dx),  # NaN if the means are infinitely far apart, as in Spark
            a[4] + b[4] + dy * to_y * a[0] + (dy - dy),
            a[5] + b[5] + dx * to_y * a[0],
        )

    def commutes(self) -> bool:
        """Say yes."""
        return True

    def load(self, values: Any, place: Any) -> Any:
        """Read a row."""
        row = values[place]
        return row[0], row[1], row[2], row[3], row[4], row[5]

    def store(self, values: Any, place: Any, partial: Any) -> None:
        """Write a row."""
        row = values[place]
        row[0], row[1], row[2], row[3], row[4], row[5] = partial


class Means(NamedTuple):
    """The means of three numbers: rows of a count and three sums."""

    def combine(self, a: Any, b: Any) -> Any:
        """Add."""
        return a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]

    def commutes(self) -> bool:
        """Say yes."""
        return True

    def load(self, values: Any, place: Any) -> Any:
        """Read a row."""
        row = values[place]
        return row[0], row[1], row[2], row[3]

    def store(self, values: Any, place: Any, partial: Any) -> None:
        """Write a row."""
        row = values[place]
        row[0], row[1], row[2], row[3] = partial


class Compose(NamedTuple):
    """The composition of maps x → a·x + b, rows of a and b: associative, and the order matters."""

    def combine(self, a: Any, b: Any) -> Any:
        """Apply the earlier map first."""
        return a[0] * b[0], a[1] * b[0] + b[1]

    def load(self, values: Any, place: Any) -> Any:
        """Read a row."""
        return values[place, 0], values[place, 1]

    def store(self, values: Any, place: Any, partial: Any) -> None:
        """Write a row."""
        values[place, 0], values[place, 1] = partial


class Counting(NamedTuple):
    """Another operator whose combinations are counted."""

    inner: Any
    seen: NDArray[np.int64]
    """How many there were, in its only place."""
    marks: NDArray[np.int64]
    """How many there were when each slide was done."""

    def combine(self, a: Any, b: Any) -> Any:
        """Count one."""
        self.seen[0] += 1
        return combine(self.inner, a, b)

    def remove(self, total: Any, old: Any) -> Any:
        """Count one."""
        self.seen[0] += 1
        return remove(self.inner, total, old)

    def exchange(self, total: Any, old: Any, new: Any) -> Any:
        """Count two."""
        self.seen[0] += 2
        return exchange(self.inner, total, old, new)

    def displaces(self, new: Any, old: Any) -> Any:
        """Count one: a comparison is what a selective operator does."""
        self.seen[0] += 1
        return displaces(self.inner, new, old)

    def mark(self, slide: int) -> Any:
        """Note the count."""
        self.marks[slide] = self.seen[0]

    def commutes(self) -> bool:
        """Pass on."""
        return commutes(self.inner)

    def load(self, values: Any, place: Any) -> Any:
        """Pass on."""
        return load(self.inner, values, place)

    def store(self, values: Any, place: Any, partial: Any) -> None:
        """Pass on."""
        store(self.inner, values, place, partial)


class Timed(NamedTuple):
    """Another operator; the processor's clock is read after every slide."""

    inner: Any
    marks: NDArray[np.int64]
    """Ticks when each slide was done."""

    def combine(self, a: Any, b: Any) -> Any:
        """Pass on."""
        return combine(self.inner, a, b)

    def remove(self, total: Any, old: Any) -> Any:
        """Pass on."""
        return remove(self.inner, total, old)

    def exchange(self, total: Any, old: Any, new: Any) -> Any:
        """Pass on."""
        return exchange(self.inner, total, old, new)

    def displaces(self, new: Any, old: Any) -> Any:
        """Pass on."""
        return displaces(self.inner, new, old)

    def bare(self) -> Any:
        """Give the other operator: nothing needs this one but the mark."""
        return self.inner

    def mark(self, slide: int) -> Any:
        """Note the ticks."""
        self.marks[slide] = ticks()

    def commutes(self) -> bool:
        """Pass on."""
        return commutes(self.inner)

    def load(self, values: Any, place: Any) -> Any:
        """Pass on."""
        return load(self.inner, values, place)

    def store(self, values: Any, place: Any, partial: Any) -> None:
        """Pass on."""
        store(self.inner, values, place, partial)


Operator = Sum | Wide | Min | Max | FirstMin | FirstMax | Moments | Means | Compose | Counting | Timed


def innermost(operator: Any) -> Any:
    """Give the operator that others wrap."""
    return innermost(operator.inner) if hasattr(operator, "inner") else operator
