"""Windows without sharing: every active one has a partial of its own, and every row goes into all of them."""

from __future__ import annotations

import numpy as np

from muntin.kernels.compiling import compiled
from muntin.kernels.protocol import combine, load, store


@compiled
def unshared(op, values, marks, order, out):  # type: ignore[no-untyped-def]
    """Fold every row into the results of the windows that are active; returns how many those were at most.

    The order is that of the begins of all windows that have rows.
    """
    starts, ends, begins = marks.starts, marks.ends, marks.begins
    active, places = np.empty(len(ends), np.int64), np.empty(len(ends), np.int64)
    row = count = most = done = upcoming = np.int64(0)
    while True:
        while done < len(ends) and ends[done] == row:
            if begins[done] >= 0:
                count -= 1
                last = active[count]
                active[places[done]], places[last] = last, places[done]
            done += 1
        if done == len(ends):
            return most
        for place in range(count):
            window = active[place]
            store(op, out, window, combine(op, load(op, out, window), load(op, values, row)))
        while upcoming < len(order) and starts[begins[order[upcoming]]] == row:
            window = order[upcoming]
            store(op, out, window, load(op, values, row))
            active[count], places[window] = window, count
            count, upcoming = count + 1, upcoming + 1
        most = max(most, count)
        row += 1
