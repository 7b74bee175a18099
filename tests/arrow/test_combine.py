"""The Python side of a task, without Spark: batches of any size and any chunks give the same instances."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest

import muntin as mt
from muntin import names
from muntin.aggregates import Merge
from muntin.arrow import batches as subject
from muntin.arrow.batches import Chunks, ColumnLayout
from muntin.arrow.combine import CombineTask, SliceTask, combine, slices_at_source, windows_at_source
from muntin.arrow.forest import readers_of
from muntin.arrow.reducers import reducer
from muntin.window import Window

WINDOWS = [Window(10), Window(20), Window(30, 10), Window(15, 5), Window(7, 3, 2), Window(30)]


def task(chunks: Chunks | None = None) -> CombineTask:
    readers = readers_of(mt.plan(WINDOWS, "sum"), {window: number for number, window in enumerate(WINDOWS)})
    assert any(reader.parent >= 0 for reader in readers)
    kinds = (reducer(Merge.SUM, pa.int64(), strict=True), reducer(Merge.MAX, pa.string(), strict=True))
    return CombineTask(readers, ColumnLayout.numbered(tuple(kind for kind in kinds if kind), (1, 1), 1, chunks))


def events(seed: int, rows: int = 300) -> list[tuple[str | None, int, int, str]]:
    r = random.Random(seed)
    return [
        (r.choice(["a", "b", None]), r.randint(-300, 300) + r.choice([0, 0, 5000]), r.randint(0, 9), r.choice("xyz"))
        for _ in range(rows)
    ]


def batch(rows: list[tuple[str | None, int, int, str]], when: str = names.TIME) -> pa.RecordBatch:
    keys, times, numbers, texts = zip(*rows, strict=True)
    columns = [pa.array(times, pa.int64()), pa.array(keys, pa.string()), pa.array(numbers, pa.int64()), pa.array(texts)]
    return pa.RecordBatch.from_arrays(columns, names=[when, "k0", "p0", "p1"])


def wanted(rows: list[tuple[str | None, int, int, str]]) -> dict[tuple[int, int, str | None], tuple[int, str]]:
    instances: dict[tuple[int, int, str | None], tuple[int, str]] = {}
    for key, time, number, text in rows:
        for place, window in enumerate(WINDOWS):
            for start, _ in window.containing(time):
                total, most = instances.get((place, start, key), (0, ""))
                instances[place, start, key] = total + number, max(most, text)
    return instances


def instances(batches: list[pa.RecordBatch]) -> dict[tuple[int, int, str | None], tuple[int, str]]:
    rows = [tuple(row.values()) for batch in batches for row in batch.to_pylist()]
    assert len({row[:3] for row in rows}) == len(rows), "an instance was given twice"
    return {row[:3]: row[3:] for row in rows}


@pytest.mark.parametrize("size", [1, 7, 50, 1000])
@pytest.mark.parametrize("chunks", [Chunks(60, 30), Chunks(31, 30), Chunks(10_000, 30)])
def test_batches_and_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch, size: int, chunks: Chunks) -> None:
    monkeypatch.setattr(subject, "BATCH", size)
    rows = events(size)
    places, index = chunks.places(np.array([row[1] for row in rows]))
    spread = sorted(
        ((rows[i][0], int(place), *rows[i][2:]) for place, i in zip(places, index, strict=True)),
        key=lambda row: (str(row[0]), row[1]),
    )
    batches = [batch(spread[i : i + size], names.PLACE) for i in range(0, len(spread), size)]
    assert instances(list(combine(iter(batches), task(chunks)))) == wanted(rows)


def test_few_rows_are_kept_between_batches(monkeypatch: pytest.MonkeyPatch, sizes: list[int]) -> None:
    """What is worked on at once is bounded by the longest range, not by the partition."""
    monkeypatch.setattr(subject, "BATCH", 10)
    rows: list[tuple[str | None, int, int, str]] = [("a", t, 1, "x") for t in range(5000)]
    batches = [batch(rows[i : i + 10]) for i in range(0, 5000, 10)]
    assert instances(list(combine(iter(batches), task()))) == wanted(rows)
    assert max(sizes) < 100


def test_rows_in_no_order_are_sorted_at_the_source() -> None:
    rows = events(3)
    assert instances(list(windows_at_source([batch(rows)], task()))) == wanted(rows)


def test_slices_at_the_source_keep_every_row() -> None:
    rows = events(4)
    chunks = Chunks(60, 30)
    made = SliceTask(task().layout, ((10, 0), (7, 3)), chunks)
    (slices,) = slices_at_source([batch(rows)], made)
    own, times = chunks.times(slices[names.PLACE].to_numpy())
    first = own == times // chunks.length
    assert sum(np.array(slices["p0"])[first]) == sum(number for _, _, number, _ in rows)
    assert all(any((t - e) % s == 0 for s, e in made.grids) for t in times.tolist())
