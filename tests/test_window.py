from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import muntin as mt
from muntin.window import KINDS, AnyWindow, Window, from_dict, parse_window, parse_windows
from tests.strategies import windows

SMALL = [Window(r, s) for r in range(1, 13) for s in range(1, r + 1)]


def covered_by_definition(child: Window, parent: Window) -> bool:
    """Definition 1: every instance begins where a parent instance begins and ends where another one ends."""
    if child == parent:
        return True
    for k in range(parent.slide):
        a = child.offset + k * child.slide
        begins = [end for start, end in parent.containing(a) if start == a]
        ends = [start for start, end in parent.containing(a + child.range - 1) if end == a + child.range]
        if not (begins and ends and ends[0] > a and begins[0] < a + child.range):
            return False
    return True


def test_coverage_is_definition_1() -> None:
    assert all(a.covered_by(b) == covered_by_definition(a, b) for a in SMALL for b in SMALL)


@given(windows(longest=15, offsets=True), windows(longest=15, offsets=True))
def test_coverage_is_definition_1_with_offsets(child: Window, parent: Window) -> None:
    assert child.covered_by(parent) == covered_by_definition(child, parent)


@given(windows(offsets=True), windows(offsets=True))
def test_multiplier_counts_contained_instances(child: Window, parent: Window) -> None:
    if child.covered_by(parent) or child.piggybacks_on(parent):
        start = child.offset + 5 * child.slide
        inside = list(parent.instances(start, start + child.range))
        assert child.multiplier(parent) == len(inside)
        assert {time for a, b in inside for time in range(a, b)} == set(range(start, start + child.range))
        disjoint = sum(b - a for a, b in inside) == child.range
        assert disjoint == (child.partitioned_by(parent) or len(inside) == 1)
    else:
        with pytest.raises(mt.QueryError, match="is not covered by"):
            child.multiplier(parent)


@given(windows(offsets=True), windows(offsets=True), windows(offsets=True))
def test_coverage_and_partitioning_are_partial_orders(a: Window, b: Window, c: Window) -> None:
    for related in (Window.covered_by, Window.partitioned_by):
        assert related(a, a)
        assert not (related(a, b) and related(b, a)) or a == b
        assert not (related(a, b) and related(b, c)) or related(a, c)
    assert not a.partitioned_by(b) or a.covered_by(b)


def test_coverage_is_transitive_on_all_small_windows() -> None:
    above = {a: {b for b in SMALL if a.covered_by(b)} for a in SMALL}
    assert all(above[b] <= above[a] for a in SMALL for b in above[a])


@pytest.mark.parametrize(
    ("child", "parent", "covered", "partitioned"),
    [
        (Window(10, 2), Window(8, 2), True, False),
        (Window(8, 2), Window(10, 2), False, False),
        (Window(10, 4), Window(10, 2), False, False),
        (Window(7, 3), Window(4, 3), True, False),
        (Window(20, 10), Window(10), True, True),
        (Window(20, 10), Window(20), False, False),
        (Window(30), Window(10), True, True),
        (Window(30, 30, 5), Window(10), False, False),
        (Window(30, 30, 5), Window(10, 10, 5), True, True),
        (Window(30, 30, 15), Window(10, 10, 5), True, True),
    ],
)
def test_relations_of_the_paper(child: Window, parent: Window, covered: bool, partitioned: bool) -> None:
    assert child.covered_by(parent) is covered
    assert child.partitioned_by(parent) is partitioned


@pytest.mark.parametrize(
    ("child", "parent", "multiplier"),
    [
        (Window(10, 2), Window(8, 2), 2),
        (Window(30), Window(10), 3),
        (Window(60, 20), Window(20), 3),
        (Window(60, 20), Window(40, 10), 3),
        (Window(12), Window(8, 2), 3),
        (Window(12, 4), Window(12, 2), 1),
    ],
)
def test_multipliers_of_the_paper(child: Window, parent: Window, multiplier: int) -> None:
    assert child.multiplier(parent) == multiplier


