"""Operations on numbers that give in compiled code what Python gives, or raise: a step then runs as plain Python."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.core import types
from numba.core.errors import TypingError
from numba.extending import overload

LEAST, GREATEST = -(2**63), 2**63 - 1
EXACT = 2**53
"""Up to here a double holds every whole number."""


def are_numbers(*kinds: Any) -> bool:
    """Whether types are numbers that compiled code holds as Python does, or tuples of them."""
    return all(are_numbers(*_parts(kind)) if isinstance(kind, types.BaseTuple) else _are_plain(kind) for kind in kinds)


def are_same(left: Any, right: Any) -> bool:
    """Whether a value of one type may be taken for the other: a boolean for a whole number, but no such for a float."""
    if isinstance(left, types.BaseTuple) and isinstance(right, types.BaseTuple):
        parts, others = _parts(left), _parts(right)
        return len(parts) == len(others) and all(map(are_same, parts, others))
    return left == right or _are_whole(left, right)


def _parts(kind: Any) -> tuple[Any, ...]:
    """Return the types of what a tuple has."""
    return tuple(kind.types)


def _are_whole(*kinds: Any) -> bool:
    return all(isinstance(kind, types.Boolean | types.Integer) and getattr(kind, "signed", True) for kind in kinds)


def _are_doubles(*kinds: Any) -> bool:
    return all(isinstance(kind, types.Float) and kind.bitwidth == 64 for kind in kinds)


def _are_plain(*kinds: Any) -> bool:
    """Whether types are numbers, and not tuples."""
    return all(_are_whole(kind) or _are_doubles(kind) for kind in kinds)


def _add(a, b):  # type: ignore[no-untyped-def]
    """Stand for a + b in compiled steps."""


def _subtract(a, b):  # type: ignore[no-untyped-def]
    """Stand for a - b."""


def _multiply(a, b):  # type: ignore[no-untyped-def]
    """Stand for a * b."""


def _divide(a, b):  # type: ignore[no-untyped-def]
    """Stand for a / b."""


def _divide_whole(a, b):  # type: ignore[no-untyped-def]
    """Stand for a // b."""


def _remainder(a, b):  # type: ignore[no-untyped-def]
    """Stand for a % b."""


def _negate(a):  # type: ignore[no-untyped-def]
    """Stand for -a."""


def _not(a):  # type: ignore[no-untyped-def]
    """Stand for not a."""


def _truth(a):  # type: ignore[no-untyped-def]
    """Stand for bool(a), which every condition calls."""


def _whole(a):  # type: ignore[no-untyped-def]
    """Stand for int(a)."""


def _double(a):  # type: ignore[no-untyped-def]
    """Stand for float(a)."""


def _absolute(a):  # type: ignore[no-untyped-def]
    """Stand for abs(a)."""


def _smaller(a, b):  # type: ignore[no-untyped-def]
    """Stand for min(a, b)."""


def _greater(a, b):  # type: ignore[no-untyped-def]
    """Stand for max(a, b)."""


def count_windows(marks):  # type: ignore[no-untyped-def]
    """Return a number of windows."""


def keep_types(initial, state):  # type: ignore[no-untyped-def]
    """Check that a state has the types that it began with."""


@overload(_add)
def _checked_add(a, b):  # type: ignore[no-untyped-def]
    def add(a, b):  # type: ignore[no-untyped-def]
        left, right = np.int64(a), np.int64(b)
        if left > GREATEST - right if right > 0 else left < LEAST - right:
            raise OverflowError
        return left + right

    return _for_numbers(a, b, add, lambda a, b: np.float64(a) + np.float64(b))


@overload(_subtract)
def _checked_subtract(a, b):  # type: ignore[no-untyped-def]
    def subtract(a, b):  # type: ignore[no-untyped-def]
        left, right = np.int64(a), np.int64(b)
        if left < LEAST + right if right > 0 else left > GREATEST + right:
            raise OverflowError
        return left - right

    return _for_numbers(a, b, subtract, lambda a, b: np.float64(a) - np.float64(b))


@overload(_multiply)
def _checked_multiply(a, b):  # type: ignore[no-untyped-def]
    def multiply(a, b):  # type: ignore[no-untyped-def]
        left, right = np.int64(a), np.int64(b)
        if abs(np.float64(left) * np.float64(right)) > GREATEST // 2:
            raise OverflowError
        return left * right

    return _for_numbers(a, b, multiply, lambda a, b: np.float64(a) * np.float64(b))


@overload(_divide)
def _checked_divide(a, b):  # type: ignore[no-untyped-def]
    def divide(a, b):  # type: ignore[no-untyped-def]
        left, right = np.int64(a), np.int64(b)
        if not (-EXACT <= left <= EXACT and -EXACT <= right <= EXACT):
            raise OverflowError
        return left / right

    return _for_numbers(a, b, divide, lambda a, b: np.float64(a) / np.float64(b))


def _for_numbers(a: Any, b: Any, whole: Callable[..., Any], doubles: Callable[..., Any]) -> Callable[..., Any]:
    """Return what computes with whole numbers, or with numbers some of which are doubles."""
    _require(_are_plain(a, b))
    return whole if _are_whole(a, b) else doubles


