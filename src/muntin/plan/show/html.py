"""Plans as self-contained pages: the forest drawn as SVG, no script, no network."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from muntin.plan.show.text import cost_text, heading, input_text, total, window_text

if TYPE_CHECKING:
    from muntin.plan.forest.logical import Plan
    from muntin.window import Window

_BOX_HEIGHT = 44
_ROW = 84
_GAP = 18
_CHARACTER = 7.4
"""Width of a character of 12 px monospace text, with some room."""

_STYLE = """
.muntin { font: 13px/1.5 system-ui, sans-serif; color: #1c2733; background: #ffffff; padding: 8px; }
.muntin svg { font: 12px ui-monospace, monospace; max-width: 100%; height: auto; }
.muntin rect { fill: #eef4fb; stroke: #3a6ea5; rx: 5; }
.muntin .factor rect { fill: #fff8e8; stroke: #b7791f; stroke-dasharray: 4 3; }
.muntin .input rect { fill: #1c2733; stroke: none; }
.muntin .input text { fill: #ffffff; }
.muntin text { fill: #1c2733; text-anchor: middle; }
.muntin path { fill: none; stroke: #8797a8; stroke-width: 1.3; }
.muntin .saving { font-weight: 600; }
"""


@dataclass(slots=True)
class _Box:
    """A window on the drawing; span is the width that it and all below it need."""

    lines: tuple[str, ...]
    kind: str
    depth: int
    below: list[_Box]
    span: float = 0
    middle: float = 0

    @property
    def width(self) -> float:
        return _CHARACTER * max(map(len, self.lines)) + 16

    @property
    def top(self) -> int:
        return self.depth * _ROW + 4


def to_html(plan: Plan) -> str:
    """Write a plan as a fragment of HTML that draws the forest and states the saving."""
    parts = [
        f'<div class="muntin"><style>{_STYLE}</style>',
        f"<div>{escape(heading(plan))}</div>",
        f"<div>{_draw(plan)}</div>",
        f'<div class="saving">{escape(total(plan))}</div></div>',
    ]
    return "".join(parts)


def to_page(plan: Plan) -> str:
    """Write a plan as a whole page."""
    head = '<head><meta charset="utf-8"><title>Muntin plan</title></head>'
    return f'<!doctype html>\n<html lang="en">{head}<body>{to_html(plan)}</body></html>\n'


def _draw(plan: Plan) -> str:
    boxes = _boxes(plan)
    for box in reversed(boxes):  # children before parents
        box.span = max(box.width + _GAP, sum(child.span for child in box.below))
    boxes[0].middle = boxes[0].span / 2
    for box in boxes:
        left = box.middle - sum(child.span for child in box.below) / 2
        for child in box.below:
            child.middle = left + child.span / 2
            left += child.span
    width, height = boxes[0].span, max(box.top for box in boxes) + _BOX_HEIGHT + 4
    drawn = "".join([_line(box, child) for box in boxes for child in box.below] + [_drawn_box(box) for box in boxes])
    size = f'viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}"'
    return f'<svg {size} role="img" aria-label="plan">{drawn}</svg>'


def _boxes(plan: Plan) -> list[_Box]:
    """Make a box for the input and for every window, parents first."""
    boxes: dict[Window | None, _Box] = {None: _Box((input_text(plan),), "input", 0, [])}
    for node in plan.nodes:
        parent = boxes[node.parent]
        lines = (window_text(node), cost_text(node))
        box = _Box(lines, "factor" if node.is_factor else "asked", parent.depth + 1, [])
        parent.below.append(box)
        boxes[node.window] = box
    return list(boxes.values())


def _line(parent: _Box, child: _Box) -> str:
    start, end = parent.top + _BOX_HEIGHT, child.top
    bend = (start + end) // 2
    curve = f"C{parent.middle:.0f} {bend} {child.middle:.0f} {bend} {child.middle:.0f} {end}"
    return f'<path d="M{parent.middle:.0f} {start} {curve}"/>'


def _drawn_box(box: _Box) -> str:
    first = box.top + _BOX_HEIGHT / 2 + (4 if len(box.lines) == 1 else -4)
    corner = f'x="{box.middle - box.width / 2:.0f}" y="{box.top}"'
    texts = "".join(
        f'<text x="{box.middle:.0f}" y="{first + 16 * row:.0f}">{escape(line)}</text>'
        for row, line in enumerate(box.lines)
    )
    rectangle = f'<rect {corner} width="{box.width:.0f}" height="{_BOX_HEIGHT}"/>'
    return f'<g class="{box.kind}">{rectangle}{texts}</g>'
