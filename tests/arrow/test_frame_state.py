"""State of windows of every kind: rows in any order within the watermark give what all rows in order give."""

from __future__ import annotations

import random
from typing import Any

import pytest

from muntin import names
from muntin.arrow.frames.state import FrameJob, frame_step
from muntin.arrow.state.bucket import News
from muntin.arrow.state.head import Head
from muntin.arrow.state.packing import pack, unpack
from muntin.fingerprint import Fingerprint, Input
from tests.arrow.test_frames import S, batches_of, key_rows, task_of, windows

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

    def step(self, rows: list[dict[str, Any]], watermark: int) -> list[tuple[Any, ...]]:
        """Take rows and a watermark, and give instances."""
        batches = tuple(pack(batch) for batch in batches_of(rows, 1000) if batch.num_rows)
        head = None if self.text is None else Head.from_json(self.text).taken_up(self.job)
        outcome = frame_step(self.job, head, self.shelf, News(batches), watermark)
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
