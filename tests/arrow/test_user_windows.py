"""Windows of a user's own, without Spark: row by row or whole arrays, compiled or not, however batches are cut."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pytest

import muntin as mt
from muntin import names
from muntin.aggregates import Merge
from muntin.arrow.batches import ColumnLayout
from muntin.arrow.frames import memories, user
from muntin.arrow.frames.checked_steps import step_loop
from muntin.arrow.frames.framings import framing
from muntin.arrow.frames.rows import Slicing, frame
from muntin.arrow.frames.slicing import FrameTask
from muntin.arrow.frames.state import FrameJob, frame_step
from muntin.arrow.frames.stretch import batch_with_numbers
from muntin.arrow.reducers import reducer
from muntin.arrow.state.bucket import News
from muntin.arrow.state.head import Head
from muntin.arrow.state.packing import pack, unpack
from muntin.window.user import check_states
from tests.arrow.test_frame_state import FINGERPRINT, Shelf

SIZES = (1, 2, 3, 7, 1000)
"""How many rows come at once."""


def task_of(windows: Sequence[Any], columns: int = 0) -> FrameTask:
    """Frame windows over rows whose values are added."""
    add = reducer(Merge.SUM, pa.int64(), strict=True)
    assert add is not None
    watched = tuple(names.watched(place) for place in range(columns))
    framings = tuple(
        framing(window, number, watched[: len(window.watches)], number) for number, window in enumerate(windows)
    )
    return FrameTask(ColumnLayout.numbered((add,), (1,), 1), framings, watched)


def batches(keys: Sequence[Any], times: Sequence[int], *columns: Sequence[Any], size: int = 1000) -> list[Any]:
    """Give rows in batches; the row of number i within all counts 2 ** i, so that a sum tells which were added."""
    arrays = {names.TIME: pa.array(times, pa.int64())}
    arrays |= {names.watched(place): pa.array(column) for place, column in enumerate(columns)}
    arrays |= {
        names.key(0): pa.array(keys),
        names.partial(0): pa.array([1 << i for i in range(len(times))], pa.int64()),
    }
    whole = pa.RecordBatch.from_pydict(arrays)
    return [whole.slice(start, size) for start in range(0, len(times), size)]


def members(total: int) -> tuple[int, ...]:
    """Give the rows that a sum has."""
    return tuple(place for place in range(total.bit_length()) if total >> place & 1)


Given = list[tuple[int, int, tuple[int, ...]]]


def framed(window: Any, times: Sequence[int], *columns: Sequence[Any], keys: Any = None, size: int = 1000) -> Given:
    """Give start, end and rows of all instances, in the order that they ended in."""
    out = []
    for batch in frame(
        batches(keys or ["k"] * len(times), times, *columns, size=size), task_of([window], len(columns))
    ):
        rows = batch.to_pydict()
        out += [(*told, members(total)) for *told, total in zip(rows["s"], rows["f"], rows["p0"], strict=True)]
    return out


@pytest.fixture(params=SIZES)
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr("muntin.arrow.batches.BATCH", request.param)
    return int(request.param)


class Count:
    """FACTS.md A4.2: a window of so many rows every so many; an end needs that many rows before it (E4.3)."""

    initial = 0

    def __init__(self, range: int, slide: int) -> None:
        self.range, self.slide = range, slide

    def step(self, row: int, time: int) -> tuple[int, int, int]:
        ends = row >= self.range and (row - self.range) % self.slide == 0
        return row + 1, int(row % self.slide == 0), int(ends)


class WholeCount(Count):
    """The same for whole arrays."""

    def steps(self, row: int, time: Any) -> tuple[int, Any, Any]:
        rows = row + np.arange(len(time))
        ends = (rows >= self.range) & ((rows - self.range) % self.slide == 0)
        return row + len(time), (rows % self.slide == 0).astype(np.int64), ends.astype(np.int64)


LETTERS = "abcdefghijkl"


def letters(given: Given) -> list[str]:
    return ["".join(LETTERS[place] for place in rows) for _, _, rows in given]


@pytest.mark.parametrize("kind", [Count, WholeCount])
def test_count_windows_of_cutty(kind: type[Count], size: int) -> None:
    """FACTS.md A4.2, A4.5: the ending record is not in the window, and emission comes before what is collected."""
    times = list(range(len(LETTERS) + 1))
    four = letters(framed(mt.user_window(kind(4, 2), complete=True), times, size=size)[:5])
    assert four == ["abcd", "cdef", "efgh", "ghij", "ijkl"]
    five = framed(mt.user_window(kind(5, 3), complete=True), times, size=size)
    assert [end for _, end, _ in five] == [5, 8, 11]
    assert [rows for _, _, rows in five] == [(0, 1, 2, 3, 4), (3, 4, 5, 6, 7), (6, 7, 8, 9, 10)]


def test_two_windows_share_slices(size: int) -> None:
    """FACTS.md E4.2: each takes its own slices, though both cut them."""
    times = list(range(13))
    both = [mt.user_window(Count(4, 2), complete=True, id="4"), mt.user_window(Count(5, 3), complete=True, id="5")]
    given: dict[int, list[tuple[int, ...]]] = {0: [], 1: []}
    for batch in frame(batches(["k"] * 13, times, size=size), task_of(both)):
        rows = batch.to_pydict()
        for number, total in zip(rows["w"], rows["p0"], strict=True):
            given[number].append(members(total))
    assert given[0] == [tuple(range(begin, begin + 4)) for begin in (0, 2, 4, 6, 8)]
    assert given[1] == [tuple(range(begin, begin + 5)) for begin in (0, 3, 6)]


def test_windows_that_are_open_at_the_end(size: int) -> None:
    """They are given, with the time of the last row, unless only complete ones are asked for."""
    times = [0, 10, 20, 30, 40, 50]
    assert framed(mt.user_window(Count(4, 2)), times, size=size) == [
        (0, 40, (0, 1, 2, 3)),
        (20, 50, (2, 3, 4, 5)),
        (40, 50, (4, 5)),
    ]
    assert framed(mt.user_window(Count(4, 2), complete=True), times, size=size) == [(0, 40, (0, 1, 2, 3))]


def test_every_key_has_its_own_state(size: int) -> None:
    keys, times = ["a"] * 5 + ["b"] * 4 + ["c"], [0, 1, 2, 3, 4, 0, 1, 2, 3, 9]
    window = mt.user_window(Count(2, 2), complete=True)
    rows = [rows for _, _, rows in framed(window, times, keys=keys, size=size)]
    assert rows == [(0, 1), (2, 3), (5, 6)]


class Stock:
    """FACTS.md A4.12: ten minutes every five above a price of 10, five every two below, fixed when a window begins.

    The state is when the next window begins, and the ends of the windows that are open.
    """

    initial = (0, ())

    def step(self, state: Any, time: int, price: float) -> tuple[Any, int, int]:
        following, ends = state
        ended = sum(end <= time for end in ends)
        left = ends[ended:]
        if time < following:
            return (following, left), 0, ended
        range, slide = (10, 5) if price > 10 else (5, 2)
        return (time + slide, tuple(sorted((*left, time + range)))), 1, ended


def test_the_stock_window_of_cutty(size: int) -> None:
    """The deterministic reading of E4.5: a range is that of the price when the window begins."""
    times = list(range(41))
    prices = [20.0 if minute < 25 else 9.0 for minute in times]
    given = framed(mt.user_window(Stock(), "price", complete=True), times, prices, size=size)
    assert sorted((start, rows[-1] + 1) for start, _, rows in given) == [
        (0, 10), (5, 15), (10, 20), (15, 25), (20, 30), (25, 30), (27, 32), (29, 34), (31, 36), (33, 38), (35, 40),
    ]  # fmt: skip
    assert all(rows == tuple(range(rows[0], rows[-1] + 1)) for _, _, rows in given)


class Errands:
    """Windows that a row opens and another row with the same name closes, in any order; the state is open ones."""

    initial: ClassVar[dict[str, Any]] = {"row": 0, "open": {}}

    def step(self, state: Any, time: int, name: str | None) -> tuple[Any, int, list[int]]:
        row, begun = state["row"], dict(state["open"])
        if name is None:
            return {"row": row + 1, "open": begun}, 0, []
        if name in begun:
            return {"row": row + 1, "open": {k: v for k, v in begun.items() if k != name}}, 0, [begun[name]]
        return {"row": row + 1, "open": begun | {name: row}}, 1, []


def test_windows_that_end_in_any_order(size: int) -> None:
    times = list(range(0, 80, 10))
    errands = ["x", "y", None, "x", "z", "z", "y", None]
    window = mt.user_window(Errands(), "name", fifo=False)
    assert framed(window, times, errands, size=size) == [(0, 30, (0, 1, 2)), (40, 50, (4,)), (10, 60, (1, 2, 3, 4, 5))]


def test_the_first_to_begin_must_end_first_unless_told(size: int) -> None:
    errands = ["x", "y", "y", "x"]
    with pytest.raises(
        mt.QueryError, match=r"ends windows of rows \[1\] before that of row 0, though fifo=True, at row 2"
    ):
        framed(mt.user_window(Errands(), "name"), [0, 1, 2, 3], errands, size=size)


def climbs(state: tuple[float, int], time: int, price: float) -> tuple[tuple[float, int], int, int]:
    """Begin a window where a price stops falling, and end it where it falls again."""
    last, is_open = state
    if price < last:
        return (price, 0), 0, is_open
    return (price, 1), 1 - is_open, 0


def test_compiled_steps_give_what_plain_ones_give(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user, "WORTH_COMPILING", 1)
    rng = np.random.default_rng(3)
    prices = np.round(rng.normal(10, 2, 60), 2).tolist()
    window = mt.user_window(climbs, "price", initial=(0.0, 0))
    loops = step_loop.cache_info().misses + step_loop.cache_info().hits
    compiled = framed(window, list(range(60)), prices, size=size)
    assert step_loop.cache_info().misses + step_loop.cache_info().hits > loops
    assert climbs not in user._REFUSED
    plain = type("Plain", (), {"compiled": False, "step": staticmethod(climbs), "initial": (0.0, 0)})()
    by_rows = framed(mt.user_window(plain, "price"), list(range(60)), prices, size=size)
    assert compiled == by_rows
    assert len(compiled) > 5


def grows(state: int, time: int) -> tuple[int, int, int]:
    """Begin and end a window where the last digit of a number that soon leaves 64 bits is 7."""
    return state * 3 + time, int(state % 10 == 7), int(state % 10 == 7 and state > 7)


def halves(state: int, time: int) -> tuple[int, float, int]:
    return state, 0.5, 0


def singles(state: int, time: int, price: float) -> tuple[int, int, int]:
    """Begin a window with a row whose square is below what 32 bits would round it to."""
    return state, int(price * price < 0.0100000005), 0


def shifts(state: int, time: int) -> tuple[int, int, int]:
    return -state + (1 << time + 10), int(state % 7 == 3), 0


def whole(state: int, time: int, price: float) -> tuple[int, int, int]:
    return state, int(int(price) % 1000 == 312), 0


def rounded(state: int, time: int, price: float) -> tuple[int, int, int]:
    return state, int(round(price) % 1000 == 312), 0


def powers(state: int, time: int, value: int) -> tuple[int, int, int]:
    return state, pow(value, 2) % 11, 0


def divided(state: int, time: int, value: int) -> tuple[int, int, int]:
    return state, int(divmod(value, -1)[0] > 0), 0


def quotient(state: int, time: int, value: int) -> tuple[int, int, int]:
    return state, int(value // -1 > 0), 0


def equals(state: int, time: int, value: int) -> tuple[int, int, int]:
    return state, int(value != 9007199254740992.0), 0


def highest(state: float, time: int, value: int) -> tuple[float, int, int]:
    """Keep a whole number or a float, whichever is greater."""
    return max(state, value), int(max(state, value)) % 2, 0


def halved(state: int, time: int, value: int) -> tuple[float, int, int]:
    """Return a whole number here and a float there."""
    return (value if time % 2 == 0 else 0.5), int(state) % 2, 0


def counted(state: int, time: int, value: int) -> tuple[int, int, int]:
    """Take a number that is a float on the other way."""
    number = value if time != 3 else 0.5
    return state, int(number) % 2, 0


VAST, ODD, LOWEST = (pa.array([number] * 100) for number in (3e30, 2**53 + 1, -(2**63)))


@pytest.mark.parametrize(
    ("step", "initial", "columns"),
    [
        (grows, 7, ()),
        (shifts, 3, ()),
        (singles, 0, (pa.array(np.full(100, 0.1, np.float32)),)),
        (whole, 0, (VAST,)),
        (rounded, 0, (VAST,)),
        (powers, 0, (pa.array([2**40] * 100),)),
        (divided, 0, (LOWEST,)),
        (quotient, 0, (LOWEST,)),
        (equals, 0, (ODD,)),
        (highest, 0.0, (ODD,)),
        (halved, 0, (ODD,)),
        (counted, 0, (ODD,)),
    ],
)
def test_compiled_steps_give_what_python_gives(
    step: Any, initial: Any, columns: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole numbers do not wrap at 64 bits, and small floats are as wide as Python's."""
    monkeypatch.setattr(user, "WORTH_COMPILING", 1)
    window = mt.user_window(step, [f"c{place}" for place in range(len(columns))], initial=initial)
    times = list(range(62))
    values = [column.to_pylist()[:62] for column in columns]
    wanted = [(start, end, tuple(range(lo, hi))) for start, end, lo, hi, *_ in window.over(times, *values)]
    assert len(wanted) > 2
    assert framed(window, times, *(column.slice(0, 62) for column in columns)) == wanted


