"""How much the instances of a window have in common, which decides the technique that combines them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muntin.plan.slicing.grids import Grid, density
from muntin.window import Window

if TYPE_CHECKING:
    from muntin.plan.statistics import Statistics


def overlap(
    window: Window, parent: Window | None, grids: tuple[Grid, ...], statistics: Statistics
) -> tuple[float, float]:
    """Estimate how many partials an instance reads, and how many of them the instance before did not read.

    It reads instances of its parent, or slices that lie on some grids, or rows if there are neither; never more than
    there are rows.

    >>> from muntin.plan.statistics import Statistics
    >>> overlap(Window(60, 10), Window(10), (), Statistics(rows=10**6, span=10**6))
    (6.0, 1.0)
    """
    rate = float(statistics.rate)
    if parent is not None:
        members, arrivals = (window.range - parent.range) / parent.slide + 1, window.slide / parent.slide
    else:
        pace = min(rate, density(grids)) if grids else rate
        members, arrivals = pace * window.range, pace * window.slide
    most = max(1.0, rate * window.range)
    members = min(max(1.0, members), most)
    return members, min(arrivals, members)
