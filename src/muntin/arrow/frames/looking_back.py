"""Windows that look back from where they end: a number of rows, or a stretch of time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from muntin.arrow.frames.framing import Ended, Framing
from muntin.arrow.frames.stretch import Flags, Stretch
from muntin.kernels.frames.lasting import last_rows, located


@dataclass(frozen=True)
class BackRows(Framing):
    """The last rows at every slide of time."""

    def ended(self, stretch: Stretch) -> Ended:
        """Give the rows before every slide that has ended with rows in it."""
        window = self.window
        group, end, lo, hi = last_rows(
            stretch.bounds, stretch.time, stretch.number, stretch.seen, window.count, int(window.slide),
            int(window.offset), stretch.after, stretch.by,
        )  # fmt: skip
        items = located(stretch.bounds, stretch.number, group, lo)
        ends = located(stretch.bounds, stretch.number, group, hi)
        return Ended(items, ends, stretch.time[items], end, lo, hi)

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell which rows are among the last ones: each of them may be a begin."""
        return np.asarray(stretch.number >= (stretch.seen - self.window.count)[stretch.group])


@dataclass(frozen=True)
class BackTime(Framing):
    """The last stretch of time whenever so many rows have come."""

    def ended(self, stretch: Stretch) -> Ended:
        """Give what lies before every row that ends an instance."""
        every, range = self.window.every, int(self.window.range)
        numbers = stretch.number[stretch.new]
        closing = (numbers % every == 0) & (numbers > 0)
        last = stretch.ended & (stretch.seen % every == 0) & (stretch.seen > 0)
        group = np.concatenate((stretch.group[stretch.new[closing]], np.flatnonzero(last)))
        hi = np.concatenate((stretch.new[closing], stretch.bounds[1:][last]))
        order = np.lexsort((hi, group))
        group, hi = group[order], hi[order]
        end = stretch.ends_of(hi, group)
        lo = stretch.first_from(group, end - range)
        ended = Ended(lo, hi, end - range, end)
        return ended.only(lo < hi)

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell which rows a later instance may begin with: each of the range before the last."""
        return np.asarray(stretch.time >= (stretch.last - int(self.window.range))[stretch.group])
