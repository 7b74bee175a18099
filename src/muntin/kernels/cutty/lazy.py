"""The lazy store: slices alone, combined anew for every window that ends."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.cutty.store import (
    COUNT,
    DEAD,
    FIRST,
    MOST,
    ROOM,
    count_up_to,
    drop_up_to,
    latest,
    moved_ids,
    numbers,
)
from muntin.kernels.flatfat import fitting
from muntin.kernels.protocol import Longs, combine, load, room, store


class Lazy(NamedTuple):
    """Slices in a ring: an append costs nothing, a merge all slices of the window."""

    partials: Any
    ids: Longs
    state: Longs

    def append(self, op: Any, id: Any, partial: Any) -> Any:
        """Add a slice, or lengthen the newest one if no active window begins between the two."""
        state = self.state
        if state[COUNT] > 0 and latest(self.ids, state) == state[DEAD]:
            last = (state[FIRST] + state[COUNT] - 1) & (len(self.ids) - 1)
            store(op, self.partials, last, combine(op, load(op, self.partials, last), partial))
            self.ids[last] = id
            return self
        ring = moved_slices(op, self, 2 * len(self.ids)) if state[COUNT] == len(self.ids) else self
        last = (state[FIRST] + state[COUNT]) & (len(ring.ids) - 1)
        store(op, ring.partials, last, partial)
        ring.ids[last] = id
        state[COUNT] += 1
        state[MOST] = max(state[MOST], state[COUNT])
        return ring

    def merge(self, op: Any, after: Any, until: Any) -> Any:
        """Combine slices one by one."""
        state, around = self.state, len(self.ids) - 1
        first, last = count_up_to(self.ids, state, after), count_up_to(self.ids, state, until)
        total = load(op, self.partials, (state[FIRST] + first) & around)
        for place in range(first + 1, last):
            total = combine(op, total, load(op, self.partials, (state[FIRST] + place) & around))
        return total

    def remove_up_to(self, op: Any, id: Any) -> Any:
        """Remove the oldest slices."""
        drop_up_to(self.ids, self.state, id)
        return fitted(op, self)

    def forget(self, op: Any, id: Any) -> Any:
        """Combine the slices on both sides of a cut; beside the slice that still grows, when that is appended."""
        state, around = self.state, len(self.ids) - 1
        place = count_up_to(self.ids, state, id) - 1
        here = (state[FIRST] + place) & around
        if place < 0 or self.ids[here] != id:
            return self
        if place == state[COUNT] - 1:
            state[DEAD] = id
            return self
        after = (here + 1) & around
        both = combine(op, load(op, self.partials, here), load(op, self.partials, after))
        store(op, self.partials, after, both)
        for _ in range(place):  # the older ones move up
            before = (here - 1) & around
            store(op, self.partials, here, load(op, self.partials, before))
            self.ids[here] = self.ids[before]
            here = before
        state[FIRST] = (state[FIRST] + 1) & around
        state[COUNT] -= 1
        return fitted(op, self)


def lazy(values: Any) -> Lazy:
    """Make an empty store for partials of some values."""
    return Lazy(room(values, 1), np.zeros(1, np.int64), numbers(1))


@compiled
def fitted(op, ring):  # type: ignore[no-untyped-def]
    """Give a ring half as large, or a quarter, if a third of it or less is left."""
    fit = fitting(len(ring.ids), ring.state[COUNT])
    return ring if fit == len(ring.ids) else moved_slices(op, ring, fit)


@compiled
def moved_slices(op, ring, size):  # type: ignore[no-untyped-def]
    """Give a ring of another size with the same slices."""
    state = ring.state
    partials, ids = room(ring.partials, size), moved_ids(ring.ids, state, size)
    for place in range(state[COUNT]):
        store(op, partials, place, load(op, ring.partials, (state[FIRST] + place) & (len(ring.ids) - 1)))
    state[FIRST] = 0
    state[ROOM] = max(state[ROOM], size)
    return Lazy(partials, ids, state)
