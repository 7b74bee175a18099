"""The state of exact distinct counts without Spark: random micro-batches against sets, and what is kept of them."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any

import pyarrow as pa
import pytest

from muntin.arrow.batches import ColumnLayout
from muntin.arrow.state import distinct
from muntin.arrow.state.bucket import MANY, News
from muntin.arrow.state.distinct import DistinctJob, distinct_step
from muntin.arrow.state.head import Head
from muntin.arrow.state.packing import Packing, packed_at_source, unpack, unpacked
from muntin.arrow.state.terms import Term
from muntin.duration import FOREVER
from muntin.fingerprint import Computed, Fingerprint, Input
from muntin.plan.slicing.grids import slicing
from muntin.window import Window
from tests.arrow.test_bucket import Kept

WINDOWS = (Window(10), Window(20), Window(30, 10), Window(15, 5), Window(7, 3, 2), Window(300, 60), Window(100, 7))
QUERY = Fingerprint("distinct", Input("ts", "timestamp"), (), (Computed("count_distinct"),), buckets=1)
TYPES = (pa.int64(), pa.string(), pa.float64())

Event = tuple[str | None, int, tuple[Any, ...]]
"""A key, a time, and a value of every column."""


class Running:
    """A bucket that is fed micro-batches, and the sets that it should have counted."""

    def __init__(self, windows: tuple[Window, ...], delay: int, columns: int = 1) -> None:
        self.items = tuple(f"i{n}" for n in range(columns))
        self.layout = ColumnLayout((), (), ("k0", *self.items))
        self.terms = tuple(Term(number, window, window.label) for number, window in enumerate(windows))
        self.job = DistinctJob(self.layout.of_slices(), True, QUERY, self.terms, ("k0",), self.items)
        self.packing = Packing(self.layout, (0,), slicing(windows), items=self.items)
        self.head: Head | None = None
        self.store, self.delay = Kept(), delay
        self.watermark = self.previous = 0
        self.latest = -FOREVER
        self.sets: dict[tuple[int, int, str | None], tuple[set[Any], ...]] = defaultdict(
            lambda: tuple(set() for _ in range(columns))
        )
        self.given: dict[tuple[int, int, str | None], tuple[int, ...]] = {}
        self.late = self.dropped = 0
        self.wanted_late = self.wanted_dropped = 0

    def feed(self, rows: list[Event]) -> None:
        self._account(rows)
        columns = {
            "t": pa.array([time for _, time, _ in rows], pa.int64()),
            "bucket_number": pa.array([0] * len(rows), pa.int32()),
            "k0": pa.array([key for key, _, _ in rows], pa.string()),
        } | {
            name: pa.array([values[place] for _, _, values in rows], type)
            for place, (name, type) in enumerate(zip(self.items, TYPES, strict=False))
        }
        (message,) = packed_at_source([pa.RecordBatch.from_pydict(columns)] if rows else [], self.packing)
        data = tuple(one for one in message["data"].to_pylist() if one)
        kept = None if self.head is None else Head.from_json(self.head.to_json()).taken_up(self.job)
        outcome = distinct_step(self.job, kept, self.store, News(data, message["latest"][0].as_py()), self.watermark)
        self.head = outcome.head
        self.late, self.dropped = self.late + outcome.late, self.dropped + outcome.dropped
        packed = pa.RecordBatch.from_pydict({"data": pa.array(outcome.messages, pa.binary())})
        for batch in unpacked([packed], False):
            assert batch.schema.names == ["w", "s", "k0", *(f"a{place}" for place in range(len(self.items)))]
            for number, start, key, *counts in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                assert (number, start, key) not in self.given, "an instance was given twice"
                assert self.previous < start + self.terms[number].window.range <= self.watermark
                self.given[number, start, key] = tuple(counts)
        assert set(self.store.kept) == {segment.number for segment in self.head.segments}
        self.latest = max([self.latest, *(time for _, time, _ in rows)])
        self.previous, self.watermark = self.watermark, max(self.watermark, self.latest - self.delay)

    def _account(self, rows: list[Event]) -> None:
        """Put the values of a row into the sets of every instance that ends after the watermark before."""
        for key, time, values in rows:
            instances = [(t.number, start, end) for t in self.terms for start, end in t.window.containing(time)]
            is_open = [end > self.previous for _, _, end in instances]
            self.wanted_late += not all(is_open)
            self.wanted_dropped += bool(instances) and not any(is_open)
            for (number, start, _), counts in zip(instances, is_open, strict=True):
                if counts:
                    for held, value in zip(self.sets[number, start, key], values, strict=True):
                        held |= {value} - {None}

    def finish(self) -> None:
        self.feed([])
        self.watermark = self.latest + 200_000
        self.feed([])
        assert self.given == {place: tuple(map(len, held)) for place, held in self.sets.items()}
        assert (self.late, self.dropped) == (self.wanted_late, self.wanted_dropped)
        assert not self.store.kept

    @property
    def occurrences(self) -> list[tuple[Any, ...]]:
        """What is kept: when a slice begins, its key and its items."""
        return [
            row
            for data in self.store.kept.values()
            for row in zip(*(column.to_pylist() for column in unpack(data).columns), strict=True)
        ]


def value(r: random.Random, place: int) -> Any:
    if r.random() < 0.15:
        return None
    return (r.randint(0, 30), r.choice(["", "a", "b", "é"]), r.choice([0.0, 1.5, -2.0]))[place]


@pytest.mark.parametrize("seed", range(40))
def test_random_micro_batches_give_the_sizes_of_sets(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Late rows, gaps, keys and items that are null, columns of several types; the state is read back every time."""
    r = random.Random(seed)
    monkeypatch.setattr(distinct, "FEW", r.choice([0, 20, 5_000]))
    windows = tuple(r.sample(WINDOWS, r.randint(1, 4)))
    running = Running(windows, r.choice([0, 10, 50, 500]), columns := r.choice([1, 1, 2, 3]))
    now = r.choice([0, 1000])
    for _ in range(r.randint(3, 15)):
        now += r.choice([0, 5, 30, 100, 5000])
        running.feed(
            [
                (
                    r.choice(["a", "b", None]),
                    now + r.randint(-60, 60) - r.choice([0] * 8 + [200, 400]),
                    tuple(value(r, place) for place in range(columns)),
                )
                for _ in range(r.choice([0, 1, 20, 200]))
            ]
        )
    running.finish()


