"""The logical plan: a forest of windows and factor windows, with the paper's costs."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from muntin.aggregates import Aggregate
from muntin.errors import QueryError
from muntin.plan.forest.horizon import Horizon
from muntin.plan.forest.problem import Cost, Semantics, whole
from muntin.plan.number import number, plain
from muntin.plan.show.forest import outline_of_forest, plain_window
from muntin.plan.show.outline import Outline
from muntin.plan.show.shown import Shown
from muntin.window import Window


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
        return whole(self.instances * Fraction(self.inputs))


@dataclass(frozen=True, slots=True, repr=False)
class Plan(Shown):
    """How a set of windows is evaluated together, for all aggregates at once; mt.plan returns it.

    >>> from muntin.plan.forest.planner import plan
    >>> from muntin.window import tumbling
    >>> shared = plan([tumbling(20), tumbling(30), tumbling(40)], "min")
    >>> shared.cost, round(shared.saving, 3), shared.parent(tumbling(40))
    (150, 0.583, Window(20, 20))
    """

    windows: tuple[Window, ...]
    """The asked windows, in the order asked."""
    aggregates: tuple[Aggregate, ...]
    semantics: Semantics
    """What a window may read, by the least tolerant of the aggregates."""
    algorithm: str
    rate: Fraction
    """Events per unit of the windows' lengths."""
    unit: int | None
    """The unit in which the rate is told, in microseconds; None for plain units."""
    over: Horizon
    """The stretch of time that costs are counted over."""
    nodes: tuple[Node, ...]
    """The windows and factor windows, parents before children."""
    independent_cost: Cost
    """What the asked windows cost without any sharing."""

    @property
    def cost(self) -> Cost:
        """Events and instances read within the horizon."""
        return whole(Fraction(sum(node.cost for node in self.nodes)))

    @property
    def saving(self) -> float:
        """The part of the cost without sharing that the plan saves, from 0 to 1."""
        return float(1 - Fraction(self.cost) / self.independent_cost)

    @property
    def horizon(self) -> int:
        """The length of time that costs are counted over."""
        return self.over.length

    @property
    def factors(self) -> tuple[Window, ...]:
        """The factor windows, shortest range first."""
        return tuple(sorted(node.window for node in self.nodes if node.is_factor))

    def parent(self, window: Window) -> Window | None:
        """Tell which window a window reads; None for the raw input."""
        for node in self.nodes:
            if node.window == window:
                return node.parent
        known = ", ".join(str(node.window) for node in self.nodes)
        raise QueryError(f"window {window} is not in the plan. Its windows are {known}.")

    def readers(self) -> dict[Window | None, list[Node]]:
        """List the windows that read each window, and under None those that read the raw input."""
        readers: dict[Window | None, list[Node]] = {None: []} | {node.window: [] for node in self.nodes}
        for node in self.nodes:
            readers[node.parent].append(node)
        return readers

    def outline(self) -> Outline:
        """Say what the plan contains: all ways to show it but JSON are made of this."""
        return outline_of_forest(self)

    def to_dict(self) -> dict[str, Any]:
        """Give the plan as plain values for JSON; numbers beyond 64 bits and fractions are exact texts."""
        return {
            "algorithm": self.algorithm,
            "semantics": self.semantics.value,
            "aggregates": [repr(aggregate) for aggregate in self.aggregates],
            "rate": plain(self.rate * (self.unit or 1)),
            "rate_unit_micros": self.unit,
            "horizon": plain(self.horizon),
            "steady": self.over.steady,
            "cost": plain(self.cost),
            "independent_cost": plain(self.independent_cost),
            "windows": [
                {
                    **plain_window(node.window),
                    "factor": node.is_factor,
                    "reads": None if node.parent is None else plain_window(node.parent),
                    "instances": plain(node.instances),
                    "inputs": plain(node.inputs),
                    "cost": plain(node.cost),
                }
                for node in self.nodes
            ],
        }

    def __repr__(self) -> str:
        return f"<{self.algorithm} plan of {len(self.windows)} windows, cost {number(self.cost)}>"
