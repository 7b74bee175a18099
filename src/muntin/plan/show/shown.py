"""The ways in which every kind of plan is shown."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any

from muntin.plan.show.html import to_html
from muntin.plan.show.mermaid import to_mermaid
from muntin.plan.show.outline import Outline
from muntin.plan.show.text import explain


class Shown(ABC):
    """A plan that says what it contains, and can so be printed, drawn and written."""

    __slots__ = ()

    @abstractmethod
    def outline(self) -> Outline:
        """Say what the plan contains: all ways to show it are made of this."""

    def explain(self) -> str:
        """Write the plan as text: one step a line, indented below what it reads."""
        return explain(self.outline())

    def to_dict(self) -> dict[str, Any]:
        """Give the plan as plain values for JSON."""
        return self.outline().to_dict()

    def to_json(self) -> str:
        """Write the plan as JSON."""
        return json.dumps(self.to_dict(), indent=2, ensure_ascii=False)

    def to_mermaid(self) -> str:
        """Write the plan as a Mermaid flow chart."""
        return to_mermaid(self.outline())

    def to_html(self) -> str:
        """Write the plan as HTML that needs no network."""
        return to_html(self.outline())

    def __str__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        return self.to_html()
