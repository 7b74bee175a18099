"""The cheapest tree from the raw input to all asked windows: a directed Steiner arborescence.

The asked windows are the terminals, the raw input is the root, and an edge costs what its child reads over the horizon.
Dreyfus and Wagner's programme over subsets of terminals finds it in O(3^N·V + 2^N·E) for N terminals, V nodes, E edges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from muntin.errors import UnsupportedError
from muntin.plan.forest.coverage import Array, edges
from muntin.plan.forest.problem import Problem
from muntin.window import Period

MOST_EDGES = 3_000_000
"""More would take more than a gigabyte, or minutes."""


@dataclass(frozen=True, slots=True)
class _Readers:
    """The nodes that may read one node, and what each of them costs then."""

    children: Array
    costs: Array


def cheapest_tree(problem: Problem, candidates: set[Period]) -> set[Period]:
    """List the windows of a cheapest tree to all asked windows through any of the candidates.

    >>> from muntin.plan.forest.horizon import Horizon
    >>> from muntin.plan.forest.problem import Semantics
    >>> problem = Problem(((20, 20, 0), (30, 30, 0)), Semantics.COVERED_BY, 1, 1, Horizon(60))
    >>> sorted(cheapest_tree(problem, {(5, 5, 0), (10, 10, 0)}))
    [(10, 10, 0), (20, 20, 0), (30, 30, 0)]
    """
    nodes = sorted({*problem.periods, *candidates})
    too_dear = 1 + problem.cost(dict.fromkeys(problem.periods))
    dtype: Any = np.int64 if 4 * too_dear < 2**63 else object  # Python's integers where 64 bits are too few
    readers = _readers(problem, nodes, too_dear, dtype)
    bits = [1 << problem.periods.index(period) if period in problem.asked else 0 for period in nodes] + [0]
    everything = (1 << len(problem.periods)) - 1
    serve = np.full((everything + 1, len(nodes) + 1), too_dear, dtype=dtype)
    serve[0] = 0
    _fill(serve, readers, bits)
    root = len(nodes)
    return {nodes[node] for node in _trace(serve, readers, bits, everything, root) if node != root}


def _readers(problem: Problem, nodes: list[Period], too_dear: int, dtype: Any) -> list[_Readers]:
    """List the readers of every node and, last, of the raw input."""
    instances = [problem.instances(node) for node in nodes]
    found = [_Readers(np.empty(0, np.intp), np.empty(0, dtype)) for _ in nodes]
    count = 0
    for parents, children, inputs in edges(problem, nodes):
        count += len(parents)
        if count > MOST_EDGES:
            raise UnsupportedError(f"the exact optimum over {len(nodes):,} windows is too large a problem. Use 'best'.")
        for parent in np.unique(parents).tolist():
            first, last = np.searchsorted(parents, [parent, parent + 1])
            some = children[first:last]
            pairs = zip(some.tolist(), inputs[first:last].tolist(), strict=True)
            costs = [min(too_dear, instances[child] * problem.step * m) for child, m in pairs]
            found[parent] = _Readers(some, np.array(costs, dtype=dtype))
    raw = [min(too_dear, n * problem.raw * node[0]) for n, node in zip(instances, nodes, strict=True)]
    return [*found, _Readers(np.arange(len(nodes)), np.array(raw, dtype=dtype))]


def _fill(serve: Array, readers: list[_Readers], bits: list[int]) -> None:
    """Find the least cost to serve every subset of terminals from every node, that node's own cost not included."""
    children_before_parents = [*reversed(range(len(readers) - 1)), len(readers) - 1]
    for _, group in groupby(sorted(range(1, len(serve)), key=int.bit_count), key=int.bit_count):
        subsets = np.array(list(group))
        for subset in subsets.tolist():
            for part in _halves(subset):
                np.minimum(serve[subset], serve[part] + serve[subset ^ part], out=serve[subset])
        for node in children_before_parents:
            reader = readers[node]
            if len(reader.children):
                through = (serve[subsets[:, None], reader.children] + reader.costs).min(axis=1)
                serve[subsets, node] = np.minimum(serve[subsets, node], through)
            with_node = subsets[subsets & bits[node] != 0]
            serve[with_node, node] = serve[with_node ^ bits[node], node]


def _trace(serve: Array, readers: list[_Readers], bits: list[int], subset: int, node: int) -> Iterator[int]:
    """Yield the nodes of one cheapest tree that serves a subset from a node."""
    yield node
    subset &= ~bits[node]
    if subset == 0:
        return
    least = serve[subset, node]
    through = serve[subset, readers[node].children] + readers[node].costs
    if len(through) and through.min() == least:
        yield from _trace(serve, readers, bits, subset, int(readers[node].children[through.argmin()]))
    else:
        part = next(part for part in _halves(subset) if serve[part, node] + serve[subset ^ part, node] == least)
        yield from _trace(serve, readers, bits, part, node)
        yield from _trace(serve, readers, bits, subset ^ part, node)


def _halves(subset: int) -> Iterator[int]:
    """Yield one part of every split of a subset in two."""
    part = (subset - 1) & subset
    while part > subset ^ part:
        yield part
        part = (part - 1) & subset
