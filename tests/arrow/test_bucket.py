"""The state of a bucket without Spark: random micro-batches against a plain account of what Spark gives."""

from __future__ import annotations

import json
import random
from collections import defaultdict
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from muntin.aggregates import Merge
from muntin.arrow.batches import ColumnLayout
from muntin.arrow.reducers import reducer
from muntin.arrow.state import packing as packing_module
from muntin.arrow.state.bucket import MANY, News, Outcome, step
from muntin.arrow.state.head import Head, Job
from muntin.arrow.state.packing import Packing, bucket_labels, pack, packed_at_source, unpack, unpack_state, unpacked
from muntin.arrow.state.terms import Term
from muntin.changes import Change, DamagedError
from muntin.duration import FOREVER
from muntin.errors import QueryError
from muntin.fingerprint import Computed, Fingerprint, Input
from muntin.formats import FORMAT
from muntin.plan.slicing.grids import slicing
from muntin.window import Window
from tests.arrow.damage import with_offset

WINDOWS = (Window(10), Window(20), Window(30, 10), Window(15, 5), Window(7, 3, 2), Window(300, 60))

QUERY = Fingerprint("columnar", Input("ts", "timestamp"), (Input("k", "string"),), (Computed("count"),), buckets=1)

Event = tuple[str | None, int, int, str]
Instance = tuple[int, int, str | None]


def layout() -> ColumnLayout:
    kinds = (reducer(Merge.SUM, pa.int64(), strict=True), reducer(Merge.MAX, pa.string(), strict=True))
    return ColumnLayout.numbered(tuple(kind for kind in kinds if kind), (1, 1), 1)


def packed(rows: list[Event], windows: tuple[Window, ...] = WINDOWS, size: int = 40) -> pa.RecordBatch:
    """Send rows through the source, all for one bucket."""

    def batches() -> list[pa.RecordBatch]:
        return [
            pa.RecordBatch.from_pydict(
                {
                    "t": pa.array([row[1] for row in part], pa.int64()),
                    "bucket_number": pa.array([0] * len(part), pa.int32()),
                    "k0": pa.array([row[0] for row in part], pa.string()),
                    "p0": pa.array([row[2] for row in part], pa.int64()),
                    "p1": pa.array([row[3] for row in part], pa.string()),
                }
            )
            for part in (rows[i : i + size] for i in range(0, len(rows), size))
        ]

    return pa.Table.from_batches(
        packed_at_source(batches(), Packing(layout(), (0,), slicing(windows) if windows else ((1, 0),)))
    ).to_batches()


@dataclass
class Kept:
    """A store in memory."""

    kept: dict[int, bytes] = field(default_factory=dict)
    slices_written: int = 0

    def read(self, number: int) -> bytes:
        return self.kept[number]

    def write(self, number: int, data: bytes) -> None:
        self.kept[number] = data
        self.slices_written += unpack(data).num_rows

    def remove(self, number: int) -> None:
        del self.kept[number]

    @property
    def slices(self) -> int:
        return sum(unpack(data).num_rows for data in self.kept.values())


