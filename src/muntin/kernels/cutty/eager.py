"""The eager store: a FlatFAT over the ring of slices."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.cutty.store import COUNT, FIRST, MOST, ROOM, count_up_to, drop_up_to, moved_ids, numbers
from muntin.kernels.flatfat import between, fitting, moved, put
from muntin.kernels.protocol import Longs, room


class Eager(NamedTuple):
    """Slices as leaves of a tree: an append renews the path above a leaf, a merge reads log n nodes."""

    tree: Any
    ids: Longs
    state: Longs

    def append(self, op: Any, id: Any, partial: Any) -> Any:
        """Add a leaf."""
        state = self.state
        ring = moved_tree(op, self, 2 * len(self.ids)) if state[COUNT] == len(self.ids) else self
        last = (state[FIRST] + state[COUNT]) & (len(ring.ids) - 1)
        put(op, ring.tree, len(ring.ids), last, partial)
        ring.ids[last] = id
        state[COUNT] += 1
        state[MOST] = max(state[MOST], state[COUNT])
        return ring

    def merge(self, op: Any, after: Any, until: Any) -> Any:
        """Combine the nodes that cover the slices."""
        state, leaves = self.state, len(self.ids)
        first, last = count_up_to(self.ids, state, after), count_up_to(self.ids, state, until)
        return between(op, self.tree, leaves, (state[FIRST] + first) & (leaves - 1), last - first)

    def remove_up_to(self, op: Any, id: Any) -> Any:
        """Leave the oldest leaves as they are: no merge reads them."""
        drop_up_to(self.ids, self.state, id)
        fit = fitting(len(self.ids), self.state[COUNT])
        return self if fit == len(self.ids) else moved_tree(op, self, fit)


def eager(values: Any) -> Eager:
    """Make an empty store for partials of some values."""
    return Eager(room(values, 2), np.zeros(1, np.int64), numbers(2))


@compiled
def moved_tree(op, ring, size):  # type: ignore[no-untyped-def]
    """Give a tree of another size over the same slices."""
    state = ring.state
    tree = moved(op, ring.tree, len(ring.ids), state[FIRST], state[COUNT], size)
    ids = moved_ids(ring.ids, state, size)
    state[FIRST] = 0
    state[ROOM] = max(state[ROOM], 2 * size)
    return Eager(tree, ids, state)
