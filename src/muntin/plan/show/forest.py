"""What a logical plan contains: the forest, with the paper's costs."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from muntin.duration import DAY
from muntin.plan.number import LONG, number
from muntin.plan.rate import format_rate
from muntin.plan.show.outline import Box, Figure, Outline

if TYPE_CHECKING:
    from muntin.plan.forest.logical import Node, Plan
    from muntin.window import AnyWindow, Window


def outline_of_forest(plan: Plan) -> Outline:
    """Say what a logical plan contains."""
    top = Box("input", f"input → {', '.join(map(repr, plan.aggregates))} ({plan.semantics.value})")
    boxes: dict[Window | None, Box] = {None: top}
    for node in plan.nodes:
        title = window_text(node.window, is_factor=node.is_factor)
        boxes[node.window] = Box(kind_of(node), title, boxes[node.parent], _cost(node))
    heading = f"{plan.algorithm} plan, {pace(plan)}"
    return Outline(
        (Figure("algorithm", plan.algorithm, (heading,)),),
        tuple(boxes.values()),
        (Figure("saving", None, (total(plan),)),),
        _key(plan),
    )


def _key(plan: Plan) -> tuple[str, str]:
    """Say what the figures beside windows mean, by those of a window that reads another, if there is one."""
    node = next((node for node in plan.nodes if node.parent is not None), plan.nodes[0])
    read = "events" if node.parent is None else f"instances of {node.parent}"
    many, each = number(node.instances), number(node.inputs)
    return _cost(
        node
    ), f"{many} instance{'s'[: node.instances != 1]} in {_length(plan)} × {each} {read} that each reads = cost"


def window_text(window: AnyWindow, *, is_factor: bool = False) -> str:
    """Name a window, with its id, and say whether it is a factor window."""
    mark = " factor" if is_factor else f" {window.id!r}" if window.id is not None else ""
    return f"{window}{mark}"


def plain_window(window: AnyWindow) -> dict[str, Any]:
    """Give a window as plain values, its lengths in microseconds, or in plain units."""
    told = window.to_dict()
    return {"label": window.label} | {name: told[name] for name in told if told[name] != "periodic"}


def kind_of(node: Node) -> str:
    """Tell the kind of box that a node is drawn as."""
    return "factor" if node.is_factor else "window"


def pace(plan: Plan) -> str:
    """Tell the rate of events, and what the costs are counted over."""
    over = "steady state over" if plan.over.steady else "over"
    return f"{format_rate(plan.rate, plan.unit)}, {over} {_length(plan)}"


def total(plan: Plan) -> str:
    """Compare the cost with that of evaluating every window alone."""
    cost, alone = plan.cost, plan.independent_cost
    if cost == alone:
        return f"cost {number(cost)}: nothing is shared"
    times = float(Fraction(alone) / cost)
    return f"cost {number(cost)} instead of {number(alone)}: saves {plan.saving:.1%}, {times:.2f} times cheaper"


def _cost(node: Node) -> str:
    """Write a node's cost as instances times inputs."""
    return f"{number(node.instances)} × {number(node.inputs)} = {number(node.cost)}"


def _length(plan: Plan) -> str:
    length = plan.horizon
    if plan.unit is None:
        return f"{number(length)} units"
    return str(length) if length < LONG * DAY else f"{number(length // DAY)} days"
