"""The paper's SubsumeWindows: one sweep over the windows by ascending range."""

from __future__ import annotations

from collections.abc import Iterable

from muntin.plan.subsumption.groups import Group, Level, in_order
from muntin.plan.subsumption.relation import is_subsumed
from muntin.window import Window

Chain = list[list[Window]]
"""A group that grows: for every level its window, then the riders."""


def heuristic(windows: Iterable[Window]) -> tuple[Group, ...]:
    """Put each window on top of a group that it subsumes, of the longest base slide; if there is none, begin a group.

    Only the last level of a group is looked at: windows come by ascending range, so no other can take the window up.

    >>> for group in heuristic([Window(8, 2), Window(8, 4), Window(24, 8), Window(32, 4)]):
    ...     print([level.windows for level in group.levels])
    [(Window(8, 2), Window(8, 4)), (Window(24, 8),)]
    [(Window(32, 4),)]
    """
    chains: list[Chain] = []
    by_slide: dict[int, list[Chain]] = {}  # longest base slide first
    for window in in_order(windows):
        chain = _takes_up(by_slide, window)
        if chain is None:
            chains.append([[window]])
            if window.slide not in by_slide:
                by_slide[window.slide] = []
                by_slide = dict(sorted(by_slide.items(), reverse=True))
            by_slide[window.slide].append(chains[-1])
        elif chain[-1][0].range == window.range:
            chain[-1].append(window)
        else:
            chain.append([window])
    return tuple(Group(tuple(Level(window, tuple(riders)) for window, *riders in chain)) for chain in chains)


def _takes_up(by_slide: dict[int, list[Chain]], window: Window) -> Chain | None:
    """Give the first group whose last level a window subsumes."""
    for slide, chains in by_slide.items():
        if window.slide % slide == 0:
            for chain in chains:
                if is_subsumed(chain[-1][0], window):
                    return chain
    return None
