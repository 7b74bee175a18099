"""A small executor of plans in plain Python: it proves that plans are right and that they read what the model says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from muntin.aggregates import Aggregate, Partial
from muntin.plan import Node, Plan
from muntin.window import Window

Events = Callable[[int], list[Any]]
"""The values of the events at one unit of time."""


@dataclass
class Execution:
    """One aggregate of a plan; reads every instance as the plan says and counts what it reads."""

    plan: Plan
    aggregate: Aggregate
    events: Events
    consumed: int = 0
    _cache: dict[tuple[Window, int], Partial | None] = field(default_factory=dict)

    def run(self) -> dict[tuple[Window, int], Any]:
        """Give the result of every instance in the horizon, by window and start."""
        lower = self.aggregate.function.lower
        results = {}
        for node in self.plan.nodes:
            for start in starts(node):
                partial = self._partial(node, start, count=True)
                if not node.is_factor:
                    results[node.window, start] = lower(partial)
        return results

    def _partial(self, node: Node, start: int, count: bool = False) -> Partial | None:
        key = (node.window, start)
        if key not in self._cache or count:
            inputs = self._inputs(node, start)
            self.consumed += len(inputs) if count else 0
            self._cache[key] = fold(self.aggregate, inputs)
        return self._cache[key]

    def _inputs(self, node: Node, start: int) -> list[Partial | None]:
        end = start + node.window.range
        if node.parent is None:
            return [self.aggregate.function.lift(value) for time in range(start, end) for value in self.events(time)]
        parent = next(other for other in self.plan.nodes if other.window == node.parent)
        return [self._partial(parent, begin) for begin, _ in parent.window.instances(start, end)]


def starts(node: Node) -> list[int]:
    """List where the instances begin that the model counts, from the first one at or after time 0."""
    window = node.window
    return [window.offset + k * window.slide for k in range(node.instances)]


def fold(aggregate: Aggregate, partials: list[Partial | None]) -> Partial | None:
    total: Partial | None = None
    for partial in partials:
        if partial is not None:
            total = partial if total is None else aggregate.function.combine(total, partial)
    return total


def naive(aggregate: Aggregate, window: Window, start: int, events: Events) -> Any:
    """Evaluate one instance from the events alone."""
    return aggregate.evaluate([(value,) for time in range(start, start + window.range) for value in events(time)])


def same(a: Any, b: Any) -> bool:
    return bool(a == b) if not isinstance(a, float) else abs(Fraction(a) - Fraction(b)) < Fraction(1, 10**9)
