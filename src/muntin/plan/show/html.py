"""Plans as self-contained pages: the steps drawn as SVG, no script, no network."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import Protocol

from muntin.plan.show.outline import Box, Figure, Outline
from muntin.plan.show.theme import STYLE

_BOX_HEIGHT = 44
_LINE = 16
_BETWEEN = 40
_GAP = 18
_CHARACTER = 7.4
"""Width of a character of 12 px monospace text, with some room."""
_PAGE = 1200
"""Width of a drawing that most pages show as a whole."""
_SMALLEST = 0.75
"""How far a drawing shrinks on a narrow page; beyond that it is scrolled, so that it can be read."""

_KINDS = {
    "shape": "how Spark runs it",
    "slices": "slices that windows share",
    "window": "a window that was asked for",
    "frame": "a frame that was asked for",
    "factor": "a factor window: others read it, the result does not have it",
}
"""What the colours mean, where a drawing has more than one."""
_WHOLE = "body { margin: 0 } body > .muntin { min-height: 100vh; box-sizing: border-box; padding: 16px }"
"""The style of a page that is nothing but a plan."""


class Drawable(Protocol):
    """Anything that writes itself as a fragment of HTML."""

    def to_html(self) -> str:
        """Write it."""


@dataclass(slots=True, eq=False)
class _Drawn:
    """A box on the drawing; span is the width that it and all below it need."""

    box: Box
    lines: tuple[str, ...]
    depth: int
    below: list[_Drawn]
    span: float = 0
    left: float = 0
    middle: float = 0
    top: int = 0

    @property
    def width(self) -> float:
        return _CHARACTER * max(map(len, self.lines)) + 16

    @property
    def height(self) -> int:
        return max(_BOX_HEIGHT, _LINE * len(self.lines) + 12)


def to_html(outline: Outline) -> str:
    """Write a plan as a fragment of HTML that draws its steps and tells its figures."""
    parts = [
        f'<div class="muntin"><style>{STYLE}</style>',
        *map(_told, outline.head),
        f'<div class="drawing">{_draw(outline)}</div>',
        _legend(outline),
        *map(_told, outline.foot),
        "</div>",
    ]
    return "".join(parts)


def to_page(plan: Drawable) -> str:
    """Write a plan as a whole page."""
    themes = '<meta name="color-scheme" content="light dark">'
    head = f'<head><meta charset="utf-8">{themes}<title>Muntin plan</title><style>{_WHOLE}</style></head>'
    return f'<!doctype html>\n<html lang="en">{head}<body>{plan.to_html()}</body></html>\n'


def _told(figure: Figure) -> str:
    if not figure.lines:
        return ""
    return f'<div class="{escape(figure.name)}">{"<br>".join(map(escape, figure.lines))}</div>'


def _legend(outline: Outline) -> str:
    """Say what the colours and the figures in the boxes mean."""
    there = {box.kind for box in outline.boxes}
    told = [f'<span><i class="{kind}"></i>{text}</span>' for kind, text in _KINDS.items() if kind in there]
    if outline.key is not None:
        figure, meaning = outline.key
        told.append(f"<span><code>{escape(figure)}</code>: {escape(meaning)}</span>")
    return f'<div class="legend">{"".join(told)}</div>' if told else ""


def _draw(outline: Outline) -> str:
    drawn = _placed(outline)
    width, height = drawn[0].span, max(one.top + one.height for one in drawn) + 4
    shapes = [_line(one, child) for one in drawn for child in one.below] + [_drawn_box(one) for one in drawn]
    size = f'viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}"'
    size += f' style="min-width: {width * _SMALLEST:.0f}px"'
    return f'<svg {size} role="img" aria-label="plan">{"".join(shapes)}</svg>'


def _placed(outline: Outline) -> list[_Drawn]:
    """Give every box its place, each row of boxes below that of what they read."""
    placed: dict[Box | None, _Drawn] = {}
    for box in outline.boxes:
        above = placed.get(box.above)
        placed[box] = _Drawn(box, box.wrapped, 0 if above is None else above.depth + 1, [])
        if above is not None:
            above.below.append(placed[box])
    drawn = list(placed.values())
    _spread(drawn)
    heights = [0] * (1 + max(one.depth for one in drawn))
    for one in drawn:
        heights[one.depth] = max(heights[one.depth], one.height)
    tops = [4]
    for height in heights:
        tops.append(tops[-1] + height + _BETWEEN)
    for one in drawn:
        one.top = tops[one.depth]
    return drawn


def _spread(drawn: list[_Drawn]) -> None:
    """Give every box its place from left to right."""
    for one in reversed(drawn):  # children before parents
        one.span = max(one.width + _GAP, sum(child.span for child in one.below))
    for one in drawn:  # parents before children
        left = one.left + (one.span - sum(child.span for child in one.below)) / 2
        for child in one.below:
            child.left = left
            left += child.span
    for one in reversed(drawn):
        one.middle = one.left + one.span / 2
        if one.below and one.span > _PAGE:  # what is scrolled begins with its roots
            one.middle = max(one.left + (one.width + _GAP) / 2, one.below[0].middle)


def _line(parent: _Drawn, child: _Drawn) -> str:
    start, end = parent.top + parent.height, child.top
    bend = (start + end) // 2
    curve = f"C{parent.middle:.0f} {bend} {child.middle:.0f} {bend} {child.middle:.0f} {end}"
    return f'<path d="M{parent.middle:.0f} {start} {curve}"/>'


def _drawn_box(one: _Drawn) -> str:
    first = one.top + one.height / 2 + 4 - (len(one.lines) - 1) * _LINE / 2
    corner = f'x="{one.middle - one.width / 2:.0f}" y="{one.top}"'
    texts = "".join(
        f'<text x="{one.middle:.0f}" y="{first + _LINE * row:.0f}">{escape(line)}</text>'
        for row, line in enumerate(one.lines)
    )
    rectangle = f'<rect {corner} width="{one.width:.0f}" height="{one.height}"/>'
    return f'<g class="{one.box.kind}">{rectangle}{texts}</g>'
