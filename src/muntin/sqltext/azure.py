"""Windows of Azure Stream Analytics: Windows(…), its window functions, System.Window().Id and System.Timestamp()."""

from __future__ import annotations

from sqlglot import exp

from muntin.duration import Duration
from muntin.sqltext.calls import called, is_aggregate
from muntin.sqltext.dialects import OVER, PARTITION, TIME
from muntin.sqltext.grouping import Grouped, grouped_by, made, relation_of, same, unqualified
from muntin.sqltext.lengths import azure_length, azure_unit
from muntin.sqltext.pointing import Refused, did_you_mean, refuse, unsupported
from muntin.sqltext.spelling import folded, named
from muntin.sqltext.statement import WINDOW, WINDOW_ID
from muntin.window import AnyWindow, hopping, session_window, snapshot, tumbling

_KINDS = {"tumbling": ("duration", "offset"), "hopping": ("duration", "hop", "offset"), "snapshot": ()}
_KINDS |= {"sliding": ("duration",), "session": ("timeout", "maxduration")}
_NAMES = {f"{kind}{end}": kind for kind in _KINDS for end in ("", "window")}
_SPELLED = [f"{kind.capitalize()}Window" for kind in _KINDS]
_TOP = ("windows", "window", *_NAMES)


def is_windowed(select: exp.Select) -> bool:
    """Tell whether a SELECT groups or has aggregates: no query of Azure does so without windows."""
    return select.args.get("group") is not None or _aggregate_in(select) is not None


def _aggregate_in(select: exp.Select) -> exp.Expr | None:
    calls = (node for item in select.expressions for node in item.find_all(exp.Anonymous))
    return next((call for call in calls if is_aggregate(call, "azure")), None)


def group(select: exp.Select) -> Grouped:
    """Read what a SELECT groups by."""
    relation = relation_of(select)
    unqualified(select, relation)
    nodes = grouped_by(select)
    tops = [node for node in nodes if _is_window(node)]
    if not tops:
        for node in nodes:
            if (name := called(_call(node))) and (near := did_you_mean(name, [*_SPELLED, "Windows"])):
                refuse(node, f"{_call(node).name!r} is not a window.{near}")
        if not nodes:
            refuse(
                _aggregate_in(select),
                "aggregates need windows. Add GROUP BY, such as GROUP BY TumblingWindow(minute, 5).",
            )
        refuse(select.args["group"], "GROUP BY has no window. Add one, such as TumblingWindow(minute, 5).")
    if len(tops) > 1:
        refuse(tops[1], "GROUP BY has two windows. Write them as Windows(…, …).")
    keys = [node for node in nodes if node is not tops[0]]
    definitions = _definitions(tops[0])
    windows = tuple(_window(definition, id, keys) for id, definition in definitions)
    identified = definitions[0][0] is not None
    _check_partition(relation, keys)
    return Grouped(windows, keys, relation.args.get(TIME), relation, lambda node: _reference(node, identified))


def _call(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Window) else node


def _is_window(node: exp.Expr) -> bool:
    return called(_call(node)) in _TOP or system(node) == "timestamp"


def _check_partition(relation: exp.Expr, keys: list[exp.Expr]) -> None:
    """Refuse parts that are not keys: each would have windows of its own."""
    known = set(map(folded, keys))
    for part in relation.args.get(PARTITION) or []:
        if folded(part) not in known:
            unsupported(part, "rows are partitioned by a key that GROUP BY lacks. Add it to GROUP BY.")


def _definitions(node: exp.Expr) -> list[tuple[str | None, exp.Expr]]:
    """Give every definition of a window with its id."""
    if called(node) == "window":
        refuse(node, "Window(id, …) stands within Windows(…). Write Windows(Window(id, …), …).")
    if called(node) != "windows":
        return [(None, node)]
    if not node.expressions:
        refuse(node, "Windows(…) has no windows. Add one, such as TumblingWindow(minute, 5).")
    given = [_identified(part) for part in node.expressions]
    ids: dict[str, str] = {}
    for (id, _), part in zip(given, node.expressions, strict=True):
        if (id is None) != (given[0][0] is None):
            refuse(part, "ids stand on all windows or on none. Write Window(id, …) for each, or for none.")
        if id is not None and id.casefold() in ids:
            refuse(
                part, f"window id {id!r} is given twice; case makes no difference. Use a different id for each window."
            )
        ids[(id or "").casefold()] = id or ""
        if id is None:
            ids.clear()
    return given


def _identified(node: exp.Expr) -> tuple[str | None, exp.Expr]:
    if called(node) == "windows":
        refuse(node, "Windows(…) stands within another. Write all windows into one.")
    if called(node) != "window":
        return None, node
    if len(node.expressions) != 2 or not node.expressions[0].is_string:
        refuse(node, "Window takes an id in quotes and a definition: Window('10 min', TumblingWindow(minute, 10)).")
    id, definition = node.expressions
    if not id.name:
        refuse(id, "a window's id is empty. Write a name between the quotes.")
    return id.name, definition


