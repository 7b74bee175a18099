"""Greedy merging: the pair of trees that saves most, again and again, until no pair saves."""

from __future__ import annotations

import numpy as np

from muntin.plan.slicing.weave.trees import Trees, without


def greedy(trees: Trees) -> None:
    """Merge the pair that saves most, of equals the first, as long as one saves.

    Every tree remembers its best partner among the later ones. Where a merge takes the partner away, what was
    remembered is still an upper bound, so the tree looks again only when it is its turn.
    """
    count = len(trees)
    most, partner = np.full(count, -np.inf), np.zeros(count, dtype=np.int64)
    outdated = np.zeros(count, dtype=np.bool_)

    def remember(tree: int, savings: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
        later = savings[tree + 1 :]
        outdated[tree] = False
        if len(later):
            partner[tree] = tree + 1 + int(later.argmax())
            most[tree] = savings[partner[tree]]
        else:
            most[tree] = -np.inf

    for tree in range(count):
        remember(tree, trees.savings(tree))
    while len(trees) > 1:
        one = int(most.argmax())
        if most[one] <= 0:
            break
        if outdated[one]:
            remember(one, trees.savings(one))
            continue
        other = int(partner[one])
        if (changed := trees.settle(one, other)).any():
            outdated |= changed
            continue
        trees.merge(one, other)
        most, partner, outdated = without(most, other), without(partner, other), without(outdated, other)
        outdated |= partner == other
        partner[partner > other] -= 1
        savings = trees.savings(one)
        remember(one, savings)
        earlier = savings[:one]
        lost = (partner[:one] == one) | outdated[:one]
        outdated[:one] |= (partner[:one] == one) & (earlier < most[:one])
        gains = (earlier > most[:one]) | ((earlier == most[:one]) & (one < partner[:one]) & ~lost)
        most[:one][gains], partner[:one][gains], outdated[:one][gains] = earlier[gains], one, False
