"""Algorithm 1 with factor windows, less those that are not worth their cost."""

from __future__ import annotations

from collections.abc import Collection

from muntin.plan.forest.problem import Parents, Problem
from muntin.plan.forest.selection import Selection
from muntin.plan.forest.shared import shared
from muntin.window import Period


def pruned(problem: Problem, factors: Collection[Period]) -> Parents:
    """Drop factor windows while that does not raise the cost, and let every window read its cheapest parent.

    >>> from muntin.plan.forest.horizon import Horizon
    >>> from muntin.plan.forest.problem import Semantics
    >>> problem = Problem(((20, 20, 0), (30, 30, 0)), Semantics.COVERED_BY, 1, 1, Horizon(60))
    >>> list(pruned(problem, [(5, 5, 0), (10, 10, 0)]))
    [(10, 10, 0), (20, 20, 0), (30, 30, 0)]
    """
    selection = Selection(problem, factors)
    selection.choose_all(factors)
    selection.shrink()
    return shared(problem, selection.factors)
