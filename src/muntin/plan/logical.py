"""The logical plan: a forest of windows and factor windows, with the paper's costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from muntin.aggregate import Aggregate
from muntin.errors import QueryError
from muntin.plan.explain import explain
from muntin.plan.horizon import Horizon
from muntin.plan.html import to_html
from muntin.plan.mermaid import to_mermaid
from muntin.plan.problem import Semantics
from muntin.plan.rate import format_rate
from muntin.window import Window

Cost = int | Fraction


@dataclass(frozen=True, slots=True)
class Node:
    """A window of a plan, where it reads from, and what that costs."""

    window: Window
    parent: Window | None
    """The window that is read; None for the raw input."""
    instances: int
    """Instances within the horizon."""
    inputs: Cost
    """Events or parent instances that one instance reads."""
    is_factor: bool
    """Computed for the sake of others only, never part of the result."""

    @property
    def cost(self) -> Cost:
        """Events or parent instances that all instances read."""
        return _whole(self.instances * self.inputs)


@dataclass(frozen=True, slots=True)
class Forest:
    """The windows of aggregates that share one semantics, parents before children."""

    semantics: Semantics
    aggregates: tuple[Aggregate, ...]
    nodes: tuple[Node, ...]
    independent_cost: Cost
    """What the asked windows cost without any sharing."""

    @property
    def cost(self) -> Cost:
        """Events and instances read within the horizon."""
        return _whole(sum((node.cost for node in self.nodes), start=Fraction(0)))

    def by_parent(self) -> dict[Window | None, list[Node]]:
        """List the windows that read each window, and under None those that read the raw input."""
        found: dict[Window | None, list[Node]] = {None: []} | {node.window: [] for node in self.nodes}
        for node in self.nodes:
            found[node.parent].append(node)
        return found


@dataclass(frozen=True, slots=True)
class Plan:
    """How a set of windows is evaluated together.

    Aggregates that can be combined share one forest; holistic ones, which need the rows, have one of their own.
    """

    windows: tuple[Window, ...]
    """The asked windows, in the order asked."""
    algorithm: str
    rate: Fraction
    """Events per unit of the windows' lengths."""
    unit: int | None
    """The unit in which the rate is told, in microseconds; None for plain units."""
    over: Horizon
    """The stretch of time that costs are counted over."""
    forests: tuple[Forest, ...]

    @property
    def cost(self) -> Cost:
        """Events and instances read within the horizon."""
        return _whole(sum((forest.cost for forest in self.forests), start=Fraction(0)))

    @property
    def independent_cost(self) -> Cost:
        """What the windows cost without any sharing."""
        return _whole(sum((forest.independent_cost for forest in self.forests), start=Fraction(0)))

    @property
    def horizon(self) -> int:
        """The length of time that costs are counted over."""
        return self.over.length

    @property
    def saving(self) -> float:
        """The part of the cost without sharing that the plan saves, from 0 to 1."""
        return float(1 - Fraction(self.cost) / self.independent_cost)

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The windows of all forests."""
        return tuple(node for forest in self.forests for node in forest.nodes)

    @property
    def factors(self) -> tuple[Window, ...]:
        """The factor windows, shortest range first."""
        return tuple(sorted(node.window for node in self.nodes if node.is_factor))

    def parent(self, window: Window) -> Window | None:
        """Tell which window a window reads; None for the raw input.

        Where an aggregate that can be combined and a holistic one are planned together, the answer is for the first.
        """
        for node in self.nodes:
            if node.window == window:
                return node.parent
        known = ", ".join(str(node.window) for node in self.nodes)
        raise QueryError(f"window {window} is not in the plan. Its windows are {known}.")

    @property
    def rate_text(self) -> str:
        """The rate in words."""
        return format_rate(self.rate, self.unit)

    def explain(self) -> str:
        """Write the plan as text: one window a line, indented below what it reads."""
        return explain(self)

    def to_mermaid(self) -> str:
        """Write the plan as a Mermaid flow chart."""
        return to_mermaid(self)

    def to_html(self) -> str:
        """Write the plan as a page that needs no network."""
        return to_html(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the plan as plain values for JSON; costs that are no integers are texts such as '7/2'."""
        return {
            "algorithm": self.algorithm,
            "rate": _plain(self.rate * (self.unit or 1)),
            "rate_unit_micros": self.unit,
            "horizon": int(self.horizon),
            "steady": self.over.steady,
            "cost": _plain(self.cost),
            "independent_cost": _plain(self.independent_cost),
            "forests": [
                {
                    "semantics": forest.semantics.value,
                    "aggregates": [repr(aggregate) for aggregate in forest.aggregates],
                    "windows": [
                        {
                            **_plain_window(node.window),
                            "factor": node.is_factor,
                            "reads": None if node.parent is None else _plain_window(node.parent),
                            "instances": node.instances,
                            "inputs": _plain(node.inputs),
                            "cost": _plain(node.cost),
                        }
                        for node in forest.nodes
                    ],
                }
                for forest in self.forests
            ],
        }

    def __str__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return self.to_html()


def _whole(cost: Cost) -> Cost:
    return cost.numerator if cost.denominator == 1 else cost


def _plain(value: Cost) -> int | str:
    exact = _whole(value)
    return exact if isinstance(exact, int) else str(exact)


def _plain_window(window: Window) -> dict[str, Any]:
    return {"label": window.label, "range": int(window.range), "slide": int(window.slide), "offset": int(window.offset)}