class Running:
    """A bucket that is fed micro-batches, and the account of what it should give."""

    def __init__(self, windows: tuple[Window, ...], delay: int, registry: bool = False) -> None:
        self.terms = () if registry else tuple(Term(i, w, w.label) for i, w in enumerate(windows))
        self.job = Job(layout().of_slices(), False, QUERY, terms=self.terms)
        self.sliced_by = windows
        self.head: Head | None = None
        self.store, self.delay = Kept(), delay
        self.watermark = self.previous = 0
        self.given: dict[Instance, tuple[int, str]] = {}
        self.ids: set[tuple[str, int, str | None]] = set()
        self.account: dict[Instance, list[tuple[int, str]]] = defaultdict(list)
        self.late = self.dropped = 0
        self.wanted_late = self.wanted_dropped = 0
        self.latest = -FOREVER

    def feed(self, rows: list[Event], changes: tuple[Change, ...] = ()) -> Outcome:
        messages = packed(rows, self.sliced_by)
        data = tuple(d for m in messages for d in m["data"].to_pylist() if d)
        latest = max((m["latest"][0].as_py() for m in messages), default=-FOREVER)
        for change in changes:
            self._account_change(change)
        for row in rows:
            self._account(row)
        kept = None if self.head is None else Head.from_json(self.head.to_json()).taken_up(self.job)
        outcome = step(self.job, kept, self.store, News(data, latest, changes), self.watermark)
        self.head = outcome.head
        self.late, self.dropped = self.late + outcome.late, self.dropped + outcome.dropped
        given = pa.RecordBatch.from_pydict({"data": pa.array(outcome.messages, pa.binary())})
        for batch in unpacked([given], False):
            for row in batch.to_pylist():
                number, start, key, *values = row.values()
                assert (number, start, key) not in self.given, "an instance was given twice"
                term = next(term for term in self.terms if term.number == number)
                assert (term.id, start, key) not in self.ids, "two windows of one id gave an instance"
                self.ids.add((term.id, start, key))
                assert self.previous < start + term.window.range <= self.watermark
                self.given[number, start, key] = (values[0], values[1])
        assert set(self.store.kept) == {segment.number for segment in outcome.head.segments}
        self.latest = max([self.latest, *(row[1] for row in rows)])
        self.previous, self.watermark = self.watermark, max(self.watermark, self.latest - self.delay)
        return outcome

    def finish(self) -> None:
        self.feed([])
        self.watermark = self.latest + 200_000
        self.feed([])
        wanted = {
            place: (sum(number for number, _ in values), max(text for _, text in values))
            for place, values in self.account.items()
        }
        assert self.given == wanted
        assert (self.late, self.dropped) == (self.wanted_late, self.wanted_dropped)
        assert not self.store.kept

    def _account(self, row: Event) -> None:
        """Count a row for every instance that ends after the watermark of the micro-batch before."""
        key, time, number, text = row
        closed = opened = 0
        for term in self.terms:
            for start, end in term.window.containing(time):
                if start >= term.since and self.previous < term.until and end <= term.until:
                    if end > self.previous:
                        self.account[term.number, start, key].append((number, text))
                        opened += 1
                    else:
                        closed += 1
        self.wanted_late += closed > 0
        self.wanted_dropped += closed > 0 and not opened

    def _account_change(self, change: Change) -> None:
        if change.window is not None:
            since = max(self.latest + (self.latest > -FOREVER), -FOREVER if change.at is None else change.at)
            same = (term.until for term in self.terms if term.id == change.id and term.until > self.previous)
            since = max([since, *same])
            term = Term(change.version, change.window, change.id, change.version, since)
            self.terms = (*self.terms, term)
        else:
            until = max(self.watermark, change.at or 0)
            self.terms = tuple(
                replace(t, until=until) if t.id == change.id and t.until == FOREVER else t for t in self.terms
            )
            for number, start, key in list(self.account):
                term = next(t for t in self.terms if t.number == number)
                if start + term.window.range > term.until:
                    del self.account[number, start, key]


def events(r: random.Random, around: int, rows: int) -> list[Event]:
    return [
        (
            r.choice(["a", "b", None, "é"]),
            around + r.randint(-60, 60) - r.choice([0] * 8 + [200, 400]),
            r.randint(0, 9),
            r.choice("xyz"),
        )
        for _ in range(rows)
    ]


@pytest.mark.parametrize("seed", range(30))
def test_random_micro_batches_give_what_spark_would(seed: int) -> None:
    r = random.Random(seed)
    windows = tuple(r.sample(WINDOWS, r.randint(1, len(WINDOWS))))
    running = Running(windows, delay=r.choice([0, 10, 50, 500]))
    now = r.choice([-100, 0, 1000])
    for _ in range(r.randint(3, 15)):
        now += r.choice([0, 5, 30, 100, 5000])
        # a task may see changes of a registry that its micro-batch does not have yet
        running.sliced_by = (*windows, *r.sample([Window(2), Window(11, 11, 3), Window(9, 4)], r.randint(0, 2)))
        running.feed(events(r, now, r.choice([0, 1, 20, 200])))
    running.finish()


