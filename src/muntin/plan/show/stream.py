"""What the plan of a stream contains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.plan.show import parts
from muntin.plan.show.outline import Figure, Outline

if TYPE_CHECKING:
    from muntin.plan.physical.stream import StreamPlan


def outline_of_stream(plan: StreamPlan) -> Outline:
    """Say what will run: the shape, its state, its windows and their forest, and what else was weighed."""
    top = parts.input_box(plan.statistics)
    figures = (
        parts.labels(plan.windows),
        *parts.evaluated(plan.aggregates),
        *parts.rows_of(plan.statistics.rows, plan.slices, plan.rows_out, plan.scans),
        _state(plan),
        Figure("core_microseconds", round(plan.cost), (parts.seconds(plan.cost),)),
    )
    above = parts.shape_box(plan.shape, top, figures)
    boxes = [top, above]
    if plan.grids:
        above = parts.slices_box(plan.grids, above)
        boxes.append(above)
    forest = plan.forest
    if forest is not None:
        boxes += parts.forest_boxes(forest, above)
    else:
        each = [f"state: {parts.about(state.rows)} rows" for state in plan.states] if plan.shape.alone else []
        boxes += parts.window_boxes(plan.windows, above, each)
    foot = [parts.weighed(plan.alternatives, plan.cost, plan.alternative_rows), parts.noted(plan.notes)]
    if forest is not None:
        foot.append(parts.model(forest, "slices (its events) and partials", "this plan follows that forest"))
    head = *parts.headline("stream", plan.strategy, plan.cost), *_options(plan)
    return Outline(head, tuple(boxes), tuple(foot), parts.forest_key([forest]))


def _options(plan: StreamPlan) -> tuple[Figure, ...]:
    options, exact = plan.options, plan.shape.exact
    sliced = "are dropped with their slice" if plan.grids else "are dropped"
    late = "count for every window that is open" if exact else sliced
    delay = None if options.watermark is None else int(options.watermark)
    ahead = (f"rows more than {options.future} ahead of the clock are set aside",) if options.future is not None else ()
    return (
        Figure("watermark", delay, (f"watermark {options.watermark}, output {options.output}, late rows {late}",)),
        Figure("output", options.output),
        Figure("late", "exact" if exact else "drop"),
        Figure("future", None if options.future is None else int(options.future), ahead),
    )


def _state(plan: StreamPlan) -> Figure:
    """Tell what every operator is expected to keep; where each window has its own, all of them together."""
    values = [{"name": state.name, "rows": round(state.rows)} for state in plan.states]
    lines = tuple(f"state: {parts.about(state.rows)} {state.name}" for state in plan.states)
    if plan.shape.alone:
        lines = (f"state: {parts.about(plan.state_rows)} windows in {len(values)} operators",)
    return Figure("states", values, lines)
