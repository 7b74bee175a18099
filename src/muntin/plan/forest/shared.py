"""Algorithm 1: every window reads the parent with the fewest inputs; optimal when no windows may be added."""

from __future__ import annotations

from collections.abc import Iterable

from muntin.plan.forest.coverage import coverage_graph
from muntin.plan.forest.problem import Parents, Problem
from muntin.window import Period


def shared(problem: Problem, factors: Iterable[Period] = ()) -> Parents:
    """Choose the cheapest parent for every asked window and for the factor windows that something reads.

    Ties fall to a parent before the raw input, and to the longer slide, so that a plan is the same every time.

    >>> from muntin.plan.forest.problem import Semantics
    >>> from muntin.plan.forest.horizon import Horizon
    >>> tumbling = tuple((r, r, 0) for r in (20, 30, 40))
    >>> shared(Problem(tumbling, Semantics.COVERED_BY, 1, 1, Horizon(120)))
    {(20, 20, 0): None, (30, 30, 0): None, (40, 40, 0): (20, 20, 0)}
    """
    graph = coverage_graph(problem, factors)
    parents: Parents = {}
    for child, edges in zip(graph.nodes, graph.parents, strict=True):
        inputs, _, _, parent = min(
            ((m, -graph.nodes[p][1], -graph.nodes[p][0], p) for p, m in edges), default=(0, 0, 0, -1)
        )
        parents[child] = graph.nodes[parent] if edges and problem.step * inputs <= problem.raw * child[0] else None
    needed = set(problem.periods)
    for child in reversed(graph.nodes):
        if child in needed and (parent_shape := parents[child]) is not None:
            needed.add(parent_shape)
    return {child: parent for child, parent in parents.items() if child in needed}
