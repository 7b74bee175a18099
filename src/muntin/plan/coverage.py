"""The window coverage graph: which windows may read which, and how many instances each read takes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from muntin.plan.problem import Problem, Semantics, Shape

_BLOCK = 1_000_000
"""Pairs of windows compared at once: bounds the memory."""


@dataclass(frozen=True, slots=True)
class CoverageGraph:
    """Nodes in ascending order, so that parents stand before children, with the edges both ways.

    `parents[c]` holds (p, M) for every node p that c may read, M being the instances of p inside one of c;
    `children[p]` holds (c, M). A node is not its own parent.
    """

    nodes: tuple[Shape, ...]
    parents: tuple[list[tuple[int, int]], ...]
    children: tuple[list[tuple[int, int]], ...]


def coverage_graph(problem: Problem, factors: Iterable[Shape] = ()) -> CoverageGraph:
    """Draw the edges among the asked windows and some factor windows.

    >>> from muntin.plan.horizon import Horizon
    >>> tumbling = tuple((r, r, 0) for r in (10, 20, 30, 40))
    >>> graph = coverage_graph(Problem(tumbling, Semantics.COVERED_BY, 1, 1, Horizon(120)))
    >>> graph.children
    ([(1, 2), (2, 3), (3, 4)], [(3, 2)], [], [])
    """
    nodes = tuple(sorted({*problem.shapes, *factors}))
    graph = CoverageGraph(nodes, tuple([] for _ in nodes), tuple([] for _ in nodes))
    ranges, slides, offsets = np.array(nodes, dtype=np.int64).T
    asked = np.array([node in problem.asked for node in nodes])
    block = max(1, _BLOCK // len(nodes))
    for first in range(0, len(nodes), block):
        r, s, o = (column[first : first + block, None] for column in (ranges, slides, offsets))
        readable = (slides % s == 0) & ((ranges - r) % s == 0) & ((offsets - o) % s == 0)
        rides = (ranges == r) & (slides != s) & asked & asked[first : first + block, None]
        match problem.semantics:
            case Semantics.COVERED_BY:
                readable &= (ranges > r) | rides
            case Semantics.PARTITIONED_BY:
                readable &= ((ranges > r) & (r == s)) | rides
            case Semantics.ALONE:
                readable &= rides
        parents, children = np.nonzero(readable)
        parents += first
        inputs = 1 + (ranges[children] - ranges[parents]) // slides[parents]
        for parent, child, count in zip(parents.tolist(), children.tolist(), inputs.tolist(), strict=True):
            graph.parents[child].append((parent, count))
            graph.children[parent].append((child, count))
    return graph
