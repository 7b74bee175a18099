"""Windows of every kind over rows in order: kernels give what plain definitions mean, however batches are cut."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

import muntin as mt
from muntin import names
from muntin.aggregates import Merge
from muntin.arrow.batches import ColumnLayout
from muntin.arrow.frames.framings import framing
from muntin.arrow.frames.rows import frame
from muntin.arrow.frames.slicing import FrameTask
from muntin.arrow.frames.tagging import tag
from muntin.arrow.reducers import reducer

S = 1_000_000


def windows() -> list[Any]:
    """Give one window, at least, of every kind."""
    return [
        mt.tumbling("10 s"),
        mt.hopping("30 s", "7 s", offset="3 s"),
        mt.session_window("5 s"),
        mt.session_window("9 s", longest="20 s"),
        mt.tumbling(mt.rows(4)),
        mt.hopping(mt.rows(7), mt.rows(3)),
        mt.hopping(10, 5, on="km"),
        mt.tumbling(2.5, on="km"),
        mt.hopping(7.3, 2.1, on="km", offset=0.1),
        mt.hopping(6, 4, on="steps"),
        mt.hopping(mt.rows(3), "5 s"),
        mt.hopping("20 s", mt.rows(4)),
        mt.punctuated("flag"),
        mt.punctuated("flag", ends=True, id="ends"),
        mt.cumulating("1 minute", "20 s"),
        mt.landmark(since=30 * S, step="25 s"),
        mt.snapshot(),
        mt.while_("flag"),
        mt.while_("flag", at_least="3 s", id="long"),
        mt.while_("flag", at_least=mt.rows(2), id="many"),
        mt.delta("price", 3),
        mt.until(mt.sum("price"), 25),
        mt.until(mt.count(), 5, id="five"),
        mt.until(mt.max("price"), 9, id="high"),
        mt.until(mt.min("price"), 1, id="low"),
    ]


COLUMNS = ("km", "steps", "flag", "price")


def key_rows(rng: random.Random, key: int) -> list[dict[str, Any]]:
    """Give rows of one key in order, with ties, gaps, nulls and columns that do not fall."""
    rows, time, km, steps = [], rng.randrange(60) * S, rng.random() * 20, rng.randrange(10)
    for _ in range(rng.randrange(1, 40)):
        time += rng.choice([0, 0, 1, 2, 5, 9, 40]) * S
        km += rng.choice([0.0, 0.5, 1.25, 30.0])
        steps += rng.choice([0, 1, 2, 15])
        row = {"k": key, "t": time, "km": km, "steps": steps, "flag": rng.choice([True, False, False, None])}
        rows.append(row | {"price": rng.choice([None, *range(11)]), "v": rng.randrange(100)})
    return rows


def expected(rows: Sequence[dict[str, Any]], asked: Sequence[Any]) -> set[tuple[Any, ...]]:
    """Give all instances by their plain definitions."""
    out = set()
    for key in {row["k"] for row in rows}:
        own = [row for row in rows if row["k"] == key]
        times = [row["t"] for row in own]
        for number, window in enumerate(asked):
            columns = [[row[str(watch.column)] for row in own] for watch in window.watches]
            for start, end, lo, hi, begin, stop in window.over(times, *columns):
                values = [row["v"] for row in own[lo:hi]]
                out.add((number, start, end, begin, stop, key, sum(values), len(values)))
    return out


def task_of(asked: Sequence[Any]) -> FrameTask:
    safe = {column: names.watched(place) for place, column in enumerate(COLUMNS)}
    add = reducer(Merge.SUM, pa.int64(), strict=True)
    assert add is not None
    framings = tuple(
        framing(window, number, tuple(safe[str(watch.column)] for watch in window.watches), number)
        for number, window in enumerate(asked)
    )
    return FrameTask(ColumnLayout.numbered((add, add), (1, 1), 1), framings, tuple(safe.values()), "float64")


def batches_of(rows: Sequence[dict[str, Any]], size: int) -> list[pa.RecordBatch]:
    columns = {
        names.TIME: pa.array([row["t"] for row in rows], pa.int64()),
        names.watched(0): pa.array([row["km"] for row in rows], pa.float64()),
        names.watched(1): pa.array([row["steps"] for row in rows], pa.int64()),
        names.watched(2): pa.array([row["flag"] for row in rows], pa.bool_()),
        names.watched(3): pa.array([row["price"] for row in rows], pa.int64()),
        names.order(0): pa.array([row.get("order", 0) for row in rows], pa.int64()),
        names.key(0): pa.array([row["k"] for row in rows], pa.int64()),
        names.partial(0): pa.array([row["v"] for row in rows], pa.int64()),
        names.partial(1): pa.array([1] * len(rows), pa.int64()),
    }
    whole = pa.RecordBatch.from_pydict(columns)
    return [whole.slice(start, size) for start in range(0, len(rows), size)]


def given(rows: Sequence[dict[str, Any]], asked: Sequence[Any], size: int) -> list[tuple[Any, ...]]:
    out: list[tuple[Any, ...]] = []
    for batch in frame(batches_of(rows, size), task_of(asked)):
        out += zip(*(column.to_pylist() for column in batch.columns), strict=True)
    return out


def given_rows(rows: Sequence[dict[str, Any]], asked: Sequence[Any], size: int) -> list[tuple[Any, ...]]:
    """Give all instances as sums of the rows that were given to them."""
    task = replace(task_of(asked), layout=ColumnLayout.numbered((), (), 1), carried=(names.partial(0),))
    sums: dict[int, list[Any]] = {}
    for batch in tag(batches_of(rows, size), task):
        for ordinal, *told, _, key, value in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            known = sums.setdefault(ordinal, [*told, key, 0, 0])
            assert known[:-2] == [*told, key]
            known[-2:] = known[-2] + value, known[-1] + 1
    return [tuple(instance) for instance in sums.values()]


@pytest.mark.parametrize("seed", range(100))
def test_every_kind_means_its_definition(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All kinds at once, one at a time, and in batches of any size."""
    rng = random.Random(seed)
    rows = [row for key in range(rng.randrange(1, 5)) for row in key_rows(rng, key)]
    asked = windows()
    size = rng.choice([1, 2, 3, 7, 1000])
    monkeypatch.setattr("muntin.arrow.batches.BATCH", size)
    together = given(rows, asked, size)
    assert len(together) == len(set(together))
    wanted = expected(rows, asked)
    for number, window in enumerate(asked):
        assert {row for row in together if row[0] == number} == {row for row in wanted if row[0] == number}, window
    rows_given = given_rows(rows, asked, size)
    assert len(rows_given) == len(wanted)
    assert set(rows_given) == wanted
    some = rng.randrange(len(asked))
    alone = given(rows, [asked[some]], size)
    assert {row[1:] for row in alone} == {row[1:] for row in wanted if row[0] == some}


