"""The exact optimum over every factor window that could help: the measure of the other algorithms, for small sets."""

from __future__ import annotations

from muntin.errors import UnsupportedError
from muntin.plan.forest.divisors import divisors
from muntin.plan.forest.problem import Parents, Problem, Semantics
from muntin.plan.forest.pruned import pruned
from muntin.plan.forest.steiner import cheapest_tree
from muntin.window import Period

MOST_WINDOWS = 10
MOST_CANDIDATES = 20_000


def optimal(problem: Problem) -> Parents:
    """Find a forest of the least cost among all forests with any factor windows.

    >>> from muntin.plan.forest.horizon import Horizon
    >>> tumbling = tuple((r, r, 0) for r in (20, 30, 40))
    >>> list(optimal(Problem(tumbling, Semantics.COVERED_BY, 1, 1, Horizon(120))))
    [(10, 10, 0), (20, 20, 0), (30, 30, 0), (40, 40, 0)]
    """
    count = len(problem.periods)
    if count > MOST_WINDOWS:
        raise UnsupportedError(f"algorithm 'optimal' takes at most {MOST_WINDOWS} windows, not {count}. Use 'best'.")
    return pruned(problem, cheapest_tree(problem, all_candidates(problem)))


def all_candidates(problem: Problem) -> set[Period]:
    """List every window that is not asked for and that some asked window may read, directly or through others."""
    found: set[Period] = set()
    for r, s, o in problem.periods:
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
