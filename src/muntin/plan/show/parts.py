"""What plans on Spark have in common when they are shown: input, windows, slices, alternatives, notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import isclose
from typing import TYPE_CHECKING, Any

from muntin.duration import Duration
from muntin.plan.number import number, plain
from muntin.plan.show.forest import kind_of, pace, plain_window, total, window_text
from muntin.plan.show.outline import Box, Figure

if TYPE_CHECKING:
    from enum import Enum

    from muntin.aggregates import Aggregate
    from muntin.plan.forest.logical import Node, Plan
    from muntin.plan.slicing.grids import Grid
    from muntin.plan.statistics import Statistics
    from muntin.window import AnyWindow, Window

Alternatives = Sequence[tuple[str, float]]
"""Ways that were weighed, with their costs in core-microseconds."""


def about(value: float) -> str:
    """Write an estimate."""
    return f"about {number(round(value))}"


def average(value: float) -> str:
    """Write an average, which may be small.

    >>> average(2.5), average(1234.5)
    ('2.5', '1,234')
    """
    return f"{value:.3g}" if value < 10 else number(round(value))


def seconds(cost: float) -> str:
    """Write a cost in core-microseconds."""
    return f"about {cost / 1e6:.2f} core-seconds"


def headline(kind: str, strategy: str, cost: float) -> tuple[Figure, ...]:
    """Say what kind of plan it is, by which strategy, and what all of it costs."""
    line = f"{kind} plan, strategy {strategy}, {seconds(cost)}"
    return Figure("plan", kind, (line,)), Figure("strategy", strategy), Figure("core_microseconds", round(cost))


def input_box(statistics: Statistics, *, ordered: bool = False) -> Box:
    """Say what is known of the input; of the order only where a choice depends on it."""
    s = statistics
    rows, keys = number(s.rows), f"{number(s.keys)} key{'' if s.keys == 1 else 's'}"
    order = f", in {'' if s.ordered else 'no '}order of time" if ordered else ""
    batch = "" if s.batch is None else f", {number(s.batch)} rows a micro-batch"
    figures = {"rows": s.rows, "keys": s.keys, "span": s.span, "ordered": s.ordered, "source": s.source}
    figures |= {} if s.batch is None else {"batch": s.batch}
    title = f"input: {rows} rows, {keys} over {_length(s.span)}{batch}{order} ({s.source})"
    return Box("input", title, figures=silent(figures))


def shape_box(shape: Enum, above: Box, figures: Iterable[Figure]) -> Box:
    """Name a shape, and say what is done."""
    name = shape.name.lower()
    return Box("shape", f"{name}: {shape.value}", above, figures=(Figure("shape", name), *figures))


def labels(windows: Iterable[AnyWindow]) -> Figure:
    """Name windows for programs; people read them in boxes of their own."""
    return Figure("windows", [window.label for window in windows])


def evaluated(aggregates: Sequence[Aggregate]) -> tuple[Figure, ...]:
    """Say which aggregates are evaluated, where that is known."""
    names = [repr(aggregate) for aggregate in aggregates]
    return (Figure("aggregates", names, (f"evaluates {', '.join(names)}",)),) if names else ()


def rows_of(rows_in: int, between: float, out: float, scans: int = 1) -> tuple[Figure, ...]:
    """Tell the rows that go in, lie between the steps, and come out."""
    line = f"{number(rows_in)} rows in"
    line += f", read {number(scans)} times" if scans > 1 else ""
    line += f", {about(between)} between the steps" if between else ""
    figures = silent({"rows_in": rows_in, "scans": scans, "rows_between": round(between)})
    return *figures, Figure("rows_out", round(out), (f"{line}, {about(out)} out",))


def slices_box(grids: Iterable[Grid], above: Box) -> Box:
    """Say where slices begin."""
    grids = tuple(grids)
    places = ", ".join(
        f"multiples of {Duration(slide)}" + (f" plus {Duration(residue)}" if residue else "")
        for slide, residue in grids
    )
    plain_grids = [{"slide": slide, "residue": residue} for slide, residue in grids]
    return Box("slices", f"slices begin at {places}", above, figures=silent({"grids": plain_grids}))


def window_boxes(windows: Iterable[AnyWindow], above: Box, beside: Sequence[str] = ()) -> list[Box]:
    """Give a box for every window, each of which reads the same."""
    told = iter(beside)
    return [Box("window", window_text(w), above, next(told, ""), silent(plain_window(w))) for w in windows]


def forest_boxes(forest: Plan, above: Box) -> list[Box]:
    """Give a box for every window of a forest, below the one that it reads."""
    boxes: dict[Window | None, Box] = {None: above}
    for node in forest.nodes:
        title = window_text(node.window, is_factor=node.is_factor)
        figures = plain_window(node.window)
        beside = ""
        if node.parent is not None:
            beside = _combined(node)
            figures["combines"] = plain(node.inputs)
        boxes[node.window] = Box(kind_of(node), title, boxes[node.parent], beside, silent(figures))
    return [box for window, box in boxes.items() if window is not None]


def forest_key(forests: Iterable[Plan | None]) -> tuple[str, str] | None:
    """Say what the figures beside windows mean, by those of the first that reads another."""
    for forest in forests:
        for node in forest.nodes if forest is not None else ():
            if node.parent is not None:
                return _combined(node), f"an instance combines {number(node.inputs)} instances of {node.parent}"
    return None


def _combined(node: Node) -> str:
    return f"from {number(node.inputs)} × {node.parent}"


def weighed(alternatives: Alternatives, cost: float, states: Sequence[float] = (), reason: str = "") -> Figure:
    """Tell what every way was estimated to cost, and which is chosen; for a reason, if it is not the first."""
    place = next((i for i, (_, other) in enumerate(alternatives) if isclose(other, cost)), None)
    lines = []
    values: list[dict[str, Any]] = []
    for i, (name, other) in enumerate(alternatives):
        mark = "" if i != place else "  ← chosen" if i == 0 else f"  ← chosen{reason}"
        state = f"  {number(round(states[i])):>12}" if states else ""
        lines.append(f"  {other / 1e6:>10.2f}{state}  {name}{mark}")
        told = {"name": name, "core_microseconds": round(other), "chosen": i == place}
        values.append(told | ({"state_rows": round(states[i])} if states else {}))
    title = f"weighed, in estimated core-seconds{' and state rows' if states else ''}:"
    return Figure("alternatives", values, (title, *lines) if lines else ())


def noted(notes: Sequence[str]) -> Figure:
    """Give the notes."""
    return Figure("notes", list(notes), tuple(f"note: {note}" for note in notes))


def model(forest: Plan, read: str, follows: str) -> Figure:
    """Tell the paper's cost of a forest, and that it is no cost of this plan."""
    line = f"unit model of the factor-windows paper (not the costs above): {read} that one key reads, {pace(forest)}"
    values = {
        "counts": f"{read} that one key reads",
        "horizon": plain(forest.horizon),
        "cost": _rounded(forest.cost),
        "independent_cost": _rounded(forest.independent_cost),
        "follows": follows,
    }
    return Figure("unit_model", values, (line, f"  {total(forest)}; {follows}"))


def _rounded(cost: int | Fraction) -> int | float | str:
    return round(float(cost), 3) if Fraction(cost).denominator > 1 else plain(cost)


def silent(values: dict[str, Any]) -> tuple[Figure, ...]:
    """Give figures that programs read, and people elsewhere."""
    return tuple(Figure(name, value) for name, value in values.items())


def _length(span: int) -> str:
    """Write a long stretch of time in its largest unit."""
    for unit, name in ((86_400_000_000, "days"), (3_600_000_000, "hours"), (60_000_000, "minutes"), (1_000_000, "s")):
        if span >= 2 * unit:
            return f"{span / unit:.1f} {name}"
    return f"{span} µs"