def unbound(state: int, time: int, price: float) -> tuple[int, int, int]:
    if price > 5:
        begins = 1
    return state, begins, 0


def test_a_name_without_a_value_is_an_error_also_where_steps_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user, "WORTH_COMPILING", 1)
    with pytest.raises(mt.QueryError, match="the discretizer raised UnboundLocalError"):
        framed(mt.user_window(unbound, "price", initial=0), [0, 1], [1.0, 9.0])


def two_legs(stops: int, time: int, stop: bool) -> tuple[int, int, int]:
    """Begin a window with every stop, and end it with the second after it."""
    return stops + stop, int(stop), int(stop and stops >= 2)


def hundred(rows: int, time: int) -> tuple[int, int, int]:
    return rows + 1, int(rows % 100 == 0), int(rows % 100 == 0 and rows > 0)


def jumps(state: tuple[float, int], time: int, price: float) -> tuple[tuple[float, int], int, int]:
    last, rows = state
    far = abs(price - last) / max(last, 1.0) >= 0.1 or not rows
    rows += 1
    while rows > 100:
        rows //= 2
    return (price if far else min(last, price), rows), int(far), int(far and rows > 1)


@pytest.mark.parametrize(
    ("step", "initial", "columns"),
    [
        (two_legs, 0, (np.array([True, False, True, True]),)),
        (hundred, 0, ()),
        (jumps, (0.0, 0), (np.array([1.0, 1.05, 2.0, np.nan]),)),
    ],
)
def test_ordinary_steps_are_compiled(step: Any, initial: Any, columns: tuple[Any, ...]) -> None:
    state, begins, ends = step_loop(step, len(columns))(initial, np.arange(4), *columns)
    plain, wanted = initial, list[Any]()
    for row in range(4):
        plain, begun, ended = step(plain, row, *(column[row].item() for column in columns))
        wanted.append((begun, ended))
    assert list(zip(begins, ends, strict=True)) == wanted
    assert repr(state) == repr(plain)


