"""What kernels are given is checked before they begin: ranges, types, shapes, and what a sum cannot get rid of."""

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from muntin.errors import QueryError, UnsupportedError
from muntin.kernels.catalogue import KERNELS, MANY, answer_many, reduce_ranges, slide, slide_many
from muntin.kernels.operators import Compose, Counting, FirstMin, Max, Min, Moments, Sum, Timed, Wide
from muntin.kernels.preceding import after_ties, latest, preceding
from muntin.kernels.protocol import Asked
from muntin.kernels.sliced import sliced_windows
from muntin.kernels.slices import slice_starts
from muntin.kernels.slick_deque import slick_deque_places
from muntin.kernels.spans import spans
from muntin.techniques import TECHNIQUES

THREE = np.array([3.0, 1.0, 2.0])


def operator_for(name: str) -> Any:
    return Max() if name == "slick_deque" else Sum()


@pytest.mark.parametrize("name", [*KERNELS, None])
@pytest.mark.parametrize(
    ("lo", "hi", "message"),
    [
        ([0, 1], [2, 4], r"range 1 is \[1, 4\), which does not lie within 3 values\. Use 0 ≤ lo ≤ hi ≤ 3\."),
        ([0, 3], [1, 2**40], r"range 1 is \[3, 1099511627776\), which does not lie within 3 values"),
        ([-1, 0], [1, 2], r"range 0 is \[-1, 1\), which does not lie within 3 values"),
        ([-(2**63)], [2], r"which does not lie within 3 values"),
        ([2], [1], r"range 0 is \[2, 1\), which does not lie within 3 values"),
        ([1, 0], [2, 2], r"range 1 is \[0, 2\), which moves back from \[1, 2\)\. Sort the ranges"),
        ([0, 0], [3, 2], r"range 1 is \[0, 2\), which moves back from \[0, 3\)"),
        ([0, 1], [2], r"2 ranges begin and 1 end\. Give lo and hi the same length"),
        ([0.5], [2.0], r"lo has values of type float64\. Use one dimension of whole numbers"),
        ([[0]], [[2]], r"lo has values of 2 dimensions"),
        (np.array([0], np.uint64), np.array([2**63], np.uint64), r"hi has 9223372036854775808, which is beyond"),
    ],
)
def test_ranges_lie_within_the_values_and_never_move_back(name: str | None, lo: Any, hi: Any, message: str) -> None:
    with pytest.raises(QueryError, match=message):
        reduce_ranges(operator_for(name or ""), THREE, np.array(lo), np.array(hi), by=name)


@pytest.mark.parametrize("name", [*KERNELS, None])
def test_ranges_at_the_edges(name: str | None) -> None:
    operator = operator_for(name or "")
    none = np.array([], np.int64)
    assert reduce_ranges(operator, THREE, none, none, by=name).tolist() == []
    assert reduce_ranges(operator, THREE, [0, 3, 3], [0, 3, 3], by=name).tolist() == [0, 0, 0]
    assert reduce_ranges(operator, THREE[:1], [0, 0], [0, 1], by=name).tolist() == [0, 3]
    assert reduce_ranges(operator, THREE[:0], [0], [0], by=name).tolist() == [0]
    for kind in (np.int8, np.uint16, np.int32, np.uint64):
        lo, hi = np.array([0, 1], kind), np.array([1, 3], kind)
        assert reduce_ranges(operator, THREE, lo, hi, by=name).tolist() == [3, 2 if name == "slick_deque" else 3]
    with pytest.raises(QueryError, match=r"range 0 is \[0, 1\), which does not lie within 0 values"):
        reduce_ranges(operator, THREE[:0], [0], [1], by=name)


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("size", [4, 2**40, 2**70])
def test_a_size_beyond_the_values_takes_no_more_room_than_they_do(name: str, size: int) -> None:
    operator = operator_for(name)
    wanted = [3, 3, 3] if name == "slick_deque" else [3, 4, 6]
    assert slide(operator, THREE, size, by=name).tolist() == wanted
    assert slide(operator, THREE[:1], size, by=name).tolist() == [3]
    if name in MANY:
        assert slide_many(operator, THREE, [1, size, 3], by=name).T.tolist() == [THREE.tolist(), wanted, wanted]
        assert slide_many(operator, THREE[:0], [1, size], by=name).shape == (0, 2)


@pytest.mark.parametrize("sizes", [[], [0], [-1, 2], [1.5], ["2"]])
def test_sizes_are_whole_and_not_empty(sizes: list[Any]) -> None:
    with pytest.raises(QueryError, match=r"Use .*each 1 or more"):
        slide_many(Sum(), THREE, sizes, by="naive")
    for size in sizes[:1]:
        with pytest.raises(QueryError, match=r"Use .*each 1 or more"):
            slide(Sum(), THREE, size, by="naive")


