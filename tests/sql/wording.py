"""Windows, lengths and aggregates in the words of a dialect."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from sqlglot import exp

from muntin.duration import UNIT_NAMES, natural_unit
from muntin.errors import UnsupportedError
from muntin.sqltext.spelling import parsed
from muntin.sqltext.statement import Call, Dialect
from muntin.window import AnyWindow, Cumulating, Session, Window

_AZURE = {"stddev": "STDEV", "stddev_pop": "STDEVP", "variance": "VAR", "var_pop": "VARP"}
_FLINK = {"first": "FIRST_VALUE", "last": "LAST_VALUE"}


def words_of_window(window: AnyWindow, dialect: Dialect) -> tuple[str, list[int]]:
    """Give the name of a window's function and its lengths, in the dialect's order."""
    match window:
        case Window():
            tumbling, offset = window.is_tumbling, [window.offset] if window.offset else []
            if dialect == "spark":
                return "window", [window.range, *([window.slide] if offset or not tumbling else []), *offset]
            if dialect == "azure":
                name = "TumblingWindow" if tumbling else "HoppingWindow"
                return name, [window.range, *([] if tumbling else [window.slide]), *offset]
            if tumbling:
                return "TUMBLE", [window.range, *offset]
            return "HOP", [window.slide, window.range, *offset]
        case Session() if window.longest is None:
            return {"spark": "session_window", "azure": "SessionWindow", "flink": "SESSION"}[dialect], [window.gap]
        case Session() if window.longest is not None and window.aligned and dialect == "azure":
            return "SessionWindow", [window.gap, window.longest]
        case Cumulating() if dialect == "flink":
            return "CUMULATE", [window.step, window.range, *([window.offset] if window.offset else [])]
    raise UnsupportedError(f"{dialect} has no words for the window {window.label!r}. Write it in another dialect.")


def words_of_call(call: Call, dialect: Dialect) -> exp.Expr:
    """Write a call as a node of the dialect."""
    arguments: list[exp.Expr] = [parsed(argument) for argument in call.arguments]
    options = dict(call.options)
    name = call.function.upper()
    match call.function, dialect:
        case "count_distinct", _:
            return exp.Anonymous(this="COUNT", expressions=[exp.Distinct(expressions=arguments)])
        case "count", _ if not arguments:
            return exp.Anonymous(this="COUNT", expressions=[exp.Star()])
        case "count_if", "flink":
            count = exp.Anonymous(this="COUNT", expressions=[exp.Star()])
            return exp.Filter(this=count, expression=exp.Where(this=arguments[0]))
        case "percentile", "azure":
            order = exp.Order(expressions=[exp.Ordered(this=arguments[0], nulls_first=True)])
            return exp.Window(this=exp.Anonymous(this="PERCENTILE_CONT", expressions=[_number(options)]), order=order)
        case "percentile", _:
            return exp.Anonymous(this=name, expressions=[*arguments, _number(options)])
    return exp.Anonymous(
        this={"azure": _AZURE, "flink": _FLINK}.get(dialect, {}).get(call.function, name), expressions=arguments
    )


def _number(options: dict[str, Any]) -> exp.Expr:
    return exp.Literal.number(format(Decimal(repr(options["fraction"])), "f"))


def text_in_quotes(value: str) -> str:
    """Write a text between quotes."""
    return "'" + value.replace("'", "''") + "'"


def number_and_unit(length: int, between: str) -> str:
    """Write a length as a number and a unit."""
    unit = natural_unit([abs(length)])
    return f"{length // unit}{between}{UNIT_NAMES[unit]}"


def unit_and_number(length: int) -> str:
    """Write a length as Azure does."""
    unit = natural_unit([abs(length)])
    return f"{UNIT_NAMES[unit]}, {length // unit}"


def interval(length: int) -> str:
    """Write a length as an INTERVAL."""
    unit = natural_unit([abs(length)])
    return f"INTERVAL '{length // unit}' {UNIT_NAMES[unit].upper()}"
