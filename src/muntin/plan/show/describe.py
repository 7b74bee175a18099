"""Physical plans as text: the choice, the groups, what else was weighed, and the forest below."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING

from muntin.duration import Duration
from muntin.plan.number import number

if TYPE_CHECKING:
    from muntin.plan.physical.plans import Group, PhysicalPlan
    from muntin.plan.physical.rolling import RollingPlan
    from muntin.plan.physical.stream import StreamPlan
    from muntin.plan.slicing.grids import Grid
    from muntin.plan.statistics import Statistics
    from muntin.window import Window


def describe(plan: PhysicalPlan) -> str:
    """Write a physical plan as text that is the same every time."""
    s = plan.statistics
    order = "in order of time" if s.ordered else "in no order of time"
    lines = [
        f"strategy {plan.strategy}: {_input(s)}, {order} ({s.source})",
        *(line for group in plan.groups for line in _group(group)),
        "weighed, in estimated core-seconds:",
        *(f"  {cost / 1e6:>10.2f}  {name}" for name, cost in plan.alternatives),
        *(f"note: {note}" for note in plan.notes),
    ]
    if plan.logical is not None:
        lines += ["", plan.logical.explain()]
    return "\n".join(lines)


def describe_stream(plan: StreamPlan) -> str:
    """Write the plan of a stream as text."""
    s, options = plan.statistics, plan.options
    late = "count for every window that is open" if plan.shape.exact else "are dropped with their slice"
    lines = [
        f"strategy {plan.strategy} on a stream: {_input(s)} ({s.source})",
        f"watermark {options.watermark}, output {options.output}, late rows {late}",
        *([f"rows more than {options.future} ahead of the clock are set aside"] if options.future is not None else []),
        *_shape(plan.shape, plan.windows, plan.grids),
        "  state: " + " and ".join(f"{number(round(state.rows))} {state.name}" for state in plan.states),
        f"  about {plan.cost / 1e6:.2f} core-seconds",
        "weighed, in estimated core-seconds and state rows:",
        *(
            f"  {cost / 1e6:>10.2f}  {number(round(rows)):>12}  {name}"
            for (name, cost), rows in zip(plan.alternatives, plan.alternative_rows, strict=True)
        ),
        *(f"note: {note}" for note in plan.notes),
    ]
    return "\n".join(lines)


def describe_rolling(plan: RollingPlan) -> str:
    """Write the plan of rolling windows as text."""
    lines = [
        f"strategy {plan.strategy}: {_input(plan.statistics)} ({plan.statistics.source})",
        f"{plan.shape.name.lower()}: {plan.shape.value}",
        f"  frames {', '.join(plan.frames)}",
        "weighed, in estimated core-seconds:",
        *(f"  {cost / 1e6:>10.2f}  {name}" for name, cost in plan.alternatives),
        *(f"note: {note}" for note in plan.notes),
    ]
    return "\n".join(lines)


def _input(statistics: Statistics) -> str:
    return f"{number(statistics.rows)} rows, {number(statistics.keys)} keys over {_length(statistics.span)}"


def _shape(shape: Enum, windows: Iterable[Window], grids: Iterable[Grid]) -> list[str]:
    lines = [f"{shape.name.lower()}: {shape.value}", f"  windows {', '.join(window.label for window in windows)}"]
    if places := ", ".join(_grid(*grid) for grid in grids):
        lines.append(f"  slices begin at {places}")
    return lines


def _group(group: Group) -> list[str]:
    lines = _shape(group.shape, group.windows, group.grids)
    if group.slices:
        lines.append(f"  about {number(round(group.slices))} partials between the steps")
    lines.append(f"  about {number(round(group.rows_out))} rows out, {group.cost / 1e6:.2f} core-seconds")
    lines += [f"  {line}" for line in group.techniques]
    return lines


def _grid(slide: int, residue: int) -> str:
    return f"multiples of {Duration(slide)}" + (f" plus {Duration(residue)}" if residue else "")


def _length(span: int) -> str:
    """Write a long stretch of time in its largest unit."""
    for unit, name in ((86_400_000_000, "days"), (3_600_000_000, "hours"), (60_000_000, "minutes"), (1_000_000, "s")):
        if span >= 2 * unit:
            return f"{span / unit:.1f} {name}"
    return f"{span} µs"
