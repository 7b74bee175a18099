"""The paper's SubsumeWindows: one sweep over the windows by ascending range."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable
from operator import neg

from muntin.plan.subsumption.groups import Group, Level, in_order
from muntin.plan.subsumption.relation import is_subsumed, multiples_of
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
    ordered = in_order(windows)
    multiples = multiples_of({int(window.slide) for window in ordered})
    bases: dict[int, list[int]] = {slide: [] for slide in multiples}  # base slides that divide each slide
    of_base: dict[int, list[Chain]] = {}
    chains: list[Chain] = []
    for window in ordered:
        candidates = (chain for base in bases[window.slide] for chain in of_base[base])
        chain = next((chain for chain in candidates if is_subsumed(chain[-1][0], window)), None)
        if chain is None:
            chains.append([[window]])
            if window.slide not in of_base:
                for multiple in multiples[window.slide]:
                    insort(bases[multiple], window.slide, key=neg)  # the longest first
            of_base.setdefault(window.slide, []).append(chains[-1])
        elif chain[-1][0].range == window.range:
            chain[-1].append(window)
        else:
            chain.append([window])
    return tuple(Group(tuple(Level(window, tuple(riders)) for window, *riders in chain)) for chain in chains)
