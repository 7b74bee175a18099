"""No sharing: every window reads the raw input."""

from __future__ import annotations

from muntin.plan.forest.problem import Parents, Problem


def independent(problem: Problem) -> Parents:
    """Let every window read the raw input: what a union of window aggregates does."""
    return dict.fromkeys(problem.periods)