def test_instances() -> None:
    assert list(Window(10, 2).instances(0, 14)) == [(0, 10), (2, 12), (4, 14)]
    assert [start for start, _ in Window(10, 2).containing(5)] == [-4, -2, 0, 2, 4]
    assert [start for start, _ in Window(10, 2).containing(5) if start >= 0] == [0, 2, 4]
    assert list(Window(10).containing(10)) == [(10, 20)]
    assert list(Window(10, 10, 3).containing(2)) == [(-7, 3)]


@given(windows(longest=20, offsets=True), st.integers(-50, 50))
def test_containing_is_what_its_name_says(window: Window, time: int) -> None:
    around = window.instances(time - 3 * window.range, time + 3 * window.range)
    assert list(window.containing(time)) == [(a, b) for a, b in around if a <= time < b]


@pytest.mark.parametrize(
    ("window", "horizon", "count"),
    [
        (Window(10, 2), 120, 56),
        (Window(8, 2), 120, 57),
        (Window(12, 4), 120, 28),
        (Window(20, 10), 60, 5),
        (Window(30, 10), 60, 4),
        (Window(60, 20), 60, 1),
        (Window(7, 3), 14, 3),
        (Window(6, 4), 18, 4),
    ],
)
def test_recurrence_counts_complete_instances(window: Window, horizon: int, count: int) -> None:
    assert window.recurrence(horizon) == count == len(list(window.instances(0, horizon)))


