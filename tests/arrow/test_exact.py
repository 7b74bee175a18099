"""Windows that compare numbers: whole numbers and decimals exactly, NaN as the greatest, however batches are cut."""

from __future__ import annotations

import random
from collections.abc import Sequence
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
from muntin.arrow.frames.state import FrameJob, frame_step
from muntin.arrow.reducers import reducer
from muntin.arrow.state.bucket import News
from muntin.arrow.state.head import Head
from muntin.arrow.state.packing import pack, unpack
from tests.arrow.test_frame_state import FINGERPRINT, Shelf

NAN, INF = float("nan"), float("inf")
DECIMAL = pa.decimal128(10, 2)
WIDE = pa.decimal128(38, 18)
LARGE = pa.decimal128(38, 0)


def task_of(window: Any) -> FrameTask:
    add = reducer(Merge.SUM, pa.int64(), strict=True)
    assert add is not None
    watched = (names.watched(0),)
    return FrameTask(ColumnLayout.numbered((add,), (1,), 1), (framing(window, 0, watched, 0),), watched)


def batch_of(values: Sequence[Any], type: pa.DataType, first: int = 0) -> pa.RecordBatch:
    count = len(values)
    return pa.RecordBatch.from_pydict(
        {
            names.TIME: pa.array(range(first, first + count), pa.int64()),
            names.watched(0): pa.array(values, type),
            names.key(0): pa.array(["k"] * count),
            names.partial(0): pa.array([1] * count, pa.int64()),
        }
    )


def counts(window: Any, values: Sequence[Any], type: pa.DataType, size: int) -> list[int]:
    """Give the numbers of rows of all windows in turn, from batches of some size."""
    whole = batch_of(values, type)
    batches = [whole.slice(start, size) for start in range(0, len(values), size)]
    return [count for batch in frame(batches, task_of(window)) for count in batch["p0"].to_pylist()]


def meant(window: Any, values: Sequence[Any]) -> list[int]:
    return [hi - lo for _, _, lo, hi, *_ in window.over(range(len(values)), values)]


class Stream:
    """A bucket that is written and read back after every micro-batch."""

    def __init__(self, window: Any) -> None:
        self.job, self.shelf, self.text, self.rows = FrameJob(task_of(window), FINGERPRINT), Shelf(), "", 0

    def step(self, values: Sequence[Any], type: pa.DataType) -> list[int]:
        """Take values, and give the numbers of rows of the windows that end."""
        self.rows += len(values)
        head = Head.from_json(self.text).taken_up(self.job) if self.text else None
        batches = (pack(batch_of(values, type, self.rows - len(values))),)
        outcome = frame_step(self.job, head, self.shelf, News(batches, self.rows, ()), self.rows)
        self.text = outcome.head.to_json()
        return [count for message in outcome.messages for count in unpack(message)["p0"].to_pylist()]


@pytest.fixture(params=[1, 3, 1000])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("muntin.arrow.batches.BATCH", request.param)
    return int(request.param)


