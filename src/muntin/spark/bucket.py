"""The state of one bucket of keys: slices that open instances need, in pages of time, and what has been given.

A step takes a micro-batch's slices and watermark, gives every instance that became due exactly once, and writes the
pages that were touched. It knows nothing of Spark: the state is read and written through a Store.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from muntin.errors import QueryError
from muntin.kernels.protocol import Longs
from muntin.kernels.spans import FOREVER
from muntin.registry import Change
from muntin.spark.batches import Layout, Rows, joined
from muntin.spark.combine import merged_slices
from muntin.spark.emit import emit, forest, needed, times
from muntin.spark.packing import COUNT, pack, unpack
from muntin.spark.terms import Due, Term, any_closed, any_open, kept
from muntin.window import Shape

PAGES = 8
"""Pages in the longest range."""
ROWS = 500_000
"""Instances in one message."""


class Store(Protocol):
    """Where a bucket's pages are kept."""

    def read(self, page: int) -> bytes:
        """Give a page."""

    def write(self, page: int, data: bytes) -> None:
        """Keep a page, instead of what was kept of it."""

    def remove(self, page: int) -> None:
        """Keep a page no longer."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is the same for all buckets and micro-batches; it travels pickled."""

    layout: Layout
    overlap: bool
    """Whether partials may be combined that overlap."""
    query: str
    """What a checkpoint must have been made for."""
    terms: tuple[Term, ...] = ()
    """The windows, unless a registry has them."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a bucket keeps beside its pages."""

    query: str
    terms: tuple[Term, ...]
    watermark: int = 0
    """Up to when instances have been given, in microseconds; Spark begins with 0."""
    latest: int = -FOREVER
    """The latest event time that any bucket has got."""
    length: int = 1
    """How much time a page has."""
    pages: tuple[int, ...] = ()
    ended: tuple[int, ...] = ()
    """The changes that added windows which are over."""

    def to_json(self) -> str:
        """Write the head as text."""
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str, job: Job) -> Head:
        """Read the head back, and refuse one of another query."""
        told = json.loads(text)
        if told["query"] != job.query:
            raise QueryError(
                f"the checkpoint was made by {told['query']}, and this is {job.query}. Use a new checkpoint; "
                "windows that come and go need a WindowRegistry."
            )
        terms = tuple(Term(**(term | {"shape": tuple(term["shape"])})) for term in told["terms"])
        return Head(**(told | {"terms": terms, "pages": tuple(told["pages"]), "ended": tuple(told["ended"])}))


@dataclass(frozen=True, slots=True)
class News:
    """What a micro-batch has for a bucket."""

    slices: tuple[bytes, ...] = ()
    latest: int = -FOREVER
    changes: tuple[Change, ...] = ()
    version: int | None = None
    """The oldest version of the registry that slices were cut for."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step gives."""

    head: Head
    messages: tuple[bytes, ...] = ()
    late: int = 0
    """Rows that came too late for at least one instance."""
    dropped: int = 0
    """Rows that came too late for all."""


