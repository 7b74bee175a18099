"""From windows to subsumption groups, which can be looked at and change while they are in use."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from muntin.choices import SubsumeMethod, check_choice
from muntin.errors import InternalError, QueryError
from muntin.plan.show.outline import Outline
from muntin.plan.show.shown import Shown
from muntin.plan.show.subsumption import outline_of_subsumption, summary
from muntin.plan.subsumption import live
from muntin.plan.subsumption.exact import exact
from muntin.plan.subsumption.groups import Group, in_order, kept_alone
from muntin.plan.subsumption.heuristic import heuristic
from muntin.plan.subsumption.relation import is_subsumed
from muntin.query import Windows, distinct_windows
from muntin.window import Kind, Window

METHODS: dict[SubsumeMethod, Callable[[Iterable[Window]], tuple[Group, ...]]] = {
    "exact": exact,
    "heuristic": heuristic,
}
"""How windows are put into groups."""

_SHOWN = 6
"""Windows that an error names at most."""


@dataclass(frozen=True, slots=True, repr=False)
class Subsumption(Shown):
    """Windows in groups, each evaluated from one state; mt.subsume returns it. A change makes a new grouping.

    >>> grouping = subsume("1 hour every 5 minutes, 1 day every 1 hour")
    >>> len(grouping.groups), len(grouping.embed(Window("90 minutes", "7 minutes")).groups)
    (1, 2)
    """

    groups: tuple[Group, ...]
    method: SubsumeMethod
    changes: int = 0
    """Windows embedded and revoked since the windows were grouped."""

    @property
    def windows(self) -> tuple[Window, ...]:
        """All windows, shortest range first."""
        return tuple(in_order(window for group in self.groups for window in group.windows))

    @property
    def kept(self) -> int:
        """The time whose rows all groups keep at most, added up."""
        return sum(group.kept for group in self.groups)

    @property
    def kept_alone(self) -> int:
        """The time whose rows would be kept at most if every window had a group of its own."""
        return sum(map(kept_alone, self.windows))

    def group(self, window: Kind | str) -> Group:
        """Give the group that a window is in.

        >>> subsume([Window(6, 2), Window(9, 3), Window(12, 4)]).group(Window(12, 4)).chain
        (Window(6, 2), Window(12, 4))
        """
        asked = _one(window)
        for group in self.groups:
            if live.holds(group, asked):
                return group
        known = [str(known) for known in self.windows[: _SHOWN + 1]]
        names = ", ".join(known[:_SHOWN]) + (", …" if len(known) > _SHOWN else "")
        raise QueryError(f"window {asked} is in no group. The windows are {names or 'none'}.")

    def embed(self, window: Kind | str) -> Subsumption:
        """Add a window to the group that it fits into, or as a group of its own; all other groups stay as they are.

        The number of groups may exceed the fewest possible then; `subsume(grouping.windows)` groups all anew.

        >>> [group.chain for group in subsume([Window(18, 3), Window(27, 6)]).embed(Window(21, 3)).groups]
        [(Window(18, 3), Window(21, 3), Window(27, 6))]
        """
        new = _one(window)
        if self.groups and self.groups[0].longest.is_timed != new.is_timed:
            one, other = ("no", "one") if self.groups[0].longest.is_timed else ("a", "none")
            raise QueryError(f"window {new} has {one} unit of time, and the others have {other}. Use the same for all.")
        if any(live.holds(group, new) for group in self.groups):
            raise QueryError(f"window {new} is in a group already. Embed each window once.")
        return replace(self, groups=live.embed(self.groups, new), changes=self.changes + 1)

    def revoke(self, window: Kind | str) -> Subsumption:
        """Take a window out of its group; riders that it leaves behind are embedded where they fit.

        >>> left = subsume([Window(8, 2), Window(8, 4), Window(24, 8)]).revoke(Window(8, 2))
        >>> left.groups[0].chain, left.groups[0].slide
        ((Window(8, 4), Window(24, 8)), 4)
        """
        self.group(window)
        return replace(self, groups=live.revoke(self.groups, _one(window)), changes=self.changes + 1)

    def outline(self) -> Outline:
        """Say what the groups contain: all ways to show them are made of this."""
        return outline_of_subsumption(self)

    def __repr__(self) -> str:
        return f"<{summary(self)}>"


def subsume(windows: Windows, method: SubsumeMethod = "exact") -> Subsumption:
    """Put windows into groups that are evaluated from one state each, as long as the longest range in the group.

    A window fits below another if it is not longer, and ends whenever the other does. If the ranges are equal, the
    window with the longer slide is a rider: it takes every n-th result of the other. Repeated windows are evaluated
    once. The groups are for research and for other engines: no query of Muntin runs on them.

    Args:
        windows: Periodic windows, as objects or text.
        method: "exact" makes the fewest groups possible; "heuristic" is the subsumption paper's sweep.

    >>> grouping = subsume([Window(6, 2), Window(12, 4), Window(12, 2), Window(20, 4)])
    >>> [level.windows for group in grouping.groups for level in group.levels]
    [(Window(6, 2),), (Window(12, 2), Window(12, 4)), (Window(20, 4),)]
    >>> subsume("1 hour every 5 minutes, 1 day every 1 hour, 90 minutes every 7 minutes")
    <exact grouping: 3 windows in 2 groups, the fewest possible>
    """
    check_choice("method", method, SubsumeMethod)
    asked = distinct_windows(windows)
    groups = METHODS[method](asked)
    _check(groups, asked, method)
    return Subsumption(groups, method)


def _one(window: Kind | str) -> Window:
    """Read a single window."""
    given = distinct_windows(window)
    if len(given) > 1:
        raise QueryError(f"{window!r} is more than one window. Give one at a time.")
    return given[0]


def _check(groups: tuple[Group, ...], asked: tuple[Window, ...], method: str) -> None:
    """Hold a method to its contract: every window is there once, in a chain or on a window that it can ride on."""
    if sorted(window for group in groups for window in group.windows) != sorted(asked):
        raise InternalError(f"method {method!r} lost or repeated a window. Please report this.")
    for group in groups:
        for low, high in zip(group.chain, group.chain[1:], strict=False):
            if low.range == high.range or not is_subsumed(low, high):
                raise InternalError(f"method {method!r} puts {high} above {low}. Please report this.")
        for level in group.levels:
            for rider in level.riders:
                if rider.range != level.window.range or not is_subsumed(level.window, rider):
                    raise InternalError(f"method {method!r} lets {rider} ride on {level.window}. Please report this.")
