"""The state of one bucket of keys for exact distinct counts: latest occurrences, which serve all windows at once.

A slice says that a key had an item in a stretch of time, and has no partials: items are further keys. It is kept once,
however many windows there are. Once the watermark has passed a later slice of the same item, every instance that is
still open and has the earlier one has the later one too, so the earlier one can go (docs/streaming.md). What is left is
about one slice for each item. To look for such slices means to read them all, so that is done whenever the state has
grown by half since.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pyarrow as pa

from muntin import names
from muntin.arrow.batches import Rows
from muntin.arrow.state.bucket import News, Outcome, Store, Turn
from muntin.arrow.state.emit import Emission
from muntin.arrow.state.head import Head, Job, Segment
from muntin.arrow.state.terms import Due, Term, any_open
from muntin.duration import FOREVER
from muntin.kernels.occurrences import count_latest, superseded
from muntin.kernels.protocol import Longs

GROWTH = 1.5
"""How much larger than its latest occurrences a state may become before those that they stand for are left out."""
FEW = 1_000
"""Slices for which nothing is left out."""


@dataclass(frozen=True, slots=True)
class DistinctJob(Job):
    """What is the same for all buckets and micro-batches; it travels pickled."""

    keys: tuple[str, ...] = ()
    """The columns that instances are told apart by; the layout has the items as further keys."""
    items: tuple[str, ...] = ()
    """The columns whose distinct values are counted; a slice has a value in one of them, or in none."""


def distinct_step(job: DistinctJob, head: Head | None, store: Store, news: News, watermark: int) -> Outcome:
    """Do one step of a bucket; a watermark is in microseconds."""
    return _Turn(job, head or Head(job.fingerprint, job.terms), store, watermark).run(news)


@dataclass
class _Turn(Turn):
    """A bucket's turn: what it takes, counts and keeps at one watermark."""

    job: DistinctJob
    latest_rows: int = 0
    """How many slices there were when those that later ones stand for had last been left out."""
    compression: ClassVar[str | None] = "lz4"  # keys lie together, and begins are few

    def run(self, news: News) -> Outcome:
        """Take what is new, give what is due, keep what is open; remember how much was left when that was known."""
        self.latest_rows = self.head.latest_rows
        outcome = super().run(news)
        rows = sum(segment.rows for segment in outcome.head.segments)
        return replace(outcome, head=replace(outcome.head, latest_rows=min(rows, self.latest_rows)))

    def _emission(self, terms: Sequence[Term]) -> Emission:
        """Say what is due: every window is counted from the slices themselves."""
        after, by = self.head.watermark, self.watermark
        due = [(term, instances) for term in terms if (instances := term.due(after, by)) is not None]
        if not due:
            return Emission(None, lambda rows: iter(()))
        first = min(instances.first for _, instances in due)
        end = max(instances.last + int(term.window.range) for term, instances in due)
        return Emission((first, end), lambda rows: self._counted(rows, due))

    def _counted(self, rows: Rows, due: Sequence[tuple[Term, Due]]) -> Iterator[pa.RecordBatch]:
        """Yield the instances that are due: the number of the window, the start, keys and counts."""
        following = _following(rows)
        kind = np.full(len(rows.time), -1)
        for place, name in enumerate(self.job.items):
            kind[np.asarray(rows.batch[name].is_valid())] = place
        bounds = Rows(rows.batch, replace(rows.layout, keys=self.job.keys)).bounds()
        for term, instances in due:
            range, slide, offset = term.window.period
            group, start, counts = count_latest(
                *(bounds, rows.time, following, kind, len(self.job.items)),
                range=range,
                slide=slide,
                offset=offset,
                first=instances.first,
                last=instances.last,
            )
            if len(start):
                keys = [rows.batch[key].take(pa.array(bounds[group])) for key in self.job.keys]
                columns = [pa.array(np.full(len(start), instances.number, np.int32)), pa.array(start), *keys]
                columns += [pa.array(np.ascontiguousarray(one)) for one in counts.T]
                results = names.results(len(self.job.items))
                given = [names.NUMBER, names.START, *self.job.keys, *results]
                yield pa.RecordBatch.from_arrays(columns, names=given)

    def _kept(
        self, fresh: list[pa.RecordBatch], loaded: Mapping[Segment, pa.RecordBatch], terms: Sequence[Term]
    ) -> tuple[tuple[Segment, ...], int]:
        """Write what is new and open; where the state has grown by half, all of it that is needed."""
        segments = self.head.segments
        rows = sum(segment.rows for segment in segments) + sum(batch.num_rows for batch in fresh)
        if rows <= FEW + GROWTH * self.latest_rows:
            return super()._kept(fresh, loaded, terms)
        first, last = (np.array([segment[place] for segment in segments], np.int64) for place in (1, 2))
        whole = list(fresh)
        for segment, is_open in zip(segments, any_open(terms, first, last, self.watermark).tolist(), strict=True):
            if is_open:
                whole.append(loaded[segment] if segment in loaded else self._read(segment))
            self.store.remove(segment.number)
        stays: list[Segment] = []
        following = self._written([self._open(batch, terms) for batch in whole], stays, self.head.following)
        self.latest_rows = sum(segment.rows for segment in stays)
        return tuple(stays), following

    def _needed(self, batches: list[pa.RecordBatch]) -> pa.RecordBatch:
        """Give open slices without those that later ones among them stand for."""
        merged = self._merged(batches)
        gone = superseded(_following(Rows(merged, self.job.layout)), self.watermark)
        if not len(gone):
            return merged
        stays = np.ones(merged.num_rows, np.bool_)
        stays[gone] = False
        return merged.filter(pa.array(stays))


def _following(rows: Rows) -> Longs:
    """Give the time at which every slice's item has its next one; FOREVER if there is none."""
    following = np.append(rows.time[1:], FOREVER)
    following[rows.bounds()[1:] - 1] = FOREVER
    return following
