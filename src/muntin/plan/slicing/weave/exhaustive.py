"""The cheapest plan of all, for few windows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from muntin.errors import UnsupportedError
from muntin.plan.slicing.weave.model import Model
from muntin.window import Window

MOST_WINDOWS = 10


def exhaustive(model: Model, windows: Sequence[Window]) -> list[list[Window]]:
    """Find the partition into trees that costs least, of 3ᴺ sums of tree costs.

    >>> from muntin.plan.slicing.weave.omega import OMEGAS
    >>> model = Model(OMEGAS["printed"]["panes"], per_tree=1.0)
    >>> exhaustive(model, [Window(6, 2), Window(8, 4), Window(9, 3)])
    [[Window(6, 2), Window(8, 4)], [Window(9, 3)]]
    """
    if len(windows) > MOST_WINDOWS:
        raise UnsupportedError(
            f"{len(windows)} windows are too many to try all. Use 'weave_share', or at most {MOST_WINDOWS} of them."
        )

    def members(chosen: int) -> list[Window]:
        return [window for number, window in enumerate(windows) if chosen >> number & 1]

    price = cache(lambda chosen: model.tree(members(chosen)))

    @cache
    def best(left: int) -> tuple[float, tuple[int, ...]]:
        if not left:
            return 0.0, ()
        first = left & -left
        others = left ^ first
        plans, part = [], others
        while True:  # every set with the first window that is left
            cost, trees = best(others ^ part)
            plans.append((price(part | first) + cost, (part | first, *trees)))
            if not part:
                return min(plans)
            part = (part - 1) & others

    return [members(tree) for tree in best((1 << len(windows)) - 1)[1]]
