"""The fewest groups: a minimum cover of the windows by chains, which Dilworth's theorem gives by a matching.

A window that can ride on another of its range does: it needs no place in a chain then, and whatever chain it would be
in is as good without it. The others are covered by chains; every pair of neighbours in a chain saves one group.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from muntin.plan.subsumption.groups import Group, Level, in_order, kept_alone
from muntin.plan.subsumption.matching import Above, match
from muntin.plan.subsumption.relation import is_subsumed, multiples_of
from muntin.window import Grid, Window


def exact(windows: Iterable[Window]) -> tuple[Group, ...]:
    """Make the fewest groups, and of these such that keep the least time in all.

    >>> windows = [Window(8, 3, 1), Window(9, 2, 1), Window(10, 6, 2), Window(18, 6), Window(30, 3)]
    >>> for group in exact(windows):
    ...     print(group.chain)
    (Window(8, 3, 1), Window(30, 3))
    (Window(9, 2, 1), Window(10, 6, 2), Window(18, 6))
    """
    levels = ridden(windows)
    chain = [level.window for level in levels]
    first = sorted(range(len(chain)), key=lambda place: -kept_alone(chain[place]))
    nexts = match(above(chain), first)
    seeds = set(range(len(chain))) - set(nexts.values())
    return tuple(Group(tuple(levels[place] for place in _path(seed, nexts))) for seed in sorted(seeds))


def ridden(windows: Iterable[Window]) -> list[Level]:
    """Give the windows that can ride on no other, each with its riders, by range and slide.

    A rider takes the window of the longest slide that it can ride on.

    >>> ridden([Window(8, 2), Window(8, 3, 1), Window(8, 4), Window(8, 8)])[0].riders
    (Window(8, 4), Window(8, 8))
    """
    levels = []
    for _, of_range in groupby(in_order(windows), key=lambda window: window.range):
        riders: dict[Window, list[Window]] = {}
        for window in of_range:
            host = next((other for other in reversed(riders) if is_subsumed(other, window)), None)
            if host is None:
                riders[window] = []
            else:
                riders[host].append(window)
        levels += [Level(window, tuple(riding)) for window, riding in riders.items()]
    return levels


def above(windows: Sequence[Window]) -> Above:
    """Tell which windows of a longer range subsume each window; places in the sequence, as bits of a number.

    Windows must come by range. Those of equal slides and phases have the same windows above them but for the range.

    >>> [bin(places) for places in above([Window(6, 2), Window(8, 4), Window(8, 8), Window(24, 8)])]
    ['0b1110', '0b1000', '0b1000', '0b0']
    """
    ends = [window.edges[1] for window in windows]
    grids: dict[int, dict[int, int]] = {}  # the places of windows by slide and phase
    for place, (slide, phase) in enumerate(ends):
        phases = grids.setdefault(slide, {})
        phases[phase] = phases.get(phase, 0) | 1 << place
    higher: dict[Grid, int] = {}
    for slide, multiples in multiples_of(grids).items():
        for multiple in multiples:
            for phase, places in grids[multiple].items():
                grid = slide, phase % slide
                higher[grid] = higher.get(grid, 0) | places
    ranges = [window.range for window in windows]
    longer = [bisect_right(ranges, length) for length in ranges]
    return [higher[grid] >> first << first for grid, first in zip(ends, longer, strict=True)]


def _path(place: int | None, nexts: dict[int, int]) -> Iterator[int]:
    """Yield the places of a chain from its first one on."""
    while place is not None:
        yield place
        place = nexts.get(place)