def operations(state: int, time: int, a: int, b: int, x: float, y: float) -> tuple[int, int, int]:
    """Give a bit for every operation that is compiled."""
    whole = int(a + b > b) + 2 * int(a - b < 7) + 4 * int(a * 3 >= b) + 8 * int(a & b != 0) + 16 * int(a | b > 5)
    whole += 32 * int(a // 3 == b % 7) + 64 * int(-a <= b) + 128 * int(abs(a) == b) + 256 * int(min(a, b) == b)
    mixed = int(a < x) + 2 * int(a <= x) + 4 * int(a == x) + 8 * int(x != b) + 16 * int(y > b) + 32 * int(y >= a)
    mixed += 64 * int(a + x > b * y) + 128 * int(a - y == x) + 256 * int(float(a) == x) + 512 * int(a ^ b == 1)
    double = int(x < y) + 2 * int(x + y == y) + 4 * int(x * y > x) + 8 * int(x - y != y) + 16 * int(max(x, y) == y)
    double += 32 * int(not x) + 64 * int(bool(y)) + 128 * int(abs(x) <= y) + 256 * int(-x == y) + 512 * int(bool(a))
    return state, whole + 1024 * mixed, double


def test_compiled_operations_give_what_python_gives_at_the_edges() -> None:
    """Or they raise, and the step runs as plain Python."""
    wholes = [0, 1, -1, 3, -7, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63)]
    doubles = [0.0, -0.0, 1.0, -3.5, 2.0**53, 2.0**53 + 2, 2.0**63, 1e308, float("inf"), float("nan")]
    loop, rng, same = step_loop(operations, 4), np.random.default_rng(7), 0
    for _ in range(3_000):
        row = [wholes[place] for place in rng.integers(0, 10, 2)] + [doubles[place] for place in rng.integers(0, 10, 2)]
        try:
            _, begins, ends = loop(0, np.zeros(1, np.int64), *(np.array([value]) for value in row))
        except OverflowError:
            continue
        assert (begins[0], ends[0]) == operations(0, 0, *row)[1:], row
        same += 1
    assert same > 300


