"""The choice among shapes for a batch query, by cost; only the order of costs matters.

A group is windows × aggregates. Aggregates that the same shapes can evaluate are a class; classes are bundled, and each
bundle gets the cheapest shape that all its aggregates allow. Where there are several bundles, their results are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from muntin.aggregates import Aggregate
from muntin.plan.physical.grouping import grouped, total
from muntin.plan.physical.plans import Group, PhysicalPlan
from muntin.plan.physical.shapes import BATCH_STRATEGIES, NATIVE, Shape
from muntin.plan.physical.work import Work
from muntin.window import Window

WORTHWHILE = 0.8
"""The share of the plain Spark plan's cost that a plan may cost to be taken instead: estimates are rough."""
WORTHWHILE_FOR_FEW = 2 / 3
"""The same for one or two windows: the most that they can save is not much more than estimates are off."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Aggregates that are evaluated together."""

    aggregates: tuple[Aggregate, ...]
    work: Work
    shapes: frozenset[Shape]
    """The shapes that can evaluate all of them."""

    def named(self, strategy: str) -> list[Shape]:
        """Give the shapes that a strategy names and that can evaluate the bundle."""
        return [shape for shape in BATCH_STRATEGIES[strategy] if shape in self.shapes]

    def spare(self) -> list[Shape]:
        """Give the shapes for aggregates that those which a strategy names cannot evaluate."""
        return [shape for shape in NATIVE if shape in self.shapes]


Bundling = Callable[[tuple[Aggregate, ...]], Bundle]
"""Gives some of a query's aggregates as a bundle."""


def choose(
    bundling: Bundling, classes: Sequence[tuple[Aggregate, ...]], windows: tuple[Window, ...], strategy: str
) -> PhysicalPlan:
    """Choose the cheapest plan among those that a strategy names: how to bundle, and the shape of every bundle.

    Where that saves little, the plain Spark plan is taken, if it is among them: one or two windows share little.

    >>> from muntin.aggregates.functions import min
    >>> from muntin.plan.physical.shapes import MERGING
    >>> from muntin.plan.statistics import Statistics
    >>> work = Work(Statistics(10**7, span=10**13))
    >>> windows = (Window("10 s"), Window("20 s"), Window("30 s"), Window("1 min"))
    >>> plan = choose(lambda asked: Bundle(asked, work, frozenset(MERGING)), [(min("v"),)], windows, "native")
    >>> [group.shape.name for group in plan.groups]
    ['SLICES_EXPLODE']
    """
    weighed = sorted(_weighed(bundling, classes, windows, strategy), key=lambda plan: plan.cost)
    plain = next((plan for plan in weighed if _is_plain(plan)), None)
    best = weighed[0]
    share = WORTHWHILE if len(windows) > 2 else WORTHWHILE_FOR_FEW
    if plain is not None and best.cost > share * plain.cost:
        best = plain
    return replace(best, alternatives=tuple((_name(plan.groups), plan.cost) for plan in weighed))


def _weighed(
    bundling: Bundling, classes: Sequence[tuple[Aggregate, ...]], windows: tuple[Window, ...], strategy: str
) -> Iterator[PhysicalPlan]:
    """Give every plan: all aggregates in each shape that they allow, and apart, each bundle in its best shape."""
    stuck = [not bundling(asked).named(strategy) for asked in classes]
    for split in partitions(range(len(classes))):
        if any(len({stuck[place] for place in block}) > 1 for block in split):
            continue  # what can be in a shape that the strategy names is not held back by what cannot
        bundles = [bundling(tuple(asked for place in block for asked in classes[place])) for block in split]
        ways = [
            [_groups(bundle, windows, shape) for shape in bundle.named(strategy) or bundle.spare()]
            for bundle in bundles
        ]
        statistics = bundles[0].work.statistics
        if len(bundles) == 1:
            yield from (PhysicalPlan(groups, strategy, statistics) for groups in ways[0])
        elif all(ways):
            groups = tuple(group for priced in ways for group in min(priced, key=total))
            out = sum(bundles[0].work.instances(window) for window in windows)
            yield PhysicalPlan(
                groups, strategy, statistics, joining=sum(b.work.prices.of(b.work.joined(out)) for b in bundles)
            )


def _groups(bundle: Bundle, windows: tuple[Window, ...], shape: Shape) -> tuple[Group, ...]:
    return tuple(replace(group, aggregates=bundle.aggregates) for group in grouped(bundle.work, windows, shape))


def _is_plain(plan: PhysicalPlan) -> bool:
    return all(group.shape is Shape.INDEPENDENT for group in plan.groups) and not plan.joining


def _name(groups: tuple[Group, ...]) -> str:
    """Name a plan by its shapes, one for each bundle."""
    return " + ".join({group.aggregates: group.shape.name.lower() for group in groups}.values())


def partitions(items: Sequence[int]) -> Iterator[list[list[int]]]:
    """Yield every way to put items into blocks, all together first.

    >>> list(partitions([0, 1, 2]))
    [[[0, 1, 2]], [[0, 1], [2]], [[0, 2], [1]], [[0], [1, 2]], [[0], [1], [2]]]
    """
    if not items:
        yield []
        return
    *rest, last = items
    for split in partitions(rest):
        for place in range(len(split)):
            yield [[*block, last] if i == place else block for i, block in enumerate(split)]
        yield [*split, [last]]