def test_text_timedelta_and_ints_make_the_same_window() -> None:
    hour = 3_600_000_000
    assert mt.tumbling("1 hour") == mt.tumbling(timedelta(hours=1)) == mt.tumbling(hour) == mt.hopping("PT1H", "60 min")
    assert hash(mt.tumbling("1 hour")) == hash(mt.tumbling(hour))
    assert mt.tumbling(np.int64(hour)) == mt.tumbling(hour)  # type: ignore[call-overload]
    assert type(mt.tumbling(np.int64(hour)).range) is int  # type: ignore[call-overload]
    assert Window("1 hour", timedelta(minutes=5), 0).label == "1h/5m"
    assert mt.tumbling("1 hour", id="a") == mt.tumbling("1 hour", id="b")
    assert sorted([Window(3), Window(2, 1), Window(2)]) == [Window(2, 1), Window(2), Window(3)]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Window(0), "range 0 is not positive. Use a range longer than nothing."),
        (lambda: Window(-5), "range -5 is not positive."),
        (lambda: Window(5, 0), "slide 0 is not positive. Use a slide longer than nothing."),
        (
            lambda: mt.hopping("5 min", "10 min", id="w3"),
            "slide 10m exceeds range 5m in window 'w3'. Use a slide of at most 5m.",
        ),
        (lambda: mt.tumbling("1 month"), "'month' in '1 month' has no fixed length. Use days, for example '30 days'."),
        (lambda: mt.tumbling(2**63), "range of 64 bits exceeds 2**63 - 1. Use a shorter range."),
        (lambda: mt.tumbling(10**5000), "exceeds 2**63 - 1"),
        (lambda: mt.tumbling("9" * 5000 + " s"), "as a duration"),
        (lambda: mt.tumbling("0 minutes", id="w"), "range 0s is not positive in window 'w'."),
        (
            lambda: Window(30, 30, 5).multiplier(Window(10)),
            "It would need a longer range, and a slide, range and offset that differ from it by multiples of 10.",
        ),
        (lambda: mt.tumbling("5 fortnights"), "unknown unit 'fortnights' in '5 fortnights'."),
        (lambda: mt.tumbling(2.5), "range 2.5 is not a length of time."),  # type: ignore[call-overload]
        (lambda: mt.tumbling(True), "range True is not a length of time."),
        (lambda: mt.tumbling(None), "range None is not a length of time."),  # type: ignore[call-overload]
        (lambda: mt.tumbling("1 h", id=""), "window id '' is not a text."),
        (lambda: parse_window("1h/5m/2m"), "cannot read '1h/5m/2m' as a window."),
        (
            lambda: parse_window("1 day, 2 hours"),
            "'1 day, 2 hours' is to be one window. Write several as a list of texts",
        ),
        (
            lambda: parse_window("1h/5"),
            "slide 5 has no unit of time, unlike the other lengths. Write it as '5 seconds'",
        ),
        (lambda: parse_windows("5m 10m"), "units in '5m 10m' do not fall. Write '1h30m' for one duration, '5m, 10m'"),
        (lambda: parse_windows("20, 30 minutes"), "'20' in '20, 30 minutes' has no unit of time. Write '20 minutes'"),
        (lambda: parse_windows("PT5M, 20/10"), "'20/10' in 'PT5M, 20/10' has no unit of time. Write '20 m/10 m'"),
        (lambda: Window(60, "1 min"), "range 60 has no unit of time, unlike the other lengths."),
        (lambda: mt.hopping("1 hour", "5 min", offset=30, id="w"), "offset 30 has no unit of time, unlike the other"),
        (
            lambda: mt.tumbling("1 hour", "5 minutes"),  # type: ignore[call-overload]
            "a tumbling window has no slide. Use mt.hopping('1 hour', '5 minutes'), or offset='5 minutes'.",
        ),
        (
            lambda: mt.hopping("1 hour", "5 min", "30 s"),  # type: ignore[call-overload]
            "a hopping window takes a range and a slide. Use offset='30 s' for where it begins.",
        ),
    ],
)
def test_bad_windows_say_what_would_be_right(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(mt.QueryError) as error:
        make()
    assert message in str(error.value)


@given(windows(longest=10**6, offsets=True))
def test_labels_read_back(window: Window) -> None:
    assert parse_window(window.label) == window
    assert parse_window(window.timed().label) == window
    assert eval(repr(window)) == eval(repr(window.timed())) == window  # noqa: S307


def test_windows_from_a_list() -> None:
    assert parse_windows("20 minutes, 1 hour every 5 minutes, 1d/1h + 30m,") == (
        mt.tumbling("20 min"),
        mt.hopping("1 h", "5 min"),
        mt.hopping("1 d", "1 h", offset="30 min"),
    )


def test_every_kind_is_read_back_from_what_it_writes() -> None:
    examples: dict[str, list[AnyWindow]] = {
        "periodic": [Window(20), Window(30, 10, 5), Window("1 hour", "5 min", "30 s")],
        "session": [mt.session_window("30 min"), mt.session_window("30 min", longest="4 h")],
        "measured": [mt.tumbling(mt.rows(5)), mt.hopping(mt.rows(5), mt.rows(2)), mt.hopping(2.5, 1, on="km")],
        "last rows": [mt.hopping(mt.rows(10), "5 s"), mt.hopping(mt.rows(10), "5 s", offset="1 s")],
        "last time": [mt.hopping("1 hour", mt.rows(50))],
        "cumulating": [mt.cumulating("1 day", "1 hour"), mt.cumulating("1 day", "1 hour", offset="6 h")],
        "landmark": [mt.landmark(since="2024-01-01", step="1 day"), mt.landmark(since=5, step="1 s")],
        "snapshot": [mt.snapshot()],
        "punctuated": [mt.punctuated("starts"), mt.punctuated("last", ends=True)],
        "while": [mt.while_("fast"), mt.while_("fast", at_least="5 s"), mt.while_("fast", at_least=mt.rows(3))],
        "delta": [mt.delta("price", 5)],
        "until": [mt.until(mt.sum("amount"), 1000), mt.until(mt.count(), 5)],
    }
    assert examples.keys() == KINDS.keys() - {"user"}  # code is not in a file
    for window in chain.from_iterable(examples.values()):
        assert from_dict(window.to_dict()) == window
        assert from_dict(window.to_dict(readable=True), id="w").label == "w"


@given(windows(offsets=True), st.lists(st.integers(-100, 100), min_size=1), st.integers(-150, 150), st.integers(0, 60))
def test_what_a_watermark_closes(window: Window, times: list[int], watermark: int, more: int) -> None:
    """Due, open and closed agree with the instances that rows have."""
    instances = list(window.over(sorted(times)))
    starts = window.due(watermark, watermark + more)
    ended = {i.start for i in instances if watermark < i.end <= watermark + more}
    assert ended == {i.start for i in instances if starts and starts[0] <= i.start <= starts[1]}
    for time in times:
        inside = [end for _, end in window.containing(time)]
        here = np.array([time])
        assert window.is_open(here, here, watermark).item() == (max(inside) > watermark)
        assert window.is_closed(here, watermark).item() == (min(inside) <= watermark)


@given(windows(offsets=True), st.lists(st.integers(-100, 100), min_size=1))
def test_instances_have_the_rows_inside_them(window: Window, times: list[int]) -> None:
    ordered = sorted(times)
    for instance in window.over(ordered):
        assert ordered[instance.lo : instance.hi] == [t for t in ordered if instance.start <= t < instance.end] != []
        assert instance.end - instance.start == window.longest == window.halo


NO: Any = "no"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: mt.session_window("1 h", "2 h", aligned=NO, id="w"),
            "aligned='no' is neither True nor False in window 'w'",
        ),
        (lambda: mt.user_window(len, fifo=NO), "fifo='no' is neither True nor False"),
        (lambda: mt.user_window(len, complete=NO), "complete='no' is neither True nor False"),
        (lambda: mt.user_window(len, version=NO), "version 'no' is not a whole number"),
        (lambda: mt.punctuated("x", ends=NO), "ends='no' is neither True nor False"),
        (
            lambda: mt.user_defined("f", "v", lift=int, combine=max, lower=int, overlap_safe=NO),
            "overlap_safe='no' is neither True nor False in aggregate 'f'",
        ),
    ],
)
def test_switches_are_true_or_false(make: Any, message: str) -> None:
    with pytest.raises(mt.QueryError, match=message):
        make()


