"""All windows over one stretch: cut where instances begin or end, and kept where open ones begin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from muntin import names
from muntin.arrow.batches import ColumnLayout
from muntin.arrow.forest import columns_of
from muntin.arrow.frames.framing import Ended, Framing
from muntin.arrow.frames.stretch import AFTER, Slots, Stretch
from muntin.arrow.reducers import Arrays
from muntin.kernels.protocol import Longs

WORTHWHILE = 0.5
"""The share of items that pieces may be to be worth reading in their place."""


@dataclass(frozen=True)
class FrameTask:
    """Everything that a Python worker needs to know to frame windows; it travels pickled."""

    layout: ColumnLayout
    framings: tuple[Framing, ...]
    watched: tuple[str, ...] = ()
    """Names of the columns that windows watch."""
    measured: str | None = None
    """The Arrow type of begins and ends in windows' own measures; None if no window has one."""
    carried: tuple[str, ...] = ()
    """Names of the columns that rows keep, where instances are given their rows."""

    @property
    def inputs(self) -> list[str]:
        """Names of the columns that rows come with."""
        return [self.layout.time, *self.watched, *self.layout.tail, *self.carried]

    @property
    def columns(self) -> list[str]:
        """Names of the columns of instances."""
        own = [] if self.measured is None else [names.FROM, names.TO]
        return [names.NUMBER, names.START, names.FINISH, *own, *self.layout.tail]

    @property
    def slicings(self) -> tuple[tuple[Framing, ...], ...]:
        """The windows that share slices; those that need rows of their own do not make the others' slices finer."""
        kinds = ([one for one in self.framings if one.deterministic is kind] for kind in (True, False))
        return tuple(tuple(kind) for kind in kinds if kind)


def slots_of(framings: Iterable[Framing]) -> Slots:
    """Give what windows keep of a key, as it is before the first row."""
    return {name: start for framing in framings for name, start in framing.slots.items()}


def framed(stretch: Stretch, framings: Sequence[Framing], task: FrameTask) -> Iterator[pa.RecordBatch]:
    """Yield the instances of all windows that end with a stretch, and keep what windows need of it in its memory."""
    ended = ended_with(stretch, framings)
    read, places = _pieces(stretch, [some for _, some in ended], task)
    for (framing, some), (lo, hi) in zip(ended, places, strict=True):
        yield _instances(stretch, framing, some, _reduced(read, lo, hi, task), task)


def ended_with(stretch: Stretch, framings: Sequence[Framing]) -> list[tuple[Framing, Ended]]:
    """Give the instances that end with a stretch, window by window, and keep what windows need in its memory."""
    stretch.memory[AFTER] = np.maximum(stretch.after, stretch.by)
    ended = [(framing, _without_partial(stretch, framing, framing.ended(stretch))) for framing in framings]
    return [(framing, some) for framing, some in ended if len(some.lo)]


def _without_partial(stretch: Stretch, framing: Framing, ended: Ended) -> Ended:
    """Leave out instances that may have begun before the first row of their key that was read."""
    return ended.only(stretch.number[ended.lo] > 0) if framing.first_is_partial else ended


def cuts_of(stretch: Stretch, framings: Sequence[Framing]) -> Longs:
    """Give the items that open instances begin with."""
    cut = np.zeros(len(stretch.time), np.bool_)
    for framing in framings:
        cut |= framing.cuts(stretch)
    return np.flatnonzero(cut & ~stretch.ended[stretch.group])


def kept(stretch: Stretch, framings: Sequence[Framing], task: FrameTask) -> pa.RecordBatch:
    """Give the slices that open instances need, each from one begin to the next."""
    lo = cuts_of(stretch, framings)
    hi = np.append(lo[1:], len(stretch.time))
    hi = np.minimum(hi, stretch.bounds[1:][stretch.group[lo]])
    arrays = [r.reduce(a, lo, hi) for r, a in zip(task.layout.reducers, stretch.arrays, strict=True)]
    watched = [stretch.rows.batch[name].take(pa.array(lo)) for name in task.watched]
    columns = [
        pa.array(stretch.time[lo]),
        *watched,
        *columns_of(stretch.rows, lo, arrays),
        pa.array(stretch.number[lo]),
    ]
    schema = stretch.rows.batch.schema
    return pa.RecordBatch.from_arrays([c.cast(f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


Ranges = tuple[Longs, Longs]


def _pieces(stretch: Stretch, ended: list[Ended], task: FrameTask) -> tuple[list[Arrays], list[Ranges]]:
    """Cut items where any instance begins or ends, so that all windows read pieces; or let them read items."""
    if len(ended) > 1:
        edges = np.unique(np.concatenate([edge for some in ended for edge in (some.lo, some.hi)]))
        if len(edges) <= WORTHWHILE * len(stretch.time):
            pieces = [
                r.reduce(a, edges[:-1], edges[1:]) for r, a in zip(task.layout.reducers, stretch.arrays, strict=True)
            ]
            return pieces, [(np.searchsorted(edges, some.lo), np.searchsorted(edges, some.hi)) for some in ended]
    return stretch.arrays, [(some.lo, some.hi) for some in ended]


def _reduced(arrays: list[Arrays], lo: Longs, hi: Longs, task: FrameTask) -> list[Arrays]:
    """Reduce partials over ranges; where ends move back, in several goes."""
    reducers = task.layout.reducers
    if (np.diff(lo) >= 0).all() and (np.diff(hi) >= 0).all():
        return [r.reduce(a, lo, hi) for r, a in zip(reducers, arrays, strict=True)]
    goes, left = [], np.lexsort((hi, lo))
    while len(left):
        is_next = hi[left] >= np.maximum.accumulate(hi[left])
        goes.append(left[is_next])
        left = left[~is_next]
    back = np.argsort(np.concatenate(goes), kind="stable")
    parts = [[r.reduce(a, lo[go], hi[go]) for go in goes] for r, a in zip(reducers, arrays, strict=True)]
    return [
        tuple(None if column[0] is None else np.concatenate(column)[back] for column in zip(*part, strict=True))
        for part in parts
    ]


def _instances(
    stretch: Stretch, framing: Framing, some: Ended, arrays: list[Arrays], task: FrameTask
) -> pa.RecordBatch:
    """Give instances as rows: the window's number, start and end, the measure's, keys and partials."""
    columns = [*told(framing, some, task), *columns_of(stretch.rows, some.lo, arrays)]
    return pa.RecordBatch.from_arrays(columns, names=task.columns)


def told(framing: Framing, some: Ended, task: FrameTask) -> list[pa.Array]:
    """Give what tells instances: the window's number, start and end, and those in the window's own measure."""
    columns = [pa.array(np.full(len(some.lo), framing.number, np.int32)), pa.array(some.start), pa.array(some.end)]
    if task.measured is None:
        return columns
    kind, own = pa.type_for_alias(task.measured), (some.begin, some.stop)
    return columns + [pa.nulls(len(some.lo), kind) if it is None else pa.array(it).cast(kind, safe=False) for it in own]
