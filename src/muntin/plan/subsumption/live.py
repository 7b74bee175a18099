"""Windows that come and go: changes to single groups, without grouping all windows anew.

The paper's embedWindow checks the wider neighbour only, never stores the window that it was called for, and misses
windows of equal range; its way to revoke a window leaves riders where they cannot ride. Here both neighbours are
checked, and riders that lose their window are embedded like new ones.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

from muntin.plan.subsumption.groups import Group, Level, in_order
from muntin.plan.subsumption.relation import is_subsumed
from muntin.window import Window

Groups = tuple[Group, ...]


def embed(groups: Groups, window: Window) -> Groups:
    """Put a window where it rides; or else into a chain; or else into a group of its own.

    Groups are tried from the longest base slide down. The other groups stay as they are.

    >>> [group.chain for group in embed((Group((Level(Window(18, 3)), Level(Window(27, 6)))),), Window(21, 3))]
    [(Window(18, 3), Window(21, 3), Window(27, 6))]
    """
    order = sorted(range(len(groups)), key=lambda place: -groups[place].slide)
    ways: tuple[Callable[[Group, Window], Group | None], ...] = (ride, insert)
    for way in ways:
        for place in order:
            if changed := way(groups[place], window):
                return (*groups[:place], changed, *groups[place + 1 :])
    return (*groups, Group((Level(window),)))


def revoke(groups: Groups, window: Window) -> Groups:
    """Take out a window that is there; its riders stay in its group where they fit, and are embedded anew if not.

    >>> group = Group((Level(Window(8, 2), (Window(8, 4),)), Level(Window(24, 8))))
    >>> [group.chain for group in revoke((group,), Window(8, 2))]
    [(Window(8, 4), Window(24, 8))]
    """
    place = next(place for place, group in enumerate(groups) if holds(group, window))
    left, homeless = _without(groups[place], window)
    changed = (*groups[:place], *([left] if left else []), *groups[place + 1 :])
    for rider in homeless:
        changed = embed(changed, rider)
    return changed


def _without(group: Group, window: Window) -> tuple[Group | None, list[Window]]:
    """Give what is left of a group without a window, None for nothing, and the riders that do not fit into it."""
    at = _place(group, window)
    level = group.levels[at]
    if level.window != window:
        kept = tuple(rider for rider in level.riders if rider != window)
        return _with(group, at, Level(level.window, kept), at + 1), []
    levels = group.levels[:at] + group.levels[at + 1 :]
    if not levels:
        return None, list(level.riders)
    left, homeless = Group(levels), []
    for rider in level.riders:
        if changed := ride(left, rider) or insert(left, rider):
            left = changed
        else:
            homeless.append(rider)
    return left, homeless


def holds(group: Group, window: Window) -> bool:
    """Tell whether a group has a window, in its chain or as a rider."""
    at = _place(group, window)
    return at < len(group.levels) and window in group.levels[at].windows


def ride(group: Group, window: Window) -> Group | None:
    """Let a window ride on the level of its range; None if it cannot."""
    at = _place(group, window)
    if at == len(group.levels):
        return None
    level = group.levels[at]
    if level.window.range != window.range or not is_subsumed(level.window, window):
        return None
    return _with(group, at, Level(level.window, tuple(in_order([*level.riders, window]))), at + 1)


def insert(group: Group, window: Window) -> Group | None:
    """Make a window a level between its neighbours; None if it does not fit between them.

    A level of the same range becomes its rider, with all its riders. Below all others it lowers the base slide.
    """
    at = _place(group, window)
    end = at
    riders: tuple[Window, ...] = ()
    if at < len(group.levels) and group.levels[at].window.range == window.range:
        riders, end = group.levels[at].windows, at + 1
    below, upper = group.chain[:at], (*riders[:1], *group.chain[end:])
    if below and not is_subsumed(below[-1], window):
        return None
    if upper and not is_subsumed(window, upper[0]):
        return None
    return _with(group, at, Level(window, tuple(in_order(riders))), end)


def _place(group: Group, window: Window) -> int:
    """Give the first level whose range is not shorter than a window's."""
    return bisect_left(group.levels, window.range, key=lambda level: level.window.range)


def _with(group: Group, start: int, level: Level, end: int) -> Group:
    """Put one level in the place of those from start to end."""
    return Group((*group.levels[:start], level, *group.levels[end:]))
