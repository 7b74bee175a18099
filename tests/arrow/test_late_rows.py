"""Late rows given back by a bucket: those that miss all windows, and nothing else changes."""

from __future__ import annotations

import random
from typing import Any, cast

import pyarrow as pa
import pytest

from muntin.arrow.batches import ColumnLayout
from muntin.arrow.state.bucket import News, Outcome, step
from muntin.arrow.state.distinct import DistinctJob, distinct_step
from muntin.arrow.state.head import Head, Job
from muntin.arrow.state.late_rows import LateJob, late_step, unpacked_beside
from muntin.arrow.state.packing import Packing, counting, pack, packed_at_source, unpack
from muntin.arrow.state.terms import Term
from muntin.changes import Change
from muntin.plan.slicing.grids import slicing
from muntin.window import Window
from tests.arrow.test_bucket import QUERY, Kept, layout

WINDOWS = (Window(10), Window(30, 10), Window(15, 5))
TERMS = tuple(Term(number, window, window.label) for number, window in enumerate(WINDOWS))


def rows(r: random.Random, count: int, until: int, serial: int) -> pa.RecordBatch:
    """Give rows as they are, with a serial number that the input has beside what is aggregated."""
    return pa.RecordBatch.from_pydict(
        {
            "t": pa.array([max(0, until - r.choice([r.randint(0, 8), r.randint(0, 90)])) for _ in range(count)]),
            "k0": pa.array([r.choice(["a", "b", None]) for _ in range(count)], pa.string()),
            "p0": pa.array([r.randint(0, 9) for _ in range(count)], pa.int64()),
            "p1": pa.array([r.choice("xyz") for _ in range(count)], pa.string()),
            "c0": pa.array(range(serial, serial + count), pa.int64()),
        }
    )


def sliced(batch: pa.RecordBatch, columns: ColumnLayout, windows: tuple[Window, ...], items: tuple[str, ...]) -> bytes:
    """Send rows through the source, as they go where late rows are not asked for."""
    bucket = pa.array([0] * batch.num_rows, pa.int32())
    numbered = batch.drop_columns(["c0"]).append_column("bucket_number", bucket)
    packing = Packing(columns, (0,), slicing(windows), items=items)
    (message,) = packed_at_source([numbered], packing)
    return bytes(message["data"][0].as_py())


def missed(outcome: Outcome) -> dict[int, Any]:
    return {} if outcome.missed is None else {row["c0"]: row["watermark"] for row in unpack(outcome.missed).to_pylist()}


def is_late(time: int, windows: tuple[Window, ...], watermark: int) -> bool:
    """Say by plain arithmetic whether all instances that have a time have ended by the watermark."""
    return all(time // window.slide * window.slide + window.range <= watermark for window in windows)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("shape", ["columnar", "distinct"])
def test_late_rows_are_those_that_miss_all_windows_and_nothing_else_changes(seed: int, shape: str) -> None:
    r = random.Random(seed)
    columns, items, inner = layout(), tuple[str, ...](), cast(Any, step)
    job = Job(columns.of_slices(), False, QUERY, TERMS)
    if shape == "distinct":
        items, inner = ("p0", "p1"), distinct_step
        columns = ColumnLayout((), (), ("k0", *items))
        job = DistinctJob(columns.of_slices(), True, QUERY, TERMS, ("k0",), items)
    late_job = LateJob(job, inner, ("c0",), counting(columns), items)
    plain: tuple[Head | None, Kept] = None, Kept()
    beside: tuple[Head | None, Kept] = None, Kept()
    watermark, before, late_rows, serial = 0, 0, 0, 0
    for number in range(1, 15):
        batch = rows(r, r.randint(1, 40), 20 * number, serial)
        serial += batch.num_rows
        latest = max(batch["t"].to_pylist())
        news = News((sliced(batch, columns, WINDOWS, items),), latest)
        one = inner(job, plain[0], plain[1], news, watermark)
        other = late_step(late_job, beside[0], beside[1], News((pack(batch),), latest), watermark)
        plain, beside = (one.head, plain[1]), (other.head, beside[1])
        assert [unpack(data).to_pydict() for data in one.messages] == [unpack(d).to_pydict() for d in other.messages]
        assert one.head.to_json() == other.head.to_json()
        assert (one.late, one.dropped, one.late_by_window) == (other.late, other.dropped, other.late_by_window)
        wanted = [row["c0"] for row in batch.to_pylist() if is_late(row["t"], WINDOWS, before)]
        assert sorted(missed(other)) == wanted
        assert len(wanted) == other.dropped
        assert {int(mark.timestamp() * 1e6 + 0.5) for mark in missed(other).values()} <= {before}
        late_rows += len(wanted)
        before, watermark = watermark, max(watermark, latest - 5)
    assert late_rows > 5
    assert plain[1].kept == beside[1].kept


def test_rows_before_a_window_of_a_registry_are_not_late() -> None:
    """A row in no instance of any window missed none; one whose only instance has closed did."""
    job = LateJob(Job(layout().of_slices(), False, QUERY), step, ("c0",), counting(layout()))
    store = Kept()
    added = News((), 100, (Change(1, "w", Window(10, id="w"), None),))
    head = late_step(job, Head(QUERY, (), latest=100), store, added, 95).head
    head = late_step(job, head, store, News(), 125).head
    columns = {"t": [104, 112, 40], "k0": ["a"] * 3, "p0": [1] * 3, "p1": ["x"] * 3, "c0": [0, 1, 2]}
    batch = pa.RecordBatch.from_pydict(columns)
    outcome = late_step(job, head, store, News((pack(batch),), 112), 125)
    assert head.terms[0].since == 101
    assert sorted(missed(outcome)) == [1]  # [100, 110) begins before the window counts, [110, 120) has ended
    assert outcome.late_by_window == {"w": 1}


def test_late_rows_stand_beside_empty_instances() -> None:
    """Types come from columns that are null in all rows; times may come with another zone than is asked for."""
    instance = pa.struct([("w", pa.int32()), ("s", pa.int64()), ("k0", pa.string())])
    zone, utc = pa.timestamp("us", "Europe/Berlin"), pa.timestamp("us", "UTC")
    late_row = pa.struct([("ts", utc), ("v", pa.int64()), ("watermark", utc)])
    due = pa.RecordBatch.from_pydict({"w": pa.array([1], pa.int32()), "s": [0], "k0": ["a"]})
    columns = {"c0": pa.array([5, 6], zone), "c1": pa.array([7, None], pa.int64()), "watermark": pa.array([9, 9], utc)}
    given = pa.RecordBatch.from_pydict(
        {
            "data": pa.array([None, pack(due)], pa.binary()),
            "missed": pa.array([pack(pa.RecordBatch.from_pydict(columns)), None], pa.binary()),
            "instance": pa.nulls(2, instance),
            "late_row": pa.nulls(2, late_row),
        }
    )
    instances, late = unpacked_beside([given], False)
    assert instances.schema == late.schema
    assert instances.to_pylist() == [{"w": 1, "s": 0, "k0": "a", "late_row": None}]
    assert late.drop_columns(["late_row"]).to_pylist() == [{"w": None, "s": None, "k0": None}] * 2
    assert late["late_row"].type == late_row
    assert [row["v"] for row in late["late_row"].to_pylist()] == [7, None]
    assert late["late_row"].is_valid().to_pylist() == [True, True]
