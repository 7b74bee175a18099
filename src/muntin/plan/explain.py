"""Plans as text: one window a line, indented below what it reads."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muntin.plan.logical import Cost, Forest, Node, Plan


def explain(plan: Plan) -> str:
    """Write a plan as text that is the same every time."""
    lines = [heading(plan)]
    for forest in plan.forests:
        lines.append(forest_heading(forest))
        rows = [(branch + window_text(node), cost_text(node)) for branch, node in _rows(forest)]
        width = max(len(left) for left, _ in rows)
        lines += [f"{left:<{width}}  {right}" for left, right in rows]
    lines.append(total(plan))
    return "\n".join(lines)


def heading(plan: Plan) -> str:
    """Name the algorithm and what the costs are counted over."""
    unit = "" if plan.unit is not None else " units"
    over = "steady state over" if plan.over.steady else "over"
    return f"{plan.algorithm} plan, {plan.rate_text}, {over} {plan.horizon}{unit}"


def forest_heading(forest: Forest) -> str:
    """Name the aggregates and the rule by which they may be shared."""
    return f"input → {', '.join(map(repr, forest.aggregates))} ({forest.semantics.value})"


def window_text(node: Node) -> str:
    """Name a window, with its id, and say whether it is a factor window."""
    mark = " factor" if node.is_factor else f" {node.window.id!r}" if node.window.id is not None else ""
    return f"{node.window}{mark}"


def cost_text(node: Node) -> str:
    """Write a node's cost as instances times inputs."""
    return f"{node.instances:,} × {number(node.inputs)} = {number(node.cost)}"


def total(plan: Plan) -> str:
    """Compare the cost with that of evaluating every window alone."""
    cost, alone = plan.cost, plan.independent_cost
    if cost == alone:
        return f"cost {number(cost)}: nothing is shared"
    times = float(Fraction(alone) / cost)
    return f"cost {number(cost)} instead of {number(alone)}: saves {plan.saving:.1%}, {times:.2f} times cheaper"


def number(value: Cost) -> str:
    """Write an exact number with separators, a fraction with two decimals."""
    return f"{value:,}" if value.denominator == 1 else f"{float(value):,.2f}"


def _rows(forest: Forest) -> Iterator[tuple[str, Node]]:
    """Yield every window with the branches before it, each below what it reads."""
    children = forest.by_parent()
    stack = [("", node, node is children[None][-1]) for node in reversed(children[None])]
    while stack:  # a chain of windows can be deeper than Python's stack
        indent, node, last = stack.pop()
        yield indent + ("└─ " if last else "├─ "), node
        below = children[node.window]
        stack += [(indent + ("   " if last else "│  "), child, child is below[-1]) for child in reversed(below)]