def _window(node: exp.Expr, id: str | None, keys: list[exp.Expr]) -> AnyWindow:
    """Read one definition."""
    if system(node) == "timestamp":
        return snapshot(id=id)
    call = _call(node)
    kind = _NAMES.get(called(call), "")
    if not kind:
        near = did_you_mean(called(call), _SPELLED) if called(call) else ""
        refuse(
            node, f"a window is expected here.{near} Use {', '.join(_SPELLED[:2])}, SessionWindow or SnapshotWindow."
        )
    if kind == "sliding":
        unsupported(
            node,
            "sliding windows end wherever a row comes or goes. Use mt.rolling in Python for windows "
            "that end at every row, or HoppingWindow.",
        )
    if call is not node and kind != "session":
        refuse(node, "only SessionWindow takes OVER. Leave it out, and add keys to GROUP BY.")
    lengths = _lengths(call, _KINDS[kind])
    match kind:
        case "tumbling":
            return made(node, lambda: tumbling(lengths["duration"], offset=lengths.get("offset", 0), id=id))
        case "hopping":
            size, hop, offset = lengths["duration"], lengths["hop"], lengths.get("offset", 0)
            return made(node, lambda: hopping(size, hop, offset=offset, id=id))
        case "session":
            return _session(node, lengths, id, keys)
    return snapshot(id=id)


def _session(node: exp.Expr, lengths: dict[str, Duration], id: str | None, keys: list[exp.Expr]) -> AnyWindow:
    parts = node.args.get("partition_by") or [] if isinstance(node, exp.Window) else []
    if not same(parts, keys):
        unsupported(
            node,
            "sessions are of the rows of one key here. Name the keys of GROUP BY after the window: "
            "SessionWindow(…) OVER (PARTITION BY key).",
        )
    gap, longest = lengths["timeout"], lengths.get("maxduration")
    return made(node, lambda: session_window(gap, longest, aligned=longest is not None, id=id))


def _lengths(call: exp.Expr, names: tuple[str, ...]) -> dict[str, Duration]:
    """Read lengths: one unit and numbers, or each by its own name with a unit."""
    lengths: dict[str, Duration] = {}
    nodes, needed = list(call.expressions), [name for name in names if name not in ("offset", "maxduration")]
    unit = nodes.pop(0) if nodes and called(nodes[0]) not in names else None
    if unit is not None and names:
        azure_unit(unit)
    for node in nodes:
        name = called(node)
        if name in names and len(node.expressions) == 2:
            length = azure_length(*node.expressions)
        elif name or unit is None:
            known = ", ".join(map(_spelled, names))
            refuse(
                node,
                f"a length is expected here, such as {_spelled(names[0])}(minute, 5)."
                f"{did_you_mean(name, map(_spelled, names)) if name not in names else ''} It may be: {known}.",
            )
        else:
            name = next((one for one in names if one not in lengths), "")
            length = azure_length(unit, node) if name else Duration(0)
        if not name or name in lengths:
            refuse(node, f"{call.name} has an argument too many. It takes {_takes(names)}.")
        lengths[name] = length
    if unit is not None and not names:
        refuse(unit, f"{call.name} takes no arguments.")
    if any(name not in lengths for name in needed):
        refuse(
            call,
            f"{call.name} lacks {' and '.join(name for name in needed if name not in lengths)}. "
            f"It takes {_takes(names)}.",
        )
    return lengths


def _spelled(name: str) -> str:
    return "MaxDuration" if name == "maxduration" else name.capitalize()


def _takes(names: tuple[str, ...]) -> str:
    named = ", ".join(f"{_spelled(name)}(unit, n)" for name in names)
    return f"a unit and {len(names)} numbers at most, or {named}" if names else "nothing"


def system(node: exp.Expr) -> str:
    """Give what a node asks the system for: 'timestamp', 'window', 'window.id', or nothing."""
    if isinstance(node, exp.Column) and node.table.casefold() == "system" and not node.args.get("db"):
        return node.name.casefold()
    if not isinstance(node, exp.Dot):
        return ""
    left, right = node.this, node.expression
    name = called(right) or right.name.casefold()
    if isinstance(left, exp.Identifier):
        return name if left.name.casefold() == "system" else ""
    above = system(left) if isinstance(left, exp.Dot) else ""
    return f"{above}.{name}" if above else ""


def _reference(node: exp.Expr, identified: bool) -> exp.Expr | None:
    match system(node):
        case "":
            return None
        case "timestamp":
            return named(WINDOW, "end")
        case "window.id":
            return named(WINDOW_ID) if identified else exp.cast(exp.null(), "string")
    raise Refused(node, "the system has no such thing. Use System.Timestamp() or System.Window().Id.")


def without_clauses(table: exp.Expr) -> None:
    """Take away what Spark does not know of a table."""
    for name in (TIME, OVER, PARTITION):
        table.set(name, None)