@pytest.mark.parametrize("seed", range(30))
def test_windows_come_and_go(seed: int) -> None:
    r = random.Random(seed)
    running = Running((), delay=r.choice([0, 10, 50]), registry=True)
    now, version = r.choice([0, 1000]), 0
    live: list[str] = []
    free: list[str] = []
    for _ in range(20):
        now += r.choice([0, 5, 30, 100])
        changes: list[Change] = []
        for _ in range(r.choice([0, 0, 1, 2])):
            version += 1
            if live and r.random() < 0.4:
                gone = live.pop(r.randrange(len(live)))
                free.append(gone)
                changes.append(Change(version, gone, None, r.choice([None, now + 50])))
            else:
                window = r.choice([*WINDOWS, Window(2), Window(900, 100), Window(11, 11, 3)])
                live.append(free.pop() if free and r.random() < 0.5 else f"w{version}")
                changes.append(Change(version, live[-1], window, r.choice([None, None, now + 40])))
        added = [change.window for change in changes if change.window is not None]
        running.sliced_by = (*running.sliced_by, *added)  # type: ignore[arg-type]
        running.feed(events(r, now, r.choice([0, 1, 20, 100])), tuple(changes))
    running.finish()
    assert len(running.given) > 0


def test_what_is_written_follows_what_comes() -> None:
    """Slices of a long window are not written again with every micro-batch, and segments stay few."""
    running = Running((Window(10), Window(100_000)), delay=0)
    for now in range(0, 10_000, 10):
        running.feed([("a", now, 1, "x")])
        assert len(running.store.kept) <= MANY
    assert running.store.slices == 1000
    assert running.store.slices_written < 5 * 1000
    running.finish()


def test_segments_that_are_closed_for_the_most_part_are_given_up() -> None:
    running = Running((Window(10), Window(100)), delay=0)
    running.feed([("a", now, 1, "x") for now in range(10_000)])
    assert running.store.slices == 1000
    running.feed([])
    assert running.store.slices <= 10
    running.finish()


def test_a_checkpoint_of_another_query_is_refused() -> None:
    running = Running((Window(10),), delay=0)
    running.feed([("a", 1, 1, "x")])
    assert running.head is not None
    other = replace(QUERY, time=Input("later", "timestamp"))
    with pytest.raises(QueryError, match="made for another query: time was ts timestamp and is later timestamp"):
        running.head.taken_up(replace(running.job, fingerprint=other))


def test_a_head_of_another_format_is_refused() -> None:
    running = Running((Window(10),), delay=0)
    running.feed([("a", 1, 1, "x")])
    assert running.head is not None
    text = running.head.to_json()
    assert Head.from_json(text) == running.head
    with pytest.raises(QueryError, match="has format 2, and this version of Muntin knows formats up to 1"):
        Head.from_json(text.replace('"format": 1', '"format": 2'))
    with pytest.raises(QueryError, match=r"was made before Muntin 0\.1"):
        Head.from_json('{"query": "windows 10s", "buckets": 1}')


def test_a_head_whose_windows_were_three_numbers_is_read() -> None:
    running = Running((Window(10), Window(30, 10)), delay=0)
    running.feed([("a", 1, 1, "x")])
    assert running.head is not None
    fields = json.loads(running.head.to_json())
    for term in fields["terms"]:
        _, *term["shape"] = term.pop("window").values()
    assert Head.from_json(json.dumps(fields)) == running.head


@pytest.mark.parametrize("offset", [60, 1 << 30, -1])
def test_state_that_points_elsewhere_in_memory_is_refused(offset: int) -> None:
    """Arrow would give what lies behind the texts of a column, or be ended by the system."""
    running = Running((Window(1000),), delay=0)
    running.feed([("a", 10, 1, "x"), ("b", 20, 2, "y")])
    running.store.kept = {number: with_offset(data, offset) for number, data in running.store.kept.items()}
    running.feed([])
    running.watermark = 2000
    with pytest.raises(QueryError, match=r"the state in the checkpoint is damaged .* Use a new checkpoint"):
        running.feed([])


@pytest.mark.parametrize("data", [b"", b"scribbled", pack(pa.RecordBatch.from_pydict({"t": [1]}))[:-60]])
def test_state_that_is_no_state_is_refused(data: bytes) -> None:
    with pytest.raises(QueryError, match="the state in the checkpoint is damaged"):
        unpack_state(data)


