"""The state of one bucket of keys for windows of every kind: rows that wait, slices of open instances, and memories.

A row waits until the watermark has passed it: no row before it can come any more. Then it is fed, in order of time, to
the windows of its key. Windows that share slices are fed together; sessions wait a gap longer, as plain Spark's do, so
each gap has slices of its own. Waiting rows lie in segments that are written once. Slices and memories are written
whenever the watermark moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from muntin import names
from muntin.arrow.batches import Rows, joined
from muntin.arrow.combine import in_key_order, key_codes
from muntin.arrow.frames.framing import Framing
from muntin.arrow.frames.memories import memory_from, memory_to
from muntin.arrow.frames.slicing import FrameTask, framed, kept, slots_of
from muntin.arrow.frames.stretch import Stretch, batch_with_numbers
from muntin.arrow.state.bucket import News, Outcome, Store
from muntin.arrow.state.head import Head, Segment
from muntin.arrow.state.packing import pack, unpack
from muntin.arrow.state.terms import Term
from muntin.duration import FOREVER
from muntin.fingerprint import Fingerprint
from muntin.kernels.protocol import Longs

ROWS = 500_000
"""Instances in one message."""


@dataclass(frozen=True)
class FrameJob:
    """What is the same for all buckets and micro-batches; it travels pickled."""

    task: FrameTask
    fingerprint: Fingerprint
    order: tuple[tuple[str, str], ...] = ()
    """The columns that rows of one time are ordered by, and the direction of each as Spark writes it."""
    terms: tuple[Term, ...] = ()

    @property
    def slicings(self) -> tuple[tuple[Framing, ...], ...]:
        """The windows that are fed together: those that share slices, and wait as long for rows."""
        together: dict[tuple[bool, int], list[Framing]] = {}
        for framing in self.task.framings:
            together.setdefault((framing.deterministic, framing.window.lag), []).append(framing)
        return tuple(tuple(together[key]) for key in sorted(together))


def frame_step(job: FrameJob, head: Head | None, store: Store, news: News, watermark: int) -> Outcome:
    """Do one step of a bucket; a watermark is in microseconds."""
    return _Turn(job, head or Head(job.fingerprint, ()), store, watermark).run(news)


@dataclass
class _Turn:
    """A bucket's turn: what it takes, gives and keeps at one watermark."""

    job: FrameJob
    head: Head
    store: Store
    watermark: int

    def run(self, news: News) -> Outcome:
        """Take what is new, feed what the watermark has passed, keep what waits and what is open."""
        now, lags = max(self.head.watermark, self.watermark), [slicing[0].window.lag for slicing in self.job.slicings]
        fresh, late, dropped = self._accepted(news, lags)
        self._check(fresh)
        waits = now - max(lags)
        segments = {segment.number: segment for segment in self.head.segments}
        following = self.head.following
        messages: tuple[bytes, ...] = ()
        if now > self.head.watermark:
            rows = self._known(fresh, now)
            given = [batch for place in range(len(lags)) for batch in self._fed(place, rows, now, segments)]
            messages = tuple(_messages(given))
            for number, segment in list(segments.items()):
                if number >= 0 and segment.last < waits:
                    self.store.remove(number)
                    del segments[number]
        if fresh is not None and (left := _between(fresh, waits, FOREVER)).num_rows:
            time = left[names.TIME].to_numpy()
            self.store.write(following, pack(left))
            segments[following] = Segment(following, int(time.min()), int(time.max()), left.num_rows)
            following += 1
        latest = max(self.head.latest, news.latest)
        head = Head(self.head.fingerprint, (), now, latest, tuple(segments.values()), following)
        return Outcome(head, messages, late, dropped)

    def _accepted(self, news: News, lags: list[int]) -> tuple[pa.RecordBatch | None, int, int]:
        """Unpack rows, count late ones, and leave out those that come too late for all windows."""
        batches = [unpack(data) for data in news.slices]
        if not batches:
            return None, 0, 0
        rows = joined(_alike(batches))
        time = rows[names.TIME].to_numpy()
        late = int((time < self.head.watermark - min(lags)).sum())
        is_late = time < self.head.watermark - max(lags)
        return rows.filter(pa.array(~is_late)) if is_late.any() else rows, late, int(is_late.sum())

    def _check(self, fresh: pa.RecordBatch | None) -> None:
        """Refuse rows that are wrong for a window before they are kept: what brought them can be repaired then."""
        if fresh is None or not any(framing.checks for framing in self.job.task.framings):
            return
        segments = {segment.number: segment for segment in self.head.segments}
        rows = joined(_alike([*(unpack(self.store.read(number)) for number in segments if number >= 0), fresh]))
        for place, slicing in enumerate(self.job.slicings):
            waiting = _between(rows, self.head.watermark - slicing[0].window.lag, FOREVER)
            if not waiting.num_rows:
                continue
            task = self.job.task
            items = batch_with_numbers(self._ordered(waiting).select(task.inputs))
            whole = Rows(in_key_order(items, task.layout), task.layout)
            memory, _ = memory_from(self._read(_memories(place), segments), whole, slots_of(slicing))
            groups = len(whole.bounds()) - 1
            nothing = np.zeros(groups, np.bool_)
            stretch = Stretch(whole, memory, np.full(groups, -FOREVER), nothing, np.full(groups, FOREVER))
            for framing in slicing:
                framing.check(stretch)

    def _known(self, fresh: pa.RecordBatch | None, now: int) -> pa.RecordBatch | None:
        """Give the rows that may be fed now, and those after them that sessions go on with."""
        waiting = [
            unpack(self.store.read(one.number)) for one in self.head.segments if one.number >= 0 and one.first <= now
        ]
        batches = [*waiting, *([] if fresh is None else [fresh])]
        return joined(_alike(batches)) if batches else None

    def _fed(
        self, place: int, rows: pa.RecordBatch | None, now: int, segments: dict[int, Segment]
    ) -> Iterator[pa.RecordBatch]:
        """Feed the rows that the watermark has passed to windows that share slices."""
        framings, task = self.job.slicings[place], self.job.task
        lag = framings[0].window.lag
        ready = None if rows is None else _between(rows, self.head.watermark - lag, now - lag)
        parts = [self._read(number, segments) for number in (_slices(place), _memories(place))]
        slices, memories = parts
        items = [slices] if slices is not None else []
        if ready is not None and ready.num_rows:
            items.append(batch_with_numbers(self._ordered(ready).select(task.inputs)))
        if not items:
            return
        whole = Rows(in_key_order(joined(_alike(items)), task.layout), task.layout)
        slots = slots_of(framings)
        memory, rest = memory_from(memories, whole, slots)
        groups = len(whole.bounds()) - 1
        after = None if rows is None else _between(rows, now - lag, FOREVER)
        stretch = Stretch(
            whole, memory, np.full(groups, now), np.zeros(groups, np.bool_), _following(whole, after, groups)
        )
        yield from framed(stretch, framings, task)
        self._write(_slices(place), kept(stretch, framings, task), segments)
        self._write(_memories(place), memory_to(stretch, framings, rest), segments)

    def _ordered(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Bring rows of one time into the order that was asked for."""
        if not self.job.order:
            return rows
        ranks = [_ranks(rows[name], direction) for name, direction in self.job.order]
        return rows.take(pa.array(np.lexsort((*reversed(ranks), rows[names.TIME].to_numpy()))))

    def _read(self, number: int, segments: dict[int, Segment]) -> pa.RecordBatch | None:
        return unpack(self.store.read(number)) if number in segments else None

    def _write(self, number: int, batch: pa.RecordBatch, segments: dict[int, Segment]) -> None:
        """Keep slices or memories under a number of their own."""
        if batch.num_rows:
            self.store.write(number, pack(batch))
            segments[number] = Segment(number, self.watermark, self.watermark, batch.num_rows)
        elif number in segments:
            self.store.remove(number)
            del segments[number]


def _slices(place: int) -> int:
    """Give the number of the slices of some windows; waiting rows have numbers from 0."""
    return -1 - 2 * place


def _memories(place: int) -> int:
    return -2 - 2 * place


def _between(rows: pa.RecordBatch, since: int, until: int) -> pa.RecordBatch:
    """Give the rows from one time on and before another."""
    time = rows[names.TIME].to_numpy()
    inside = (time >= since) & (time < until)
    return rows if inside.all() else rows.filter(pa.array(inside))


def _following(rows: Rows, after: pa.RecordBatch | None, groups: int) -> Longs:
    """Give the time of the first row of every group that is known but not fed yet."""
    following = np.full(groups, FOREVER)
    if after is None or not after.num_rows:
        return following
    heads = rows.bounds()[:-1]
    columns = [
        pa.concat_arrays([rows.batch[key].take(pa.array(heads)), after[key].cast(rows.batch[key].type)])
        for key in rows.layout.keys
    ]
    codes = key_codes(columns, groups + after.num_rows)
    first = np.full(int(codes.max()) + 1, FOREVER)
    np.minimum.at(first, codes[groups:], after[names.TIME].to_numpy())
    return np.asarray(first[codes[:groups]])


def _alike(batches: Sequence[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Give all batches the types of the last, which is of today; Spark tells times by the zone of the session."""
    schema = batches[-1].schema
    return [batch if batch.schema.equals(schema) else batch.select(schema.names).cast(schema) for batch in batches]


def _ranks(column: pa.Array, direction: str) -> Longs:
    """Rank values in a direction of Spark's, such as 'DESC NULLS LAST'."""
    ranks = pc.rank(column, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
    ranks = -ranks if direction.startswith("DESC") else ranks
    return np.where(np.asarray(column.is_valid()), ranks, -FOREVER if direction.endswith("FIRST") else FOREVER)


def _messages(batches: list[pa.RecordBatch]) -> Iterator[bytes]:
    if batches:
        whole = joined(batches)
        for start in range(0, whole.num_rows, ROWS):
            yield pack(whole.slice(start, ROWS))
