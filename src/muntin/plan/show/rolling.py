"""What the plan of a rolling query contains."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

from muntin.plan.show import parts
from muntin.plan.show.outline import Box, Figure, Outline

if TYPE_CHECKING:
    from muntin.plan.physical.rolling import RollingPlan


def outline_of_rolling(plan: RollingPlan) -> Outline:
    """Say what will run: the shape, its frames, and what else was weighed."""
    top = parts.input_box(plan.statistics)
    rows = plan.statistics.rows
    figures = (
        Figure("frames", list(plan.frames)),
        *parts.evaluated(plan.aggregates),
        *parts.rows_of(rows, 0, rows),
        Figure("core_microseconds", round(plan.cost), (parts.seconds(plan.cost),)),
        Figure("techniques", list(plan.techniques), plan.techniques),
    )
    shape = parts.shape_box(plan.shape, top, figures)
    frames = [_frame(label, many, shape) for label, many in zip_longest(plan.frames, plan.frame_rows)]
    foot = parts.weighed(plan.alternatives, plan.cost), parts.noted(plan.notes)
    return Outline(parts.headline("rolling", plan.strategy, plan.cost), (top, shape, *frames), foot)


def _frame(label: str, rows: float | None, above: Box) -> Box:
    beside = "" if rows is None else f"rows on average: {parts.average(rows)}"
    average = Figure("rows", None if rows is None else round(rows, 1))
    return Box("frame", f"frame {label}", above, beside, (Figure("label", label), average))
