"""The window coverage graph: which windows may read which, and how many instances each read takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from muntin.plan.forest.problem import Problem, Semantics
from muntin.window import Period

Array = np.ndarray[Any, np.dtype[Any]]

_BLOCK = 1_000_000
"""Pairs of windows compared at once: bounds the memory."""


@dataclass(frozen=True, slots=True)
class CoverageGraph:
    """Nodes in ascending order, so that parents stand before children, with the edges both ways.

    `parents[c]` holds (p, M) for every node p that c may read, M being the instances of p inside one of c;
    `children[p]` holds (c, M). A node is not its own parent.
    """

    nodes: tuple[Period, ...]
    parents: tuple[list[tuple[int, int]], ...]
    children: tuple[list[tuple[int, int]], ...]


def coverage_graph(problem: Problem, factors: Iterable[Period] = ()) -> CoverageGraph:
    """Draw the edges among the asked windows and some factor windows.

    >>> from muntin.plan.forest.horizon import Horizon
    >>> tumbling = tuple((r, r, 0) for r in (10, 20, 30, 40))
    >>> coverage_graph(Problem(tumbling, Semantics.COVERED_BY, 1, 1, Horizon(120))).children
    ([(1, 2), (2, 3), (3, 4)], [(3, 2)], [], [])
    """
    nodes = tuple(sorted({*problem.periods, *factors}))
    graph = CoverageGraph(nodes, tuple([] for _ in nodes), tuple([] for _ in nodes))
    for columns in edges(problem, nodes):
        for parent, child, inputs in zip(*(column.tolist() for column in columns), strict=True):
            graph.parents[child].append((parent, inputs))
            graph.children[parent].append((child, inputs))
    return graph


def edges(problem: Problem, nodes: Sequence[Period]) -> Iterator[tuple[Array, Array, Array]]:
    """Yield the edges in blocks of parents: indices of parents, of children, and the inputs M; parents ascending.

    This is Problem.inputs for many pairs at once.
    """
    periods = np.array(nodes, dtype=np.int64)
    ranges, slides, _ = periods.T
    asked = np.array([node in problem.asked for node in nodes])
    block = max(1, _BLOCK // len(nodes))
    for first in range(0, len(nodes), block):
        some = slice(first, first + block)
        r, s = ranges[some, None], slides[some, None]
        readable = on_grids(periods, periods[some])
        rides = (ranges == r) & (slides != s) & asked & asked[some, None]
        match problem.semantics:
            case Semantics.COVERED_BY:
                readable &= (ranges > r) | rides
            case Semantics.PARTITIONED_BY:
                readable &= ((ranges > r) & (r == s)) | rides
            case Semantics.ALONE:
                readable &= rides
        parents, children = np.nonzero(readable)
        parents += first
        yield parents, children, 1 + (ranges[children] - ranges[parents]) // slides[parents]


def on_grids(children: Array, parents: Array) -> Array:
    """Tell for every parent, by rows, and every child whether the child's edges are edges of the parent.

    >>> on_grids(np.array([(10, 4, 0), (10, 4, 1)]), np.array([(8, 2, 0)]))
    array([[ True, False]])
    """
    ranges, slides, offsets = children.T
    range, slide, offset = parents.T[:, :, None]
    on: Array = (slides % slide == 0) & ((ranges - range) % slide == 0) & ((offsets - offset) % slide == 0)
    return on
