"""Which slice every row falls into."""

from __future__ import annotations

import numpy as np

from muntin.errors import QueryError
from muntin.kernels.compiling import compiled
from muntin.kernels.entrance import at_least, groups, longs
from muntin.kernels.protocol import Longs


def slice_starts(bounds: Longs, time: Longs, slides: Longs, residues: Longs) -> Longs:
    """Give the latest edge at or before every row's time; edges are residue + k·slide of any of the grids.

    >>> slice_starts(np.array([0, 4]), np.array([1, 5, 6, 13]), np.array([5, 4]), np.array([0, 0])).tolist()
    [0, 5, 5, 12]
    """
    times, steps, rests = longs(time, "time"), longs(slides, "slides"), longs(residues, "residues")
    if not len(steps) or len(steps) != len(rests):
        raise QueryError(
            f"{len(steps)} slides and {len(rests)} residues are no grids. Give one of each for every grid."
        )
    at_least(1, slide=int(steps.min()))
    return _slice_starts(groups(bounds, len(times)), times, steps, rests)  # type: ignore[no-any-return]


@compiled
def _slice_starts(bounds, time, slides, residues):  # type: ignore[no-untyped-def]
    starts = np.empty(len(time), np.int64)
    for group in range(len(bounds) - 1):
        edge = upcoming = np.int64(0)
        for row in range(bounds[group], bounds[group + 1]):
            now = time[row]
            if row == bounds[group] or now >= upcoming:
                edge, upcoming = np.int64(-(2**63)), np.int64(2**63 - 1)
                for grid in range(len(slides)):
                    before = now - (now - residues[grid]) % slides[grid]
                    edge = max(edge, before)
                    upcoming = min(upcoming, before + slides[grid])
            starts[row] = edge
    return starts
