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
    """Windows in ascending order, so that parents stand before children, and which may read which, both ways.

    `parents[c]` holds (p, M) for every window p that c may read, M being the instances of p inside one of c;
    `children[p]` holds (c, M). A window is not its own parent.
    """

    windows: tuple[Period, ...]
    parents: tuple[list[tuple[int, int]], ...]
    children: tuple[list[tuple[int, int]], ...]


def coverage_graph(problem: Problem, factors: Iterable[Period] = ()) -> CoverageGraph:
    """Tell who may read whom among the asked windows and some factor windows.

    >>> from muntin.plan.forest.horizon import Horizon
    >>> tumbling = tuple((r, r, 0) for r in (10, 20, 30, 40))
    >>> coverage_graph(Problem(tumbling, Semantics.COVERED_BY, 1, 1, Horizon(120))).children
    ([(1, 2), (2, 3), (3, 4)], [(3, 2)], [], [])
    """
    windows = tuple(sorted({*problem.periods, *factors}))
    graph = CoverageGraph(windows, tuple([] for _ in windows), tuple([] for _ in windows))
    for columns in reads(problem, windows):
        for parent, child, inputs in zip(*(column.tolist() for column in columns), strict=True):
            graph.parents[child].append((parent, inputs))
            graph.children[parent].append((child, inputs))
    return graph


def reads(problem: Problem, windows: Sequence[Period]) -> Iterator[tuple[Array, Array, Array]]:
    """Yield who may read whom in blocks of parents: indices of parents, ascending, of children, and the inputs M.

    This is Problem.inputs for many pairs at once.
    """
    periods = np.array(windows, dtype=np.int64)
    ranges, slides, _ = periods.T
    asked = np.array([window in problem.asked for window in windows])
    block = max(1, _BLOCK // len(windows))
    for first in range(0, len(windows), block):
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
