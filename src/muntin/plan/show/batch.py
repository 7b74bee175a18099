"""What the physical plan of a batch query contains."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from muntin.plan.show import parts
from muntin.plan.show.outline import Box, Figure, Outline

if TYPE_CHECKING:
    from muntin.plan.forest.logical import Plan
    from muntin.plan.physical.plans import Group, PhysicalPlan


def outline_of_batch(plan: PhysicalPlan) -> Outline:
    """Say what will run: the groups, each in its shape, and what else was weighed."""
    top = parts.input_box(plan.statistics, ordered=True)
    boxes = [box for group in plan.groups for box in _group(plan, group, top)]
    reason = ": what costs less saves too little"
    foot = [*_joined(plan), parts.weighed(plan.alternatives, plan.cost, reason=reason), parts.noted(plan.notes)]
    if (logical := plan.logical) is not None:
        foot.append(parts.model(logical, *_follows(plan, logical)))
    key = parts.forest_key(group.forest for group in plan.groups if group.shape.uses_kernel)
    return Outline(parts.headline("batch", plan.strategy, plan.cost), (top, *boxes), tuple(foot), key)


def _group(plan: PhysicalPlan, group: Group, top: Box) -> Iterator[Box]:
    """Yield the shape of a group, its slices, and its windows in the forest that is followed, if one is."""
    figures = (
        parts.labels(group.windows),
        *parts.evaluated(group.aggregates),
        *parts.rows_of(plan.statistics.rows, group.slices, group.rows_out, group.scans),
        *_exploded(group),
        Figure("core_microseconds", round(group.cost), (parts.seconds(group.cost),)),
        Figure("techniques", list(group.techniques), group.techniques),
    )
    above = parts.shape_box(group.shape, top, figures)
    yield above
    if group.grids:
        above = parts.slices_box(group.grids, above)
        yield above
    if group.shape.uses_kernel and group.forest is not None:
        yield from parts.forest_boxes(group.forest, above)
    else:
        yield from parts.window_boxes(group.windows, above)


def _joined(plan: PhysicalPlan) -> tuple[Figure, ...]:
    """Tell what it costs to put the aggregates of several groups side by side, where the same windows have several."""
    if not plan.joining:
        return ()
    sets = len(plan.bundles)
    line = f"{sets} sets of aggregates are put side by side by key and window: {parts.seconds(plan.joining)}"
    return (Figure("joining_core_microseconds", round(plan.joining), (line,)),)


def _exploded(group: Group) -> tuple[Figure, ...]:
    """Tell how many instances a row or a slice is exploded into, where that is done."""
    if not group.shape.explodes:
        return ()
    copies = sum(window.range / window.slide for window in group.windows)
    line = f"every {'slice' if group.grids else 'row'} lies in {parts.average(copies)} instances on average"
    return (Figure("copies", round(copies, 3), (line,)),)


def _follows(plan: PhysicalPlan, logical: Plan) -> tuple[str, str]:
    """Say what the windows of a logical plan read, and which groups follow it."""
    forests = [group.forest for group in plan.groups if group.forest is not None]
    if not forests:
        return "events and partials", "this plan follows no forest"
    if forests != [logical]:
        return "events and partials", "groups with kernels follow forests of their own"
    read = "slices (its events)" if plan.groups[0].grids else "events"
    return f"{read} and partials", "this plan follows that forest"