def tenths(count: int, seed: int) -> list[dict[str, Any]]:
    """Give rows of one key whose km are tenths, as people write them, some of them left out."""
    rng = random.Random(seed)
    places = sorted(rng.sample(range(2 * count), count))
    row = {"k": 0, "steps": 0, "flag": None, "price": None, "v": 1}
    return [row | {"t": place * S, "km": place / 10} for place in places]


@pytest.mark.parametrize("seed", range(40))
def test_fractional_lengths_lose_no_row_where_a_batch_is_cut(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Slides of few digits and of all that a double has; each instance has the rows that decimal arithmetic says."""
    rng = random.Random(seed)
    digits = rng.choice([1, 2, 3, 17])
    slide = max(round(rng.uniform(0.1, 2), digits), 0.1)
    window = mt.hopping(
        slide * rng.randrange(1, 6) if digits == 17 else round(slide + rng.random(), digits), slide, on="km"
    )
    rows, size = tenths(150, seed), rng.choice([1, 2, 7, 40])
    monkeypatch.setattr("muntin.arrow.batches.BATCH", size)
    out = given(rows, [window], size)
    assert len(out) == len(set(out))
    assert set(out) == expected(rows, [window])
    length, step = (Decimal(str(number)) for number in (window.range, window.slide))
    for _, _, _, begin, stop, _, _, count in out:
        k = round(begin / slide)
        assert (begin, stop) == (float(k * step), float(k * step + length))
        assert count == sum(begin <= row["km"] < stop for row in rows)


def test_tumbling_windows_of_a_fraction_have_every_row_once() -> None:
    """A row at an edge lies in the instance that begins there: 0.3 in [0.3, 0.4), and a third at a third."""
    rows = tenths(3_000, 1)
    out = given([*rows, rows[-1] | {"km": 10_000.0}], [mt.tumbling(0.1, on="km")], 1000)
    assert [(begin, count) for _, _, _, begin, _, _, _, count in out] == [(row["km"], 1) for row in rows]
    third = 1 / 3
    thirds = [row | {"km": row["t"] // S * third} for row in rows]
    out = given([*thirds, rows[-1] | {"km": 10_000.0}], [mt.tumbling(third, on="km")], 1000)
    assert sum(count for *_, count in out) == len(rows)


def test_lengths_that_64_bits_do_not_hold() -> None:
    with pytest.raises(mt.QueryError, match=r"range 1000+\d* is too long. Use one of at most 2\*\*62"):
        mt.tumbling(1e30, on="km")


def test_begins_beyond_what_doubles_hold_are_the_nearest() -> None:
    """Where another window has fractions, begins are doubles."""
    row = {"k": 0, "km": 0.0, "flag": None, "price": None, "v": 1}
    rows = [row | {"t": place, "steps": 2**53 + 1 + place} for place in range(3)]
    out = given(rows, [mt.tumbling(1, on="steps")], 1000)
    assert [(begin, count) for _, _, _, begin, _, _, _, count in out] == [(2.0**53, 1), (2.0**53 + 2, 1)]
