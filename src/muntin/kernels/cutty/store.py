"""The store of slices: append, merge, remove_up_to and forget, in plain Python and in compiled code.

Slices lie in a ring whose capacity is a power of two. It doubles when it is full, and halves when a third of it is
left. The id of a slice is the row that closes it: a window that begins at a row reads the slices with later ids.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from muntin.kernels.compiling import compiled, overloaded
from muntin.kernels.protocol import Longs

FIRST, COUNT, MOST, ROOM, DEAD = range(5)
"""What a store's numbers are: its first slot, slices, slices at most, room for partials at most, a cut to forget."""

FOREVER = 2**63 - 1
"""An id later than all others."""


def numbers(room: int) -> Longs:
    """Give the numbers of an empty store with room for so many partials."""
    return np.array([0, 0, 0, room, -1], np.int64)


def append(store: Any, op: Any, id: Any, partial: Any) -> Any:
    """Add a slice that a row closes, and give the store, which may have grown."""
    return store.append(op, id, partial)


def merge(store: Any, op: Any, after: Any, until: Any) -> Any:
    """Combine the slices with ids after one row and not after another; there must be some."""
    return store.merge(op, after, until)


def remove_up_to(store: Any, op: Any, id: Any) -> Any:
    """Remove the slices with ids up to a row, and give the store, which may have shrunk."""
    return store.remove_up_to(op, id)


def forget(store: Any, op: Any, id: Any) -> Any:
    """Make one slice of the two on both sides of a cut where no active window begins, if the store can do that."""
    return store.forget(op, id) if hasattr(store, "forget") else store


def _unchanged(store, op, id):  # type: ignore[no-untyped-def]
    return store


overloaded(append)
overloaded(merge)
overloaded(remove_up_to)
overloaded(forget, _unchanged)


@compiled
def latest(ids, state):  # type: ignore[no-untyped-def]
    """Give the id of the newest slice, -1 if there is none."""
    return ids[(state[FIRST] + state[COUNT] - 1) & (len(ids) - 1)] if state[COUNT] > 0 else np.int64(-1)


@compiled
def count_up_to(ids, state, id):  # type: ignore[no-untyped-def]
    """Count the slices whose ids are not later than one."""
    low, high = np.int64(0), state[COUNT]
    while low < high:
        middle = (low + high) // 2
        if ids[(state[FIRST] + middle) & (len(ids) - 1)] <= id:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def drop_up_to(ids, state, id):  # type: ignore[no-untyped-def]
    """Let go of the oldest slices, those whose ids are not later than one."""
    while state[COUNT] > 0 and ids[state[FIRST]] <= id:
        state[FIRST] = (state[FIRST] + 1) & (len(ids) - 1)
        state[COUNT] -= 1


@compiled
def moved_ids(ids, state, size):  # type: ignore[no-untyped-def]
    """Give ids in a ring of another size, from its first slot on."""
    moved = np.zeros(size, np.int64)
    for place in range(state[COUNT]):
        moved[place] = ids[(state[FIRST] + place) & (len(ids) - 1)]
    return moved
