"""Groups: a chain of windows, each subsumed by the next, and those that ride on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from muntin.plan.subsumption.stairs import Stair, buffers, cores, granule, granules, stairs
from muntin.window import Window


@dataclass(frozen=True, slots=True)
class Level:
    """A window of a chain, and the windows of equal range that are given every so many of its results."""

    window: Window
    riders: tuple[Window, ...] = ()
    """Windows that need no state of their own (the paper's piggybacked ones), shortest slide first."""

    @property
    def windows(self) -> tuple[Window, ...]:
        """The window and its riders."""
        return (self.window, *self.riders)

    def quotient(self, rider: Window) -> int:
        """Tell that a rider is given every n-th result of the window: the paper's q.

        >>> Level(Window(6, 2), (Window(6, 4),)).quotient(Window(6, 4))
        2
        """
        return int(rider.slide // self.window.slide)


@dataclass(frozen=True, slots=True)
class Group:
    """Windows that are evaluated from one state, which lasts as long as the longest of them."""

    levels: tuple[Level, ...]
    """The chain: ranges grow from level to level, and each window is subsumed by the next one."""

    @property
    def chain(self) -> tuple[Window, ...]:
        """The windows that have a level, shortest range first."""
        return tuple(level.window for level in self.levels)

    @property
    def windows(self) -> tuple[Window, ...]:
        """All windows, riders after the window that they ride on."""
        return tuple(window for level in self.levels for window in level.windows)

    @property
    def slide(self) -> int:
        """The base slide: that of the shortest window, which divides all others."""
        return self.levels[0].window.slide

    @property
    def longest(self) -> Window:
        """The window whose state holds those of all others."""
        return self.levels[-1].window

    @property
    def kept(self) -> int:
        """The time whose rows are kept at most: the longest range, and what comes in until it moves."""
        return kept_alone(self.longest)

    @property
    def cores(self) -> tuple[int, ...]:
        """How long the core of each level is."""
        return cores(self.chain)

    @property
    def buffers(self) -> tuple[int, ...]:
        """How long the buffer of each level gets at most."""
        return buffers(self.chain)

    @property
    def granules(self) -> tuple[int, ...]:
        """How long partials of each level may be, if it keeps partials instead of rows."""
        return granules(self.chain)

    @property
    def granule(self) -> int:
        """How long partials may be that all levels can keep."""
        return granule(self.chain)

    def stairs(self, time: int) -> tuple[Stair, ...]:
        """Give the state with the rows before a time: a core and a buffer for each level."""
        return stairs(self.chain, time)


def kept_alone(window: Window) -> int:
    """Tell the time whose rows a window keeps at most if it is alone.

    >>> kept_alone(Window(24, 8))
    32
    """
    return int(window.range) + int(window.slide)


def in_order(windows: Iterable[Window]) -> list[Window]:
    """Sort windows by range, then by slide, as both methods take them up.

    >>> in_order([Window(12, 4), Window(6, 4), Window(6, 2)])
    [Window(6, 2), Window(6, 4), Window(12, 4)]
    """
    return sorted(windows, key=lambda window: window.period)
