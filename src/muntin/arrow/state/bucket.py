"""The state of one bucket of keys: the slices that open instances need, in segments, and what has been given.

A step takes a micro-batch's slices and watermark, gives every instance that became due exactly once, and writes the new
slices as segments of their own: what is written follows what came, not what is kept. Where there are many, some are
merged. A step knows nothing of Spark: segments are read and written through a Store.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from muntin import names
from muntin.arrow.batches import Rows, joined
from muntin.arrow.combine import merged_slices
from muntin.arrow.state.emit import Emission, along_forest
from muntin.arrow.state.head import Head, Job, Segment
from muntin.arrow.state.packing import pack, unpack, unpack_state
from muntin.arrow.state.terms import Term, any_open, kept
from muntin.change_files import far_error, file_of, removal
from muntin.changes import Change
from muntin.duration import FOREVER
from muntin.errors import QueryError
from muntin.kernels.protocol import Longs
from muntin.numbering import Stretches, advance, is_within
from muntin.plan.slicing.grids import Grid, lies_on
from muntin.registry import REPORTS
from muntin.window import Window

ROWS = 500_000
"""Instances in one message."""
PIECE = 50_000
"""Slices in a segment, where so many come at once."""
MANY = 48
"""From so many segments on, some that lie side by side are merged."""
RUN = 16
"""Segments that are merged at once."""


class Store(Protocol):
    """Where a bucket's segments are kept."""

    def read(self, number: int) -> bytes:
        """Give a segment."""

    def write(self, number: int, data: bytes) -> None:
        """Keep a segment."""

    def remove(self, number: int) -> None:
        """Keep a segment no longer."""


@dataclass(frozen=True, slots=True)
class News:
    """What a micro-batch has for a bucket."""

    slices: tuple[bytes, ...] = ()
    latest: int = -FOREVER
    changes: tuple[Change, ...] = ()
    grids: frozenset[tuple[Grid, ...]] = frozenset()
    """What tasks sliced by, where a registry says so."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step gives."""

    head: Head
    messages: tuple[bytes, ...] = ()
    late: int = 0
    """Rows that came too late for at least one instance."""
    dropped: int = 0
    """Rows that came too late for all."""
    late_by_window: Mapping[str, int] = field(default_factory=dict)
    """Rows that came too late for at least one instance of a window, by its label."""
    missed: bytes | None = None
    """The rows that came too late for all, packed, where they are asked for."""