def test_many_days_leave_one_occurrence_of_every_item(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand users over ninety days, in windows of 1, 7 and 30 days: sets would hold 38 thousand of each day's."""
    monkeypatch.setattr(distinct, "FEW", 100)
    r = random.Random(5)
    day, users = 1000, 1000
    running = Running((Window(day), Window(7 * day, day), Window(30 * day, day)), delay=10)
    most = written = came = 0
    for today in range(90):
        rows = [("de", today * day + r.randrange(day), (r.randrange(users),)) for _ in range(500)]
        running.feed(sorted(rows, key=lambda row: row[1]))
        came += len({row[2] for row in rows})
        if today > 35:
            most = max(most, running.store.slices)
    assert users <= most < 2.3 * users
    written = running.store.slices_written
    assert written < 6 * came  # not everything every day
    assert sum(len(held) for place, (held,) in running.sets.items() if place not in running.given) > 10 * users
    running.finish()


def test_tumbling_windows_read_nothing_until_they_close_and_stay_small_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(distinct, "FEW", 1000)
    running = Running((Window(10), Window(100_000)), delay=0)
    for now in range(0, 8_000, 10):
        running.feed([("a", now, (item % 50,)) for item in range(now, now + 12)])
        assert len(running.store.kept) <= MANY
    assert running.store.slices < 2 * distinct.FEW
    running.finish()


def test_what_is_kept_is_what_the_paper_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A3.8: the latest occurrence of every item in the longest window, at 8 and at 11; the end is inclusive there."""
    monkeypatch.setattr(distinct, "FEW", 0)
    monkeypatch.setattr(distinct, "GROWTH", 0)
    running = Running((Window(4, 1), Window(10, 1)), delay=0)
    items = {1: 3, 2: 5, 4: 3, 6: 7, 9: 3, 11: 5}
    kept = {}
    for now in range(1, 13):
        running.watermark = now  # what has come before now is complete
        running.feed([])
        kept[now - 1] = {item: time for time, _, item in running.occurrences}
        running.feed([("a", now, (items[now],))] if now in items else [])
    assert kept[8] == {3: 4, 5: 2, 7: 6}
    assert kept[11] == {3: 9, 5: 11, 7: 6}
    wanted = {(0, 8): 1, (1, 8): 3, (0, 11): 2, (1, 11): 3}
    assert {(number, now): running.given[number, now + 1 - (4, 10)[number], "a"] for number, now in wanted} == {
        place: (count,) for place, count in wanted.items()
    }
