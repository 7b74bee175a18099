"""The physical plan of a batch query: which shapes are possible, what they cost here, and the choice among them."""

from __future__ import annotations

from dataclasses import replace

from muntin.duration import natural_unit
from muntin.plan import Plan
from muntin.plan import plan as plan_windows
from muntin.plan.physical.batch import choose
from muntin.plan.physical.plans import Group, PhysicalPlan
from muntin.plan.physical.prices import Prices
from muntin.plan.physical.shapes import STRATEGIES, Shape
from muntin.plan.physical.work import Work
from muntin.plan.slicing.overlap import overlap
from muntin.plan.statistics import Statistics
from muntin.spark.input.source import Events, Source
from muntin.spark.input.statistics import measure
from muntin.spark.sessions import ARROW_BYTES, UNLIMITED
from muntin.spark.workers.layout import obstacle, reduced_parts
from muntin.techniques import Need, cheapest
from muntin.window import Window


def plan_batch(source: Source, strategy: str, statistics: Statistics | None) -> PhysicalPlan:
    """Choose the physical plan; unless it can only be the plain one, that needs statistics, and so a small job."""
    notes = []
    shareable = all(made.mergeable for made in source.recipes)
    stopped = obstacle(source) if shareable else None
    if not shareable:
        holistic = next(made.aggregate for made in source.recipes if not made.mergeable)
        notes.append(f"{holistic!r} is evaluated from the rows of every window, and the others with it")
    elif stopped:
        notes.append(f"kernels are left out: {stopped}")

    windows = source.query.windows
    alone = strategy == "auto" and len(windows) == 1 and windows[0].is_tumbling  # nothing is shared with anything

    def allowed(shape: Shape) -> bool:
        unfit = (shape.needs_merge and not shareable) or (shape.uses_kernel and stopped)
        return not unfit and not (alone and shape is not Shape.INDEPENDENT)

    shapes = [shape for shape in STRATEGIES[strategy] if allowed(shape)]
    if statistics is None:
        statistics = Statistics(1_000_000, source="assumed") if _only_one_way(shapes) else measure(source)
    charged, hint = prices(source)
    notes += hint
    columns = sum(len(names) for names in source.partials) or len(source.recipes)
    work = Work(statistics, columns, len(source.keys), charged, len(source.shared))
    physical = choose(work, source.query.windows, strategy, allowed)
    logical = _forest(source, source.query.windows, statistics)
    return replace(
        physical,
        groups=tuple(_with_forest(source, group, physical, logical) for group in physical.groups),
        logical=logical,
        notes=tuple(notes),
    )


def _only_one_way(shapes: list[Shape]) -> bool:
    """Tell whether no statistics could change a plan: one shape is left, and it has neither slices nor chunks."""
    return shapes in ([Shape.INDEPENDENT], [Shape.EXPAND])


def _with_forest(source: Source, group: Group, physical: PhysicalPlan, logical: Plan) -> Group:
    """Give a group that kernels combine the forest of its own windows."""
    if not group.shape.uses_kernel:
        return group
    together = len(physical.groups) == 1
    forest = logical if together else _forest(source, group.windows, physical.statistics)
    return replace(group, forest=forest, techniques=techniques(source, group, forest, physical.statistics))


def techniques(source: Source, group: Group, forest: Plan, statistics: Statistics) -> tuple[str, ...]:
    """Say how every window with overlapping instances will be combined, if the statistics are right.

    The choice itself is made for every batch, by the same prices and the ranges that are there.
    """
    kinds: dict[frozenset[Need], list[str]] = {}
    for aggregate, made, _ in reduced_parts(source):
        kinds.setdefault(frozenset(made.offers), []).append(repr(aggregate))
    lines = []
    for node in forest.nodes:
        members, arrivals = overlap(node.window, node.parent, group.grids, statistics)
        if members < 2 * arrivals:
            continue
        chosen: dict[str, list[str]] = {}
        for needs, asked in kinds.items():
            chosen.setdefault(cheapest(needs, members, arrivals).name, []).extend(asked)
        how = ", ".join(f"{name} for {', '.join(dict.fromkeys(asked))}" for name, asked in chosen.items())
        lines.append(f"{node.window.label} by {how}: {members:.3g} partials in a range, {arrivals:.3g} of them new")
    return tuple(lines)


def prices(source: Events) -> tuple[Prices, list[str]]:
    """Give the prices in the DataFrame's own session, and what would make it quicker."""
    conf = source.frame.sparkSession.conf
    if conf.get(ARROW_BYTES, "1") == str(UNLIMITED):
        return Prices(), []
    return Prices(transfer=0.25, column=0.08), [
        f"rows would go to Python twice as fast with spark.conf.set({ARROW_BYTES!r}, {UNLIMITED}), as mt.session() does"
    ]


def _forest(source: Source, windows: tuple[Window, ...], statistics: Statistics) -> Plan:
    unit = natural_unit([length for window in windows for length in window.period])
    return plan_windows(windows, source.query.aggregates, rate=statistics.rate * unit)
