"""The colours of drawn plans, on light pages and on dark ones.

The theme of the reader decides. Pages with a switch of their own (notebooks, documentation sites, editors) say so by
an attribute or a class above the drawing, and that wins.
"""

from __future__ import annotations

_LIGHT = {
    "page": "#ffffff",
    "ink": "#1c2733",
    "faint": "#5b6875",
    "line": "#8797a8",
    "window": "#eef4fb",
    "window-edge": "#3a6ea5",
    "factor": "#fff8e8",
    "factor-edge": "#b7791f",
    "shape": "#eaf5ee",
    "shape-edge": "#2f855a",
    "slices": "#f3effa",
    "slices-edge": "#6b46c1",
    "input": "#1c2733",
    "input-ink": "#ffffff",
}
_DARK = {
    "page": "#14181e",
    "ink": "#e6edf3",
    "faint": "#9aa5b1",
    "line": "#6b7785",
    "window": "#16283c",
    "window-edge": "#79b8ff",
    "factor": "#33270f",
    "factor-edge": "#f0b429",
    "shape": "#14301f",
    "shape-edge": "#56d364",
    "slices": "#261d3d",
    "slices-edge": "#b392f0",
    "input": "#e6edf3",
    "input-ink": "#14181e",
}
_LIGHT_PAGES = (
    '[data-jp-theme-light="true"]',
    '[data-md-color-scheme="default"]',
    '[data-theme="light"]',
    ".vscode-light",
)
_DARK_PAGES = ('[data-jp-theme-light="false"]', '[data-md-color-scheme="slate"]', '[data-theme="dark"]', ".vscode-dark")


def _colours(pages: tuple[str, ...], colours: dict[str, str]) -> str:
    selector = ", ".join(f"{page} .muntin".strip() for page in pages)
    return f"{selector} {{ {' '.join(f'--{name}: {colour};' for name, colour in colours.items())} }}"


STYLE = f"""
{_colours(("",), _LIGHT)}
@media (prefers-color-scheme: dark) {{ {_colours(("",), _DARK)} }}
{_colours(_LIGHT_PAGES, _LIGHT)}
{_colours(_DARK_PAGES, _DARK)}
.muntin {{ font: 13px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--page); padding: 8px; }}
.muntin svg {{ font: 12px ui-monospace, monospace; max-width: 100%; height: auto; }}
.muntin .drawing {{ overflow-x: auto; }}
.muntin rect {{ fill: var(--window); stroke: var(--window-edge); rx: 5; }}
.muntin .factor rect {{ fill: var(--factor); stroke: var(--factor-edge); stroke-dasharray: 4 3; }}
.muntin .shape rect {{ fill: var(--shape); stroke: var(--shape-edge); }}
.muntin .slices rect {{ fill: var(--slices); stroke: var(--slices-edge); }}
.muntin .input rect {{ fill: var(--input); stroke: none; }}
.muntin text {{ fill: var(--ink); text-anchor: middle; }}
.muntin .input text {{ fill: var(--input-ink); }}
.muntin path {{ fill: none; stroke: var(--line); stroke-width: 1.3; }}
.muntin .legend {{ color: var(--faint); font-size: 12px; margin: 4px 0; }}
.muntin .legend span {{ margin-right: 18px; display: inline-block; }}
.muntin .legend i {{ display: inline-block; width: 16px; height: 9px; margin-right: 6px; border-radius: 3px; }}
.muntin .legend .window, .muntin .legend .frame {{ background: var(--window); border: 1px solid var(--window-edge); }}
.muntin .legend .factor {{ background: var(--factor); border: 1px dashed var(--factor-edge); }}
.muntin .legend .shape {{ background: var(--shape); border: 1px solid var(--shape-edge); }}
.muntin .legend .slices {{ background: var(--slices); border: 1px solid var(--slices-edge); }}
.muntin .legend code {{ font: 12px ui-monospace, monospace; color: var(--ink); background: none; padding: 0; }}
.muntin .saving {{ font-weight: 600; }}
.muntin .alternatives {{ font: 12px/1.5 ui-monospace, monospace; white-space: pre-wrap; }}
"""
"""The style sheet of a drawn plan."""
