"""What is known of every query: counters that only go up, and gauges, for as long as a listener lives."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from muntin.spark.stream.metrics.exposition import Labels, exposition
from muntin.spark.stream.metrics.families import (
    FAILURES,
    FAMILIES,
    LAG,
    STARTS,
    UP,
    WATERMARK,
    Family,
    Sample,
    samples,
)
from muntin.spark.stream.progress import Progress

ENDED = 100
"""Queries that have ended and are still listed; older ones go."""

Key = tuple[Family, str]
"""A metric and the value of its own label."""


@dataclass
class Tracked:
    """One query, by its id, over all its runs from one checkpoint."""

    id: str
    name: str
    shape: str = ""
    values: dict[Key, float] = field(default_factory=dict)

    def take(self, sample: Sample) -> None:
        """Let a counter go up, or a gauge stand where it is now."""
        key = sample.family, sample.label
        before = self.values.get(key, 0) if sample.family.kind == "counter" else 0
        self.values[key] = before + sample.value

    def labels(self, family: Family, label: str) -> Labels:
        """Give the labels of a value: the query, its id, its shape, and that of the metric itself."""
        shape = {"shape": self.shape} if family.shaped else {}
        return {"query": self.name, "id": self.id} | shape | ({family.label: label} if family.label else {})


class Counts:
    """The metrics of all queries of a session; may be read while it is written."""

    def __init__(self, clock: Callable[[], float] = time.time, is_stopped: Callable[[], bool] = bool) -> None:
        self._clock, self._is_stopped = clock, is_stopped
        self._queries: dict[str, Tracked] = {}
        self._lock = threading.Lock()

    def started(self, id: str, name: str | None) -> None:
        """Note that a query runs, perhaps not for the first time; one that has ended makes room for it."""
        with self._lock:
            query = self._queries.pop(id, None) or Tracked(id, name or id)
            query.name = name or id
            query.take(Sample(UP, 1))
            query.take(Sample(STARTS, 1))
            query.take(Sample(FAILURES, 0))
            self._queries[id] = query
            ended = [one for one in self._queries.values() if not one.values[UP, ""]]
            for old in ended[: max(0, len(ended) - ENDED)]:
                del self._queries[old.id]

    def progressed(self, id: str, name: str | None, one: Progress) -> None:
        """Count a micro-batch in; of a query that ran before anybody listened, too."""
        if id not in self._queries:
            self.started(id, name)
        with self._lock:
            query = self._queries[id]
            query.shape = one.shape or query.shape
            for sample in samples(one):
                query.take(sample)

    def ended(self, id: str, *, failed: bool) -> None:
        """Note that a query has ended; what it counted stays."""
        with self._lock:
            if id in self._queries:
                self._queries[id].take(Sample(UP, 0))
                self._queries[id].take(Sample(FAILURES, int(failed)))

    def text(self) -> str:
        """Write all metrics as Prometheus text; queries end with their session, of which nobody is told."""
        stopped = self._is_stopped()
        with self._lock:
            for query in self._queries.values() if stopped else ():
                query.take(Sample(UP, 0))
            return exposition([(family, list(self._values(family))) for family in FAMILIES])

    def _values(self, family: Family) -> Iterator[tuple[Labels, float]]:
        for query in self._queries.values():
            if family is LAG:
                if (WATERMARK, "") in query.values and query.values[UP, ""]:
                    yield query.labels(LAG, ""), self._clock() - query.values[WATERMARK, ""]
                continue
            for (known, label), value in query.values.items():
                if known is family:
                    yield query.labels(family, label), value
