"""Algorithm 3: one best factor window for the raw input and for every window, then Algorithm 1; errata repaired.

Algorithm 2 finds the factor window under covered-by semantics, Algorithm 5 (with 4 inside) under partitioned-by.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from muntin.plan.forest.coverage import CoverageGraph, coverage_graph
from muntin.plan.forest.divisors import divisors
from muntin.plan.forest.problem import Parents, Problem, Semantics
from muntin.plan.forest.pruned import pruned
from muntin.window import Period


def factor(problem: Problem) -> Parents:
    """Add the factor windows that Algorithm 3 proposes, without those that do not pay, and run Algorithm 1.

    The printed algorithm keeps them all and can end dearer than Algorithm 1: {3, 10, 12, 30} costs 156 instead of 146.

    >>> from muntin.plan.forest.horizon import Horizon
    >>> tumbling = tuple((r, r, 0) for r in (20, 30, 40))
    >>> factor(Problem(tumbling, Semantics.COVERED_BY, 1, 1, Horizon(120)))
    {(10, 10, 0): None, (20, 20, 0): (10, 10, 0), (30, 30, 0): (10, 10, 0), (40, 40, 0): (20, 20, 0)}
    """
    return pruned(problem, factor_windows(problem))


def factor_windows(problem: Problem) -> list[Period]:
    """Propose one factor window for the raw input and one for every window that others may read."""
    if problem.semantics is Semantics.ALONE:
        return []
    graph = coverage_graph(problem)
    proposals = [best_factor_window(problem, target, downstream) for target, downstream in _targets(graph)]
    return sorted({f for f in proposals if f is not None} - problem.asked)


def best_factor_window(problem: Problem, target: Period | None, downstream: Sequence[Period]) -> Period | None:
    """Find the factor window between a target (None: the raw input) and its downstream windows that saves most.

    Ties fall to the longer slide, then to the shorter range.
    """
    proposals = [
        (benefit(problem, f, target, downstream), f[1], -f[0], f) for f in _between(problem, target, downstream)
    ]
    saved, *_, best = max(proposals, default=(0, 0, 0, None))
    return best if saved > 0 else None


def benefit(problem: Problem, factor: Period, target: Period | None, downstream: Sequence[Period]) -> int:
    """Tell what a factor window saves if all downstream windows read the target now: δ of Equation 2."""
    before = sum(problem.instances(child) * problem.price(child, target) for child in downstream)
    after = sum(problem.instances(child) * problem.price(child, factor) for child in downstream)
    return before - after - problem.instances(factor) * problem.price(factor, target)


def _targets(graph: CoverageGraph) -> list[tuple[Period | None, list[Period]]]:
    """Pair every window with those that may read it, and the raw input with those that can read nothing else."""
    nodes = graph.nodes
    roots = [nodes[child] for child, parents in enumerate(graph.parents) if not parents]
    inner = [
        (nodes[parent], [nodes[child] for child, _ in edges]) for parent, edges in enumerate(graph.children) if edges
    ]
    return [(None, roots), *inner]


def _between(problem: Problem, target: Period | None, downstream: Sequence[Period]) -> list[Period]:
    """List the candidates that cover all downstream windows and are covered by the target.

    Under covered-by semantics the benefit is convex in the range for a given slide, so only the shortest and the
    longest range need a look; the paper's Algorithm 2 looks at all. Under partitioned-by the greatest common
    divisor alone survives Algorithm 5.
    """
    range_, _, offset = downstream[0]
    panes = problem.semantics is Semantics.PARTITIONED_BY
    base = 0 if panes else range_
    step = gcd(*(gcd(child[1], child[0] - base, child[2] - offset) for child in downstream))
    shortest = min(child[0] for child in downstream)
    found: set[Period] = set()
    for slide in [step] if panes else divisors(step):
        rest = base % slide
        low = slide + rest if target is None else max(slide + rest, target[0] + 1 + (rest - target[0] - 1) % slide)
        high = low if panes else shortest - slide
        found.update((r, slide, offset % slide) for r in (low, high) if low <= r < shortest)
    return [period for period in sorted(found) if target is None or problem.inputs(period, target)]