@dataclass
class Turn:
    """A bucket's turn: what it takes, gives and keeps at one watermark."""

    job: Job
    head: Head
    store: Store
    watermark: int
    late: int = 0
    dropped: int = 0
    late_by_window: Counter[str] = field(default_factory=Counter)
    compression: ClassVar[str | None] = None
    """How segments are compressed."""

    def run(self, news: News) -> Outcome:
        """Take what is new, give what is due, keep what is open."""
        before = self.head
        terms = changed(before, news.changes, self.watermark)
        _check_kinds(terms)
        _check_slices(terms, news.grids)
        self.late_by_window.update({term.id: 0 for term in terms})
        fresh = self._accepted(news.slices, terms)
        emission = self._emission(terms)
        read = emission.read
        loaded = {
            segment: self._read(segment)
            for segment in before.segments
            if read and segment.first < read[1] and segment.last >= read[0]
        }
        messages: tuple[bytes, ...] = ()
        within = [_within(batch, read) for batch in (*fresh, *loaded.values())] if read else []
        if within := [batch for batch in within if batch.num_rows]:
            rows = Rows(self._merged(within), self.job.layout)
            messages = tuple(_messages(emission.give(rows), terms))
        segments, following = self._kept(fresh, loaded, terms)
        latest, watermark = max(before.latest, news.latest), max(before.watermark, self.watermark)
        known = taken(before, news.changes)
        head = Head(before.fingerprint, terms, watermark, latest, segments, following, *known)
        return Outcome(head, messages, self.late, self.dropped, self.late_by_window)

    def _emission(self, terms: Sequence[Term]) -> Emission:
        """Say what is due, and how it is made of slices."""
        return along_forest(terms, self.job.overlap, self.head.watermark, self.watermark)

    def _accepted(self, slices: Iterable[bytes], terms: Sequence[Term]) -> list[pa.RecordBatch]:
        """Unpack slices, count their late rows, and leave out what no open instance has."""
        accepted = []
        for data in slices:
            batch = unpack(data)
            time, counts = _times(batch), batch[names.COUNT].to_numpy()
            accept = kept(terms, time, self.head.watermark)
            before = np.flatnonzero(time < self.head.watermark)
            if len(before):
                self._count_late(time[before], counts[before], accept[before], terms)
            batch = batch.drop_columns([names.COUNT])
            accepted.append(batch if accept.all() else batch.filter(pa.array(accept)))
        return [batch for batch in accepted if batch.num_rows]

    def _count_late(self, time: Longs, counts: Longs, accept: NDArray[np.bool_], terms: Sequence[Term]) -> None:
        """Count rows that some instance, or all of them, could no longer take."""
        any_closed = np.zeros(len(time), np.bool_)
        for term in terms:
            closed = term.is_closed(time, self.head.watermark)
            self.late_by_window[term.id] += int(counts[closed].sum())
            any_closed |= closed
        self.late += int(counts[any_closed].sum())
        self.dropped += int(counts[any_closed & ~accept].sum())

    def _kept(
        self, fresh: list[pa.RecordBatch], loaded: Mapping[Segment, pa.RecordBatch], terms: Sequence[Term]
    ) -> tuple[tuple[Segment, ...], int]:
        """Write what is new and open, with what is left of segments that are closed for the most part."""
        first, last = (np.array([segment[place] for segment in self.head.segments], np.int64) for place in (1, 2))
        is_open = any_open(terms, first, last, self.watermark).tolist()
        stays: list[Segment] = []
        rest = [self._open(batch, terms) for batch in fresh]
        for segment, is_needed in zip(self.head.segments, is_open, strict=True):
            left = self._open(loaded[segment], terms) if is_needed and segment in loaded else None
            if is_needed and (left is None or 2 * left.num_rows > segment.rows):
                stays.append(segment)
                continue
            self.store.remove(segment.number)
            if left is not None:
                rest.append(left)
        following = self._written(rest, stays, self.head.following)
        while len(stays) > MANY:
            stays.sort(key=lambda segment: segment.first)
            rows = np.convolve([segment.rows for segment in stays], np.ones(RUN, np.int64), "valid")
            place = int(np.argmin(rows))
            run, stays = stays[place : place + RUN], stays[:place] + stays[place + RUN :]
            together = [self._open(self._read(segment), terms) for segment in run]
            for segment in run:
                self.store.remove(segment.number)
            following = self._written(together, stays, following, pieces=1)
        return tuple(stays), following

    def _written(
        self, batches: list[pa.RecordBatch], stays: list[Segment], number: int, pieces: int | None = None
    ) -> int:
        """Write slices as segments that follow one another in time, late ones apart, and give the next number."""
        batches = [batch for batch in batches if batch.num_rows]
        if not batches:
            return number
        merged = self._needed(batches)
        time = _times(merged)
        parts = pieces or max(1, len(time) // PIECE)
        cuts = np.unique(np.quantile(time, np.arange(1, parts) / parts).astype(np.int64)) if parts > 1 else np.array([])
        if pieces is None:
            cuts = np.union1d(cuts, [self.watermark])
        piece = np.searchsorted(cuts, time, side="right")
        for part in np.unique(piece):
            chosen = np.flatnonzero(piece == part)
            batch = merged if len(chosen) == len(time) else merged.take(pa.array(chosen))
            self.store.write(number, pack(batch, self.compression))
            stays.append(Segment(number, int(time[chosen].min()), int(time[chosen].max()), len(chosen)))
            number += 1
        return number

    def _read(self, segment: Segment) -> pa.RecordBatch:
        """Give the slices of a segment; columns go by their places, since their names may change with versions."""
        return unpack_state(self.store.read(segment.number)).rename_columns([names.BEGIN, *self.job.layout.tail])

    def _open(self, batch: pa.RecordBatch, terms: Sequence[Term]) -> pa.RecordBatch:
        stays = kept(terms, _times(batch), self.watermark)
        return batch if stays.all() else batch.filter(pa.array(stays))

    def _needed(self, batches: list[pa.RecordBatch]) -> pa.RecordBatch:
        """Give what of open slices is written."""
        return self._merged(batches)

    def _merged(self, batches: list[pa.RecordBatch]) -> pa.RecordBatch:
        return merged_slices(_alike(batches), self.job.layout)


def step(job: Job, head: Head | None, store: Store, news: News, watermark: int) -> Outcome:
    """Do one step of a bucket; a watermark is in microseconds."""
    return Turn(job, head or Head(job.fingerprint, job.terms), store, watermark).run(news)


def changed(head: Head, changes: Iterable[Change], watermark: int) -> tuple[Term, ...]:
    """Give the windows that count in this micro-batch.

    An added window starts after everything that came before this micro-batch, and after the end of one that had its id;
    what comes with it is cut for it already. Both depend on what the checkpoint knows only, so all buckets and all
    attempts agree. A change that has come before is no news.
    """
    terms = list(head.terms)
    for change in sorted(_fresh(head, changes), key=lambda change: change.version):
        if change.window is not None:
            started = head.latest + (head.latest > -FOREVER)
            before = (term.until for term in terms if term.id == change.id and term.until < FOREVER)
            since = max(started, -FOREVER if change.at is None else change.at, *before)
            terms.append(Term(change.version, change.window, change.id, change.version, since))
        else:
            until = max(watermark, watermark if change.at is None else change.at)
            older = ((place, term) for place, term in enumerate(terms) if term.version < change.version)
            live = {term.id: place for place, term in older if term.until == FOREVER}
            if change.id in live:
                terms[live[change.id]] = replace(terms[live[change.id]], until=until)
    return tuple(term for term in terms if term.until > head.watermark)  # others were given to the last before


def _fresh(head: Head, changes: Iterable[Change]) -> Iterable[Change]:
    news = {change.version: change for change in changes}
    return (change for version, change in news.items() if version > head.newest or is_within(version, head.missing))


def taken(head: Head, changes: Iterable[Change]) -> tuple[int, Stretches]:
    """Return the newest change that has come, and older ones that have not; refuse one that no registry has given."""
    newest, missing, far = advance(head.newest, head.missing, (change.version for change in changes))
    if far:
        raise far_error(file_of(far[0]))
    return newest, missing


def _check_kinds(terms: Iterable[Term]) -> None:
    """Refuse windows that no slices on a grid of time can serve."""
    for term in terms:
        if not isinstance(term.window, Window):
            raise QueryError(
                f"window {term.id!r} of the registry (change {term.version}) takes rows in order, and this query keeps "
                f"slices. {removal(term.version)} Or start it with strategy='ordered' and a new checkpoint."
            )


def _check_slices(terms: Iterable[Term], grids: Iterable[tuple[Grid, ...]]) -> None:
    """Refuse slices of a task that knew less of the registry than the state does: rows would be lost in them."""
    for sliced_by in grids:
        for term in terms:
            if not all(any(lies_on(edge, grid) for grid in sliced_by) for edge in term.window.edges):
                raise QueryError(
                    f"window {term.id!r} of the registry (change {term.version}) was not seen by a worker. Use a "
                    "folder that all workers see at once and from which nothing is removed, and start the query again. "
                    f"If the checkpoint is an old copy, remove {REPORTS} in the registry's folder first."
                )


def _within(batch: pa.RecordBatch, read: tuple[int, int]) -> pa.RecordBatch:
    """Give the slices that begin in a stretch of time."""
    time = _times(batch)
    inside = (time >= read[0]) & (time < read[1])
    return batch if inside.all() else batch.filter(pa.array(inside))


def _alike(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Give all batches the types of the first, which is of today; Spark tells times by the zone of the session."""
    schema = batches[0].schema
    return [batch if batch.schema.equals(schema) else batch.cast(schema) for batch in batches]


def _messages(batches: Iterable[pa.RecordBatch], terms: Iterable[Term]) -> Iterable[bytes]:
    told = json.dumps({term.number: (term.id, int(term.window.range)) for term in terms})
    if instances := list(batches):
        whole = joined(instances).replace_schema_metadata({"windows": told})
        for start in range(0, whole.num_rows, ROWS):
            yield pack(whole.slice(start, ROWS))


def _times(batch: pa.RecordBatch) -> Longs:
    return np.asarray(batch[names.BEGIN].to_numpy())


def told(terms: Iterable[Term]) -> list[dict[str, Any]]:
    """Say of windows what a registry lists."""
    return [
        {
            "id": term.id,
            "version": term.version,
            "window": term.window.timed().to_dict(readable=True),
            "since": None if term.since == -FOREVER else term.since,
            "until": None if term.until == FOREVER else term.until,
        }
        for term in terms
    ]