def test_a_begin_that_is_no_count_is_refused_also_where_steps_are_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(user, "WORTH_COMPILING", 1)
    with pytest.raises(mt.QueryError, match=r"the discretizer says that 0\.5 windows begin at row 0"):
        framed(mt.user_window(halves, initial=0), [0, 1])


class Script:
    """Ends what it is told to, row by row; a window begins with every row."""

    initial = 0

    def __init__(self, *ends: Any) -> None:
        self.ends = ends

    def step(self, row: int, time: int) -> tuple[int, int, Any]:
        return row + 1, 1, self.ends[row]


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ([0, 0], "ends 2 windows that began with row 0, too many, at row 2"),
        ([5], "ends a window that began with row 5, which none did that is open, at row 2"),
        ([0.5], r"ends a window that began with row 0\.5, which is no row's number, at row 2"),
        (["a"], "ends a window that began with row 'a', which is no row's number, at row 2"),
        ((True,), "ends a window that began with row True, which is no row's number, at row 2"),
        (1.0, r"says that 1\.0 windows end at row 2"),
        (3, "ends 3 windows where 2 are open at row 2"),
    ],
)
def test_ends_that_no_window_has(ends: Any, message: str) -> None:
    with pytest.raises(mt.QueryError, match=message):
        framed(mt.user_window(Script(0, 0, ends), fifo=False), [0, 1, 2])