@dataclass
class Step:
    """One step of a bucket under way."""

    job: Job
    head: Head
    store: Store
    watermark: int
    late: int = 0
    dropped: int = 0
    gone: set[int] = field(default_factory=set)
    """Pages that are kept no longer."""

    def run(self, news: News) -> Outcome:
        """Take what is new, give what is due, keep what is open."""
        before = self.head
        terms, ended = _changed(before, news, self.watermark)
        fresh = self._accepted(news.slices, terms)
        length = _page_length(terms) if news.changes or not before.pages else before.length
        if length != before.length:
            fresh += [unpack(self.store.read(page)) for page in before.pages]
            self.gone |= set(before.pages)
        old = [page for page in before.pages if page not in self.gone]
        due = _due(terms, before.watermark, self.watermark)
        shapes = tuple(dict.fromkeys(term.shape for term in terms))
        nodes = forest(shapes, self.job.overlap) if shapes else ()
        found = needed(nodes, due)
        touched = {int(page) for batch in fresh for page in np.unique(_times(batch) // length)}
        read = times(nodes, found)
        loaded = [p for p in old if p in touched or (read and p * length < read[1] and (p + 1) * length > read[0])]
        batches = fresh + [unpack(self.store.read(page)) for page in loaded]
        messages: tuple[bytes, ...] = ()
        written: set[int] = set()
        if batches:
            rows = Rows(merged_slices(_alike(batches), self.job.layout), self.job.layout)
            messages = tuple(_messages(emit(rows, nodes, found, due), terms))
            written = self._written(rows, terms, touched, length)
        pages = np.array(sorted({*old, *written}), np.int64)
        is_open = any_open(terms, pages * length, (pages + 1) * length - 1, self.watermark)
        self.gone |= {int(page) for page in pages[~is_open]} | (touched & set(old) - written)
        for page in sorted(self.gone & set(before.pages) - written):
            self.store.remove(page)
        left = tuple(int(page) for page in pages if page in written or page not in self.gone)
        latest = max(before.latest, news.latest)
        head = Head(before.query, terms, max(self.watermark, before.watermark), latest, length, left, ended)
        return Outcome(head, messages, self.late, self.dropped)

    def _accepted(self, slices: Iterable[bytes], terms: Sequence[Term]) -> list[pa.RecordBatch]:
        """Unpack slices, count their late rows, and leave out what no open instance has."""
        accepted = []
        for data in slices:
            batch = unpack(data)
            time, counts = _times(batch), batch[COUNT].to_numpy()
            accept = kept(terms, time, self.head.watermark)
            before = np.flatnonzero(time < self.head.watermark)
            closed = before[any_closed(terms, time[before], self.head.watermark)]
            self.late += int(counts[closed].sum())
            self.dropped += int(counts[closed[~accept[closed]]].sum())
            batch = batch.drop_columns([COUNT])
            accepted.append(batch if accept.all() else batch.filter(pa.array(accept)))
        return [batch for batch in accepted if batch.num_rows]

    def _written(self, rows: Rows, terms: Sequence[Term], touched: set[int], length: int) -> set[int]:
        """Write the pages that were touched, as far as they are open, and tell which."""
        pages = rows.time // length
        stays = kept(terms, rows.time, self.watermark)
        written = touched & {int(page) for page in np.unique(pages[stays])}
        for page in sorted(written):
            self.store.write(page, pack(rows.batch.take(pa.array(np.flatnonzero(stays & (pages == page))))))
        return written


def step(job: Job, head: Head | None, store: Store, news: News, watermark: int) -> Outcome:
    """Do one step of a bucket; a watermark is in microseconds."""
    return Step(job, head or Head(job.query, job.terms), store, watermark).run(news)


def _changed(head: Head, news: News, watermark: int) -> tuple[tuple[Term, ...], tuple[int, ...]]:
    """Give the windows that count in this micro-batch, and the changes that added those which are over.

    An added window starts after everything that came before this micro-batch; what comes with it is cut for it already.
    Both depend on what the checkpoint knows only, so all buckets and all attempts agree.
    """
    terms = list(head.terms)
    for change in sorted(news.changes, key=lambda change: change.version):
        if news.version is not None and change.version > news.version:
            raise QueryError(
                f"change {change.version} of the window registry was not seen by a worker, which saw {news.version}. "
                "Use a path that all workers see at once, and start the query again."
            )
        if change.window is not None:
            started = head.latest + (head.latest > -FOREVER)
            since = max(started, -FOREVER if change.at is None else change.at)
            terms.append(Term(change.version, change.window.shape, change.id, change.version, since))
        else:
            until = max(watermark, watermark if change.at is None else change.at)
            live = {term.id: place for place, term in enumerate(terms) if term.until == FOREVER}
            if change.id in live:
                terms[live[change.id]] = replace(terms[live[change.id]], until=until)
    over = (term.version for term in terms if term.until <= head.watermark)  # given to the last in an earlier one
    return tuple(term for term in terms if term.until > head.watermark), (*head.ended, *over)


def _due(terms: Iterable[Term], after: int, by: int) -> Mapping[int, Sequence[Due]]:
    """Give the instances that are due, by the place of their window's shape among those of all windows."""
    places: dict[Shape, int] = {}
    found: dict[int, list[Due]] = {}
    for term in terms:
        place = places.setdefault(term.shape, len(places))
        if due := term.due(after, by):
            found.setdefault(place, []).append(due)
    return found


def _page_length(terms: Iterable[Term]) -> int:
    longest = max((term.shape[0] for term in terms), default=PAGES)
    return max(1, longest // PAGES)


def _alike(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    """Give all batches the types of the first, which is of today; Spark tells times by the zone of the session."""
    schema = batches[0].schema
    return [batch if batch.schema.equals(schema) else batch.cast(schema) for batch in batches]


def _messages(batches: Iterable[pa.RecordBatch], terms: Iterable[Term]) -> Iterable[bytes]:
    told = json.dumps({term.number: (term.id, term.shape[0]) for term in terms})
    found = list(batches)
    if found:
        whole = joined(found).replace_schema_metadata({"windows": told})
        for start in range(0, whole.num_rows, ROWS):
            yield pack(whole.slice(start, ROWS))


def _times(batch: pa.RecordBatch) -> Longs:
    return np.asarray(batch["t"].to_numpy())


def told(terms: Iterable[Term]) -> list[dict[str, Any]]:
    """Say of windows what a registry lists."""
    return [
        {
            "id": term.id,
            "version": term.version,
            "since": None if term.since == -FOREVER else term.since,
            "until": None if term.until == FOREVER else term.until,
        }
        for term in terms
    ]
