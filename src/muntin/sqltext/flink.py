"""Windows in Flink SQL: table functions such as TUMBLE, and the older calls in GROUP BY."""

from __future__ import annotations

from sqlglot import exp

from muntin.sqltext.calls import called
from muntin.sqltext.dialects import PARTITION
from muntin.sqltext.grouping import Grouped, grouped_by, made, relation_of, same, unqualified
from muntin.sqltext.lengths import interval
from muntin.sqltext.pointing import did_you_mean, refuse, unsupported
from muntin.sqltext.spelling import folded, named
from muntin.sqltext.statement import WINDOW
from muntin.window import AnyWindow, cumulating, hopping, session_window, tumbling

_TABLE = {
    "tumble": ("size", "offset"),
    "hop": ("slide", "size", "offset"),
    "cumulate": ("step", "size", "offset"),
    "session": ("gap",),
}
"""Lengths that table functions take, after a table and a descriptor."""
_CALL = {"tumble": ("size", "offset"), "hop": ("slide", "size", "offset"), "session": ("gap",)}
"""Lengths that calls in GROUP BY take, after a time; an offset is the last."""
_COLUMNS = ("window_start", "window_end", "window_time")
_ENDS = ("start", "end", "rowtime", "proctime")


def is_windowed(select: exp.Select) -> bool:
    """Tell whether a SELECT groups by windows."""
    source = select.args.get("from_")
    function = None if source is None else _function(source.this)
    if function is None:
        return any(called(node) in _CALL for node in grouped_by(select))
    return called(function) in _TABLE or any(called(node) == "descriptor" for node in function.expressions)


def _function(relation: exp.Expr) -> exp.Expr | None:
    """Give the table function that is read; None where a table or a query is."""
    inner: exp.Expr | None = relation.this
    while isinstance(relation, exp.Table | exp.TableFromRows) and isinstance(inner, exp.Expr):
        if called(inner) == "table" and len(inner.expressions) == 1:
            inner = inner.expressions[0]
        elif isinstance(inner, exp.Anonymous):
            return inner
        else:
            inner = inner.this if isinstance(inner, exp.Table) else None
    return None


def group(select: exp.Select) -> Grouped:
    """Read what a SELECT groups by."""
    source = select.args.get("from_")
    function = None if source is None else _function(source.this)
    return _of_calls(select) if function is None else _of_table(select, function)


def _of_table(select: exp.Select, function: exp.Expr) -> Grouped:
    name = called(function)
    if name not in _TABLE:
        near = did_you_mean(name, _TABLE)
        refuse(function, f"{name.upper()} is no table function of windows.{near} Use TUMBLE, HOP, CUMULATE or SESSION.")
    outer = select.args["from_"].this
    unqualified(select, outer)
    given = _arguments(function, ("data", "timecol", *_TABLE[name]))
    table, time = given.pop("data", None), given.pop("timecol", None)
    if not isinstance(table, exp.Table):
        refuse(table or function, f"{name.upper()} takes a table first: TABLE name.")
    if time is None or called(time) != "descriptor" or len(time.expressions) != 1:
        refuse(time or function, f"{name.upper()} takes the event time after the table: DESCRIPTOR(column).")
    window = _window(function, name, given)
    nodes = grouped_by(select)
    spelled = [node.name.casefold() for node in nodes if isinstance(node, exp.Column) and not node.table]
    for column in _COLUMNS[:2]:
        if column not in spelled:
            refuse(
                select.args.get("group") or select,
                f"GROUP BY lacks {column}: windows need window_start and window_end.",
            )
    keys = [node for node in nodes if not (isinstance(node, exp.Column) and node.name.casefold() in _COLUMNS)]
    if name == "session":
        _check_partition(function, table.args.get(PARTITION) or [], keys)
    table.set(PARTITION, None)
    return Grouped((window,), keys, time.expressions[0], table, _column)