TENTH = [Decimal("0.10")] * 20
BIG = 2**53
TINY = Decimal("1e-18")
CASES = [
    (mt.until(mt.sum("x"), 1), TENTH, DECIMAL, [10, 10]),
    (mt.until(mt.sum("x"), 1), TENTH, WIDE, [10, 10]),
    (mt.until(mt.sum("x"), 0.3), TENTH[:9], DECIMAL, [3, 3, 3]),
    (mt.until(mt.sum("x"), 0.1), TENTH[:3], WIDE, [1, 1, 1]),
    (mt.until(mt.sum("x"), Decimal("0.3")), TENTH[:9], DECIMAL, [3, 3, 3]),
    (mt.until(mt.sum("x"), 10**19), [Decimal(10**18 * 5)] * 4, WIDE, [2, 2]),
    (mt.until(mt.sum("x"), 10**20), [Decimal(5 * 10**19)] * 4, LARGE, [2, 2]),
    (mt.until(mt.max("x"), 10**20), [Decimal(10**19), Decimal(10**20), Decimal(1)], LARGE, [2, 1]),
    (mt.delta("x", 10**19), [Decimal(n * 10**19) for n in (1, 2, 3)], LARGE, [2, 1]),
    (mt.until(mt.sum("x"), BIG + 1), [BIG, 1, BIG, 0, 1], pa.int64(), [2, 3]),
    (mt.until(mt.max("x"), BIG + 1), [BIG, BIG + 1, BIG], pa.int64(), [2, 1]),
    (mt.until(mt.min("x"), -BIG - 1), [-BIG, -BIG - 1, 0], pa.int64(), [2, 1]),
    (mt.until(mt.max("x"), 2.5), [2, 3, 2], pa.int64(), [2, 1]),
    (mt.until(mt.min("x"), -2.5), [-2, -3, -2], pa.int64(), [2, 1]),
    (mt.until(mt.max("x"), 10**30), [2**63 - 1, 5], pa.int64(), [2]),
    (mt.until(mt.count("x"), 1.5), [1, None, 1, 1], pa.int64(), [3, 1]),
    (mt.delta("x", 0.1), [Decimal(n) / 10 for n in (1, 2, 3, 4)], DECIMAL, [2, 2]),
    (mt.delta("x", 0.1), [Decimal(n) / 10 for n in (3, 4, 5)], WIDE, [2, 1]),
    (mt.delta("id", 0), [BIG, BIG + 1, BIG + 1, BIG + 2], pa.int64(), [1, 2, 1]),
    (mt.delta("id", 2), [2**63 - 1, -(2**63), -(2**63) + 2], pa.int64(), [1, 2]),
    (mt.delta("id", 1.5), [0, 1, 2, None, 3], pa.int64(), [2, 3]),
    (mt.until(mt.min("x"), 1), [NAN, 5.0, 1.0, NAN, 0.5], pa.float64(), [3, 2]),
    (mt.until(mt.max("x"), 9), [1.0, NAN, 2.0, 9.0], pa.float64(), [2, 2]),
    (mt.until(mt.sum("x"), 9), [1.0, NAN, 2.0, 8.0], pa.float64(), [2, 2]),
    (mt.until(mt.min("x"), 1), [5.0, NAN, 3.0, 1.0], pa.float64(), [4]),
    (mt.delta("x", 1), [1.0, 2.0, NAN, NAN, 1.5, 1.0], pa.float64(), [2, 1, 1, 2]),
    (mt.delta("x", 1), [NAN, 1.0, INF, INF, -INF], pa.float64(), [1, 1, 1, 1, 1]),
    (mt.tumbling(2, on="x"), [Decimal(BIG + n) for n in range(9)], pa.decimal128(20, 0), [2, 2, 2, 2]),
    (mt.tumbling(2, on="x"), [Decimal(BIG + n) for n in range(1, 9)], pa.decimal128(20, 0), [1, 2, 2, 2]),
    (mt.tumbling(2, on="x"), [Decimal(-BIG + n) for n in range(-7, 1)], pa.decimal128(20, 0), [1, 2, 2, 2]),
    (mt.tumbling(1, on="x"), [Decimal("0.9"), 1 - TINY, Decimal(1), Decimal(2)], WIDE, [2, 1]),
    (mt.hopping(1, 0.5, on="x"), [Decimal("10.5") - TINY, Decimal("10.5"), Decimal(12)], WIDE, [1, 2, 1]),
    (mt.tumbling(0.1, on="x"), [Decimal(n) / 10 for n in range(8)], DECIMAL, [1] * 7),
    (mt.tumbling(0.001, on="x"), [Decimal(n) / 100 for n in (0, 1, 1, 2)], DECIMAL, [1, 2]),
    (mt.tumbling(0.5, on="x"), [BIG + 1, BIG + 1, BIG + 2, BIG + 4], pa.int64(), [2, 1]),
    (mt.tumbling(2, on="x"), [BIG + n for n in range(1, 9)], pa.int64(), [1, 2, 2, 2]),
]  # fmt: skip


@pytest.mark.parametrize(("window", "values", "type", "wanted"), CASES)
def test_numbers_are_compared_as_they_are(
    window: Any, values: list[Any], type: pa.DataType, wanted: list[int], size: int
) -> None:
    assert meant(window, values) == wanted
    assert counts(window, values, type, size) == wanted