SMALL = (np.bool_, np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32, np.float16, np.float32)


@pytest.mark.parametrize("kind", SMALL, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", ["naive", "subtract_on_evict", "two_stacks", "slick_deque", None])
def test_small_types_neither_wrap_nor_round(name: str | None, kind: Any) -> None:
    """A sum is as wide as numpy's widest of its kind; the greatest has the values' own type."""
    if np.dtype(kind).kind == "f":
        values = np.array([2049, 1.5, 3, -7.25, 2048] * 20, kind)  # 2048 + 1.5 has more digits than float16 holds
    else:
        top = 1 if kind is np.bool_ else np.iinfo(kind).max
        values = np.array([top, 0, top, top, 1] * 20, kind)
    plain = values.tolist()
    hi = np.arange(1, len(values) + 1)
    lo = np.maximum(0, hi - 40)
    if name != "slick_deque":
        sums = reduce_ranges(Sum(), values, lo, hi, by=name)
        assert sums.dtype.itemsize == 8
        assert sums.tolist() == [sum(plain[a:b]) for a, b in zip(lo, hi, strict=True)]
        if name is not None:
            assert slide(Sum(), values, 40, by=name).tolist() == sums.tolist()
        if name in MANY:
            assert slide_many(Sum(), values, [40], by=name)[:, 0].tolist() == sums.tolist()
    if name != "subtract_on_evict":
        best = reduce_ranges(Max(), values, lo, hi, by=name)
        assert best.dtype == values.dtype
        assert best.tolist() == [max(plain[a:b]) for a, b in zip(lo, hi, strict=True)]


def test_unsigned_words_keep_their_upper_half() -> None:
    values = np.array([2**63, 1, 2**64 - 1, 5], np.uint64)
    hi = np.arange(1, 5)
    lo = np.maximum(0, hi - 2)
    for name in ("naive", "subtract_on_evict", "slick_deque"):
        if name != "subtract_on_evict":
            assert reduce_ranges(Max(), values, lo, hi, by=name).tolist() == [2**63, 2**63, 2**64 - 1, 2**64 - 1]
        if name != "slick_deque":
            assert reduce_ranges(Sum(), values, lo, hi, by=name).tolist() == [2**63, 2**63 + 1, 0, 4]


@pytest.mark.parametrize("strange", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_what_a_running_total_cannot_get_rid_of_is_refused(strange: float, kind: Any) -> None:
    values = np.array([1, strange, 2, 3, 4, 5], kind)
    hi = np.arange(1, 7)
    lo = np.maximum(0, hi - 2)
    asked = Asked(np.array([0, 0, 0, 0, 0, 0, 1]), np.array([4]), np.array([0]), 1, 2)
    message = rf"value 1 is {strange}, which subtract_on_evict cannot take out of a sum again\. Use naive, flatfat"
    calls: list[Callable[[str], Any]] = [
        lambda name: reduce_ranges(Sum(), values, lo, hi, by=name)[-1],
        lambda name: slide(Sum(), values, 2, by=name)[-1],
        lambda name: slide_many(Sum(), values, [2], by=name)[-1, 0],
        lambda name: answer_many(Sum(), values, asked, by=name)[-1],
    ]
    for call in calls:
        with pytest.raises(UnsupportedError, match=message):
            call("subtract_on_evict")
        assert call("naive") == call("flatfit") == 9
    with pytest.raises(UnsupportedError, match=r"Use naive, flatfat, bint, flatfit\.$"):
        calls[2]("subtract_on_evict")


def test_sums_that_become_infinite_are_not_undone() -> None:
    values = np.array([1e308, 1e308, 1.0, 2.0, 3.0])
    assert slide(Sum(), values, 2, by="two_stacks").tolist() == [1e308, math.inf, 1e308, 3, 5]
    with pytest.raises(UnsupportedError, match=r"sums of 2 values up to 1e\+308 may be infinite"):
        slide(Sum(), values, 2, by="subtract_on_evict")
    assert slide(Sum(), values[2:], 2, by="subtract_on_evict").tolist() == [1, 3, 5]


@pytest.mark.parametrize("name", [name for name in KERNELS if name != "subtract_on_evict"])
def test_strange_values_leave_with_their_range(name: str) -> None:
    """NaN is the greatest, infinity is a number; neither stays when it has left the range."""
    r = random.Random(name)
    values = [r.choice([math.nan, math.inf, -math.inf, 1.0, 2.0, 3.0]) for _ in range(60)]
    hi = np.arange(1, 61)
    lo = np.maximum(0, hi - 4)
    for operator in (Min(), Max()) if name == "slick_deque" else (Sum(), Min(), Max()):
        for kind in (np.float32, np.float64):
            alone = [
                reduce_ranges(operator, np.array(values[a:b], kind), [0], [b - a], by="naive")[0]
                for a, b in zip(lo, hi, strict=True)
            ]
            np.testing.assert_array_equal(reduce_ranges(operator, np.array(values, kind), lo, hi, by=name), alone)


@pytest.mark.parametrize(
    ("operator", "values", "message"),
    [
        (Compose(), np.ones((4, 1)), r"Compose reads values of shape \(n, 2\), and these have \(4, 1\)"),
        (Wide(), np.ones(4, np.uint64), r"Wide reads values of shape \(n, 2\), and these have \(4,\)"),
        (Wide(), np.ones((4, 2), np.int64), r"Wide reads words of type uint64, and these are int64"),
        (Moments(), np.ones((4, 3)), r"Moments reads values of shape \(n, 6\), and these have \(4, 3\)"),
        (Sum(), np.ones((4, 2)), r"Sum reads values of shape \(n,\), and these have \(4, 2\)"),
        (Sum(), np.array(4.0), r"Sum reads values of shape \(n,\), and these have \(\)"),
        (Max(), np.array(["a"] * 4), r"cannot read values of type <U1\. Cast them to int64, uint64 or float64"),
        (Max(), np.array([1, 2, 3, 4], "datetime64[us]"), r"cannot read values of type datetime64\[us\]"),
        (Sum(), np.ones(4, np.complex128), r"cannot read values of type complex128"),
        (Timed(Sum(), np.zeros(3, np.int64)), np.ones(4), r"Timed has 3 marks for 4 slides\. Give it 4 or more"),
        (Counting(Sum(), np.zeros(1, np.int64), np.zeros(2, np.int64)), np.ones(4), r"Counting has 2 marks"),
    ],
)
def test_values_have_the_shape_and_type_that_the_operator_reads(operator: Any, values: Any, message: str) -> None:
    asked = Asked(np.arange(5), np.arange(4), np.zeros(4, np.int64), 1, 1)
    calls: list[Callable[[], Any]] = [
        lambda: reduce_ranges(operator, values, np.arange(4), np.arange(4), by="naive"),
        lambda: slide(operator, values, 2, by="naive"),
        lambda: slide_many(operator, values, [2], by="naive"),
        lambda: answer_many(operator, values, asked, by="naive"),
    ]
    for call in calls:
        with pytest.raises(QueryError, match=message):
            call()


def test_moments_of_whole_numbers_have_fractions() -> None:
    rows = np.array([[1, 1, 0, 0, 0, 0], [1, 2, 0, 0, 0, 0]], np.int32)
    assert reduce_ranges(Moments(), rows, [0], [2]).tolist() == [[2, 1.5, 0, 0.5, 0, 0]]


@pytest.mark.parametrize("name", MANY)
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"due": [0, 1, 2]}, r"due does not divide 3 answers among 3 values\. It has 4 places, from 0 to 3"),
        ({"due": [0, 1, 2, 9]}, r"due does not divide"),
        ({"due": [0, 2, 1, 3]}, r"due does not divide"),
        ({"due": [1, 1, 2, 3]}, r"due does not divide"),
        ({"starts": [-1, 0, 1]}, r"starts must lie between 0 and the value"),
        ({"starts": [0, 2, 2]}, r"starts must lie between 0 and the value"),
        ({"starts": [0, 1, 0]}, r"starts of one query must never move back"),
        ({"due": [0, 0, 0, 3], "queries": [0, 1, 2], "starts": [0, 1, 2]}, r"due together must be in descending order"),
        ({"queries": [0, 0, 3]}, r"queries must name one of 3 queries"),
        ({"queries": [0, 0, -1]}, r"queries must name one of 3 queries"),
        ({"queries": [0, 0]}, r"queries must name one of 3 queries"),
        ({"widest": 1}, r"widest is 1, and the longest range has 2 values\. Use 2 or more"),
    ],
)
def test_what_is_asked_is_checked(name: str, change: dict[str, Any], message: str) -> None:
    fields: dict[str, Any] = {"due": [0, 1, 2, 3], "starts": [0, 0, 1], "queries": [0, 0, 0], "number": 3, "widest": 2}
    arrays: dict[str, Any] = {
        key: np.array(field) if isinstance(field, list) else field for key, field in (fields | change).items()
    }
    with pytest.raises(QueryError, match=message):
        answer_many(operator_for(name), THREE, Asked(**arrays), by=name)


