"""Plans as Mermaid flow charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.plan.explain import cost_text, forest_heading, heading, total, window_text

if TYPE_CHECKING:
    from muntin.plan.logical import Plan


def to_mermaid(plan: Plan) -> str:
    """Write a plan as a flow chart from the input to the windows; factor windows are dashed."""
    lines = ["flowchart TD", f"  %% {heading(plan)}", f"  %% {total(plan)}"]
    for tree, forest in enumerate(plan.forests):
        names = {node.window: f"w{tree}_{index}" for index, node in enumerate(forest.nodes)}
        lines.append(f'  input{tree}(["{_escape(forest_heading(forest))}"])')
        for node in forest.nodes:
            text = f"{_escape(window_text(node))}<br/>{cost_text(node)}"
            lines.append(f'  {names[node.window]}["{text}"]' + (":::factor" if node.is_factor else ""))
        for node in forest.nodes:
            parent = f"input{tree}" if node.parent is None else names[node.parent]
            lines.append(f"  {parent} --> {names[node.window]}")
    lines.append("  classDef factor stroke-dasharray: 4 3")
    return "\n".join(lines)


def _escape(text: str) -> str:
    """Write text so that Mermaid takes none of it as markup."""
    return "".join(f"#{ord(char)};" if char in '"#<>&;`\\' or ord(char) < 32 else char for char in text)
