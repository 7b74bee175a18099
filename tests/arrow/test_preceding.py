"""The Python side of rolling windows, without Spark: batches of any size and any chunks give every row once."""

from __future__ import annotations

import random
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pytest

from muntin import names
from muntin.aggregates import Merge
from muntin.arrow import batches as subject
from muntin.arrow.batches import Chunks, ColumnLayout
from muntin.arrow.preceding import RollTask, roll
from muntin.arrow.reducers import reducer

RANGES, COUNTS = (0, 7, 40), (1, 4, 30)

Event = tuple[str | None, int | None, int, str, int]
"""Key, time, number, text, and a number of its own."""


def task(chunks: Chunks | None = None, ranges: tuple[int, ...] = RANGES, counts: tuple[int, ...] = COUNTS) -> RollTask:
    kinds = (reducer(Merge.SUM, pa.int64(), strict=True), reducer(Merge.MAX, pa.string(), strict=True))
    return RollTask(
        ColumnLayout.numbered(tuple(kind for kind in kinds if kind), (1, 1), 1, chunks), ranges, counts, carried=1
    )


def events(seed: int, rows: int = 300) -> list[Event]:
    r = random.Random(seed)
    times = [None if r.random() < 0.1 else r.randint(-300, 300) + r.choice([0, 0, 5000]) for _ in range(rows)]
    return [(r.choice(["a", "b", None]), t, r.randint(0, 9), r.choice("xyz"), i) for i, t in enumerate(times)]


def in_order(rows: Iterable[Event]) -> list[Event]:
    return sorted(rows, key=lambda row: (row[0] or "", row[1] is not None, row[1] or 0, row[4]))


def cut(rows: list[Event], size: int, when: str = names.TIME) -> list[pa.RecordBatch]:
    batches = []
    for i in range(0, len(rows), size):
        keys, times, numbers, texts, own = zip(*rows[i : i + size], strict=True)
        columns = [pa.array(times, pa.int64()), pa.array(keys, pa.string()), pa.array(numbers, pa.int64())]
        columns += [pa.array(texts), pa.array(own, pa.int64())]
        batches.append(pa.RecordBatch.from_arrays(columns, names=[when, "k0", "p0", "p1", "c0"]))
    return batches


def wanted(rows: list[Event], ranges: tuple[int, ...], counts: tuple[int, ...]) -> dict[int, tuple[int | str, ...]]:
    totals: dict[int, tuple[int | str, ...]] = {}
    for key in {row[0] for row in rows}:
        group = in_order(row for row in rows if row[0] == key)
        for place, row in enumerate(group):
            now = row[1]
            frames = [[other for other in group if _in_range(other[1], now, length)] for length in ranges] + [
                group[max(0, place - count + 1) : place + 1] for count in counts
            ]
            totals[row[4]] = tuple(
                value for frame in frames for value in (sum(r[2] for r in frame), max(r[3] for r in frame))
            )
    return totals


def _in_range(time: int | None, now: int | None, length: int) -> bool:
    return time is now if time is None or now is None else now - length <= time <= now


def results(batches: Iterable[pa.RecordBatch]) -> dict[int, tuple[int | str, ...]]:
    rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    assert len({row[0] for row in rows}) == len(rows), "a row was given twice"
    return {row[0]: row[1:] for row in rows}


@pytest.mark.parametrize("size", [1, 7, 50, 1000])
def test_batches_change_nothing(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr(subject, "BATCH", size)
    rows = events(size)
    for ranges, counts in ((RANGES, COUNTS), (RANGES, ()), ((), COUNTS), ((), (1,))):
        totals = results(roll(cut(in_order(rows), size), task(None, ranges, counts)))
        assert totals == wanted(rows, ranges, counts)


def test_fat_rows_are_worked_on_few_at_once(monkeypatch: pytest.MonkeyPatch, sizes: list[int]) -> None:
    monkeypatch.setattr(subject, "BYTES", 1000)
    rows = events(5)
    assert results(roll(cut(in_order(rows), 10), task(None, (), (1,)))) == wanted(rows, (), (1,))
    assert max(sizes) <= 40


def test_times_that_are_as_early_as_can_be() -> None:
    rows: list[Event] = [("a", t, 1, "x", i) for i, t in enumerate([-(2**63), -(2**63) + 5, 0, 2**63 - 1])]
    totals = results(roll(cut(rows, 2), task(None, (10,), ())))
    assert [totals[i][0] for i in range(4)] == [1, 2, 1, 1]


@pytest.mark.parametrize("size", [1, 13, 1000])
@pytest.mark.parametrize("length", [1, 41, 100, 100_000])
def test_chunks_with_a_halo_before_them_change_nothing(monkeypatch: pytest.MonkeyPatch, size: int, length: int) -> None:
    monkeypatch.setattr(subject, "BATCH", size)
    rows = events(size + length)
    longest = max(RANGES)
    chunks = Chunks(length, longest + 1)
    timed = [row for row in rows if row[1] is not None]
    places, index = chunks.places(np.array([(row[1] or 0) + longest for row in timed]))
    spread: list[Event] = [row for row in rows if row[1] is None]
    for place, i in zip(places.tolist(), index, strict=True):
        key, _, *rest = timed[i]
        spread.append((key, place, *rest))
    assert results(roll(cut(in_order(spread), size, names.PLACE), task(chunks, RANGES, ()))) == wanted(rows, RANGES, ())


def test_few_rows_are_kept_between_batches(monkeypatch: pytest.MonkeyPatch, sizes: list[int]) -> None:
    """What is worked on at once is bounded by the longest range, not by the partition."""
    monkeypatch.setattr(subject, "BATCH", 10)
    rows: list[Event] = [("a", t, 1, "x", t) for t in range(5000)]
    totals = results(roll(cut(rows, 10), task()))
    assert totals[4000] == (1, "x", 8, "x", 41, "x", 1, "x", 4, "x", 30, "x")
    assert max(sizes) < 100
    assert sum(sizes) < 5 * len(rows)
