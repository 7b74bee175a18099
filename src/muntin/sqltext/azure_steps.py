"""Queries of Azure Stream Analytics that have no windows: steps before one, in words of Spark.

The event time that TIMESTAMP BY names goes with the rows, whatever is selected of them: it is a column of its own.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from sqlglot import exp

from muntin.sqltext.azure import system, without_clauses
from muntin.sqltext.calls import is_aggregate
from muntin.sqltext.dialects import TIME
from muntin.sqltext.pointing import refuse, unsupported
from muntin.sqltext.spelling import named

if TYPE_CHECKING:
    from muntin.sqltext.inputs import Steps

MUNTIN_TIME = "muntin_time"
"""The event time, as steps hand it on."""
LONGEST_TIME = 200
"""How many parts an event time has at most where System.Timestamp() stands for it."""


def at_event_time(node: exp.Expr, time: exp.Expr | None) -> exp.Expr:
    """Replace System.Timestamp() by the event time, which it is before windows."""
    is_long = time is not None and next(islice(time.walk(), LONGEST_TIME, None), None) is not None

    def replace(part: exp.Expr) -> exp.Expr:
        if not (asked := system(part)):
            return part
        if asked != "timestamp":
            refuse(part, "there is no window here. Use System.Timestamp() for the event time.")
        if time is None:
            refuse(part, "nothing says what the event time is. Write TIMESTAMP BY column after the table.")
        if is_long:
            refuse(time, "the event time is a long expression. Select it AS a column in a step before.")
        return time.copy()

    return node.transform(replace)


def timed(query: exp.Expr, steps: Steps, hand_on: bool = True) -> tuple[exp.Expr, bool]:
    """Give a query without windows that Spark reads, with the event time as a column if it is to be handed on."""
    query = query.copy()
    if (own := query.args.get("with_")) is not None:
        steps = steps.copy()
        for step in own.expressions:
            steps.add(step.alias, step.this)
            step.set("this", steps.query(exp.table_(step.alias))[0].copy())
            steps.known.pop(step.alias.casefold())
    if isinstance(query, exp.SetOperation):
        return _union(query, steps, hand_on)
    if isinstance(query, exp.Subquery):
        inner, has_time = timed(query.this, steps, hand_on)
        query.set("this", inner)
        return query, has_time
    if not isinstance(query, exp.Select):
        unsupported(query, "a step is a SELECT here.")
    return _select(query, steps, hand_on)


def _union(query: exp.SetOperation, steps: Steps, hand_on: bool) -> tuple[exp.Expr, bool]:
    if not isinstance(query, exp.Union):
        unsupported(query, "queries are joined by UNION here.")
    (left, one), (right, other) = timed(query.left, steps, hand_on), timed(query.right, steps, hand_on)
    if one != other:
        refuse(
            query.right, "one side of the UNION has an event time and the other has none. Write TIMESTAMP BY in both."
        )
    query.set("this", left)
    query.set("expression", right)
    query.set("distinct", False)  # Azure's UNION keeps all rows
    return query, one


def _select(query: exp.Select, steps: Steps, hand_on: bool) -> tuple[exp.Expr, bool]:
    aggregate = next((node for node in query.find_all(exp.Anonymous) if is_aggregate(node, "azure")), None)
    if query.args.get("group") is not None or aggregate is not None:
        unsupported(
            query.args.get("group") or aggregate,
            "a step before the windows has windows or aggregates itself. Only the last SELECT may have them.",
        )
    source = query.args.get("from_")
    if source is None:
        return query, False
    relation, joins = source.this, [join.this for join in query.args.get("joins") or []]
    for joined in joins:
        _check_join(joined, steps)
    time = _time_of(relation, steps, bool(joins))
    again = time is not None and relation.args.get(TIME) is None
    query = at_event_time(query, time)  # type: ignore[assignment]
    for table in query.find_all(exp.Table, exp.Subquery):
        without_clauses(table)
    if not hand_on and again:
        _without_time(query)
    if time is None or not hand_on:
        return query, False
    if query.args.get("distinct"):
        unsupported(query, "DISTINCT in a step before windows is not supported here. Use GROUP BY in the last SELECT.")
    if not (again and any(_is_star(item) for item in query.expressions)):
        handed = time if time.name == MUNTIN_TIME else exp.alias_(time, MUNTIN_TIME, quoted=True)
        query.append("expressions", handed.copy())
    return query, True


def _without_time(query: exp.Select) -> None:
    """Let * leave out the event time, which only steps hand on."""
    for star in [star for item in query.expressions for star in item.find_all(exp.Star) if _is_star(item)]:
        star.set("except_", [exp.to_identifier(MUNTIN_TIME, quoted=True)])


def _is_star(item: exp.Expr) -> bool:
    return isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))


def _time_of(relation: exp.Expr, steps: Steps, joined: bool) -> exp.Expr | None:
    """Give the event time of what is read, and let what is read be a query that Spark reads."""
    carries = False
    if isinstance(relation, exp.Subquery):
        inner, carries = timed(relation.this, steps)
        relation.set("this", inner)
    elif steps.has(relation):
        carries = steps.query(relation)[1]
    time: exp.Expr | None = relation.args.get(TIME)
    if time is not None and carries:
        refuse(time, "the step before has its event time already. Leave TIMESTAMP BY out here.")
    if carries:
        return named(relation.alias_or_name, MUNTIN_TIME) if joined and relation.alias_or_name else named(MUNTIN_TIME)
    return None if time is None else time.copy()


def _check_join(table: exp.Expr, steps: Steps) -> None:
    if table.args.get(TIME) or isinstance(table, exp.Subquery) or (steps.has(table) and steps.query(table)[1]):
        unsupported(
            table, "streams are not joined in SQL here. Use mt.join in Python, or join a table without TIMESTAMP BY."
        )
