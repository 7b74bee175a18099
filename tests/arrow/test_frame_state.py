"""State of windows of every kind: rows in any order within the watermark give what all rows in order give."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from typing import Any

import pytest

import muntin as mt
from muntin import names
from muntin.arrow.frames.state import FrameJob, frame_step
from muntin.arrow.state.bucket import News
from muntin.arrow.state.head import Head
from muntin.arrow.state.packing import pack, unpack
from muntin.changes import Change
from muntin.duration import FOREVER
from muntin.fingerprint import Fingerprint, Input
from tests.arrow.damage import with_offset
from tests.arrow.test_frames import COLUMNS, S, batches_of, expected, key_rows, task_of, tenths, windows

FINGERPRINT = Fingerprint("ordered", Input("ts", "timestamp"), (), ())


class Shelf(dict[int, bytes]):
    """Segments in memory."""

    def read(self, number: int) -> bytes:
        """Give a segment."""
        return self[number]

    def write(self, number: int, data: bytes) -> None:
        """Keep a segment."""
        self[number] = data

    def remove(self, number: int) -> None:
        """Keep a segment no longer."""
        del self[number]


class Bucket:
    """A bucket that is written and read back between any two steps."""

    def __init__(self, asked: list[Any], order: tuple[tuple[str, str], ...] = ()) -> None:
        self.job, self.shelf = FrameJob(task_of(asked), FINGERPRINT, order), Shelf()
        self.text: str | None = None
        self.late = self.dropped = 0
        self.columns: dict[str, str] = {}
        """The names of columns where windows come and go, by those that they have elsewhere."""

    def step(self, rows: list[dict[str, Any]], watermark: int, *changes: Change) -> list[tuple[Any, ...]]:
        """Take rows, a watermark and changes of windows, and give instances."""
        read = (batch for batch in batches_of(rows, 1000) if batch.num_rows)
        batches = tuple(
            pack(batch.rename_columns([self.columns.get(name, name) for name in batch.schema.names])) for batch in read
        )
        latest = max([row["t"] for row in rows], default=-FOREVER)
        head = None if self.text is None else Head.from_json(self.text).taken_up(self.job)
        outcome = frame_step(self.job, head, self.shelf, News(batches, latest, changes), watermark)
        self.text = outcome.head.to_json()
        self.late, self.dropped = self.late + outcome.late, self.dropped + outcome.dropped
        out: list[tuple[Any, ...]] = []
        for message in outcome.messages:
            out += zip(*(column.to_pylist() for column in unpack(message).columns), strict=True)
        return out


def whole(rows: list[dict[str, Any]], asked: list[Any]) -> tuple[set[tuple[Any, ...]], set[tuple[Any, ...]]]:
    """Give all instances by their plain definitions, and those among them that the end of the input may have ended."""
    instances, last = set(), set()
    for key in {row["k"] for row in rows}:
        own = sorted((row for row in rows if row["k"] == key), key=lambda row: (row["t"], row["order"]))
        times = [row["t"] for row in own]
        for number, window in enumerate(asked):
            columns = [[row[str(watch.column)] for row in own] for watch in window.watches]
            for start, end, lo, hi, begin, stop in window.over(times, *columns):
                values = [row["v"] for row in own[lo:hi]]
                given = (number, start, end, begin, stop, key, sum(values), len(values))
                instances.add(given)
                if hi == len(own):
                    last.add(given)
    return instances, last


BY_TIME = ("periodic", "session", "last rows", "cumulating", "snapshot")
"""Kinds whose instances the watermark alone ends."""


@pytest.mark.parametrize("seed", range(60))
def test_streams_give_what_batches_give(seed: int) -> None:
    rng = random.Random(seed)
    asked, delay = windows(), 12 * S
    rows = [row for key in range(rng.randrange(1, 5)) for row in key_rows(rng, key)]
    for place, row in enumerate(rows):
        row["order"] = place
    arrivals = sorted(rows, key=lambda row: (row["t"] + rng.randrange(delay), row["order"]))
    bucket, given, latest, place = Bucket(asked, ((names.order(0), "ASC NULLS FIRST"),)), [], 0, 0
    watermark = 0
    while place < len(arrivals):
        size = rng.choice([0, 1, 3, 10, 30])
        some, place = arrivals[place : place + size], place + size
        given += bucket.step(some, watermark)
        latest = max([latest, *(row["t"] for row in some)])
        watermark = max(watermark, latest - delay)
    given += bucket.step([], watermark)
    given += bucket.step([], 10**9 * S)
    assert len(given) == len(set(given))
    assert bucket.late == 0
    instances, last = whole(rows, asked)
    for number, window in enumerate(asked):
        own = {row for row in given if row[0] == number}
        wanted = {row for row in instances if row[0] == number}
        if window.kind in BY_TIME:
            assert own == wanted, window
        else:
            assert own <= wanted, window
            assert wanted - own <= last, window


@pytest.mark.parametrize("seed", range(10))
def test_fractional_lengths_lose_no_row_where_a_micro_batch_is_cut(seed: int) -> None:
    rng = random.Random(seed)
    rows, asked = tenths(100, seed), [mt.hopping(1, round(rng.uniform(0.1, 1), rng.choice([1, 2, 16])), on="km")]
    bucket, given, place = Bucket(asked), list[Any](), 0
    while place < len(rows):
        given += bucket.step(rows[place : place + 13], rows[place]["t"])
        place += 13
    given += bucket.step([], 10**9 * S)
    assert sorted(given) == sorted(expected(rows, asked))


def test_state_with_begins_that_were_rounded_otherwise_is_refused() -> None:
    rows, bucket = tenths(30, 0), Bucket([mt.tumbling(0.1, on="km")])
    bucket.step(rows, 0)
    bucket.step([], rows[20]["t"])
    table = unpack(bucket.shelf[-2])
    bucket.shelf[-2] = pack(table.rename_columns([name.replace("nearest", "place") for name in table.schema.names]))
    with pytest.raises(mt.QueryError, match=r"fractional lengths may have lost rows\. Use a new checkpoint"):
        bucket.step([], rows[25]["t"])


@pytest.mark.parametrize("offset", [60, 1 << 30, -1])
def test_state_that_points_elsewhere_in_memory_is_refused(offset: int) -> None:
    """The state of a user window is text; rows wait and memories are kept."""

    def every_third(state: int, time: int) -> tuple[int, int, int]:
        return state + 1, int(state % 3 == 0), int(state % 3 == 0 and state > 0)

    bucket = Bucket([mt.user_window(every_third, initial=0)])
    bucket.step(tenths(30, 0), 0)
    bucket.step([], tenths(30, 0)[20]["t"])
    bucket.shelf[-2] = with_offset(bucket.shelf[-2], offset)
    with pytest.raises(mt.QueryError, match=r"the state in the checkpoint is damaged .* Use a new checkpoint"):
        bucket.step([], tenths(30, 0)[25]["t"])


def test_windows_come_at_their_next_begin_and_go_at_their_next_end() -> None:
    """A session in progress is not given by halves; rows are counted from when a window comes."""
    bucket = Bucket([])
    bucket.job = replace(bucket.job, registered=True)
    rows = [{"k": 0, "t": t * S, "v": 1, "km": 0.0, "steps": 0, "flag": None, "price": None} for t in range(40)]
    rows += [rows[-1] | {"t": t * S} for t in (60, 61, 62, 90, 91, 92)]

    def session(version: int, id: str = "visits") -> Change:
        return Change(version, id, mt.session_window("5 s", id=id))

    given = bucket.step(rows[:20], 0, session(1))
    given += bucket.step(
        rows[20:30], 10 * S, session(2, "later"), Change(3, "four", mt.tumbling(mt.rows(4), id="four"))
    )
    given += bucket.step(rows[30:], 25 * S)
    assert [row[:2] for row in given] == [(3, 20 * S)]
    given += bucket.step([], 58 * S)
    by_number = {number: [row[1] // S for row in given if row[0] == number] for number in (1, 2, 3)}
    assert by_number == {1: [0], 2: [], 3: [20, 24, 28, 32]}
    given = bucket.step([], 75 * S, Change(4, "visits"))
    assert [(row[0], row[1] // S, row[2] // S) for row in given if row[0] < 3] == [(1, 60, 67), (2, 60, 67)]
    given = bucket.step([], 200 * S)
    assert [(row[0], row[1] // S) for row in given if row[0] < 3] == [(2, 90)]
    assert not [number for number in bucket.shelf if number in (-3, -4)], "what the removed window kept is gone"


def test_a_session_that_began_before_its_window_came_is_not_given_by_its_rest() -> None:
    """The row at 1 s had left the state when the window came, and belongs to the session of the row at 5 s."""
    bucket = Bucket([])
    bucket.job = replace(bucket.job, registered=True)
    row = {"v": 1, "km": 0.0, "steps": 0, "flag": None, "price": None, "order": 0}
    rows = [row | {"k": key, "t": time * S} for key, time in [(0, 1), (1, 4), (0, 5), (0, 20)]]
    assert bucket.step(rows[:1], 0) + bucket.step(rows[1:2], 0) + bucket.step([], 4 * S) == []
    given = bucket.step(rows[2:3], 4 * S, Change(1, "visits", mt.session_window("5 s", id="visits")))
    given += bucket.step(rows[3:], 4 * S) + bucket.step([], 100 * S)
    instances, _ = whole(rows, [mt.session_window("5 s")])
    assert [(0, *instance[1:]) for instance in given] == [instance for instance in instances if instance[1] == 20 * S]


ADDED: dict[str, Any] = {
    "km": mt.tumbling(10, on="km"),
    "hops": mt.hopping(10, 5, on="km"),
    "ends": mt.punctuated("flag", ends=True),
    "begins": mt.punctuated("flag"),
    "runs": mt.while_("flag"),
}
"""Windows whose instances other windows do not move."""


@pytest.mark.parametrize("name", ADDED)
def test_an_instance_that_began_before_its_window_came_is_not_given_by_its_rest(name: str) -> None:
    """All that are given are those of all rows. A key of which nothing is open stays known."""
    window = ADDED[name]
    given_at_all = 0
    for seed in range(30):
        rng = random.Random(seed)
        rows = [row | {"order": 0} for key in range(3) for row in key_rows(rng, key)]
        if name == "runs":
            rows = [row | {"flag": rng.random() < 0.9} for row in rows]
        rows = sorted((row | {"t": row["t"] + place} for place, row in enumerate(rows)), key=lambda row: row["t"])
        bucket = Bucket([])
        bucket.job = replace(bucket.job, registered=True)
        bucket.columns = {names.watched(place): column for place, column in enumerate(COLUMNS)}
        watched = tuple(names.watched_as(column, "condition" if column == "flag" else "number") for column in COLUMNS)
        bucket.job = replace(bucket.job, task=replace(bucket.job.task, watched=watched))
        bucket.columns = {names.watched(place): column for place, column in enumerate(watched)}
        size, given, come = rng.choice([3, 8, 20]), list[Any](), rng.randrange(1, len(rows))
        for place in range(0, len(rows), size):
            is_first = place <= come < place + size
            changes = (Change(1, name, replace(window, id=name)),) if is_first else ()
            given += bucket.step(rows[place : place + size], rows[place]["t"] - 1, *changes)
        given += bucket.step([], 10**6 * S)
        instances, _ = whole(rows, [window])
        assert {(0, *instance[1:]) for instance in given} <= instances
        given_at_all += len(given)
    assert given_at_all > 30


def test_a_change_far_away_is_refused() -> None:
    bucket = Bucket([])
    bucket.job = replace(bucket.job, registered=True)
    with pytest.raises(mt.QueryError, match=r"03000000\.json is damaged \(its number is more than 1,000 above"):
        bucket.step([], 0, Change(1), Change(3_000_000))


def test_a_column_of_a_registry_is_not_taken_for_another() -> None:
    """Another start may read other columns, whose numbers would be the same."""
    bucket = Bucket([])
    rows = batches_of([{"k": 0, "t": S, "v": 1, "km": 0.0, "steps": 0, "flag": True, "price": None}], 1)[0]
    head: Head | None = None
    for column, changes in (("other", ()), ("flag", (Change(1, "runs", mt.while_("flag", id="runs")),))):
        watched = names.watched_as(column, "condition")
        job = replace(bucket.job, registered=True, task=replace(bucket.job.task, watched=(watched,)))
        plain = (names.TIME, names.key(0), names.partial(0), names.partial(1))
        kept = {name: name for name in plain} | {names.watched(2): watched}
        news = News((pack(rows.select(list(kept)).rename_columns(list(kept.values()))),), S, changes)
        if not changes:
            head = frame_step(job, head, bucket.shelf, news, 0).head
    with pytest.raises(mt.QueryError, match=r"'flag', which the query did not read .* Remove the file 00000001\.json"):
        frame_step(job, head, bucket.shelf, news, 0)


def test_a_window_that_watches_what_the_query_does_not_read() -> None:
    bucket = Bucket([])
    bucket.job = replace(bucket.job, registered=True)
    with pytest.raises(mt.QueryError, match="'runs' of the registry watches 'speed', which the query does not read"):
        bucket.step([], 0, Change(1, "runs", mt.while_("speed", id="runs")))


VALUES = (
    10**30,
    2**63,
    2**62,
    2**62 + 1,
    -(10**30),
    10**400,
    1,
    0,
    0.5,
    1e300,
    5e-324,
    True,
    {"count": 10**30},
    None,
    "no",
    "1 us",
)
NAMES = ("condition", "column", "on", "function", "kind")
VALID = [json.loads(Change(1, "w", window, 0).to_json()) for window in windows()]
PARTS = [(fields, part) for fields in VALID for part in fields["window"] if part not in NAMES]


@pytest.mark.parametrize(("fields", "part"), PARTS, ids=lambda value: value if isinstance(value, str) else "window")
def test_a_change_that_is_accepted_is_taken_by_a_bucket(fields: dict[str, Any], part: str) -> None:
    """Whatever numbers, texts and flags somebody writes into a change."""
    known = tuple(names.watched_as(column, "condition" if column == "flag" else "number") for column in COLUMNS)
    rows = key_rows(random.Random(3), 0)
    place = len(rows) // 2
    for value in VALUES:
        try:
            text = json.dumps(fields | {"window": fields["window"] | {part: value}})
            change = Change.from_json(text, most_instances=1000).placed("+14:00")
        except (mt.QueryError, mt.UnsupportedError):
            continue
        bucket = Bucket([])
        bucket.job = replace(bucket.job, registered=True, task=replace(bucket.job.task, watched=known))
        bucket.columns = dict(zip(map(names.watched, range(len(COLUMNS))), known, strict=True))
        bucket.step(rows[:place], 0, change)
        bucket.step(rows[place:], rows[place]["t"])
        bucket.step([], 10**6 * S)
