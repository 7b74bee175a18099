"""The exact optimum: a directed Steiner arborescence over every factor window that could help.

The asked windows are the terminals, the raw input is the root, and an edge costs what its child reads over the horizon.
Dreyfus and Wagner's programme over subsets of terminals solves it in O(3^N·V + 2^N·E) for N asked windows among V
nodes, so it is for small sets; it is the measure of the other algorithms.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from muntin.errors import UnsupportedError
from muntin.plan.coverage import coverage_graph
from muntin.plan.divisors import divisors
from muntin.plan.problem import Parents, Problem, Semantics, Shape
from muntin.plan.selection import Selection
from muntin.plan.shared import shared

MOST_WINDOWS = 10
MOST_CANDIDATES = 20_000

Array = np.ndarray[Any, np.dtype[Any]]


def optimal(problem: Problem) -> Parents:
    """Find a forest of the least cost among all forests with any factor windows.

    >>> from muntin.plan.horizon import Horizon
    >>> tumbling = tuple((r, r, 0) for r in (20, 30, 40))
    >>> list(optimal(Problem(tumbling, Semantics.COVERED_BY, 1, 1, Horizon(120))))
    [(10, 10, 0), (20, 20, 0), (30, 30, 0), (40, 40, 0)]
    """
    if len(problem.shapes) > MOST_WINDOWS:
        raise UnsupportedError(
            f"algorithm 'optimal' takes at most {MOST_WINDOWS} windows, not {len(problem.shapes)}. Use 'best'."
        )
    selection = Selection(problem, cheapest_tree(problem, all_candidates(problem)))
    selection.choose_all(selection.nodes)
    selection.shrink()
    return shared(problem, selection.factors)


def all_candidates(problem: Problem) -> set[Shape]:
    """List every window that is not asked for and that some asked window may read, directly or through others."""
    found: set[Shape] = set()
    for r, s, o in problem.shapes:
        for step in divisors(s):
            match problem.semantics:
                case Semantics.COVERED_BY:
                    _limit(len(found) + r // step)
                    found.update((shorter, step, o % step) for shorter in range(step + r % step, r, step))
                case Semantics.PARTITIONED_BY if r % step == 0:
                    found.add((step, step, o % step))
    _limit(len(found))
    return found - problem.asked


def _limit(count: int) -> None:
    if count > MOST_CANDIDATES:
        most = f"{MOST_CANDIDATES:,}"
        raise UnsupportedError(
            f"algorithm 'optimal' weighs at most {most} candidate windows; here are more. Use 'best'."
        )


@dataclass(frozen=True, slots=True)
class _Edges:
    """The nodes that may read one node, and what each of them costs then."""

    children: Array
    costs: Array


def cheapest_tree(problem: Problem, candidates: set[Shape]) -> set[Shape]:
    """List the windows of a cheapest tree from the raw input to all asked windows."""
    too_dear = 1 + problem.cost(dict.fromkeys(problem.shapes))
    dtype: Any = np.int64 if 4 * too_dear < 2**63 else object  # Python's integers where 64 bits are too few
    graph = coverage_graph(problem, candidates)
    root = len(graph.nodes)

    def edges(children: list[int], prices: list[int]) -> _Edges:
        costs = [
            min(too_dear, problem.instances(graph.nodes[child]) * price)
            for child, price in zip(children, prices, strict=True)
        ]
        return _Edges(np.array(children, dtype=np.intp), np.array(costs, dtype=dtype))

    out = [
        edges([child for child, _ in listed], [problem.step * inputs for _, inputs in listed])
        for listed in graph.children
    ]
    out.append(edges(list(range(root)), [problem.raw * shape[0] for shape in graph.nodes]))
    bits = [1 << problem.shapes.index(shape) if shape in problem.asked else 0 for shape in graph.nodes] + [0]
    everything = (1 << len(problem.shapes)) - 1
    serve = np.full((everything + 1, root + 1), too_dear, dtype=dtype)
    serve[0] = 0
    _fill(serve, out, bits)
    return {graph.nodes[node] for node in _trace(serve, out, bits, everything, root) if node != root}


def _fill(serve: Array, out: list[_Edges], bits: list[int]) -> None:
    """Find the least cost to serve every subset of terminals from every node, that node's own cost not included."""
    for _, group in groupby(sorted(range(1, len(serve)), key=int.bit_count), key=int.bit_count):
        subsets = np.array(list(group))
        for subset in subsets.tolist():
            for part in _halves(subset):
                np.minimum(serve[subset], serve[part] + serve[subset ^ part], out=serve[subset])
        order = [*reversed(range(len(out) - 1)), len(out) - 1]  # children before parents, the root last
        for node in order:
            if len(out[node].children):
                through = (serve[subsets[:, None], out[node].children] + out[node].costs).min(axis=1)
                serve[subsets, node] = np.minimum(serve[subsets, node], through)
            with_node = subsets[subsets & bits[node] != 0]
            serve[with_node, node] = serve[with_node ^ bits[node], node]


def _trace(serve: Array, out: list[_Edges], bits: list[int], subset: int, node: int) -> Iterator[int]:
    """Yield the nodes of one cheapest tree that serves a subset from a node."""
    yield node
    subset &= ~bits[node]
    if subset == 0:
        return
    least = serve[subset, node]
    edges = out[node]
    through = serve[subset, edges.children] + edges.costs
    if len(through) and through.min() == least:
        yield from _trace(serve, out, bits, subset, int(edges.children[through.argmin()]))
    else:
        part = next(part for part in _halves(subset) if serve[part, node] + serve[subset ^ part, node] == least)
        yield from _trace(serve, out, bits, part, node)
        yield from _trace(serve, out, bits, subset ^ part, node)


def _halves(subset: int) -> Iterator[int]:
    """Yield one part of every split of a subset in two."""
    part = (subset - 1) & subset
    while part > subset ^ part:
        yield part
        part = (part - 1) & subset
