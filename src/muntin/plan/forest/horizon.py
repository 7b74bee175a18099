"""The stretch of time over which costs are counted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import lcm

from muntin.duration import Duration, parse_duration
from muntin.errors import QueryError
from muntin.window import Length, Window, recurrence


@dataclass(frozen=True, slots=True)
class Horizon:
    """A length of time, and whether instances that reach beyond it count.

    The paper counts instances that lie completely inside, from each window's own first one; in the steady state every
    instance counts that begins inside.

    >>> Horizon(120).instances(10, 2), Horizon(120, steady=True).instances(10, 2)
    (56, 60)
    """

    length: int
    steady: bool = False

    def instances(self, range: int, slide: int) -> int:
        """Count the instances of a window ⟨range, slide⟩."""
        return self.length // slide if self.steady else recurrence(range, slide, self.length)

    def scaled(self, unit: int) -> Horizon:
        """Give the same horizon in a larger unit of length."""
        return Horizon(self.length // unit, self.steady)


def parse_horizon(horizon: Length | None, windows: tuple[Window, ...]) -> Horizon:
    """Read a horizon: by default the least common multiple of the ranges, in the steady state that of the slides.

    >>> parse_horizon(None, (Window(20), Window(30))), parse_horizon("steady", (Window(20, 5), Window(30, 10)))
    (Horizon(length=60, steady=False), Horizon(length=10, steady=True))
    """
    timed = windows[0].is_timed
    unit = Duration if timed else int
    if horizon is None:
        return Horizon(unit(lcm(*(window.range for window in windows))))
    if horizon == "steady":
        return Horizon(unit(lcm(*(window.slide for window in windows))), steady=True)
    if isinstance(horizon, str) and re.fullmatch(r"\d{1,25}", horizon):
        horizon = int(horizon)
    if isinstance(horizon, bool) or not isinstance(horizon, Length):
        raise QueryError(f"horizon {horizon!r} is not a length of time. Use a length, or 'steady'.")
    if not isinstance(horizon, int) and not timed:
        raise QueryError(f"horizon {horizon!r} has a unit but the windows are plain numbers. Use a number or 'steady'.")
    if timed and isinstance(horizon, int) and not isinstance(horizon, Duration):
        raise QueryError(
            f"horizon {horizon} has no unit but the windows have. Use '{horizon} hours', say, or 'steady'."
        )
    length = unit(horizon if isinstance(horizon, int) else parse_duration(horizon))
    longest = max(window.range for window in windows)
    if length < longest:
        raise QueryError(f"horizon {length} is shorter than the longest range. Use at least {longest}, or 'steady'.")
    return Horizon(length)
