"""Branches without Spark: other keys, filters, windows and partials, sliced in one pass and combined in one."""

from __future__ import annotations

import random

import pyarrow as pa
import pytest

import muntin as mt
from muntin import names
from muntin.aggregates import Merge
from muntin.arrow import batches as subject
from muntin.arrow.batches import Chunks, ColumnLayout
from muntin.arrow.branches import Branch, BranchesTask, instances_of_branches, slices_of_branches
from muntin.arrow.combine import CombineTask, SliceTask
from muntin.arrow.forest import readers_of
from muntin.arrow.reducers import reducer
from muntin.plan.slicing.grids import slicing
from muntin.window import Window

Event = tuple[str | None, int | None, int, int, int, str]
"""Two keys, a time, the bits of two filters, a number and a text."""
SUM, MOST = reducer(Merge.SUM, pa.int64(), strict=True), reducer(Merge.MAX, pa.string(), strict=True)
WINDOWS = (Window(10), Window(30, 10), Window(15, 5), Window(60))
ASKED = (
    (("k0",), 1, (WINDOWS[0], WINDOWS[1]), ("p0",)),
    (("k0", "k1"), 2, (WINDOWS[2],), ("p0", "p1")),
    ((), None, (WINDOWS[1], WINDOWS[3]), ("p1",)),
    (("k1",), 4, (WINDOWS[3],), ("p0",)),  # no row satisfies this filter
)
"""Keys, the bit of a filter, windows and partials of each branch."""
SLOTS = {"p0": "q0", "p1": "q1"}


def branch(keys: tuple[str, ...], bit: int | None, windows: tuple[Window, ...], partials: tuple[str, ...]) -> Branch:
    reducers = tuple(kind for kind in (SUM if name == "p0" else MOST for name in partials) if kind)
    chunks = Chunks(100, max(window.halo for window in windows))
    numbers = {window: number for number, window in enumerate(WINDOWS)}
    return Branch(
        SliceTask(ColumnLayout(reducers, tuple((name,) for name in partials), keys), slicing(windows), chunks),
        CombineTask(
            readers_of(mt.plan(windows, "sum"), numbers),
            ColumnLayout(reducers, tuple((SLOTS[name],) for name in partials), keys, chunks),
        ),
        None if bit is None else ("k2", bit),
    )


def events(seed: int) -> list[Event]:
    r = random.Random(seed)
    return [
        (
            r.choice(["a", "b", None]),
            r.choice([1, 2, None]),
            r.randint(-400, 400),
            r.randint(0, 3),
            r.randint(0, 9),
            "xyz"[r.randrange(3)],
        )
        for _ in range(300)
    ]


def batch(rows: list[Event]) -> pa.RecordBatch:
    one, two, times, bits, numbers, texts = zip(*rows, strict=True)
    columns = {
        names.TIME: pa.array(times, pa.int64()),
        "k0": pa.array(one, pa.string()),
        "k1": pa.array(two, pa.int32()),
        "k2": pa.array(bits, pa.int64()),
        "p0": pa.array(numbers, pa.int64()),
        "p1": pa.array(texts),
    }
    return pa.RecordBatch.from_pydict(columns)


def wanted(rows: list[Event]) -> dict[tuple[object, ...], tuple[object, ...]]:
    instances: dict[tuple[object, ...], tuple[int, str]] = {}
    for one, two, time, bits, number, text in rows:
        for place, (keys, bit, windows, _) in enumerate(ASKED):
            if bit is not None and not bits & bit:
                continue
            own = (one if "k0" in keys else None, two if "k1" in keys else None)
            for window in windows:
                for start, _ in window.containing(time):
                    at = (place, WINDOWS.index(window), start, *own)
                    total, most = instances.get(at, (0, ""))
                    instances[at] = (total + number, max(most, text))
    return {
        at: tuple(
            value if name in ASKED[int(str(at[0]))][3] else None for name, value in zip(SLOTS, values, strict=True)
        )
        for at, values in instances.items()
    }


@pytest.mark.parametrize("seed", range(6))
def test_every_branch_has_the_instances_that_it_has_alone(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    r = random.Random(seed)
    monkeypatch.setattr(subject, "BATCH", r.choice([7, 50, 1000]))
    task = BranchesTask(
        tuple(branch(*asked) for asked in ASKED), ("k0", "k1"), {slot: name for name, slot in SLOTS.items()}
    )
    rows = events(seed)
    slices = pa.Table.from_batches(slices_of_branches([batch(rows[:100]), batch(rows[100:])], task))
    order = [(name, "ascending") for name in (names.BRANCH, "k0", "k1", names.PLACE)]
    ordered = slices.sort_by(order).to_batches(max_chunksize=r.choice([5, 40, 1000]))
    given: dict[tuple[object, ...], tuple[object, ...]] = {}
    for windows in instances_of_branches(ordered, task):
        for row in windows.to_pylist():
            at = (row[names.BRANCH], row[names.NUMBER], row[names.START], row["k0"], row["k1"])
            assert at not in given, "every instance comes once"
            given[at] = (row["q0"], row["q1"])
    assert given == wanted(rows)