@pytest.mark.parametrize("name", MANY)
def test_the_widest_range_takes_no_more_room_than_the_values(name: str) -> None:
    asked = Asked(np.array([0, 1, 2, 3]), np.array([0, 0, 1]), np.zeros(3, np.int64), 1, 2**50)
    wanted = [3, 3, 2] if name == "slick_deque" else [3, 4, 3]
    assert answer_many(operator_for(name), THREE, asked, by=name).tolist() == wanted
    none = Asked(np.array([0]), np.array([], np.int64), np.array([], np.int64), 1, 1)
    assert answer_many(operator_for(name), THREE[:0], none, by=name).tolist() == []


def test_places_are_looked_for_within_the_values() -> None:
    valid = np.ones(3, np.bool_)
    with pytest.raises(QueryError, match=r"range 0 is \[0, 4\), which does not lie within 3 values"):
        slick_deque_places(Max(), THREE, valid, [0], [4])
    with pytest.raises(QueryError, match=r"valid has 2 places for 3 values"):
        slick_deque_places(Max(), THREE, valid[:2], [0], [3])
    assert slick_deque_places(FirstMin(), np.array([9, 2, 2], np.int8), valid, [0], [3]).tolist() == [1]
    assert slick_deque_places(Max(), THREE[:0], valid[:0], [0], [0]).tolist() == [-1]


