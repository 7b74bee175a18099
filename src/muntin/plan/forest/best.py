"""Our own optimizer: which of the factor windows on the asked windows' common grids to choose.

For few windows the choice is exact. For more it is a local search: some starts (no factor windows, those of
Algorithm 3, the shortest on every grid, all) are each taken to a point where no single change helps; the best of them
is then shaken by forced changes of one and two factor windows. By construction the result is never dearer than that of
Algorithms 1 and 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from muntin.plan.forest.candidates import candidates
from muntin.plan.forest.factor import factor_windows
from muntin.plan.forest.problem import Parents, Problem
from muntin.plan.forest.pruned import pruned
from muntin.plan.forest.selection import Choice, Selection
from muntin.plan.forest.shared import shared
from muntin.plan.forest.steiner import cheapest_tree
from muntin.window import Period

EXACT = 100_000
"""Steps of the exact choice, 3^N for every window of the pool, up to which it is as fast as the search."""


def best(problem: Problem) -> Parents:
    """Find a forest that is optimal or close to it, in milliseconds for twenty windows.

    >>> from muntin.plan.forest.horizon import Horizon
    >>> from muntin.plan.forest.problem import Semantics
    >>> hopping = ((20, 10, 0), (21, 7, 0))  # Algorithm 3 finds nothing: the slides have no common divisor
    >>> list(best(Problem(hopping, Semantics.PARTITIONED_BY, 1, 1, Horizon(420))))
    [(7, 7, 0), (10, 10, 0), (20, 10, 0), (21, 7, 0)]
    """
    return choose(problem, candidates(problem))


def choose(problem: Problem, pool: list[Period]) -> Parents:
    """Choose factor windows from a pool and from what Algorithm 3 proposes."""
    proposed = factor_windows(problem)
    if 3 ** len(problem.periods) * (len(problem.periods) + len(pool) + len(proposed)) <= EXACT:
        return pruned(problem, cheapest_tree(problem, {*pool, *proposed}))
    selection = Selection(problem, [*pool, *proposed])
    _settle_from_best_start(selection, proposed)
    _shake(selection, budget=max(30_000, 1_500 * len(problem.periods)))
    return shared(problem, selection.factors)


def _settle_from_best_start(selection: Selection, proposed: list[Period]) -> None:
    nothing = selection.save()
    ends: list[tuple[int, int, Choice]] = []
    shortest = [node for node in selection.nodes if node[0] < 2 * node[1]]
    for start in map(frozenset, ((), proposed, shortest, selection.nodes)):
        selection.restore(nothing)
        selection.choose_all(start)
        selection.shrink()
        ends.append((selection.settle(), len(ends), selection.save()))
    selection.restore(min(ends)[2])


def _shake(selection: Selection, budget: int) -> None:
    """Force changes one after another, let each settle, and keep those that lower the cost.

    The budget counts edges looked at and not time, so that a plan is the same on every machine.
    """
    least = selection.cost
    limit = selection.work + budget
    improved = True
    while improved:
        improved = False
        for change in _changes(selection):
            if selection.work > limit:
                return
            before = selection.save()
            given_up = [factor for factor in change if selection.chosen[factor]]
            for factor in change:
                if factor in given_up:
                    selection.give_up(factor)
                else:
                    selection.choose(factor)
            cost = selection.settle(banned=given_up)
            if cost < least:
                least, improved = cost, True
            else:
                selection.restore(before)


def _changes(selection: Selection) -> Iterator[tuple[int, ...]]:
    """Yield single factor windows, then pairs that serve a common window, to be switched over."""
    yield from ((factor,) for factor in selection.pool)
    served = {factor: {child for child, _ in selection.children[factor]} for factor in selection.pool}
    for one, two in combinations(selection.pool, 2):
        if not served[one].isdisjoint(served[two]):
            yield one, two
