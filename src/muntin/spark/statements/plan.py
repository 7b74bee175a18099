"""The plan of SQL text: which statements share an input and how that is evaluated, and which run as plain Spark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from muntin.plan.show.outline import Box, Figure, Outline
from muntin.plan.show.shown import Shown
from muntin.safe_text import hide_user_info


@dataclass(frozen=True, slots=True)
class SharedPlan:
    """Statements over one input, and the plan that evaluates them together."""

    statements: tuple[str, ...]
    tables: tuple[str, ...]
    boundaries: str
    plan: Shown

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", tuple(map(hide_user_info, self.tables)))


@dataclass(frozen=True, slots=True)
class PlainStatement:
    """A statement that Spark runs as it is, and why."""

    name: str
    reason: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "reason", hide_user_info(self.reason))


@dataclass(frozen=True, slots=True, repr=False)
class SqlPlan(Shown):
    """What mt.sql would run: inputs with the statements that share them, and statements of plain Spark."""

    shared: tuple[SharedPlan, ...]
    plain: tuple[PlainStatement, ...] = ()

    @property
    def statements(self) -> tuple[str, ...]:
        """The names of all statements, those that share inputs first."""
        together = (name for shared in self.shared for name in shared.statements)
        return tuple(dict.fromkeys((*together, *(plain.name for plain in self.plain))))

    def __add__(self, other: SqlPlan) -> SqlPlan:
        return SqlPlan(self.shared + other.shared, self.plain + other.plain)

    def outline(self) -> Outline:
        """Say what the plan contains: all ways to show it are made of this."""
        count, inputs = len(self.statements), len(self.shared)
        title = f"SQL: {count} statement{'s' * (count != 1)}, {inputs} input{'s' * (inputs != 1)} with windows"
        top = Box("input", title, figures=(Figure("statements", list(self.statements)),))
        boxes = [box for shared in self.shared for box in _shared(shared, top)]
        plain = [_plain(statement, top) for statement in self.plain]
        return Outline((Figure("plan", "sql"),), (top, *boxes, *plain))

    def __repr__(self) -> str:
        return (
            f"<plan of {len(self.statements)} statements: {len(self.shared)} inputs, {len(self.plain)} of plain Spark>"
        )


def _shared(shared: SharedPlan, top: Box) -> Iterator[Box]:
    """Yield the boxes of a plan below its statements; what it says as a whole stands in the first."""
    outline = shared.plan.outline()
    names = ", ".join(shared.statements)
    title = f"{names}: one input of {', '.join(shared.tables)}, windows {shared.boundaries}"
    head = Box("shape", title, top, figures=(Figure("statements", list(shared.statements)),))
    yield head
    placed: dict[Box | None, Box] = {None: head}
    for box in outline.boxes:
        figures = (*outline.head, *box.figures, *outline.foot) if box.above is None else box.figures
        placed[box] = replace(box, above=placed[box.above], figures=figures)
        yield placed[box]


def _plain(statement: PlainStatement, top: Box) -> Box:
    reason = f": {statement.reason}" if statement.reason else ""
    figures = (Figure("statements", [statement.name]), Figure("reason", statement.reason))
    return Box("shape", f"{statement.name}: plain Spark{reason}", top, figures=figures)
