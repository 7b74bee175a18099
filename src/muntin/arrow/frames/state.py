"""The state of one bucket of keys for windows of every kind: rows that wait, slices of open instances, and memories.

A row waits until the watermark has passed it: no row before it can come any more. Then it is fed, in order of time, to
the windows of its key. Windows that share slices are fed together; sessions wait a gap longer, as plain Spark's do, so
each gap has slices of its own. Waiting rows lie in segments that are written once. Slices and memories are written
whenever the watermark moves.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from muntin import names
from muntin.arrow.batches import Rows, joined
from muntin.arrow.combine import in_key_order, key_codes
from muntin.arrow.frames.framing import Framing
from muntin.arrow.frames.framings import framing
from muntin.arrow.frames.memories import memory_from, memory_to
from muntin.arrow.frames.slicing import FrameTask, framed, kept, slots_of
from muntin.arrow.frames.stretch import Stretch, batch_with_numbers
from muntin.arrow.state.bucket import News, Outcome, Store, changed, taken
from muntin.arrow.state.head import Head, Segment
from muntin.arrow.state.packing import pack, unpack, unpack_state
from muntin.arrow.state.terms import Term
from muntin.change_files import removal
from muntin.duration import FOREVER
from muntin.errors import QueryError
from muntin.fingerprint import Fingerprint
from muntin.kernels.protocol import Longs
from muntin.window import LastTime

ROWS = 500_000
"""Instances in one message."""
LACKING = "the query did not read before its last start"
"""Why rows of the state lack a column."""


@dataclass(frozen=True)
class FrameJob:
    """What is the same for all buckets and micro-batches; it travels pickled."""

    task: FrameTask
    fingerprint: Fingerprint
    order: tuple[tuple[str, str], ...] = ()
    """The columns that rows of one time are ordered by, and the direction of each as Spark writes it."""
    terms: tuple[Term, ...] = ()

    registered: bool = False
    """Whether windows come and go."""

    def slicings(self, terms: Iterable[Term]) -> tuple[Slicing, ...]:
        """Give the windows that are fed together: those that share slices, and wait as long for rows.

        A window that comes and goes has slices of its own.
        """
        if self.registered:
            return tuple(self._alone(term) for term in terms)
        together: dict[tuple[bool, int], list[Framing]] = {}
        for framed_window in self.task.framings:
            together.setdefault((framed_window.deterministic, framed_window.window.lag), []).append(framed_window)
        return tuple(Slicing(place, tuple(together[key])) for place, key in enumerate(sorted(together)))

    def _alone(self, term: Term) -> Slicing:
        columns = tuple(names.watched_as(str(watch.column), watch.role) for watch in term.window.watches)
        alone = framing(term.window, term.number, columns, term.number, was_added=term.since > -FOREVER)
        slicing = Slicing(term.number, (alone,), term.since, term.until, term.id)
        slicing.check_columns(self.task.watched, "the query does not read")
        return slicing


@dataclass(frozen=True)
class Slicing:
    """Windows that share slices, and the stretch of time that they count in."""

    number: int
    """What their slices and memories are kept by."""
    framings: tuple[Framing, ...]
    since: int = -FOREVER
    until: int = FOREVER
    label: str | None = None
    """What a registry calls the window."""

    @property
    def lag(self) -> int:
        """How long they wait for rows behind the watermark."""
        return int(self.framings[0].window.lag)

    @property
    def labels(self) -> list[str]:
        """What the windows are called."""
        return [self.label or framed_window.window.label for framed_window in self.framings]

    @property
    def counts(self) -> bool:
        """Whether they count rows: those from when they were added."""
        return self.framings[0].window.measure == "rows" or isinstance(self.framings[0].window, LastTime)

    @property
    def slices(self) -> int:
        """The number of their slices; waiting rows have numbers from 0."""
        return -1 - 2 * self.number

    @property
    def memories(self) -> int:
        """The number of what is remembered for them."""
        return -2 - 2 * self.number

    def check_columns(self, known: Iterable[str], reason: str) -> None:
        """Refuse a window of a registry that watches a column of which nothing is known."""
        if missing := {column for one in self.framings for column in one.columns} - set(known):
            column = min(missing).split(" ", 2)[-1]
            raise QueryError(
                f"window {self.label!r} of the registry watches {column!r}, which {reason}. "
                f"{removal(self.number)} Or use a new checkpoint."
            )

    def within(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Give the instances inside the stretch of time; sessions must begin a gap later, to have no row before it."""
        if self.since == -FOREVER and self.until == FOREVER:
            return batch
        start, end = (batch[name].to_numpy() for name in (names.START, names.FINISH))
        return batch.filter(pa.array((start >= self.since + self.lag) & (end <= self.until)))


