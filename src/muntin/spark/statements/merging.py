"""SELECTs that UNION ALL joins as one with all their windows: one query then gives the rows of all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from muntin.spark.input.source import literal
from muntin.sqltext import rename_columns
from muntin.sqltext.statement import RESULT, WINDOW_ID, Call, Output, Select, Statement


def merged(statement: Statement) -> Statement:
    """Give a statement with as few SELECTs as can be: those of the same rows and keys, and different windows, are one.

    An output that is not the same in all of them depends on the window.
    """
    groups: list[list[Select]] = []
    for select in statement.selects:
        group = next((group for group in groups if _fits(select, group)), None)
        if group is None:
            groups.append([select])
        else:
            group.append(select)
    return replace(statement, selects=tuple(_as_one(group) for group in groups))


def _fits(select: Select, group: Sequence[Select]) -> bool:
    """Tell whether a SELECT reads what others read, and its windows can be told from theirs."""
    first = group[0]
    if _rows(select) != _rows(first) or len(select.outputs) != len(first.outputs):
        return False
    known = {window for other in group for window in other.windows}
    labels = {window.label for window in known}
    return not any(window in known or window.label in labels for window in select.windows)


def _rows(select: Select) -> tuple[object, ...]:
    return select.input, select.boundaries, select.keys, select.where


def _as_one(group: Sequence[Select]) -> Select:
    if len(group) == 1:
        return group[0]
    calls = tuple(dict.fromkeys(call for select in group for call in select.calls))
    own = [_renumbered(select, calls) for select in group]
    outputs = zip(*(select.outputs for select in own), strict=True)
    return replace(
        own[0],
        windows=tuple(window for select in own for window in select.windows),
        outputs=tuple(Output(_by_window(own, [it.sql for it in same]), same[0].name) for same in outputs),
        having=_by_window(own, [it.having or "true" for it in own]) if any(it.having for it in own) else None,
    )


def _renumbered(select: Select, calls: tuple[Call, ...]) -> Select:
    """Give a SELECT over the results of more calls than its own."""
    names = {RESULT.format(place): RESULT.format(calls.index(call)) for place, call in enumerate(select.calls)}
    if all(name == other for name, other in names.items()):
        return replace(select, calls=calls)
    outputs = tuple(replace(output, sql=rename_columns(output.sql, names)) for output in select.outputs)
    having = None if select.having is None else rename_columns(select.having, names)
    return replace(select, calls=calls, outputs=outputs, having=having)


def _by_window(selects: Iterable[Select], texts: Sequence[str]) -> str:
    """Write an expression that is another one for the windows of every SELECT."""
    if len(set(texts)) == 1:
        return texts[0]
    *others, last = zip(selects, texts, strict=True)
    cases = (
        f"WHEN {WINDOW_ID} IN ({', '.join(literal(window.label) for window in select.windows)}) THEN {text}"
        for select, text in others
    )
    return f"CASE {' '.join(cases)} ELSE {last[1]} END"
