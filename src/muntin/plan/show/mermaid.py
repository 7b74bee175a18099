"""Plans as Mermaid flow charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.plan.show.text import cost_text, heading, input_text, total, window_text

if TYPE_CHECKING:
    from muntin.plan.forest.logical import Plan


def to_mermaid(plan: Plan) -> str:
    """Write a plan as a flow chart from the input to the windows; factor windows are dashed."""
    names = {node.window: f"w{index}" for index, node in enumerate(plan.nodes)}
    lines = ["flowchart TD", f"  %% {heading(plan)}", f"  %% {total(plan)}"]
    lines.append(f'  input(["{_escape(input_text(plan))}"])')
    for node in plan.nodes:
        text = f"{_escape(window_text(node))}<br/>{cost_text(node)}"
        lines.append(f'  {names[node.window]}["{text}"]' + (":::factor" if node.is_factor else ""))
    for node in plan.nodes:
        parent = "input" if node.parent is None else names[node.parent]
        lines.append(f"  {parent} --> {names[node.window]}")
    lines.append("  classDef factor stroke-dasharray: 4 3")
    return "\n".join(lines)


def _escape(text: str) -> str:
    """Write text so that Mermaid takes none of it as markup."""
    return "".join(f"#{ord(char)};" if char in '"#<>&;`\\' or ord(char) < 32 else char for char in text)
