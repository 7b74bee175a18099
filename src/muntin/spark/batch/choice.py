"""The physical plan of a batch query: which shapes are possible, what they cost here, and the choice among them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from muntin.aggregates import Aggregate
from muntin.plan import Plan
from muntin.plan.physical.batch import Bundle, choose
from muntin.plan.physical.plans import Group, PhysicalPlan, plan_forest, rate_below
from muntin.plan.physical.prices import Prices
from muntin.plan.physical.shapes import BATCH_STRATEGIES, KERNEL, Shape
from muntin.plan.physical.work import Work
from muntin.plan.slicing.overlap import overlap
from muntin.plan.statistics import Statistics
from muntin.spark.input.events import Events
from muntin.spark.input.parts import Recipe
from muntin.spark.input.source import Source
from muntin.spark.input.statistics import measure
from muntin.spark.prices import price_notes, session_prices
from muntin.spark.workers.chunks import chunk_length
from muntin.spark.workers.layout import aggregate_obstacle, key_obstacle
from muntin.spark.workers.techniques import expected, kinds_of
from muntin.window import Window

MOST_HELD = 10_000_000
"""Rows of one key and chunk of time that kernels which read ranges of rows may hold, about 100 bytes each."""

MANY_COPIES = 1_000
"""Instances of a row from which on Spark's own window, which plans each of them, takes seconds to plan."""


def plan_batch(
    source: Source, strategy: str, statistics: Statistics | None, windows: tuple[Window, ...] | None = None
) -> PhysicalPlan:
    """Choose the physical plan of periodic windows, all that are asked for or some.

    Unless it can only be the plain one, that needs statistics, and so a small job.
    """
    windows, events = windows or source.query.periodic, source.events
    keys = key_obstacle(events)
    able = {made.aggregate: shapes_of(made, keys) for made in events.recipes}
    read = frozenset(made.aggregate for made in events.recipes if made.ranged is not None)
    if strategy == "auto" and len(windows) == 1 and windows[0].is_tumbling:  # nothing is shared with anything
        able = dict.fromkeys(able, frozenset([Shape.INDEPENDENT]))
    classes = [tuple(asked for asked in able if able[asked] == shapes) for shapes in dict.fromkeys(able.values())]
    if statistics is None:
        assumed = Statistics(1_000_000, source="assumed")
        statistics = assumed if _is_only_way(strategy, able.values()) else measure(events)
    prices = session_prices(events.frame)
    halo = max(window.halo for window in windows)
    copies = max(window.instances_of_a_row for window in windows)

    def bundling(asked: tuple[Aggregate, ...]) -> Bundle:
        bundled = source.only(asked)
        shapes = frozenset.intersection(*(able[one] for one in asked))
        if strategy != "ranges_kernel" and read.isdisjoint(asked):  # windows read one another more cheaply than rows
            shapes -= {Shape.RANGES_KERNEL}
        if strategy != "independent" and copies > MANY_COPIES:
            shapes -= {Shape.INDEPENDENT}
        if strategy == "auto" and statistics.rate * (chunk_length(halo, statistics) + halo) > MOST_HELD:
            shapes -= {Shape.RANGES_KERNEL}
        return Bundle(bundled.query.aggregates, work_of(bundled.events, statistics, prices), shapes)

    physical = choose(bundling, classes, windows, strategy)
    return replace(
        physical,
        groups=tuple(_with_forest(source, group, statistics) for group in physical.groups),
        notes=(*_notes(events, keys), *price_notes(events.frame)),
    )


def work_of(events: Events, statistics: Statistics, prices: Prices) -> Work:
    """Give the size of all aggregates over an input."""
    asked = [made.aggregate.function for made in events.recipes]
    return Work(
        *(statistics, len(events.partials) or len(asked), len(events.keys), prices, len(events.shared)),
        holistic=sum(not function.mergeable for function in asked),
        sets=sum(not kept.part.how.bounded for kept in events.parts),
    )


def shapes_of(made: Recipe, keys: str | None) -> frozenset[Shape]:
    """Give the shapes that can evaluate an aggregate."""
    shapes = {Shape.INDEPENDENT, Shape.EXPAND}
    if made.mergeable:
        shapes |= {Shape.SLICES_EXPLODE}
    if made.item is not None:
        shapes |= {Shape.MARKS}
    if not keys and aggregate_obstacle(made.over_ranges()) is None:
        shapes |= {Shape.RANGES_KERNEL}
    if not keys and aggregate_obstacle(made) is None:
        shapes |= {shape for shape in KERNEL if shape.needs_merge}
    return frozenset(shapes)


def _notes(events: Events, keys: str | None) -> Iterator[str]:
    """Say what keeps aggregates from being shared, or kernels from taking them."""
    if keys:
        yield f"kernels are left out: {keys}"
    for made in events.recipes:
        if made.lacking:
            yield f"slices of {made.aggregate!r} are not merged: {made.lacking}"
        if made.ranged is not None and not keys:
            continue
        if not made.mergeable:
            yield f"{made.aggregate!r} is evaluated from the rows of every window"
        elif not keys and (reason := aggregate_obstacle(made)):
            yield f"kernels are left out for it: {reason}"


def _is_only_way(strategy: str, able: Iterable[frozenset[Shape]]) -> bool:
    """Tell whether no statistics could change a plan: one shape is left, and it has neither slices nor chunks."""
    left = {tuple(shape for shape in BATCH_STRATEGIES[strategy] if shape in shapes) for shapes in able}
    return left in ({(Shape.INDEPENDENT,)}, {(Shape.EXPAND,)})


def _with_forest(source: Source, group: Group, statistics: Statistics) -> Group:
    """Give a group that kernels combine the forest of its own windows."""
    if not group.shape.uses_kernel:
        return group
    bundled = source.only(group.aggregates).events
    if group.shape is Shape.RANGES_KERNEL:
        forest = plan_forest(group.windows, group.aggregates, statistics.rate, "independent")
        bundled = bundled.over_ranges()
    else:
        forest = plan_forest(group.windows, group.aggregates, rate_below(group, statistics))
    return replace(group, forest=forest, techniques=techniques(bundled, group, forest, statistics))


def techniques(events: Events, group: Group, forest: Plan, statistics: Statistics) -> tuple[str, ...]:
    """Say how every window with overlapping instances will be combined, if the statistics are right.

    The choice itself is made for every batch, by the same prices and the ranges that are there.
    """
    kinds, lines = kinds_of(events), []
    for node in forest.nodes:
        members, arrivals = overlap(node.window, node.parent, group.grids, statistics)
        if members < 2 * arrivals:
            continue
        how = expected(kinds, members, arrivals)
        lines.append(f"{node.window.label} by {how}: {members:.3g} partials in a range, {arrivals:.3g} of them new")
    return tuple(lines)
