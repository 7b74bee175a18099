"""Queries to statements: every SELECT over windows as data, or a reason why Spark runs the query as it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from sqlglot import exp

from muntin.sqltext import azure, flink, spark
from muntin.sqltext.azure_steps import MUNTIN_TIME, at_event_time, timed
from muntin.sqltext.calls import called, is_aggregate
from muntin.sqltext.grouping import check_clauses
from muntin.sqltext.inputs import Steps, check_no_windows, differing, read_input, tables_in
from muntin.sqltext.pointing import Refused, Wrong, refuse, unsupported
from muntin.sqltext.projection import Projection
from muntin.sqltext.spelling import folded, named, spark_sql
from muntin.sqltext.statement import Boundaries, Dialect, Output, Select, Statement
from muntin.window import AnyWindow

_READERS: dict[Dialect, Any] = {"azure": azure, "flink": flink, "spark": spark}
_WITH = re.compile(r"WITH\b(?:\s+RECURSIVE\b)?", re.IGNORECASE)


def read_query(
    tree: exp.Expr,
    name: str,
    dialect: Dialect,
    text: str,
    body: str,
    steps: Steps,
    views: Mapping[str, tuple[str, str]],
    boundaries: Boundaries | None,
) -> Statement:
    """Read one query; what Spark can run and windows cannot do is left to Spark, with the reason."""
    ends: Boundaries = boundaries or ("(]" if dialect == "azure" else "[)")
    whole = _with_views(body, tree, steps, views) if dialect == "spark" else None
    query = tree.copy()
    try:
        scope = steps if dialect == "azure" else steps.copy()  # steps of Azure are known to all that follows
        scope.add_all(query)
        branches = list(_branches(query, dialect))
        windowed = [_READERS[dialect].is_windowed(branch) for branch in branches]
        if not any(windowed):
            return _without_windows(name, dialect, text, query, scope, whole)
        _check_items(query)
        if not all(windowed):
            lacking = branches[windowed.index(False)]
            unsupported(
                lacking,
                "a part of the UNION has no windows. Use a statement of its own.",
                "a part of it has no windows",
            )
        selects = [select for branch in branches for select in _selects(branch, dialect, scope, ends)]
        order, limit = _order(query, branches[0], selects[0]), _limit(query)
    except Refused as refused:
        if dialect != "spark" or isinstance(refused, Wrong):
            raise
        return Statement(name, dialect, text, (), whole, refused.reason or "it is not known how windows share it")
    return Statement(name, dialect, text, tuple(selects), whole, "", order, limit, _alike(tree, steps))


def _check_items(query: exp.Expr) -> None:
    """Leave to Spark what has names that only Spark can tell."""
    for node in query.find_all(exp.Anonymous, exp.Aliases):
        if isinstance(node, exp.Aliases):
            unsupported(node, "an item has several names. Select each item AS a name.", "an item has several names")
        if called(node) == "identifier":
            unsupported(node, "IDENTIFIER is not supported here. Write the name.", "it has names by IDENTIFIER")


def _alike(tree: exp.Expr, steps: Steps) -> tuple[str, ...]:
    """Give two names of a query or of the steps before it that differ only by case."""
    spelled: dict[str, str] = {}
    if alike := differing(tree, spelled) or steps.alike:
        return alike
    return next(
        ((steps.spelled[key], name) for key, name in spelled.items() if steps.spelled.get(key, name) != name), ()
    )


def _without_windows(
    name: str, dialect: Dialect, text: str, query: exp.Expr, steps: Steps, whole: str | None
) -> Statement:
    if dialect == "azure":
        query, _ = timed(query, steps, hand_on=False)
    if dialect != "spark":
        complete = steps.complete(query)
        if dialect == "flink":
            check_no_windows(complete)
        whole = spark_sql(complete)
        steps.room.take(len(whole), query)
    return Statement(name, dialect, text, (), whole, "it does not group by windows")


def _with_views(body: str, tree: exp.Expr, steps: Steps, views: Mapping[str, tuple[str, str]]) -> str:
    """Give a text with the views that it reads as steps before it."""
    needed: dict[str, str] = {}

    def collect(query: exp.Expr, above: tuple[str, ...]) -> None:
        for table in tables_in(query):
            key = table.name.casefold()
            if not table.db and key in views and key not in needed and key not in above:
                collect(steps.known[key], (*above, key))
                view, text = views[key]
                needed[key] = f"`{view.replace('`', '``')}` AS ({text})"
                steps.room.take(len(text), table)

    collect(tree, ())
    if not needed:
        return body
    before = ", ".join(needed.values())
    if own := _WITH.match(body):
        return f"{own[0]} {before}, {body[own.end() :].lstrip()}"
    return f"WITH {before} {body}"


def _branches(query: exp.Expr, dialect: Dialect, top: bool = True) -> Iterator[exp.Select]:
    """Yield the SELECTs that UNION ALL joins."""
    bounds = [name for name in ("order", "limit", "offset", "with_") if query.args.get(name)]
    if bounds and not top:
        unsupported(
            query,
            "a part of a UNION has an order, a limit or steps of its own.",
            "a part of it has an order or a limit",
        )
    match query:
        case exp.Select():
            yield query
        case exp.Subquery():
            if any(value for name, value in query.args.items() if name not in ("this", "order", "limit")):
                unsupported(query, "a query in brackets has more than brackets.", "it reads a query in brackets")
            yield from _branches(query.this, dialect, top=False)
        case exp.Union():
            if query.args.get("distinct") and dialect != "azure":
                unsupported(
                    query, "UNION removes rows that are equal. Use UNION ALL.", "UNION removes rows that are equal"
                )
            if query.args.get("by_name"):
                unsupported(query, "UNION BY NAME is not supported here.", "it has UNION BY NAME")
            yield from _branches(query.left, dialect, top=False)
            yield from _branches(query.right, dialect, top=False)
        case _:
            unsupported(query, "queries are joined by UNION ALL here.", "it is no SELECT, and no UNION ALL of several")


def _selects(select: exp.Select, dialect: Dialect, steps: Steps, boundaries: Boundaries) -> Iterator[Select]:
    """Read one SELECT; a window that is asked for again makes one more."""
    select = select.copy()
    check_clauses(select)
    grouped = _READERS[dialect].group(select)
    read = read_input(grouped.relation, grouped.time, steps)
    time = named(MUNTIN_TIME) if grouped.time is None else grouped.time

    def before(node: exp.Expr) -> exp.Expr:
        return at_event_time(node, time) if dialect == "azure" else node

    projection = Projection(grouped, dialect, before)
    outputs = []
    for place, item in enumerate(select.expressions):
        expression = projection.over(item.unalias(), projection.aliases if dialect == "spark" else None)
        outputs.append(Output(spark_sql(expression), _name(item, dialect, place)))
        if isinstance(item, exp.Alias):
            projection.aliases[item.alias.casefold()] = expression
    where, having = _where(select, projection), _having(select, projection)
    for windows in _apart(grouped.windows):
        yield Select(
            read,
            windows,
            tuple(projection.keys),
            tuple(projection.calls),
            tuple(outputs),
            where,
            having,
            boundaries,
        )


def _apart(windows: tuple[AnyWindow, ...]) -> Iterator[tuple[AnyWindow, ...]]:
    """Yield windows so that none stands twice in a group."""
    groups: list[dict[AnyWindow, AnyWindow]] = []
    times: Counter[AnyWindow] = Counter()
    for window in windows:
        if times[window] == len(groups):
            groups.append({})
        groups[times[window]][window] = window
        times[window] += 1
    yield from (tuple(group.values()) for group in groups)


def _where(select: exp.Select, projection: Projection) -> str | None:
    where = select.args.get("where")
    if where is None:
        return None
    for node in where.find_all(exp.Anonymous, exp.Window):
        if is_aggregate(node, projection.dialect):
            refuse(node, "WHERE is about rows, not about aggregates. Use HAVING.", "WHERE has an aggregate")
    projection.check_plain(where.this)
    return spark_sql(projection.before(where.this))


def _having(select: exp.Select, projection: Projection) -> str | None:
    having = select.args.get("having")
    if having is None:
        return None
    for column in having.find_all(exp.Column) if projection.dialect == "spark" else ():
        alias = None if column.table else projection.aliases.get(column.name.casefold())
        if alias is not None and projection.is_other_key(column, alias):
            unsupported(
                column,
                f"{column.name!r} is a key and the name of something else. Use another name.",
                f"HAVING has {column.name!r}, which is a key and the name of something else",
            )
    return spark_sql(projection.over(having.this, projection.aliases))


def _name(item: exp.Expr, dialect: Dialect, place: int) -> str | None:
    """Name a column of the result; None where Spark is to do it."""
    if isinstance(item, exp.Alias):
        return str(item.alias)
    if dialect == "azure" and (asked := azure.system(item)):
        return {"window.id": "Id", "timestamp": "Timestamp"}.get(asked, asked)
    if isinstance(item, exp.Column):
        return str(item.name)
    if dialect == "flink":
        return f"EXPR${place}"
    if dialect == "azure" and is_aggregate(item, dialect) and isinstance(item, exp.Anonymous):
        columns = [column.name for column in item.find_all(exp.Column)]
        return "_".join([called(item), *columns])
    return f"column_{place + 1}" if dialect == "azure" else None


def _order(query: exp.Expr, first: exp.Select, select: Select) -> tuple[str, ...]:
    order = query.args.get("order")
    if order is None:
        return ()
    known = {output.name.casefold(): output.name for output in select.outputs if output.name}
    places: dict[exp.Expr, int] = {}
    for place, item in enumerate(first.expressions):
        places.setdefault(folded(item.unalias()), place)
    return tuple(_ordered(node, places, known, select.outputs) for node in order.expressions)


def _ordered(
    node: exp.Expr, places: Mapping[exp.Expr, int], known: Mapping[str, str], outputs: tuple[Output, ...]
) -> str:
    """Write what rows are ordered by over the names of the outputs."""
    by = node.this if isinstance(node, exp.Ordered) else node
    place = places.get(folded(by))
    is_number = isinstance(by, exp.Literal) and not by.is_string and by.name.isdecimal()
    if is_number and 1 <= int(by.name[:9]) <= len(outputs):
        place = int(by.name) - 1
    if isinstance(by, exp.Column) and not by.table and by.name.casefold() in known:
        column: exp.Expr = named(known[by.name.casefold()])
    elif place is not None and outputs[place].name:
        column = named(str(outputs[place].name))
    elif all(part.parts[0].name.casefold() in known for part in by.find_all(exp.Column)) and by.find(exp.Column):
        column = by.copy()
        if any(is_aggregate(part, "spark") for part in column.find_all(exp.Anonymous)):
            unsupported(
                by, "ORDER BY has an aggregate that is not selected. Select it.", "it orders by what it does not select"
            )
    else:
        unsupported(
            by,
            "ORDER BY has what is not selected under a name. Select it AS a name.",
            "it orders by what it does not select",
        )
    return spark_sql(exp.Ordered(this=column, desc=node.args.get("desc"), nulls_first=node.args.get("nulls_first")))


def _limit(query: exp.Expr) -> int | None:
    if query.args.get("offset"):
        unsupported(query, "OFFSET is not supported here.", "it has OFFSET")
    limit = query.args.get("limit")
    if limit is None:
        return None
    count = limit.args.get("expression") if isinstance(limit, exp.Limit) else None
    if not isinstance(count, exp.Literal) or not re.fullmatch(r"\d{1,9}", count.name) or count.is_string:
        unsupported(limit, "LIMIT takes a whole number here.", "its LIMIT is no plain number")
    return int(count.name)