@pytest.mark.parametrize("seed", range(30))
def test_decimals_in_batches_and_streams_mean_the_definition(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr("muntin.arrow.batches.BATCH", 7)
    type = rng.choice([DECIMAL, WIDE, pa.decimal128(18, 0), LARGE])
    shift = 10**20 if type == LARGE else rng.choice([0, 10**7])
    step = Decimal(1).scaleb(-min(type.scale, 2))
    values = [rng.choice([None, *(n * step + shift for n in range(-5, 30))]) for _ in range(60)]
    bound = rng.randrange(1, 40) * step
    asked = [mt.delta("x", bound), *(mt.until(function("x"), bound + shift) for function in (mt.sum, mt.max, mt.min))]
    for window in asked:
        wanted = meant(window, values)
        assert counts(window, values, type, 7) == wanted
        stream, given = Stream(window), list[int]()
        for place in range(0, 60, 11):
            given += stream.step(values[place : place + 11], type)
        given += stream.step([None], type)
        assert given == wanted[: len(given)]
        assert len(given) >= len(wanted) - 1


@pytest.mark.parametrize("seed", range(20))
def test_measures_of_decimals_in_batches_and_streams_mean_the_definition(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where 64 bits do not hold the digits."""
    rng = random.Random(seed)
    monkeypatch.setattr("muntin.arrow.batches.BATCH", 7)
    type = rng.choice([DECIMAL, WIDE, pa.decimal128(20, 0)])
    shift = rng.choice([-8, 0, 10**7])
    digits = Decimal(1).scaleb(-type.scale)
    values = sorted(shift + Decimal(rng.randrange(40)) / 2 + rng.randrange(-1, 2) * digits for _ in range(60))
    values = [value.quantize(digits) for value in values]
    slide = rng.choice([1, 0.5, 2.5, 3])
    window = mt.hopping(rng.choice([slide, 3.3]), slide, offset=rng.choice([0, 0.1]), on="x")
    wanted = meant(window, values)
    assert len(wanted) > 2
    assert counts(window, values, type, 7) == wanted
    stream, given = Stream(window), list[int]()
    for place in range(0, 60, 11):
        given += stream.step(values[place : place + 11], type)
    given += stream.step(values[-1:], type)
    assert given == wanted


def test_decimals_that_fall_or_lie_too_far() -> None:
    window = mt.tumbling(0.5, on="x", id="w")
    with pytest.raises(
        mt.QueryError, match=r"'x' falls from 10\.00000000000000000\d to 0\.00000000000000000\d at row 1"
    ):
        counts(window, [10 + TINY, TINY], WIDE, 1)
    with pytest.raises(
        mt.QueryError, match=r"'w': 'x' is 3000000000000000000, which is too far to count from 0 by 0\.5"
    ):
        counts(window, [Decimal(3 * 10**18)], pa.decimal128(38, 0), 1000)


def test_a_measure_that_was_kept_as_a_double() -> None:
    """It is read where it says which number was meant, and refused where it may be rounded."""
    stream = Stream(mt.tumbling(1, on="x"))
    stream.step(TENTH[:7], DECIMAL)
    stream.step([], DECIMAL)
    memories = unpack(stream.shelf[-2]).to_pydict()
    assert memories["0.place"] == ['{"format":1,"value":{"Decimal":"0.10"}}']
    stream.shelf[-2] = pack(pa.RecordBatch.from_pydict(memories | {"0.place": [0.1]}))
    assert stream.step([Decimal("0.10"), Decimal(1), Decimal(2)], DECIMAL) == [8, 1]
    stream.shelf[-2] = pack(pa.RecordBatch.from_pydict(memories | {"0.place": [1e17]}))
    with pytest.raises(mt.QueryError, match=r"has 1e\+17 as a double, .* may be rounded. Use a new checkpoint"):
        stream.step([Decimal(3)], DECIMAL)


def test_state_that_was_kept_as_doubles() -> None:
    """It is read where it says which number was meant, and refused where it may be rounded."""
    stream = Stream(mt.until(mt.sum("x"), 1))
    stream.step(TENTH[:7], DECIMAL)
    stream.step([], DECIMAL)
    memories = unpack(stream.shelf[-2]).to_pydict()
    assert memories["0.value"] == ['{"format":1,"value":{"Decimal":"0.70"}}']
    as_double = pa.RecordBatch.from_pydict(memories | {"0.value": [0.7 + 2e-16]})
    stream.shelf[-2] = pack(as_double)
    assert stream.step(TENTH[:4], DECIMAL) == [10]
    stream.shelf[-2] = pack(pa.RecordBatch.from_pydict(memories | {"0.value": [1e17]}))
    with pytest.raises(mt.QueryError, match=r"has 1e\+17 as a double, .* may be rounded. Use a new checkpoint"):
        stream.step(TENTH[:1], DECIMAL)


def test_a_sum_that_leaves_64_bits() -> None:
    with pytest.raises(mt.QueryError, match=r"window 'until sum\(x\) 1': a sum leaves 64 bits. Cast the column to dec"):
        counts(mt.until(mt.sum("x"), 1), [-(2**62)] * 3, pa.int64(), 1000)
