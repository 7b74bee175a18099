"""Instances that are due, of slices that are kept: the walk along a forest, over the times that are needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pyarrow as pa

from muntin.arrow.batches import Rows
from muntin.arrow.forest import Reader, instances, level_of, readers_of, walk
from muntin.arrow.state.terms import Due, Term
from muntin.plan.physical.stream import slice_forest
from muntin.window import Starts, Window


@dataclass(frozen=True)
class Emission:
    """What is due: the time of the slices that it needs, and how instances are made of them."""

    read: tuple[int, int] | None
    """The first time whose slices are needed, and the end of the last; None if nothing is due."""
    give: Callable[[Rows], Iterator[pa.RecordBatch]]


def along_forest(terms: Sequence[Term], overlap: bool, after: int, by: int) -> Emission:
    """Say which instances one watermark has left open and another closes, and let windows read one another."""
    due = _due(terms, after, by)
    windows = tuple(dict.fromkeys(term.window for term in terms))
    readers = forest(windows, overlap) if windows else ()
    starts = needed(readers, due)
    return Emission(times(readers, starts), lambda rows: emit(rows, readers, starts, due))


def _due(terms: Iterable[Term], after: int, by: int) -> Mapping[int, Sequence[Due]]:
    """Give the instances that are due, by the place of their window among all windows; several terms may have one."""
    places: dict[Window, int] = {}
    due: dict[int, list[Due]] = {}
    for term in terms:
        place = places.setdefault(term.window, len(places))
        if instances := term.due(after, by):
            due.setdefault(place, []).append(instances)
    return due


@lru_cache(maxsize=64)
def forest(windows: tuple[Window, ...], overlap: bool) -> tuple[Reader, ...]:
    """Plan how windows read slices and one another; overlap says whether what overlaps may be combined.

    >>> [(reader.range, reader.parent) for reader in forest((Window(20), Window(40), Window(30)), False)]
    [(20, -1), (30, -1), (40, 0)]
    """
    numbers = {Window(*window.period): number for number, window in enumerate(windows)}
    return readers_of(slice_forest(tuple(numbers), overlap), numbers)


def needed(readers: Sequence[Reader], due: Mapping[int, Sequence[Due]]) -> list[Starts | None]:
    """Give the starts of instances that every window must have, for its own sake or for those that read it."""
    starts: list[Starts | None] = [None] * len(readers)
    for place in reversed(range(len(readers))):
        reader = readers[place]
        for asked in due.get(reader.number, ()):
            starts[place] = _hull(starts[place], (asked.first, asked.last))
        own = starts[place]
        if own is not None and reader.parent >= 0:
            inside = (own[0], own[1] + reader.range - readers[reader.parent].range)
            starts[reader.parent] = _hull(starts[reader.parent], inside)
    return starts


def times(readers: Sequence[Reader], starts: Sequence[Starts | None]) -> tuple[int, int] | None:
    """Give the first time whose slices are read, and the end of the last; None if none are."""
    hull: tuple[int, int] | None = None
    for reader, own in zip(readers, starts, strict=True):
        if own is not None and reader.parent < 0:
            hull = _hull(hull, (own[0], own[1] + reader.range))
    return hull


def emit(
    rows: Rows, readers: Sequence[Reader], starts: Sequence[Starts | None], due: Mapping[int, Sequence[Due]]
) -> Iterator[pa.RecordBatch]:
    """Yield the instances that are due: the number of the window, the start, keys and partials."""
    for reader, level in walk(level_of(rows), readers, rows.layout.reducers, starts):
        for asked in due.get(reader.number, ()):
            chosen = np.flatnonzero((level.time >= asked.first) & (level.time <= asked.last))
            if len(chosen):
                yield instances(rows, level, asked.number, chosen)


def _hull(one: tuple[int, int] | None, other: tuple[int, int]) -> tuple[int, int]:
    return other if one is None else (min(one[0], other[0]), max(one[1], other[1]))
