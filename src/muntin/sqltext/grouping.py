"""What a SELECT groups by: windows, keys and the event time, whatever dialect it was written in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from sqlglot import exp

from muntin.errors import QueryError
from muntin.sqltext.pointing import refuse, unsupported
from muntin.sqltext.spelling import column_of, folded
from muntin.window import AnyWindow

Reference = Callable[[exp.Expr], "exp.Expr | None"]
"""Gives what stands for a node that is about the window, and None for one that is not."""

_READ = {"with_", "expressions", "from_", "where", "group", "having", "order", "limit", "into"}
_CLAUSES = {
    "joins": "it joins tables",
    "laterals": "it has a LATERAL VIEW",
    "distinct": "it has DISTINCT",
    "qualify": "it has QUALIFY",
    "windows": "it names a frame",
    "hint": "it has a hint",
    "offset": "it has OFFSET",
    "sort": "it has SORT BY",
    "cluster": "it has CLUSTER BY",
    "distribute": "it has DISTRIBUTE BY",
}


@dataclass(slots=True)
class Grouped:
    """Windows and keys of a SELECT."""

    windows: tuple[AnyWindow, ...]
    keys: list[exp.Expr]
    time: exp.Expr | None
    """None where the steps before have it."""
    relation: exp.Expr
    """What it selects from."""
    reference: Reference


def check_clauses(select: exp.Select) -> None:
    """Refuse clauses that rows of windows do not have."""
    for name, value in select.args.items():
        if value and name not in _READ:
            reason = _CLAUSES.get(name, f"it has {name.replace('_', ' ').strip().upper()}")
            unsupported(
                _first(value) or select,
                f"a SELECT over windows takes no such clause: {reason}. Do it in a WITH step before.",
                reason,
            )
    group = select.args.get("group")
    for name, value in ({} if group is None else group.args).items():
        sets = name == "expressions" and any(isinstance(one, exp.Cube | exp.Rollup | exp.GroupingSets) for one in value)
        if sets or (value and name != "expressions"):
            unsupported(group, "GROUP BY takes keys and windows, no sets of them.", "it groups by several sets of keys")
    before = _beneath(select.args.get("from_"), select.args.get("with_"))
    for node in select.find_all(exp.Subquery, exp.Select, exp.Exists, exp.SetOperation):
        if node is not select and id(node) not in before:
            unsupported(
                node, "a query within an expression is not supported here.", "it has a query within an expression"
            )


def _first(value: Any) -> exp.Expr | None:
    first = value[0] if isinstance(value, list) else value
    return first if isinstance(first, exp.Expr) else None


def _beneath(*tops: exp.Expr | None) -> set[int]:
    """Give the ids of some nodes and of all below them."""
    return {id(node) for top in tops if top is not None for node in top.walk()}


def grouped_by(select: exp.Select) -> list[exp.Expr]:
    """Give what a SELECT groups by."""
    group = select.args.get("group")
    return [] if group is None else list(group.expressions)


def resolved(select: exp.Select, is_aggregate: Callable[[exp.Expr], bool]) -> list[exp.Expr]:
    """Give what a SELECT groups by in Spark, where numbers and names stand for what is selected.

    A column goes before a name that SELECT gives. Which columns there are is not known here, so a name counts where the
    query would be wrong without.
    """
    first: dict[exp.Expr, exp.Expr] = {}
    for node in grouped_by(select):
        first.setdefault(folded(node), node)  # what stands twice counts once
    nodes = list(first.values())
    given = {item.alias.casefold(): item.this for item in select.expressions if isinstance(item, exp.Alias)}
    columns = first.keys()
    resolved = []
    for node in nodes:
        if isinstance(node, exp.Literal) and not node.is_string and node.name.isdecimal():
            resolved.append(_numbered(select, node))
            continue
        named = given.get(node.name.casefold()) if isinstance(node, exp.Column) and not node.table else None
        reads = [] if named is None else [folded(column) for column in named.find_all(exp.Column)]
        if named is None or folded(node) in reads or any(map(is_aggregate, named.walk())):
            resolved.append(node)
        elif all(column in columns for column in reads):
            told = f"{node.name!r} may be a column or a name that SELECT gives"
            unsupported(node, f"{told}. Use another name.", told)
        else:
            resolved.append(named)
    return resolved


def _numbered(select: exp.Select, node: exp.Literal) -> exp.Expr:
    items = select.expressions
    if not 1 <= int(node.name[:9]) <= len(items):
        refuse(node, f"GROUP BY has {node.name}, but SELECT has {len(items)} items.", "GROUP BY has a number too many")
    item: exp.Expr = items[int(node.name) - 1].unalias()
    return item


def relation_of(select: exp.Select) -> exp.Expr:
    """Give what a SELECT reads: a single table, view, step or subquery."""
    source = select.args.get("from_")
    if source is None:
        refuse(select, "FROM is missing: name the rows that windows are of.", "it reads no table")
    relation: exp.Expr = source.this
    for name in ("joins", "laterals", "pivots", "sample", "version", "when", "ordinality", "hints"):
        if relation.args.get(name):
            told = "it joins tables" if name == "joins" else "a table has more than a name"
            unsupported(relation, f"windows read one table, and nothing beside it: {told}. Use a WITH step.", told)
    if not isinstance(relation, exp.Table | exp.Subquery):
        unsupported(relation, "windows read a table or a query. Use a WITH step.", "it reads no table or query")
    alias = relation.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        unsupported(relation, "columns are not renamed after a table. Use a WITH step.", "it renames a table's columns")
    return relation


def unqualified(select: exp.Select, relation: exp.Expr) -> exp.Select:
    """Take the table's name or alias away from columns: there is only one table."""
    names: list[tuple[str, ...]] = [(relation.alias_or_name.casefold(),)] if relation.alias_or_name else []
    if isinstance(relation, exp.Table) and relation.db and not relation.alias:
        names.append((relation.db.casefold(), relation.name.casefold()))
    inner = relation.this if isinstance(relation, exp.Subquery) else None
    below = _beneath(inner)
    for column in list(select.find_all(exp.Column)):
        parts = column.parts
        spelled = tuple(part.name.casefold() for part in parts)
        for name in names:
            if len(parts) > len(name) and spelled[: len(name)] == name and id(column) not in below:
                rest = parts[len(name) :]
                if len(rest) > 1 or not isinstance(rest[0], exp.Star):
                    column.replace(column_of([part.copy() for part in rest]))
                break
    return select


def same(nodes: Iterable[exp.Expr], others: Iterable[exp.Expr]) -> bool:
    """Tell whether two sets of expressions are the same but for case and quotes."""
    return set(map(folded, nodes)) == set(map(folded, others))


def made(node: exp.Expr, make: Callable[[], AnyWindow]) -> AnyWindow:
    """Make a window; where it has no sense, point to where it is defined."""
    try:
        return make()
    except QueryError as error:
        refuse(node, str(error), "a window's lengths do not fit together")
