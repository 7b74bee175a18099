"""How many distinct items every instance of a window has, by the latest occurrence of each.

An item counts for an instance if its latest occurrence before the instance's end lies in it. So an occurrence counts
for the ends after it, until a later one takes its place or the range has passed: one mark where these ends begin, one
where they end, and a running sum over the ends. However long the range, an occurrence has two marks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from muntin.duration import FOREVER
from muntin.errors import QueryError
from muntin.kernels.entrance import at_least, groups, longs
from muntin.kernels.protocol import Longs


class Counted(NamedTuple):
    """Instances that have occurrences, by group and start."""

    group: Longs
    start: Longs
    counts: Longs
    """Distinct items of each kind, a column for every kind."""


def count_latest(
    bounds: ArrayLike,
    time: ArrayLike,
    following: ArrayLike,
    kind: ArrayLike,
    kinds: int,
    *,
    range: int,
    slide: int,
    offset: int = 0,
    first: int = -FOREVER,
    last: int = FOREVER,
) -> Counted:
    """Count the items of the instances [a, a + range), a = offset + k·slide, that have occurrences, in every group.

    Group g is the rows bounds[g] to bounds[g + 1], in any order; a row is an occurrence of an item at a time, and knows
    when the same item of the same group follows, FOREVER if never. Items are of kinds 0, 1, …, which are counted apart;
    a row of kind -1 counts for nothing, but its instances are given. Only those from `first` to `last` are looked for.

    An item at 1 and 4, another at 2, and a window of length 3:

    >>> counted = count_latest([0, 3], [1, 4, 2], [4, FOREVER, FOREVER], [0, 0, 0], 1, range=3, slide=1)
    >>> [(a, n) for a, (n,) in zip(counted.start.tolist(), counted.counts.tolist(), strict=True)]
    [(-1, 1), (0, 2), (1, 2), (2, 2), (3, 1), (4, 1)]
    """
    at_least(1, range=range, slide=slide, kinds=kinds)
    times, until, of = longs(time, "time"), longs(following, "following"), longs(kind, "kind")
    if not len(times) == len(until) == len(of):
        raise QueryError(f"{len(times)} times, {len(until)} that follow and {len(of)} kinds are not those of rows.")
    if len(of) and not -1 <= of.min() <= of.max() < kinds:
        raise QueryError(f"kinds from {of.min()} to {of.max()} are not -1 or one of {kinds}. Use -1 to {kinds - 1}.")
    earliest, latest = -((offset - first) // slide), (last - offset) // slide
    until = np.minimum(until, times + range)
    begin = np.maximum(earliest, (times - (offset + range)) // slide + 1)
    end = np.minimum(latest, (until - (offset + range)) // slide) + 1
    marked = np.flatnonzero(begin < end)
    group = np.searchsorted(groups(bounds, len(times)), marked, side="right") - 1
    cells = _cells(group, begin[marked], end[marked])
    sums = [cells.running(slice(None)), *(cells.running(of[marked] == one) for one in np.arange(kinds))]
    here = np.flatnonzero(sums[0])  # never the last cell of a group, where everything has ended
    times_given = cells.place[here + 1] - cells.place[here]
    ramp = np.arange(times_given.sum()) - np.repeat(np.cumsum(times_given) - times_given, times_given)
    number = np.repeat(cells.place[here], times_given) + ramp
    counts = np.stack([np.repeat(each[here], times_given) for each in sums[1:]], axis=1)
    return Counted(np.repeat(cells.group[here], times_given), offset + number * slide, counts)


def superseded(following: Longs, watermark: int) -> Longs:
    """Give the rows that no instance needs any more which ends after a watermark: it has a later occurrence as well.

    >>> superseded(np.array([4, 9, FOREVER]), 4).tolist()
    [0]
    """
    return np.flatnonzero(following <= watermark)


class _Cells(NamedTuple):
    """Numbers of instances at which counts of a group may change, by group and number, and the marks on them."""

    group: Longs
    place: Longs
    """The number of the instance."""
    begin: Longs
    """The cell of the first instance that an occurrence counts for."""
    end: Longs
    """The cell of the first one after it that it does not count for."""

    def running(self, chosen: Any) -> Longs:
        """Count the chosen occurrences at every cell; a group's last cell has none, so the sum goes on over groups."""
        size = len(self.place)
        return np.cumsum(
            np.bincount(self.begin[chosen], minlength=size) - np.bincount(self.end[chosen], minlength=size)
        )


def _cells(group: Longs, begin: Longs, end: Longs) -> _Cells:
    """Lay out cells for occurrences that lie by group: all numbers of a group, or, of many, those with marks."""
    heads = np.flatnonzero(np.concatenate((np.ones(min(1, len(group)), np.bool_), group[1:] != group[:-1])))
    if not len(heads):
        return _Cells(group, begin, begin, end)
    first, last = np.minimum.reduceat(begin, heads), np.maximum.reduceat(end, heads)
    size = last - first + 1
    if size.astype(np.float64).sum() > 8 * len(group) + 64:
        return _marked_cells(group, begin, end)
    base = np.cumsum(size) - size
    shift = np.repeat(base - first, np.diff(np.append(heads, len(group))))
    place = np.arange(size.sum()) - np.repeat(base - first, size)
    return _Cells(np.repeat(group[heads], size), place, begin + shift, end + shift)


def _marked_cells(group: Longs, begin: Longs, end: Longs) -> _Cells:
    """Lay out a cell for every number of a group that has a mark."""
    groups_of, places = np.concatenate((group, group)), np.concatenate((begin, end))
    order = np.lexsort((places, groups_of))
    groups_of, places = groups_of[order], places[order]
    heads = np.concatenate(([True], (groups_of[1:] != groups_of[:-1]) | (places[1:] != places[:-1])))
    cell = np.empty(len(order), np.int64)
    cell[order] = np.cumsum(heads) - 1
    return _Cells(groups_of[heads], places[heads], cell[: len(group)], cell[len(group) :])
