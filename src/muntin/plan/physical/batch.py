"""The choice among shapes for a batch query, by cost; only the order of costs matters."""

from __future__ import annotations

from collections.abc import Callable

from muntin.plan.physical.grouping import grouped, total
from muntin.plan.physical.plans import PhysicalPlan
from muntin.plan.physical.shapes import BATCH_STRATEGIES, NATIVE, Shape
from muntin.plan.physical.work import Work
from muntin.window import Window

WORTHWHILE = 0.8
"""The share of the plain Spark plan's cost that a shape may cost to be taken instead: prices are rough."""


def choose(work: Work, windows: tuple[Window, ...], strategy: str, allowed: Callable[[Shape], bool]) -> PhysicalPlan:
    """Choose the cheapest shape among those that a strategy names and that are allowed.

    Where that saves little, the plain Spark plan is taken, if it is among them: one or two windows share little.

    >>> from muntin.plan.statistics import Statistics
    >>> windows = (Window("10 s"), Window("20 s"), Window("30 s"), Window("1 min"))
    >>> plan = choose(Work(Statistics(10**7, span=10**13)), windows, "native", lambda shape: True)
    >>> [group.shape.name for group in plan.groups]
    ['SLICES_EXPLODE']
    """
    shapes = [shape for shape in BATCH_STRATEGIES[strategy] if allowed(shape)] or [s for s in NATIVE if allowed(s)]
    weighed = sorted(((grouped(work, windows, shape), shape) for shape in shapes), key=lambda pair: total(pair[0]))
    alternatives = tuple((shape.name.lower(), total(groups)) for groups, shape in weighed)
    plain = next((groups for groups, shape in weighed if shape is Shape.INDEPENDENT), None)
    best = weighed[0][0]
    if plain is not None and total(best) > WORTHWHILE * total(plain):
        best = plain
    return PhysicalPlan(best, strategy, work.statistics, alternatives)
