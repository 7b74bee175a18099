"""What a plan contains, said once: boxes that read one another. Text, drawings and JSON are made of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from textwrap import wrap
from typing import Any

_LETTERS = {"window": "w", "factor": "w", "rider": "w", "frame": "f"}
_LONGEST = 64
"""Characters after which a line in a drawn box is broken."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Something that a plan tells: a plain value under a name, and the lines in which people read it, if they do."""

    name: str
    value: Any
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Box:
    """One step of a plan; two are equal only if they are the same one."""

    kind: str
    """The input, a shape, slices, a window, a factor window, a window that rides on another, or a frame."""
    title: str
    above: Box | None = field(default=None, repr=False)
    """The step that it reads; None for the input."""
    beside: str = ""
    """A short figure that stands beside the title."""
    figures: tuple[Figure, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines below the title."""
        return tuple(line for figure in self.figures for line in figure.lines)

    @property
    def wrapped(self) -> tuple[str, ...]:
        """All lines, the title first, none of them too long for a drawing."""
        told = (self.title, self.beside, *self.lines)
        return tuple(part for line in told for part in wrap(line, _LONGEST, replace_whitespace=False))


@dataclass(frozen=True, slots=True)
class Outline:
    """A plan as a tree of boxes, with figures of the whole before and after it.

    >>> top = Box("input", "10 rows")
    >>> tree = Outline((Figure("plan", "batch"),), (top, Box("window", "⟨1h,1h⟩", top, figures=(Figure("range", 1),))))
    >>> tree.to_dict()["steps"][1]
    {'id': 'w0', 'kind': 'window', 'reads': 'input', 'range': 1}
    """

    head: tuple[Figure, ...]
    boxes: tuple[Box, ...]
    """The input first, and every box after the one that it reads."""
    foot: tuple[Figure, ...] = ()
    key: tuple[str, str] | None = None
    """One of the short figures beside titles, and what it means: the legend of a drawing."""

    def readers(self) -> dict[Box, list[Box]]:
        """List the boxes that read each box."""
        readers: dict[Box, list[Box]] = {box: [] for box in self.boxes}
        for box in self.boxes:
            if box.above is not None:
                readers[box.above].append(box)
        return readers

    def names(self) -> dict[Box, str]:
        """Give every box a short name of its own, the same in Mermaid and JSON."""
        counts: Counter[str] = Counter()
        names = {}
        for box in self.boxes:
            letter = _LETTERS.get(box.kind, "s")
            names[box] = "input" if box.above is None else f"{letter}{counts[letter]}"
            counts[letter] += box.above is not None
        return names

    def to_dict(self) -> dict[str, Any]:
        """Give all figures as plain values; `steps` has the boxes, each with the id of the one that it reads."""
        names = self.names()
        steps = [
            {"id": names[box], "kind": box.kind, "reads": box.above and names[box.above], **_values(box.figures)}
            for box in self.boxes
        ]
        return {**_values(self.head), "steps": steps, **_values(self.foot)}


def _values(figures: tuple[Figure, ...]) -> dict[str, Any]:
    return {figure.name: figure.value for figure in figures}