def _require(is_known: bool) -> None:
    """Leave to Python what is not known to be the same."""
    if not is_known:
        raise TypingError("left to Python")


@overload(_divide_whole)
def _checked_divide_whole(a, b):  # type: ignore[no-untyped-def]
    _require(_are_whole(a, b))

    def divide_whole(a, b):  # type: ignore[no-untyped-def]
        left, right = np.int64(a), np.int64(b)
        if right == 0 or (right == -1 and left == LEAST):
            raise OverflowError
        return left // right

    return divide_whole


@overload(_remainder)
def _checked_remainder(a, b):  # type: ignore[no-untyped-def]
    _require(_are_whole(a, b))

    def remainder(a, b):  # type: ignore[no-untyped-def]
        left, right = np.int64(a), np.int64(b)
        if right == 0 or (right == -1 and left == LEAST):
            raise OverflowError
        return left % right

    return remainder


@overload(_negate)
def _checked_negate(a):  # type: ignore[no-untyped-def]
    _require(_are_plain(a))
    if not _are_whole(a):
        return lambda a: -a

    def negate(a):  # type: ignore[no-untyped-def]
        if np.int64(a) == LEAST:
            raise OverflowError
        return -np.int64(a)

    return negate


@overload(_not)
def _checked_not(a):  # type: ignore[no-untyped-def]
    _require(_are_plain(a))
    return lambda a: a == 0


@overload(_truth)
def _checked_truth(a):  # type: ignore[no-untyped-def]
    _require(_are_plain(a))
    return lambda a: a != 0


@overload(_whole)
def _checked_whole(a):  # type: ignore[no-untyped-def]
    _require(_are_plain(a))
    if _are_whole(a):
        return lambda a: np.int64(a)

    def whole(a):  # type: ignore[no-untyped-def]
        if not abs(a) < GREATEST // 2:  # also where it is no number
            raise OverflowError
        return np.int64(a)

    return whole


@overload(_double)
def _checked_double(a):  # type: ignore[no-untyped-def]
    _require(_are_plain(a))
    return lambda a: np.float64(a)


@overload(_absolute)
def _checked_absolute(a):  # type: ignore[no-untyped-def]
    _require(_are_plain(a))
    if not _are_whole(a):
        return lambda a: abs(a)

    def absolute(a):  # type: ignore[no-untyped-def]
        if np.int64(a) == LEAST:
            raise OverflowError
        return abs(np.int64(a))

    return absolute


@overload(_smaller)
def _checked_smaller(a, b):  # type: ignore[no-untyped-def]
    _require(_are_whole(a, b) or _are_doubles(a, b))
    return lambda a, b: b if b < a else a


@overload(_greater)
def _checked_greater(a, b):  # type: ignore[no-untyped-def]
    _require(_are_whole(a, b) or _are_doubles(a, b))
    return lambda a, b: b if b > a else a


@overload(count_windows)
def _checked_count(marks):  # type: ignore[no-untyped-def]
    _require(_are_whole(marks))
    return lambda marks: np.int64(marks)


@overload(keep_types)
def _checked_types(initial, state):  # type: ignore[no-untyped-def]
    _require(are_numbers(initial) and are_same(initial, state))
    return lambda initial, state: None


def _comparison(compare: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return what stands for a comparison: Python compares whole numbers with floats exactly."""

    def stand_in(a, b):  # type: ignore[no-untyped-def]
        """Stand for a comparison."""

    @overload(stand_in)
    def checked(a, b):  # type: ignore[no-untyped-def]
        def doubles(a, b):  # type: ignore[no-untyped-def]
            if not ((is_double[0] or -EXACT <= a <= EXACT) and (is_double[1] or -EXACT <= b <= EXACT)):
                raise OverflowError
            return compare(np.float64(a), np.float64(b))

        is_double = (_are_doubles(a), _are_doubles(b))
        return _for_numbers(a, b, lambda a, b: compare(np.int64(a), np.int64(b)), doubles)

    return stand_in


def _bitwise(combine: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Return what stands for an operation on the bits of whole numbers; of booleans it is a boolean."""

    def stand_in(a, b):  # type: ignore[no-untyped-def]
        """Stand for an operation on bits."""

    @overload(stand_in)
    def checked(a, b):  # type: ignore[no-untyped-def]
        _require(_are_whole(a, b))
        if isinstance(a, types.Boolean) and isinstance(b, types.Boolean):
            return lambda a, b: combine(a, b)
        return lambda a, b: combine(np.int64(a), np.int64(b))

    return stand_in


COMPARISONS = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
OPERATIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    operator.add: _add,
    operator.sub: _subtract,
    operator.mul: _multiply,
    operator.truediv: _divide,
    operator.floordiv: _divide_whole,
    operator.mod: _remainder,
    operator.neg: _negate,
    operator.not_: _not,
    **{compare: _comparison(compare) for compare in COMPARISONS},
    **{combine: _bitwise(combine) for combine in (operator.and_, operator.or_, operator.xor)},
}
"""What stands for each operation in compiled steps; all others are left to Python."""
CALLS: dict[Callable[..., Any], Callable[..., Any]] = {
    bool: _truth,
    int: _whole,
    float: _double,
    abs: _absolute,
    min: _smaller,
    max: _greater,
}
"""What stands for each builtin."""
