"""Windows in Spark SQL: GROUP BY window(…) and session_window(…)."""

from __future__ import annotations

import re

from sqlglot import exp

from muntin.duration import Duration
from muntin.sqltext.calls import called, is_aggregate
from muntin.sqltext.grouping import Grouped, made, relation_of, resolved, unqualified
from muntin.sqltext.lengths import text_length
from muntin.sqltext.pointing import Refused, Wrong, did_you_mean, refuse, unsupported
from muntin.sqltext.spelling import folded, named
from muntin.sqltext.statement import WINDOW
from muntin.window import AnyWindow, hopping, session_window, tumbling

_NAMES = ("window", "session_window")
_LENGTH = re.compile(r"\s*(?:interval\s+)?\d+\s*[a-z]", re.IGNORECASE)


def is_windowed(select: exp.Select) -> bool:
    """Tell whether a SELECT groups by windows."""
    nodes = _nodes(select)
    for node in nodes:
        _check_spelling(node)
    return any(called(node) in _NAMES for node in nodes)


def _check_spelling(node: exp.Expr) -> None:
    """Refuse what is called much like a window and has a length as a window has."""
    name, lengths = called(node), node.expressions[1:]
    is_like = bool(name) and name not in _NAMES and any(one.is_string and _LENGTH.match(one.name) for one in lengths)
    if is_like and (near := did_you_mean(name, _NAMES)):
        raise Wrong(node, f"{name!r} is not a window.{near}")


def _nodes(select: exp.Select) -> list[exp.Expr]:
    return resolved(select, lambda node: is_aggregate(node, "spark"))


def group(select: exp.Select) -> Grouped:
    """Read what a SELECT groups by."""
    relation = relation_of(select)
    unqualified(select, relation)
    nodes = _nodes(select)
    calls = [node for node in nodes if called(node) in _NAMES]
    if not calls:
        near = next((hint for node in nodes if (hint := did_you_mean(called(node), _NAMES)) and called(node)), "")
        refuse(select.args.get("group") or select, f"it groups by no window.{near}", "it does not group by window(…)")
    call, shape = calls[0], folded(calls[0])
    if any(folded(other) != shape for other in calls):
        unsupported(calls[1], "a SELECT has one window. Use UNION ALL.", "it groups by two windows at once")
    time, window = _window(call)
    keys = [node for node in nodes if called(node) not in _NAMES]
    return Grouped((window,), keys, time, relation, lambda node: _reference(node, called(call), shape))


def _window(call: exp.Expr) -> tuple[exp.Expr, AnyWindow]:
    name, (time, *lengths) = called(call), call.expressions or [None]
    most = 3 if name == "window" else 1
    if time is None or not 1 <= len(lengths) <= most:
        takes = "a time, a length, and then a slide and an offset" if most == 3 else "a time and a gap"
        raise Wrong(call, f"{name} takes {takes}.")
    if time.name.casefold() in _NAMES or called(time) == "window_time":
        unsupported(time, "windows of windows are not supported here.", "it makes windows of windows")
    if name == "session_window":
        return time, made(call, lambda: session_window(_length(lengths[0])))
    size, *rest = map(_length, lengths)
    slide, offset = [*rest, size, Duration(0)][:2] if not rest else [*rest, Duration(0)][:2]
    return time, made(
        call, lambda: tumbling(size, offset=offset) if slide == size else hopping(size, slide, offset=offset)
    )


def _length(node: exp.Expr) -> Duration:
    if isinstance(node, exp.Literal) and node.is_string:
        return text_length(node, node.name)
    if isinstance(node, exp.Literal) and re.fullmatch(r"\d{1,18}", node.name):
        return Duration(node.name)  # microseconds
    raise Refused(node, "a length is expected here, such as '10 minutes'.", "a length of a window is no constant")


def _reference(node: exp.Expr, name: str, shape: exp.Expr) -> exp.Expr | None:
    """Give what stands for a node that is about the window, given the window's name and its folded call."""
    if isinstance(node, exp.Column) and [part.name.casefold() for part in node.parts[:-1]] == [name]:
        return _field(node, node.name)
    if isinstance(node, exp.Dot) and called(node.this) == name and folded(node.this) == shape:
        return _field(node, node.expression.name)
    if (isinstance(node, exp.Column) and not node.table and node.name.casefold() == name) or (
        called(node) == name and folded(node) == shape
    ):
        return named(WINDOW)
    if called(node) in (*_NAMES, "window_time"):
        unsupported(node, "another window is selected than grouped by.", "another window is selected than grouped by")
    return None


def _field(node: exp.Expr, name: str) -> exp.Expr:
    if name.casefold() not in ("start", "end"):
        raise Wrong(node, f"a window has no {name!r}.{did_you_mean(name, ('start', 'end'))} Use start or end.")
    return named(WINDOW, name.casefold())
