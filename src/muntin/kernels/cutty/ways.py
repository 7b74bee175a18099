"""The ways to evaluate overlapping windows that the Cutty paper compares: one loop, other cuts and stores."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from muntin.errors import UnsupportedError
from muntin.kernels.cutty.eager import eager
from muntin.kernels.cutty.lazy import lazy
from muntin.kernels.cutty.marks import Marks, in_order, marks_of
from muntin.kernels.cutty.sharing import shared
from muntin.kernels.cutty.unshared import unshared
from muntin.kernels.entrance import Column, results_for, values_for
from muntin.kernels.operators import Counting, Operator
from muntin.kernels.protocol import Longs


def at_begins(lo: Longs, hi: Longs, rows: int) -> Longs:
    """Cut with the first row of every instance, as Cutty does."""
    return np.unique(lo[lo < hi])


def at_edges(lo: Longs, hi: Longs, rows: int) -> Longs:
    """Cut where an instance begins or ends, as Pairs does; ends must be known before they come."""
    return np.unique(np.concatenate([lo, hi])[np.tile(lo < hi, 2)])


def at_rows(lo: Longs, hi: Longs, rows: int) -> Longs:
    """Cut at every row, which needs to know nothing of the windows."""
    return np.arange(rows, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Way:
    """Where slices are cut, and how they are stored; without a store every window is by itself."""

    cuts: Callable[[Longs, Longs, int], Longs]
    store: Callable[[Column], Any] | None
    forgets: bool = False
    """Whether a cut goes when no active window begins there."""


WAYS = {
    "naive": Way(at_begins, None),
    "pairs": Way(at_edges, lazy),
    "pairs_eager": Way(at_edges, eager),
    "reactive_aggregator": Way(at_rows, eager),
    "cutty_lazy": Way(at_begins, lazy),
    "cutty": Way(at_begins, eager),
    "cutty_merged": Way(at_begins, lazy, forgets=True),
}
"""All ways by name. Pairs and pairs_eager are the paper's Pairs and Pairs+, reactive_aggregator is its RA."""


class Work(NamedTuple):
    """What a way did: combinations by their purpose, and what it held."""

    folds: int
    """Combinations of a row with a slice, or with a window of its own."""
    updates: int
    """Combinations in the store when slices come, move or become one."""
    merges: int
    """Combinations for windows that end."""
    appends: int
    """Slices stored."""
    held: int
    """Slices stored at once at most, or windows with a partial of their own."""
    room: int
    """Partials that there was room for at most, nodes of a tree among them."""

    @property
    def stored(self) -> int:
        """The combinations that are not of rows: the paper's reduce calls."""
        return self.updates + self.merges

    @property
    def operations(self) -> int:
        """All combinations."""
        return self.folds + self.stored


def evaluate(
    way: str, operator: Operator, values: ArrayLike, lo: ArrayLike, hi: ArrayLike, cuts: ArrayLike | None = None
) -> tuple[Column, Work]:
    """Reduce values[lo:hi] for every instance, in order of their ends, and count what that takes. An empty one gives 0.

    Cuts other than a way's own may be given; there must be one where an instance begins.

    >>> from muntin.kernels.operators import Sum
    >>> results, work = evaluate("cutty", Sum(), np.arange(12), lo=[0, 2, 4, 6, 8], hi=[4, 6, 8, 10, 12])
    >>> results.tolist()
    [6, 14, 22, 30, 38]
    >>> work
    Work(folds=7, updates=4, merges=1, appends=4, held=2, room=4)
    """
    chosen = way_of(way)
    column = values_for(operator, values)
    first, end = in_order(lo, hi, len(column))
    marks = marks_of(first, end, chosen.cuts(first, end, len(column)) if cuts is None else cuts, len(column))
    out = np.zeros((len(end), *column.shape[1:]), column.dtype)
    counted = [Counting(operator, np.zeros(1, np.int64), np.zeros(0, np.int64)) for _ in range(3)]
    held = run(chosen, counted, column, marks, out) if len(column) and len(end) else (0, 0, 0)
    folds, updates, merges = (int(one.seen[0]) for one in counted)
    return results_for(operator, out, values), Work(folds, updates, merges, *held)


def run(way: Way, operators: list[Any], values: Column, marks: Marks, out: Column) -> tuple[int, int, int]:
    """Evaluate marked rows, which are not checked; give the slices appended, held at most, and the room for partials.

    The operators are for rows, for the store and for windows that end.
    """
    if way.store is None:
        order = np.argsort(marks.begins, kind="stable")[np.count_nonzero(marks.begins < 0) :]
        most = int(unshared(operators[0], values, marks, order, out))
        return 0, most, most
    appends, held, room = shared(*operators, values, marks, way.store(values), way.forgets, out)
    return int(appends), int(held), int(room)


def way_of(name: str) -> Way:
    """Give the way of a name.

    >>> way_of("panes")
    Traceback (most recent call last):
      ...
    muntin.errors.UnsupportedError: there is no way 'panes'. Ways are naive, pairs, pairs_eager, reactive_aggregator, \
cutty_lazy, cutty, cutty_merged.
    """
    try:
        return WAYS[name]
    except KeyError:
        raise UnsupportedError(f"there is no way {name!r}. Ways are {', '.join(WAYS)}.") from None
