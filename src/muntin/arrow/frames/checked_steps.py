"""Steps of discretizers compiled so that they give what Python gives, or raise.

A step may have nothing but operations that are known to be the same. Each stands for a function that checks what Python
would do otherwise: whole numbers that leave 64 bits, or that a double does not hold.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numba
import numpy as np
from numba.core import ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.errors import TypingError
from numba.core.typed_passes import NopythonTypeInference
from numba.core.untyped_passes import IRProcessing

from muntin.arrow.frames.checked_operations import (
    CALLS,
    OPERATIONS,
    are_numbers,
    are_same,
    count_windows,
    keep_types,
)

STATEMENTS = (ir.Assign, ir.Del, ir.Branch, ir.Jump, ir.Return, ir.Raise, ir.StaticRaise)
"""What a step may consist of; a raise leads to Python, which raises again."""
EXPRESSIONS = {"call", "build_tuple", "exhaust_iter", "getitem", "static_getitem", "cast", "phi", "null"}
"""What may stand on the right of an assignment, beside operations."""


@register_pass(mutates_CFG=False, analysis_only=False)  # type: ignore[no-untyped-call]
class _CheckOperations(FunctionPass):
    """Put checked operations in the place of plain ones, and refuse all that have none."""

    _name = "check_operations"

    def __init__(self) -> None:
        FunctionPass.__init__(self)  # type: ignore[no-untyped-call]

    def run_pass(self, state: Any) -> bool:
        """Change the operations of a function before its types are known."""
        for block in state.func_ir.blocks.values():
            for statement in block.body:
                if not isinstance(statement, STATEMENTS):
                    raise TypingError(f"{type(statement).__name__} is left to Python")
            for assignment in block.find_insts(ir.Assign):
                assignment.value = _checked(assignment.value)
        return True


def _checked(value: Any) -> Any:
    """Return what is assigned with a checked operation in it."""
    if isinstance(value, ir.Const | ir.Var | ir.Arg):
        return value
    if isinstance(value, ir.Global | ir.FreeVar):
        return value if _is_constant(value.value) else _stand_in(value)
    if not isinstance(value, ir.Expr):
        raise TypingError(f"{type(value).__name__} is left to Python")
    if value.op == "inplace_binop":
        value = ir.Expr.binop(value.immutable_fn, value.lhs, value.rhs, value.loc)  # type: ignore[no-untyped-call]
    if value.op in ("binop", "unary"):
        if value.fn not in OPERATIONS:
            raise TypingError(f"{value.fn} is left to Python")
        value.fn = OPERATIONS[value.fn]
    elif value.op not in EXPRESSIONS:
        raise TypingError(f"{value.op} is left to Python")
    return value


def _is_constant(value: Any) -> bool:
    return all(map(_is_constant, value)) if isinstance(value, tuple) else isinstance(value, bool | int | float)


def _stand_in(value: Any) -> ir.Global:
    """Return what is called in the place of a builtin."""
    for builtin, checked in CALLS.items():
        if value.value is builtin:
            return ir.Global(checked.__name__, checked, value.loc)  # type: ignore[no-untyped-call]
    raise TypingError(f"{value.name} is left to Python")


@register_pass(mutates_CFG=False, analysis_only=True)  # type: ignore[no-untyped-call]
class _CheckTypes(FunctionPass):
    """Refuse types other than numbers, and a name that holds a whole number here and a float there."""

    _name = "check_types"

    def __init__(self) -> None:
        FunctionPass.__init__(self)  # type: ignore[no-untyped-call]

    def run_pass(self, state: Any) -> bool:
        """Check all assignments and what is returned."""
        kinds = state.typemap
        for block in state.func_ir.blocks.values():
            for assignment in block.find_insts(ir.Assign):
                kind = kinds.get(assignment.target.name)
                if kind is not None and not isinstance(kind, types.Function) and not are_numbers(kind):
                    raise TypingError(f"{kind} is left to Python")
                for source in _sources(assignment.value):
                    if not isinstance(source, ir.Var) or not are_same(kind, kinds[source.name]):
                        raise TypingError(f"{assignment.target.name} has several types")
            end = block.terminator
            if isinstance(end, ir.Return) and not are_same(state.return_type, kinds[end.value.name]):
                raise TypingError("what is returned has several types")
        return False


def _sources(value: Any) -> list[Any]:
    """Return the names whose values a name takes over."""
    if isinstance(value, ir.Var):
        return [value]
    match getattr(value, "op", None):
        case "cast":
            return [value.value]
        case "phi":
            return list(value.incoming_values)
    return []


class _Compiler(CompilerBase):
    """Numba's compiler with checked operations."""

    def define_pipelines(self) -> list[Any]:
        """Check operations as soon as a function is read, and types as soon as they are known."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)  # type: ignore[no-untyped-call]
        passes.add_pass_after(_CheckOperations, IRProcessing)
        passes.add_pass_after(_CheckTypes, NopythonTypeInference)
        passes.finalize()
        return [passes]


@lru_cache(maxsize=64)
def step_loop(step: Callable[..., Any], columns: int) -> Callable[..., Any]:
    """Return a compiled loop over rows that calls a step."""
    names = [f"c{number}" for number in range(columns)]
    text = f"""
def loop({", ".join(["initial", "time", *names])}):
    begins, ends = np.zeros(len(time), np.int64), np.zeros(len(time), np.int64)
    state = initial
    for row in range(len(time)):
        state, begun, ended = step({", ".join(["state", "time[row]", *(f"{name}[row]" for name in names)])})
        begins[row], ends[row] = count(begun), count(ended)
    keep(initial, state)
    return state, begins, ends
"""
    scope: dict[str, Any] = {"np": np, "count": count_windows, "keep": keep_types}
    scope["step"] = numba.njit(step, pipeline_class=_Compiler)
    exec(text, scope)  # noqa: S102 - our own text
    return numba.njit(scope["loop"])  # type: ignore[no-any-return]