@pytest.mark.parametrize("bounds", [[], [0, 4], [0, 2], [1, 3], [0, 2, 1, 3], [-1, 3], [0.0, 3.0]])
def test_groups_divide_the_rows(bounds: list[Any]) -> None:
    time, ends = np.array([1, 2, 3]), np.array(bounds)
    for call in (
        lambda: spans(ends, time, 5, 5, 0),
        lambda: slice_starts(ends, time, np.array([5]), np.array([0])),
        lambda: preceding(ends, time, 1, 0, 3),
        lambda: after_ties(ends, time),
    ):
        with pytest.raises(QueryError, match=r"bounds .*(do not divide 3 rows|are empty|Use one dimension)"):
            call()
    with pytest.raises(QueryError, match=r"bounds|rows 0 to 5"):
        latest(ends, 2, 0, 5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: spans(np.array([0, 1]), np.array([1]), 5, 0, 0), r"slide is 0\. Use 1 or more"),
        (lambda: spans(np.array([0, 1]), np.array([1]), 5, -5, 0), r"slide is -5\. Use 1 or more"),
        (lambda: spans(np.array([0, 1]), np.array([1]), 0, 5, 0), r"reach is 0\. Use 1 or more"),
        (lambda: spans(np.array([0, 1]), np.array([1.5]), 5, 5, 0), r"time has values of type float64"),
        (lambda: slice_starts(np.array([0, 1]), np.array([1]), np.array([0]), np.array([0])), r"slide is 0"),
        (lambda: slice_starts(np.array([0, 1]), np.array([1]), np.array([5, 3]), np.array([0])), r"2 slides and 1"),
        (lambda: slice_starts(np.array([0, 1]), np.array([1]), np.array([]), np.array([])), r"0 slides and 0"),
        (lambda: preceding(np.array([0, 3]), np.arange(3), -1, 0, 3), r"range is -1\. Use 0 or more"),
        (lambda: preceding(np.array([0, 3]), np.arange(3), 1, 0, 4), r"rows 0 to 4 do not lie within 3 rows"),
        (lambda: preceding(np.array([0, 3]), np.arange(3), 1, 2, 1), r"rows 2 to 1 do not lie within 3 rows"),
        (lambda: latest(np.array([0, 3]), 0, 0, 3), r"count is 0\. Use 1 or more"),
        (lambda: latest(np.array([0, 3]), 1, -1, 3), r"rows -1 to 3 do not lie within 3 rows"),
        (lambda: sliced_windows(Sum(), np.arange(3), np.ones(2), (2, 2, 0), ((2, 0),)), r"3 times, 2 values and 1"),
        (lambda: sliced_windows(Sum(), np.arange(3), np.ones(3), (2, 2, 0), ()), r"3 values and 0 grids"),
        (lambda: sliced_windows(Sum(), np.arange(9), np.ones(9), (4, 2, 1), ((2, 0),)), r"begin off the grids"),
    ],
)
def test_lengths_and_stretches_are_checked(call: Callable[[], Any], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        call()


def test_no_rows_have_no_windows() -> None:
    nothing, one = np.array([], np.int64), np.array([0, 0])
    assert [side.tolist() for side in spans(one, nothing, 5, 5, 0)] == [[], [], []]
    assert slice_starts(one, nothing, np.array([5]), np.array([0])).tolist() == []
    assert preceding(one, nothing, 5, 0, 0).tolist() == latest(one, 1, 0, 0).tolist() == []
    instances, results, slices = sliced_windows(Sum(), nothing, np.array([], np.int8), (5, 5, 0), ((5, 0),))
    assert (instances.start.tolist(), results.tolist(), slices.tolist()) == ([], [], [])


def test_every_technique_is_met_here() -> None:
    assert set(KERNELS) == set(TECHNIQUES)