def test_segments_with_other_names_of_columns_are_read() -> None:
    running = Running((Window(10), Window(100)), delay=0)
    running.feed([("a", 1, 1, "x"), (None, 2, 3, "z")])
    for number, data in running.store.kept.items():
        slices = unpack(data)
        running.store.kept[number] = pack(slices.rename_columns([f"old {name}" for name in slices.schema.names]))
    running.feed([("a", 7, 1, "y"), ("a", 20, 2, "x")])
    running.finish()


def test_a_checkpoint_of_other_buckets_is_refused_with_a_remedy() -> None:
    running = Running((Window(10),), delay=0)
    running.feed([("a", 1, 1, "x")])
    assert running.head is not None
    with pytest.raises(
        QueryError,
        match=r"were 1 buckets of keys and there are 8\. Set spark\.sql\.shuffle\.partitions to 1, or use a new",
    ):
        running.head.taken_up(replace(running.job, fingerprint=replace(QUERY, buckets=8)))


def test_windows_have_the_numbers_of_the_run_not_of_the_checkpoint() -> None:
    running = Running((Window(10), Window(60)), delay=0)
    running.feed([("a", 1, 1, "x")])
    assert running.head is not None
    other = tuple(replace(term, number=1 - term.number) for term in reversed(running.job.terms))
    assert running.head.taken_up(replace(running.job, terms=other)).terms == other


def test_slices_that_a_worker_has_cut_too_coarsely_stop_the_query() -> None:
    """It has not seen a window, now or at an earlier change."""
    job = Job(layout().of_slices(), False, QUERY)
    grids = frozenset({slicing([Window(10)]), slicing([Window(20)])})
    added = Change(3, "w", Window(10))
    with pytest.raises(QueryError, match=r"window 'w' of the registry \(change 3\) was not seen by a worker"):
        step(job, None, Kept(), News(changes=(added,), grids=grids), 0)
    head = step(job, None, Kept(), News(changes=(added,), grids=frozenset({((5, 0),)})), 0).head
    with pytest.raises(QueryError, match="was not seen by a worker"):
        step(job, head, Kept(), News(grids=frozenset({((1 << 50, 0),)})), 0)


def test_changes_count_once_and_may_come_late() -> None:
    job = Job(layout().of_slices(), False, QUERY)
    one, two, three = (Change(number, f"w{number}", Window(10 * number)) for number in (1, 2, 3))
    head = step(job, None, Kept(), News(changes=(three, one)), 0).head
    assert ([term.version for term in head.terms], head.newest, head.missing) == ([1, 3], 3, ((2, 2),))
    head = step(job, head, Kept(), News(changes=(one, two, two)), 0).head
    assert ([term.version for term in head.terms], head.newest, head.missing) == ([1, 3, 2], 3, ())


def test_a_lost_change_does_nothing_and_is_not_waited_for() -> None:
    job = Job(layout().of_slices(), False, QUERY)
    head = step(job, None, Kept(), News(changes=(Change(1, "w", Window(10)), Change(3, "x", Window(20)))), 0).head
    assert head.missing == ((2, 2),)
    after = step(job, head, Kept(), News(changes=(Change(2),)), 0).head
    assert (after.terms, after.newest, after.missing) == (head.terms, 3, ())


def test_a_change_far_away_is_refused_before_it_costs_anything() -> None:
    job = Job(layout().of_slices(), False, QUERY)
    many = tuple(Change(number, f"w{number}", Window(10)) for number in range(1, 1501))
    head = step(job, None, Kept(), News(changes=many), 0).head  # a query that starts with an old registry
    assert (len(head.terms), head.newest, head.missing) == (1500, 1500, ())
    for number in (2502, 3_000_000):
        with pytest.raises(DamagedError, match=rf"{number:08}\.json is damaged \(its number is more than 1,000 above"):
            step(job, head, Kept(), News(changes=(Change(1501), Change(number))), 0)
    after = step(job, head, Kept(), News(changes=(Change(2500),)), 0).head
    assert (after.newest, after.missing) == (2500, ((1501, 2499),))
    assert Head.from_json(after.to_json()) == after


