"""Notebooks without Jupyter: their cells run one after another, and what they give is written as Jupyter would."""

from __future__ import annotations

import ast
import io
import json
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

Cell = dict[str, Any]


def read(path: Path) -> dict[str, Any]:
    """Read a notebook."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def write(path: Path, notebook: dict[str, Any]) -> None:
    """Write a notebook as Jupyter does, without times and places of the run."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def run(cell: Cell, scope: dict[str, Any]) -> list[dict[str, Any]]:
    """Run a cell of code; give what it prints, and the value of its last line."""
    tree = ast.parse("".join(cell["source"]))
    last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None  # type: ignore[attr-defined]
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), scope)  # noqa: S102 - our own notebooks
        if last is not None:
            value = eval(compile(last, "cell", "eval"), scope)  # noqa: S307
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        shown = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            shown = {"text/html": _lines(value._repr_html_())} | shown
        outputs.append({"data": shown, "execution_count": None, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)
