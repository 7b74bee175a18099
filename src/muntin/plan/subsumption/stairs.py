"""The stairwise state of a group: every item of the longest range is kept once, whatever the number of windows.

Level k answers its window from its core and those below it. The core of level k holds what level k adds to level
k − 1. Levels with longer slides move later than those below; what has left level k − 1 waits in buffer k until level k
moves. Buffer 0 holds what no level has taken up yet.

Stretches of time are [start, end), as everywhere in Muntin, and a state at a time knows the rows before that time. The
paper has the same numbers for (start, end], and knows the row at the time, too: see `relation.left_open`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

from muntin.window import Window


class Stretch(NamedTuple):
    """The time from start to end, empty if they are equal."""

    start: int
    end: int

    @property
    def length(self) -> int:
        """How long it is."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class Stair:
    """What one level of a group keeps at some time."""

    window: Window
    core: Stretch
    """What the window's last instance has beyond the level below."""
    buffer: Stretch
    """What has left the level below and waits until this level moves."""


def stairs(chain: Sequence[Window], time: int) -> tuple[Stair, ...]:
    """Give the state of a group's levels, shortest range first, with the rows before a time.

    Cores and buffers are disjoint and tile the time from the begin of the longest window's last instance on.

    >>> for stair in stairs([Window(6, 2), Window(12, 4), Window(24, 8)], 22):
    ...     print(stair.window, *map(tuple, (stair.core, stair.buffer)))
    ⟨6,2⟩ (16, 22) (22, 22)
    ⟨12,4⟩ (8, 14) (14, 16)
    ⟨24,8⟩ (-8, 4) (4, 8)
    """
    levels = []
    below, moved = 0, time  # the range below, and when that level moved last
    for window in chain:
        end = last_end(window, time)
        core = Stretch(end - int(window.range), end - below)
        levels.append(Stair(window, core, Stretch(core.end, moved - below)))
        below, moved = int(window.range), end
    return tuple(levels)


def last_end(window: Window, time: int) -> int:
    """Give the end of the last instance that ends by a time.

    >>> last_end(Window(12, 4), 22), last_end(Window(10, 4), 22), last_end(Window(10, 4), 21)
    (20, 22, 18)
    """
    range, slide, offset = window.period
    return time - (time - offset - range) % slide


def cores(chain: Sequence[Window]) -> tuple[int, ...]:
    """Give how long the core of each level is.

    >>> cores([Window(6, 2), Window(12, 4), Window(24, 8)])
    (6, 6, 12)
    """
    ranges = [int(window.range) for window in chain]
    return tuple(long - short for short, long in zip([0, *ranges], ranges, strict=False))


def buffers(chain: Sequence[Window]) -> tuple[int, ...]:
    """Give how long the buffer of each level gets at most; a level that moves with the one below needs none.

    >>> buffers([Window(6, 2), Window(12, 4), Window(20, 4)])
    (2, 2, 0)
    """
    slides = [int(window.slide) for window in chain]
    return tuple(slide - before for before, slide in zip([0, *slides], slides, strict=False))


def granules(chain: Sequence[Window]) -> tuple[int, ...]:
    """Give, for each level, the longest partials that tile its core whenever it moves.

    The paper takes partials as long as the slide, which tile few cores: that of ⟨12,4⟩ over ⟨6,2⟩ lasts 6.

    >>> granules([Window(6, 2), Window(12, 4), Window(24, 8)])
    (2, 2, 4)
    """
    return tuple(gcd(int(window.slide), core) for window, core in zip(chain, cores(chain), strict=True))


def granule(chain: Sequence[Window]) -> int:
    """Give the longest partials that tile the cores and buffers of all levels, so that they can be handed upwards.

    >>> granule([Window(6, 2), Window(12, 4), Window(24, 8)]), granule([Window(6, 2), Window(9, 2)])
    (2, 1)
    """
    return gcd(*granules(chain))
