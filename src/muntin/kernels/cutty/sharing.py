"""Windows from shared slices, row by row: Algorithm 1 of the Cutty paper, repaired."""

from __future__ import annotations

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.cutty.store import FOREVER, MOST, ROOM, append, forget, latest, merge, remove_up_to
from muntin.kernels.protocol import combine, load, store


@compiled
def shared(folding, updating, merging, values, marks, slices, forgets, out):  # type: ignore[no-untyped-def]
    """Cut, begin, emit and fold, in this order at every row; then remove slices that no active window reads.

    The three operators are the same one, or count apart what is combined into the slice that grows, in the store, and
    for windows that end. Rows in no window are not folded, and an empty slice is not appended. Returns the slices
    appended, the slices held at most, and the partials that they take room for.
    """
    cuts, starts, ends = marks.cuts, marks.starts, marks.ends
    waiting = marks.windows.copy()  # instances that have begun at each start, or will, and have not ended
    row = begun = oldest = cut = done = appends = np.int64(0)
    partial, filled = load(folding, values, 0), False
    while done < len(ends):
        until = min(ends[done], cuts[cut]) if cut < len(cuts) else ends[done]
        if oldest < begun and row < until:
            partial = _folded(folding, values, row, until, partial, filled)
            filled = True
        row = until
        if cut < len(cuts) and cuts[cut] == row:
            if filled:
                slices = append(slices, updating, row, partial)
                appends, filled = appends + 1, False
            cut += 1
            begun += begun < len(starts) and starts[begun] == row
        while done < len(ends) and ends[done] == row:
            begin = marks.begins[done]
            if begin >= 0:
                store(merging, out, done, _emitted(merging, slices, starts[begin], partial, filled))
                waiting[begin] -= 1
                while oldest < begun and waiting[oldest] == 0:
                    oldest += 1
                slices = remove_up_to(slices, updating, starts[oldest] if oldest < begun else row)
                if forgets and waiting[begin] == 0:
                    slices = forget(slices, updating, starts[begin])
            done += 1
        if oldest == begun:
            filled = False  # nobody reads it
    return appends, slices.state[MOST], slices.state[ROOM]


@compiled
def _folded(op, values, row, until, partial, filled):  # type: ignore[no-untyped-def]
    """Combine rows into the slice that grows."""
    total = combine(op, partial, load(op, values, row)) if filled else load(op, values, row)
    for place in range(row + 1, until):
        total = combine(op, total, load(op, values, place))
    return total


@compiled
def _emitted(op, slices, start, partial, filled):  # type: ignore[no-untyped-def]
    """Combine the slices since the begin of a window and the one that grows."""
    if latest(slices.ids, slices.state) <= start:
        return partial
    stored = merge(slices, op, start, FOREVER)
    return combine(op, stored, partial) if filled else stored
