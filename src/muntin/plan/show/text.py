"""Plans as text: one window a line, indented below what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

from muntin.duration import DAY
from muntin.plan.number import LONG, number
from muntin.plan.rate import format_rate

if TYPE_CHECKING:
    from muntin.plan.forest.logical import Node, Plan


def explain(plan: Plan) -> str:
    """Write a plan as text that is the same every time."""
    rows = [(branch + window_text(node), cost_text(node)) for branch, node in _rows(plan)]
    width = max(len(left) for left, _ in rows)
    tree = [f"{left:<{width}}  {right}" for left, right in rows]
    return "\n".join([heading(plan), input_text(plan), *tree, total(plan)])


def heading(plan: Plan) -> str:
    """Name the algorithm and what the costs are counted over."""
    over = "steady state over" if plan.over.steady else "over"
    return f"{plan.algorithm} plan, {format_rate(plan.rate, plan.unit)}, {over} {_length(plan)}"


def input_text(plan: Plan) -> str:
    """Name the aggregates and the rule by which they may be shared."""
    return f"input → {', '.join(map(repr, plan.aggregates))} ({plan.semantics.value})"


def window_text(node: Node) -> str:
    """Name a window, with its id, and say whether it is a factor window."""
    mark = " factor" if node.is_factor else f" {node.window.id!r}" if node.window.id is not None else ""
    return f"{node.window}{mark}"


def cost_text(node: Node) -> str:
    """Write a node's cost as instances times inputs."""
    return f"{number(node.instances)} × {number(node.inputs)} = {number(node.cost)}"


def total(plan: Plan) -> str:
    """Compare the cost with that of evaluating every window alone."""
    cost, alone = plan.cost, plan.independent_cost
    if cost == alone:
        return f"cost {number(cost)}: nothing is shared"
    times = float(Fraction(alone) / cost)
    return f"cost {number(cost)} instead of {number(alone)}: saves {plan.saving:.1%}, {times:.2f} times cheaper"


def _length(plan: Plan) -> str:
    length = plan.horizon
    if plan.unit is None:
        return f"{number(length)} units"
    return str(length) if length < LONG * DAY else f"{number(length // DAY)} days"


def _rows(plan: Plan) -> Iterator[tuple[str, Node]]:
    """Yield every window with the branches before it, each below what it reads."""
    readers = plan.readers()
    stack = [("", node, node is readers[None][-1]) for node in reversed(readers[None])]
    while stack:  # a chain of windows can be deeper than Python's stack
        indent, node, last = stack.pop()
        yield indent + ("└─ " if last else "├─ "), node
        below = readers[node.window]
        stack += [(indent + ("   " if last else "│  "), child, child is below[-1]) for child in reversed(below)]
