"""Plans as text: one step a line, indented below what it reads."""

from __future__ import annotations

from collections.abc import Iterator

from muntin.plan.show.outline import Box, Figure, Outline


def explain(outline: Outline) -> str:
    """Write a plan as text that is the same every time."""
    rows = list(_rows(outline))
    width = max((len(branch + box.title) for branch, _, box in rows if box.beside), default=0)
    lines = list(lines_of(outline.head))
    for branch, indent, box in rows:
        title = branch + box.title
        lines.append(f"{title:<{width}}  {box.beside}" if box.beside else title)
        lines += [f"{indent}  {line}" for line in box.lines]
    return "\n".join([*lines, *lines_of(outline.foot)])


def lines_of(figures: tuple[Figure, ...]) -> Iterator[str]:
    """Yield the lines in which people read some figures."""
    return (line for figure in figures for line in figure.lines)


def _rows(outline: Outline) -> Iterator[tuple[str, str, Box]]:
    """Yield every box with the branches before its title and before the lines below that."""
    readers = outline.readers()
    stack = [("", "", outline.boxes[0])]
    while stack:  # a chain of windows can be deeper than Python's stack
        branch, indent, box = stack.pop()
        below = readers[box]
        yield branch, indent + ("│" if below else " "), box
        stack += [
            (f"{indent}└─ ", f"{indent}   ", child) if child is below[-1] else (f"{indent}├─ ", f"{indent}│  ", child)
            for child in reversed(below)
        ]