class Stops:
    """A window begins with every second row of a number; the state has types that plain JSON loses."""

    initial: ClassVar[Any] = {"counts": {}, "open": [], "seen": set(), "last": None}

    def step(self, state: Any, time: int, stop: int) -> tuple[Any, int, list[int]]:
        counts, begun = state["counts"], state["open"]
        counts[stop] = counts.get(stop, 0) + 1
        state["seen"].add((stop, Decimal(stop)))
        row = sum(counts.values()) - 1
        ends = [begun.pop(0)] if len(begun) > 1 else []
        begins = int(counts[stop] % 2 == 0 and (stop, Decimal(stop)) in state["seen"])
        begun += [row] * begins
        return state | {"last": time / 7}, begins, ends


def streamed(window: Any, times: Sequence[int], *columns: Sequence[Any], size: int) -> Given:
    """Give what a stream gives in micro-batches of some rows; its state is written and read back after each."""
    job, shelf, text, out = FrameJob(task_of([window], len(columns)), FINGERPRINT), Shelf(), "", list[Any]()
    for batch in [*batches(["k"] * len(times), times, *columns, size=size)]:
        head = Head.from_json(text).taken_up(job) if text else None
        latest = batch[names.TIME].to_pylist()[-1] + 1
        outcome = frame_step(job, head, shelf, News((pack(batch),), latest, ()), latest)
        text = outcome.head.to_json()
        for message in outcome.messages:
            rows = unpack(message).to_pydict()
            out += [(*told, members(total)) for *told, total in zip(rows["s"], rows["f"], rows["p0"], strict=True)]
    return out


@pytest.mark.parametrize("size", [1, 3])
def test_a_stream_keeps_the_types_of_a_state(size: int) -> None:
    """Keys of a dict that are numbers, lists, sets and decimals are what they were at the next micro-batch."""
    rng = np.random.default_rng(5)
    times, stops = list(range(1, 61)), rng.integers(0, 4, 60).tolist()
    window = mt.user_window(Stops(), "stop", fifo=False, complete=True)
    wanted = framed(window, times, stops)
    assert len(wanted) > 5
    assert streamed(window, times, stops, size=size) == wanted