def test_one_function_with_two_initial_states_is_two_windows() -> None:
    def step(state: Any, time: int) -> tuple[Any, int, int]:
        return state, 1, 0

    windows = [mt.user_window(step, initial=initial, id=str(initial)) for initial in (0, 1, (0,), [0], {0: 1})]
    assert mt.Query("ts", (), windows, mt.count()).windows == tuple(windows)
    with pytest.raises(mt.QueryError, match="appears twice"):
        mt.Query("ts", (), [*windows, mt.user_window(step, initial=[0], id="again")], mt.count())


def test_a_state_that_a_step_changes_is_not_the_next_keys_initial_state() -> None:
    def step(state: list[int], time: int) -> tuple[list[int], int, int]:
        state.append(time)
        return state, int(len(state) == 1), 0

    window = mt.user_window(step, initial=[])
    assert list(window.over([1, 2])) == list(window.over([1, 2]))


@pytest.mark.parametrize(
    ("given", "bound"),
    [
        (np.int64(2**53 + 1), 2**53 + 1),
        (np.uint8(7), 7),
        (Decimal(2**53 + 1), 2**53 + 1),
        (Decimal("1e30"), 10**30),
        (Fraction(10, 5), 2),
        (Fraction(1, 4), 0.25),
        (Decimal("0.1"), 0.1),
        (np.float64(2.0), 2),
        (10**300 + 1, 10**300 + 1),
        (1e300, int(1e300)),
    ],
)
def test_bounds_are_not_rounded(given: Any, bound: float) -> None:
    window = mt.until(mt.sum("x"), given)
    assert (window.bound, type(window.bound)) == (bound, type(bound))


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (Fraction(1, 3), "has too many digits"),
        (Decimal("0.1234567890123456789"), r"has too many digits\. Use 0\.12345678901234568\."),
        (Decimal("1e-999999999"), "has too many digits"),
        (Decimal("1e999999999"), "is not a number"),
        (Decimal("NaN"), "is not a number"),
        (float("inf"), "is not a number"),
        (True, "is not a number"),
        ("1", "is not a number"),
        (10**400, "is beyond all doubles"),
        (Fraction(10**5000, 7), "is beyond all doubles"),
    ],
    ids=lambda given: str(given)[:20] if isinstance(given, str | float | Decimal) else type(given).__name__,
)
def test_bounds_that_are_refused(given: Any, problem: str) -> None:
    with pytest.raises(mt.QueryError, match=problem):
        mt.until(mt.sum("x"), given)
