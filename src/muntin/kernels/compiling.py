"""How techniques are compiled: an operator's methods are compiled into each technique that meets it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic, overload, register_jitable

from muntin.kernels import protocol
from muntin.kernels.on_disk import kept_on_disk


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function when first used, keep it on disk, and let other threads run meanwhile."""
    jitted = njit(nogil=True)(function)
    return jitted if jitted is function else kept_on_disk(jitted)  # NUMBA_DISABLE_JIT leaves functions as they are


register_jitable(protocol.capacity)


@cache
def _method(operator: type, name: str) -> Any:
    return register_jitable(getattr(operator, name))


def overloaded(function: Callable[..., Any], default: Callable[..., Any] | None = None) -> None:
    """Let compiled code call a method by the type of the first argument, or a default if that has none.

    The first argument is an operator, or the store of slices.
    """
    name, arguments = function.__name__, ", ".join(function.__code__.co_varnames[: function.__code__.co_argcount])

    def implement(op: Any, *_: Any) -> Any:
        if default is not None and not hasattr(op.instance_class, name):
            return default
        return _passing(arguments, _method(op.instance_class, name))

    overload(function)(_passing(arguments, implement))


def _passing(arguments: str, function: Callable[..., Any]) -> Any:
    """Make a function of named arguments that passes them on: Numba wants the names of both to agree."""
    return eval(f"lambda {arguments}: function({arguments})", {"function": function})  # noqa: S307 - our own text


def _put(op, values, place, partial):  # type: ignore[no-untyped-def]
    values[place] = partial


overloaded(protocol.combine)
overloaded(protocol.remove)
overloaded(protocol.exchange)
overloaded(protocol.displaces)
overloaded(protocol.commutes, lambda op: False)
overloaded(protocol.load, lambda op, values, place: values[place])
overloaded(protocol.store, _put)
overloaded(protocol.mark, lambda op, slide: None)
overloaded(protocol.bare, lambda op: op)


@overload(protocol.slot)
def _slot(row, around):  # type: ignore[no-untyped-def]
    return lambda row, around: np.uint64(row) & np.uint64(around)


@overload(protocol.room)
def _room(values, count):  # type: ignore[no-untyped-def]
    if values.ndim == 1:
        return lambda values, count: np.zeros(count, values.dtype)
    return lambda values, count: np.zeros((count, values.shape[1]), values.dtype)


@overload(protocol.end)
def _end(ends, slide):  # type: ignore[no-untyped-def]
    if isinstance(ends, types.Array):
        return lambda ends, slide: ends[slide]
    return lambda ends, slide: max(np.int64(0), slide + ends)


@overload(protocol.steps_by_one)
def _steps_by_one(ends):  # type: ignore[no-untyped-def]
    whole = isinstance(ends, types.Integer)
    return lambda ends: whole


@overload(protocol.longest)
def _longest(lo, hi, slides):  # type: ignore[no-untyped-def]
    if isinstance(lo, types.Integer):
        return lambda lo, hi, slides: min(hi - lo, slides - 1 + hi)

    def over(lo, hi, slides):  # type: ignore[no-untyped-def]
        most = np.int64(1)
        for k in range(len(lo)):
            most = max(most, hi[k] - lo[k])
        return most

    return over


@overload(protocol.answers)
def _answers(asked, slide):  # type: ignore[no-untyped-def]
    if isinstance(asked, types.Array):
        return lambda asked, slide: (slide * len(asked), (slide + 1) * len(asked))
    return lambda asked, slide: (asked.due[slide], asked.due[slide + 1])


@overload(protocol.start)
def _start(asked, slide, answer):  # type: ignore[no-untyped-def]
    if isinstance(asked, types.Array):
        return lambda asked, slide, answer: max(np.int64(0), slide + 1 - asked[answer - slide * len(asked)])
    return lambda asked, slide, answer: asked.starts[answer]


@overload(protocol.query)
def _query(asked, slide, answer):  # type: ignore[no-untyped-def]
    if isinstance(asked, types.Array):
        return lambda asked, slide, answer: answer - slide * len(asked)
    return lambda asked, slide, answer: asked.queries[answer]


@overload(protocol.widest)
def _widest(asked):  # type: ignore[no-untyped-def]
    return (lambda asked: asked[-1]) if isinstance(asked, types.Array) else (lambda asked: asked.widest)


@overload(protocol.queries)
def _queries(asked):  # type: ignore[no-untyped-def]
    return (lambda asked: len(asked)) if isinstance(asked, types.Array) else (lambda asked: asked.number)


def _read_counter(typing_context):  # type: ignore[no-untyped-def]
    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        from llvmlite import ir

        counter = builder.module.declare_intrinsic("llvm.readcyclecounter", (), ir.FunctionType(ir.IntType(64), ()))
        return builder.call(counter, ())

    return types.int64(), generate


ticks: Any = intrinsic(_read_counter)
"""Read the processor's time-stamp counter, in compiled code; 0 where it has none."""
