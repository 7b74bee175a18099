"""Plans as Mermaid flow charts."""

from __future__ import annotations

from muntin.plan.show.outline import Outline
from muntin.plan.show.text import lines_of


def to_mermaid(outline: Outline) -> str:
    """Write a plan as a flow chart from the input to the windows; factor windows are dashed."""
    names = outline.names()
    lines = ["flowchart TD"]
    lines += [f"  %% {_comment(line)}" for line in lines_of((*outline.head, *outline.foot))]
    for box, name in names.items():
        text = "<br/>".join(map(_escape, box.wrapped))
        opening, closing = ("([", "])") if box.above is None else ("[", "]")
        lines.append(f'  {name}{opening}"{text}"{closing}' + (":::factor" if box.kind == "factor" else ""))
    lines += [f"  {names[box.above]} --> {name}" for box, name in names.items() if box.above is not None]
    lines.append("  classDef factor stroke-dasharray: 4 3")
    return "\n".join(lines)


def _comment(line: str) -> str:
    """Write a line so that it stays a comment: Mermaid reads directives, two per cent signs and a brace, anywhere."""
    return " ".join(line.splitlines()).replace("%%", "% %")


def _escape(text: str) -> str:
    """Write text so that Mermaid takes none of it as markup."""
    return "".join(f"#{ord(char)};" if char in '"#<>&;`%\\' or ord(char) < 32 else char for char in text)
