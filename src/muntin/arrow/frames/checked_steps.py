"""Steps of discretizers compiled so that they give what Python gives, or raise: whole numbers do not wrap."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.core import ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import TypingError
from numba.core.untyped_passes import IRProcessing
from numba.extending import overload

LEAST, GREATEST = -(2**63), 2**63 - 1
EXACT = 2**53
"""Up to here a double holds every whole number."""


def _add(a, b):  # type: ignore[no-untyped-def]
    """Stand for a + b in compiled steps."""


def _subtract(a, b):  # type: ignore[no-untyped-def]
    """Stand for a - b."""


def _multiply(a, b):  # type: ignore[no-untyped-def]
    """Stand for a * b."""


def _divide(a, b):  # type: ignore[no-untyped-def]
    """Stand for a / b."""


def _negate(a):  # type: ignore[no-untyped-def]
    """Stand for -a."""


def _refused(a, b):  # type: ignore[no-untyped-def]
    """Stand for an operation whose result may be of any size."""


def _count(marks):  # type: ignore[no-untyped-def]
    """Return a number of windows."""


CHECKED = {
    operator.add: _add,
    operator.sub: _subtract,
    operator.mul: _multiply,
    operator.truediv: _divide,
    operator.neg: _negate,
    operator.pow: _refused,
    operator.lshift: _refused,
}
"""What stands for operations that differ from Python's where 64 bits do not hold the result."""


def _are_whole(*kinds: Any) -> bool:
    return all(isinstance(kind, types.Integer | types.Boolean) for kind in kinds)


@overload(_add)
def _checked_add(a, b):  # type: ignore[no-untyped-def]
    if not _are_whole(a, b):
        return lambda a, b: a + b

    def add(a, b):  # type: ignore[no-untyped-def]
        left, right = np.int64(a), np.int64(b)
        if left > GREATEST - right if right > 0 else left < LEAST - right:
            raise OverflowError
        return left + right

    return add


@overload(_subtract)
def _checked_subtract(a, b):  # type: ignore[no-untyped-def]
    if not _are_whole(a, b):
        return lambda a, b: a - b

    def subtract(a, b):  # type: ignore[no-untyped-def]
        left, right = np.int64(a), np.int64(b)
        if left < LEAST + right if right > 0 else left > GREATEST + right:
            raise OverflowError
        return left - right

    return subtract


@overload(_multiply)
def _checked_multiply(a, b):  # type: ignore[no-untyped-def]
    if not _are_whole(a, b):
        return lambda a, b: a * b

    def multiply(a, b):  # type: ignore[no-untyped-def]
        left, right = np.int64(a), np.int64(b)
        if abs(np.float64(left) * np.float64(right)) > GREATEST // 2:
            raise OverflowError
        return left * right

    return multiply


@overload(_divide)
def _checked_divide(a, b):  # type: ignore[no-untyped-def]
    if not _are_whole(a, b):
        return lambda a, b: a / b

    def divide(a, b):  # type: ignore[no-untyped-def]
        left, right = np.int64(a), np.int64(b)
        if not (-EXACT <= left <= EXACT and -EXACT <= right <= EXACT):
            raise OverflowError
        return left / right

    return divide


@overload(_negate)
def _checked_negate(a):  # type: ignore[no-untyped-def]
    if not _are_whole(a):
        return lambda a: -a

    def negate(a):  # type: ignore[no-untyped-def]
        if np.int64(a) == LEAST:
            raise OverflowError
        return -np.int64(a)

    return negate


@overload(_refused)
def _checked_refused(a, b):  # type: ignore[no-untyped-def]
    raise TypingError("the result may be of any size")


@overload(_count)
def _checked_count(marks):  # type: ignore[no-untyped-def]
    if not _are_whole(marks):
        raise TypingError("not a number of windows")
    return lambda marks: np.int64(marks)


@register_pass(mutates_CFG=False, analysis_only=False)  # type: ignore[no-untyped-call]
class _CheckArithmetic(FunctionPass):
    """Put checked operations in the place of plain ones."""

    _name = "check_arithmetic"

    def __init__(self) -> None:
        FunctionPass.__init__(self)  # type: ignore[no-untyped-call]

    def run_pass(self, state: Any) -> bool:
        """Change the operations of a function before its types are known."""
        for block in state.func_ir.blocks.values():
            for assignment in block.find_insts(ir.Assign):
                assignment.value = _checked(assignment.value)
        return True


def _checked(value: Any) -> Any:
    """Return an expression with a checked operation in it."""
    kind = getattr(value, "op", None)
    if kind == "inplace_binop" and value.immutable_fn in CHECKED:
        value = ir.Expr.binop(value.immutable_fn, value.lhs, value.rhs, value.loc)  # type: ignore[no-untyped-call]
    if kind in ("binop", "inplace_binop", "unary") and value.fn in CHECKED:
        value.fn = CHECKED[value.fn]
    return value


class _Compiler(CompilerBase):
    """Numba's compiler with checked arithmetic."""

    def define_pipelines(self) -> list[Any]:
        """Check arithmetic as soon as a function is read."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        passes.add_pass_after(_CheckArithmetic, IRProcessing)
        passes.finalize()
        return [passes]


@lru_cache(maxsize=64)
def step_loop(step: Callable[..., Any], columns: int) -> Callable[..., Any]:
    """Return a compiled loop over rows that calls a step."""
    names = [f"c{number}" for number in range(columns)]
    text = f"""
def loop({", ".join(["state", "time", *names])}):
    begins, ends = np.zeros(len(time), np.int64), np.zeros(len(time), np.int64)
    for row in range(len(time)):
        state, begun, ended = step({", ".join(["state", "time[row]", *(f"{name}[row]" for name in names)])})
        begins[row], ends[row] = count(begun), count(ended)
    return state, begins, ends
"""
    scope: dict[str, Any] = {"np": np, "count": _count, "step": numba.njit(step, pipeline_class=_Compiler)}
    exec(text, scope)  # noqa: S102 - our own text
    return numba.njit(scope["loop"])  # type: ignore[no-any-return]