def _check_partition(function: exp.Expr, parts: list[exp.Expr], keys: list[exp.Expr]) -> None:
    if not same(parts, keys):
        unsupported(
            function,
            "sessions are of the rows of one key here. Name the same keys in GROUP BY and after the table: "
            "SESSION(TABLE t PARTITION BY key, …).",
        )


def _column(node: exp.Expr) -> exp.Expr | None:
    if isinstance(node, exp.Column) and not node.table and node.name.casefold() in _COLUMNS:
        return _end(node.name.casefold().removeprefix("window_"))
    return None


def _end(name: str) -> exp.Expr:
    if name == "start":
        return named(WINDOW, "start")
    if name == "end":
        return named(WINDOW, "end")
    last = exp.Interval(this=exp.Literal.string("1"), unit=exp.var("MILLISECOND"))
    return exp.Sub(this=named(WINDOW, "end"), expression=last)


def _of_calls(select: exp.Select) -> Grouped:
    relation = relation_of(select)
    unqualified(select, relation)
    nodes = grouped_by(select)
    calls = [node for node in nodes if called(node) in _CALL]
    if len(calls) != 1:
        asked = [name for node in nodes if (name := called(node))]
        near = next((hint for name in asked if (hint := did_you_mean(name, _CALL))), "")
        told = "GROUP BY has two windows. Use one." if calls else f"GROUP BY has no window.{near}"
        refuse(
            calls[1] if calls else select.args.get("group") or select, f"{told} Write TUMBLE(time, INTERVAL '1' HOUR)."
        )
    (call,) = calls
    name, (time, *rest) = called(call), call.expressions or [None]
    if time is None:
        refuse(call, f"{name.upper()} takes a time and then lengths.")
    window = _window(call, name, dict(zip(_CALL[name], rest, strict=False)) if len(rest) <= len(_CALL[name]) else {})
    keys = [node for node in nodes if node is not call]
    arguments = [*map(folded, call.expressions)]
    return Grouped((window,), keys, time, relation, lambda node: _called_end(node, called(call), arguments))


def _called_end(node: exp.Expr, name: str, arguments: list[exp.Expr]) -> exp.Expr | None:
    window, _, end = called(node).rpartition("_")
    if window not in _CALL or end not in _ENDS:
        return None
    if window != name or [*map(folded, node.expressions)] != arguments:
        refuse(node, f"{called(node).upper()} is of another window than GROUP BY has. Repeat its arguments.")
    if end == "proctime":
        unsupported(node, "windows are of event time here. Use the ROWTIME of the window.")
    return _end(end)


def _arguments(function: exp.Expr, names: tuple[str, ...]) -> dict[str, exp.Expr]:
    """Give arguments by their names, whether they were named or not."""
    given: dict[str, exp.Expr] = {}
    for place, node in enumerate(function.expressions):
        if isinstance(node, exp.Kwarg):
            name, value = node.this.name.casefold(), node.expression
        else:
            name, value = names[place] if place < len(names) else "", node
        if name not in names:
            known = ", ".join(one.upper() for one in names)
            written = f"{name.upper()!r} is no argument." if name else "this is an argument too many."
            refuse(node, f"{written}{did_you_mean(name, names)} {called(function).upper()} takes {known}.")
        if name in given:
            refuse(node, f"argument {name.upper()} appears twice. Leave one out.")
        given[name] = value
    return given


def _window(node: exp.Expr, name: str, given: dict[str, exp.Expr]) -> AnyWindow:
    takes = [one for one in _TABLE[name] if one != "offset"]
    if missing := [one for one in takes if one not in given]:
        refuse(
            node,
            f"{name.upper()} lacks {' and '.join(missing)}. It takes {', '.join(takes)} as intervals, in this order.",
        )
    length = {one: interval(value) for one, value in given.items()}
    offset = length.get("offset", 0)

    def make() -> AnyWindow:
        match name:
            case "tumble":
                return tumbling(length["size"], offset=offset)
            case "hop":
                return hopping(length["size"], length["slide"], offset=offset)
            case "cumulate":
                return cumulating(length["size"], length["step"], offset=offset)
        return session_window(length["gap"])

    return made(node, make)