def missed(time: Longs, head: Head, slicings: Sequence[Slicing]) -> NDArray[np.bool_]:
    """Tell which rows come too late for all windows; for none, if there are no windows."""
    return np.asarray(time < head.watermark - max((slicing.lag for slicing in slicings), default=FOREVER))


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
        now = max(self.head.watermark, self.watermark)
        terms = changed(self.head, news.changes, self.watermark) if self.job.registered else ()
        slicings = self.job.slicings(terms)
        lags = [slicing.lag for slicing in slicings] or [0]
        self._check_columns(slicings)
        fresh, late, dropped, by_window = self._accepted(news, slicings)
        self._check(fresh, slicings)
        waits = now - max(lags)
        segments = {segment.number: segment for segment in self.head.segments}
        following = self.head.following
        messages: tuple[bytes, ...] = ()
        if now > self.head.watermark:
            rows = self._known(fresh, now, slicings if self.job.registered else ())
            given = [slicing.within(batch) for slicing in slicings for batch in self._fed(slicing, rows, now, segments)]
            messages = tuple(_messages([batch for batch in given if batch.num_rows], terms))
        kept_numbers = {number for slicing in slicings for number in (slicing.slices, slicing.memories)}
        for number, segment in list(segments.items()):
            if segment.last < waits if number >= 0 else number not in kept_numbers:
                self.store.remove(number)
                del segments[number]
        if fresh is not None and (left := _between(fresh, waits, FOREVER)).num_rows:
            time = left[names.TIME].to_numpy()
            self.store.write(following, pack(left))
            segments[following] = Segment(following, int(time.min()), int(time.max()), left.num_rows)
            following += 1
        latest = max(self.head.latest, news.latest)
        news_taken = taken(self.head, news.changes) if self.job.registered else (0, ())
        head = Head(self.head.fingerprint, terms, now, latest, tuple(segments.values()), following, *news_taken)
        return Outcome(head, messages, late, dropped, by_window)

    def _accepted(
        self, news: News, slicings: Sequence[Slicing]
    ) -> tuple[pa.RecordBatch | None, int, int, dict[str, int]]:
        """Unpack rows, count late ones, and leave out those that come too late for all windows."""
        batches = [unpack(data) for data in news.slices]
        if not batches:
            return None, 0, 0, {label: 0 for one in slicings for label in one.labels}
        rows = joined(_alike(batches))
        time = rows[names.TIME].to_numpy()
        late = [int((time < self.head.watermark - slicing.lag).sum()) for slicing in slicings]
        by_window = {label: rows for rows, one in zip(late, slicings, strict=True) for label in one.labels}
        is_late = missed(time, self.head, slicings)
        dropped = int(is_late.sum())
        accepted = rows.filter(pa.array(~is_late)) if dropped else rows
        return accepted, max(late, default=dropped), dropped, by_window

    def _check(self, fresh: pa.RecordBatch | None, slicings: Sequence[Slicing]) -> None:
        """Refuse rows that are wrong for a window before they are kept: what brought them can be repaired then."""
        if fresh is None or not any(one.checks for slicing in slicings for one in slicing.framings):
            return
        segments = {segment.number: segment for segment in self.head.segments}
        rows = joined(_alike([*(unpack_state(self.store.read(number)) for number in segments if number >= 0), fresh]))
        for slicing in slicings:
            waiting = _between(rows, self.head.watermark - slicing.lag, FOREVER)
            if not waiting.num_rows:
                continue
            task = self.job.task
            items = batch_with_numbers(self._ordered(waiting).select(task.inputs))
            whole = Rows(in_key_order(items, task.layout), task.layout)
            memory, _ = memory_from(self._read(slicing.memories, segments), whole, slots_of(slicing.framings))
            groups = len(whole.bounds()) - 1
            nothing = np.zeros(groups, np.bool_)
            stretch = Stretch(whole, memory, np.full(groups, -FOREVER), nothing, np.full(groups, FOREVER))
            for one in slicing.framings:
                one.check(stretch)

    def _check_columns(self, slicings: Sequence[Slicing]) -> None:
        """Refuse a new window of a registry before it is taken, if rows that wait lack what it watches."""
        known = {term.number for term in self.head.terms}
        added = [one for one in slicings if one.label is not None and one.number not in known]
        if any(one.framings[0].columns for one in added):
            for segment in self.head.segments:
                for one in added if segment.number >= 0 else ():
                    one.check_columns(unpack_state(self.store.read(segment.number)).schema.names, LACKING)

    def _known(self, fresh: pa.RecordBatch | None, now: int, registered: Sequence[Slicing]) -> pa.RecordBatch | None:
        """Give the rows that may be fed now, and those after them that sessions go on with."""
        waiting = [
            unpack_state(self.store.read(one.number))
            for one in self.head.segments
            if one.number >= 0 and one.first <= now
        ]
        for slicing in registered:
            for batch in waiting:
                slicing.check_columns(batch.schema.names, LACKING)
        batches = [*waiting, *([] if fresh is None else [fresh])]
        return joined(_alike(batches)) if batches else None

    def _fed(
        self, slicing: Slicing, rows: pa.RecordBatch | None, now: int, segments: dict[int, Segment]
    ) -> Iterator[pa.RecordBatch]:
        """Feed the rows that the watermark has passed to windows that share slices."""
        framings, task, lag = slicing.framings, self.job.task, slicing.lag
        since = max(self.head.watermark - lag, slicing.since if slicing.counts else -FOREVER)
        ready = None if rows is None else _between(rows, since, now - lag)
        slices, memories = (self._read(number, segments) for number in (slicing.slices, slicing.memories))
        if slicing.label is not None and slices is not None:
            slicing.check_columns(slices.schema.names, LACKING)
        items = [slices] if slices is not None else []
        if ready is not None and ready.num_rows:
            items.append(batch_with_numbers(self._ordered(ready).select(task.inputs)))
        if not items:
            return
        whole = Rows(in_key_order(joined(_alike(items)), task.layout), task.layout)
        memory, rest = memory_from(memories, whole, slots_of(framings))
        groups = len(whole.bounds()) - 1
        after = None if rows is None else _between(rows, now - lag, FOREVER)
        stretch = Stretch(
            whole, memory, np.full(groups, now), np.zeros(groups, np.bool_), _following(whole, after, groups)
        )
        yield from framed(stretch, framings, task)
        self._write(slicing.slices, kept(stretch, framings, task), segments)
        self._write(slicing.memories, memory_to(stretch, framings, rest), segments)

    def _ordered(self, rows: pa.RecordBatch) -> pa.RecordBatch:
        """Bring rows of one time into the order that was asked for."""
        if not self.job.order:
            return rows
        ranks = [_ranks(rows[name], direction) for name, direction in self.job.order]
        return rows.take(pa.array(np.lexsort((*reversed(ranks), rows[names.TIME].to_numpy()))))

    def _read(self, number: int, segments: dict[int, Segment]) -> pa.RecordBatch | None:
        return unpack_state(self.store.read(number)) if number in segments else None

    def _write(self, number: int, batch: pa.RecordBatch, segments: dict[int, Segment]) -> None:
        """Keep slices or memories under a number of their own."""
        if batch.num_rows:
            self.store.write(number, pack(batch))
            segments[number] = Segment(number, self.watermark, self.watermark, batch.num_rows)
        elif number in segments:
            self.store.remove(number)
            del segments[number]


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
    """Give all batches the columns and types of the last, which is of today.

    Spark tells times by the zone of the session. A column that only windows since the last start watch is null.
    """
    schema = batches[-1].schema
    return [batch if batch.schema.equals(schema) else _like(batch, schema) for batch in batches]


def _like(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    known = set(batch.schema.names)
    columns = [
        batch[field.name].cast(field.type) if field.name in known else pa.nulls(batch.num_rows, field.type)
        for field in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _ranks(column: pa.Array, direction: str) -> Longs:
    """Rank values in a direction of Spark's, such as 'DESC NULLS LAST'."""
    ranks = pc.rank(column, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
    ranks = -ranks if direction.startswith("DESC") else ranks
    return np.where(np.asarray(column.is_valid()), ranks, -FOREVER if direction.endswith("FIRST") else FOREVER)


def _messages(batches: list[pa.RecordBatch], terms: Iterable[Term]) -> Iterator[bytes]:
    """Pack instances, with the labels of windows that only the state knows."""
    told = json.dumps({term.number: (term.id, 0) for term in terms})
    if batches:
        whole = joined(batches).replace_schema_metadata({"windows": told})
        for start in range(0, whole.num_rows, ROWS):
            yield pack(whole.slice(start, ROWS))