class Memo:
    """A state of a type that is not kept."""

    class Point(NamedTuple):
        x: int

    def step(self, state: Any, time: int) -> tuple[Any, int, int]:
        return self.Point(time), 0, 0


def test_a_stream_refuses_a_state_that_it_cannot_keep() -> None:
    window = mt.user_window(Memo())
    assert framed(window, [1, 2]) == []
    with pytest.raises(mt.QueryError, match="state of a discretizer has a value of type 'Point', which cannot be kept"):
        streamed(window, [1, 2], size=1)
    with pytest.raises(mt.QueryError, match="the initial state of window 'w' has a value of type 'Point'"):
        check_states([mt.user_window(Memo(), initial=Memo.Point(1), id="w")])
    check_states([mt.user_window(Count(4, 2)), mt.user_window(Count(4, 2), version=2), mt.user_window(Stock())])
    with pytest.raises(
        mt.QueryError, match=r"window 'b' has a function called 'Count', .* Give the functions different"
    ):
        check_states([mt.user_window(Count(4, 2), id="a"), mt.user_window(Count(3, 1), id="b")])


def test_states_of_earlier_versions_are_read_or_refused() -> None:
    """Plain JSON had lists for tuples, and texts for keys of all types."""
    memory = [memories._decoded(text) for text in ('[[1, [2, "x"]]]', '[{"a": [1]}]', "[]", "[null]")]
    assert memory == [[(1, (2, "x"))], [{"a": (1,)}], [], [None]]
    for key in ("1", "-2.5", "true", "null"):
        with pytest.raises(mt.QueryError, match=f"dict with the key '{key}', .* Use a new checkpoint"):
            memories._decoded(f'[{{"{key}": 1}}]')
    for damaged in (
        "",
        "[",
        "[" * 100_000,
        "{}",
        "3",
        '{"format":1,"value":{"array":["O",[1]]}}',
    ):
        with pytest.raises(
            mt.QueryError, match=r"^the state of a discretizer is damaged \(.*\)\. Use a new checkpoint"
        ):
            memories._decoded(damaged)


def test_values_that_are_missing_are_none() -> None:
    """What Numba cannot take goes through plain Python."""
    seen = []

    def look(state: int, time: int, price: float | None) -> tuple[int, int, int]:
        seen.append(price)
        return state, 0, 0

    framed(mt.user_window(look, "price", initial=0), [0, 1, 2], [1.5, None, 2.5])
    assert seen == [1.5, None, 2.5]


def test_a_row_may_begin_and_end_several_windows(size: int) -> None:
    def doubled(state: int, time: int) -> tuple[int, int, int]:
        return state + 1, 2, 2 if state else 0

    rows = [rows for _, _, rows in framed(mt.user_window(doubled, initial=0), [0, 1, 2], size=size)]
    assert rows == [(0,), (0,), (1,), (1,), (2,), (2,)]


def test_definition_and_kernels_agree(size: int) -> None:
    """What `over` says of the same discretizers."""
    times = list(range(0, 120, 10))
    for window in (mt.user_window(Count(4, 2)), mt.user_window(Count(3, 1), complete=True)):
        wanted = [(start, end, tuple(range(lo, hi))) for start, end, lo, hi, *_ in window.over(times)]
        assert framed(window, times, size=size) == wanted


def test_few_slices_are_kept() -> None:
    """FACTS.md E4.4: a long window beside short ones keeps no cut that no open window needs."""
    windows = [
        mt.landmark(since=0, step="1 day"),
        mt.tumbling(mt.rows(2)),
        mt.session_window("1 hour"),
        mt.tumbling("10 us"),
    ]
    task = task_of(windows)
    slicing = Slicing(task.slicings[0], task)
    kept = []
    for start in range(0, 2000, 10):
        times = list(range(start, start + 10))
        rows = pa.RecordBatch.from_pydict(
            {names.TIME: times, names.key(0): ["k"] * 10, names.partial(0): pa.array([1] * 10, pa.int64())}
        )
        list(slicing.take(batch_with_numbers(rows)))
        assert slicing.kept is not None
        kept.append(slicing.kept["p0"].to_pylist())
    assert max(map(len, kept)) <= 3
    assert sum(kept[-1]) == 2000
