"""Physical plans as text: the choice, the groups, what else was weighed, and the forest below."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.duration import Duration
from muntin.plan.number import number

if TYPE_CHECKING:
    from muntin.plan.physical import Group, PhysicalPlan


def describe(plan: PhysicalPlan) -> str:
    """Write a physical plan as text that is the same every time."""
    s = plan.statistics
    order = "in order of time" if s.ordered else "in no order of time"
    lines = [
        f"strategy {plan.strategy}: {number(s.rows)} rows, {number(s.keys)} keys over {_length(s.span)}, {order} "
        f"({s.source})",
        *(line for group in plan.groups for line in _group(group)),
        "weighed, in estimated core-seconds:",
        *(f"  {cost / 1e6:>10.2f}  {name}" for name, cost in plan.alternatives),
        *(f"note: {note}" for note in plan.notes),
    ]
    if plan.logical is not None:
        lines += ["", plan.logical.explain()]
    return "\n".join(lines)


def _group(group: Group) -> list[str]:
    labels = ", ".join(window.label for window in group.windows)
    lines = [f"{group.shape.name.lower()}: {group.shape.value}", f"  windows {labels}"]
    if group.grids:
        lines.append("  slices begin at " + ", ".join(_grid(*grid) for grid in group.grids))
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