def test_a_head_that_had_every_missing_number_becomes_short() -> None:
    job = Job(layout().of_slices(), False, QUERY)
    head = step(job, None, Kept(), News(changes=(Change(1, "w", Window(10)),)), 0).head
    fields = json.loads(head.to_json()) | {"newest": 30_000, "missing": list(range(2, 30_000))}
    poisoned = Head.from_json(json.dumps(fields))
    assert poisoned.missing == ((2, 29_999),)
    after = step(job, poisoned, Kept(), News(changes=(Change(2, "x", Window(20)), Change(2, "x", Window(20)))), 0).head
    assert ([term.id for term in after.terms], after.missing) == (["w", "x"], ((3, 29_999),))
    assert len(after.to_json()) < 1000
    assert json.loads(replace(after, missing=((3, 3),)).to_json())["missing"] == [3]  # as it always was


def test_a_late_removal_is_of_the_window_that_was_there_before() -> None:
    job = Job(layout().of_slices(), False, QUERY)
    again = (Change(1, "w", Window(10)), Change(3, "w", Window(20)))
    head = step(job, None, Kept(), News(changes=again), 0).head
    head = step(job, head, Kept(), News(changes=(Change(2, "w"),)), 50).head
    assert {term.version: term.until for term in head.terms} == {1: 50, 3: FOREVER}


def test_every_bucket_hears_of_every_task(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing_module, "ROWS", 50)
    labels = bucket_labels(4)
    rows = pa.RecordBatch.from_pydict(
        {
            "t": np.arange(1000),
            "bucket_number": pa.array(np.arange(1000) % 3, pa.int32()),
            "k0": pa.array(["a"] * 1000),
            "p0": np.ones(1000, np.int64),
            "p1": pa.array(["x"] * 1000),
        }
    )
    packed = list(packed_at_source([rows], Packing(layout(), labels, ((10, 0),))))
    told = pa.Table.from_batches(packed).to_pylist()
    assert {row["bucket"] for row in told} == set(labels)
    slices = [unpack(row["data"]) for row in told if row["data"]]
    assert sum(sum(batch["n"].to_pylist()) for batch in slices) == 1000
    assert max(row["latest"] for row in told) == 999
    assert [row["data"] for row in told if row["bucket"] == labels[3]] == [b""]


@pytest.mark.parametrize("count", [1, 2, 7, 64])
def test_buckets_have_a_partition_each(count: int) -> None:
    labels = bucket_labels(count)
    assert len(set(labels)) == count


KEPT = Path(__file__).parent / "kept"
EARLIER: list[Event] = [("a", 1, 5, "x"), ("a", 12, 7, "ä"), (None, 12, -3, ""), ("b", 25, 2**40, "z")]


def earlier() -> Running:
    """Give a bucket that has seen something, as those in the folder have. None of their files is written again."""
    running = Running((Window(10), Window(30, 10)), delay=20)
    running.feed(EARLIER)
    return running


@pytest.mark.parametrize("folder", sorted(KEPT.glob("format-*")), ids=lambda folder: folder.name)
def test_what_earlier_versions_kept_is_read_for_ever(folder: Path) -> None:
    running = earlier()
    running.head = Head.from_json((folder / "head.json").read_text(encoding="utf-8"))
    running.store.kept = {int(file.stem): file.read_bytes() for file in folder.glob("*.arrow")}
    assert running.store.slices == 4
    running.feed([("a", 14, 1, "y"), ("c", 31, 1, "x")])
    running.finish()


def test_this_version_keeps_what_its_format_says() -> None:
    """If this fails, what is kept has changed: give FORMAT a new number, and add a folder for it."""
    running = earlier()
    assert running.head is not None
    folder = KEPT / f"format-{FORMAT}"
    assert json.loads(running.head.to_json()) == json.loads((folder / "head.json").read_text(encoding="utf-8"))
    slices = {number: unpack(data) for number, data in running.store.kept.items()}
    assert slices == {int(file.stem): unpack(file.read_bytes()) for file in folder.glob("*.arrow")}
