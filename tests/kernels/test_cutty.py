"""All ways of sharing give what every instance gives by itself, whatever the instances and the operator."""

from functools import reduce
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muntin.errors import QueryError, UnsupportedError
from muntin.kernels.cutty.marks import marks_of
from muntin.kernels.cutty.ways import WAYS, at_begins, at_edges, evaluate
from muntin.kernels.operators import Compose, Min, Sum
from tests.kernels.algorithm_1 import Instances, algorithm_1, in_order, marked

ROWS = 40
CUTTY = [name for name in WAYS if name.startswith("cutty")]


@st.composite
def fifo(draw: st.DrawFn) -> Instances:
    """Draw the windows of one query: neither their begins nor their ends move back; some may have no rows."""
    sides = draw(st.lists(st.tuples(st.integers(0, ROWS), st.integers(0, ROWS)), max_size=12))
    begins, ends = sorted(min(pair) for pair in sides), sorted(max(pair) for pair in sides)
    return list(zip(begins, ends, strict=True))


queries = st.lists(fifo(), min_size=1, max_size=4)


def ends(instances: Instances) -> tuple[list[int], list[int]]:
    return [lo for lo, _ in instances], [hi for _, hi in instances]


def wanted(operator: Any, values: list[Any], instances: Instances) -> list[Any]:
    zero = np.zeros_like(np.array(values[0])).tolist()
    return [reduce(operator.combine, values[lo:hi]) if lo < hi else zero for lo, hi in instances]


@pytest.mark.parametrize("operator", [Sum(), Min()], ids=lambda operator: type(operator).__name__)
@given(drawn=queries, values=st.lists(st.integers(-99, 99), min_size=ROWS, max_size=ROWS))
def test_numbers(operator: Any, drawn: list[Instances], values: list[int]) -> None:
    instances = in_order(*drawn)
    for way in WAYS:
        results, _ = evaluate(way, operator, np.array(values), *ends(instances))
        assert results.tolist() == wanted(operator, values, instances), way


@given(drawn=queries, seed=st.integers(0, 99))
def test_order_matters(drawn: list[Instances], seed: int) -> None:
    """Maps that do not commute are composed in the order of rows."""
    instances = in_order(*drawn)
    values = np.random.default_rng(seed).integers(-2, 3, (ROWS, 2))
    pairs = [(int(a), int(b)) for a, b in values]
    for way in WAYS:
        results, _ = evaluate(way, Compose(), values, *ends(instances))
        expected = np.array(wanted(Compose(), pairs, instances), np.int64).reshape(-1, 2)
        np.testing.assert_array_equal(results, expected, err_msg=way)


@given(drawn=queries)
def test_algorithm_1_gives_every_window_its_records(drawn: list[Instances]) -> None:
    instances = in_order(*drawn)
    records = [chr(ord("!") + row) for row in range(ROWS)]
    aggregates = algorithm_1(marked(instances, records)).aggregates
    assert aggregates == {n: "".join(records[lo:hi]) for n, (lo, hi) in enumerate(instances) if lo < hi}


@given(drawn=queries)
def test_slices_are_those_of_algorithm_1(drawn: list[Instances]) -> None:
    """The loop stores what the reference stores, but for records in no window."""
    instances = in_order(*drawn)
    held = algorithm_1(marked(instances, "x" * ROWS)).held
    for way in ("cutty", "cutty_lazy"):
        _, work = evaluate(way, Sum(), np.ones(ROWS, np.int64), *ends(instances))
        assert work.held == held
        assert work.appends <= len({lo for lo, hi in instances if lo < hi})


@given(drawn=queries)
def test_merged_slices_are_fewer_than_active_windows(drawn: list[Instances]) -> None:
    """What the paper says of all queries together holds when cuts are forgotten; a window is active until emitted."""
    instances = in_order(*drawn)
    _, merged = evaluate("cutty_merged", Sum(), np.ones(ROWS, np.int64), *ends(instances))
    _, plain = evaluate("cutty_lazy", Sum(), np.ones(ROWS, np.int64), *ends(instances))
    active = [len({lo for lo, hi in instances if lo < hi and lo <= row <= hi}) for row in range(ROWS + 1)]
    assert merged.held <= max(0, max(active) - 1)
    assert merged.held <= plain.held
    assert merged.merges <= plain.merges


@given(drawn=fifo())
def test_one_query_holds_fewer_slices_than_active_windows(drawn: Instances) -> None:
    _, plain = evaluate("cutty", Sum(), np.ones(ROWS, np.int64), *ends(drawn))
    active = [len({lo for lo, hi in drawn if lo < hi and lo <= row <= hi}) for row in range(ROWS + 1)]
    assert plain.held <= max(0, max(active) - 1)


@given(drawn=queries, more=st.sets(st.integers(0, ROWS)))
def test_more_cuts_change_no_result(drawn: list[Instances], more: set[int]) -> None:
    instances = in_order(*drawn)
    cuts = sorted(more | {lo for lo, hi in instances if lo < hi})
    values = list(range(ROWS))
    for way in CUTTY:
        results, _ = evaluate(way, Sum(), np.array(values), *ends(instances), cuts=cuts)
        assert results.tolist() == wanted(Sum(), values, instances)


@pytest.mark.parametrize("way", WAYS)
def test_nothing_to_do(way: str) -> None:
    none = np.array([], np.int64)
    assert evaluate(way, Sum(), np.arange(3), none, none)[0].tolist() == []
    assert evaluate(way, Sum(), none, [0], [0])[0].tolist() == [0]
    assert evaluate(way, Sum(), np.arange(3), [1, 2], [1, 2])[0].tolist() == [0, 0]
    results, work = evaluate(way, Sum(), np.arange(100), [40], [42])
    assert results.tolist() == [81]
    assert work.operations <= 3


@pytest.mark.parametrize(
    ("lo", "hi", "cuts", "message"),
    [
        ([0, 1], [2], [0], r"2 instances begin and 1 end\. Give lo and hi the same length"),
        ([0, 1], [2, 5], [0, 1], r"instance 1 is \[1, 5\), which does not lie within 4 rows"),
        ([2], [1], [2], r"instance 0 is \[2, 1\), which does not lie within 4 rows"),
        ([0, 0], [3, 2], [0], r"instance 1 is \[0, 2\), which ends before the one before it\. Sort instances by hi"),
        ([0], [3], [2, 0], r"cuts do not ascend from 0 to 4"),
        ([0], [3], [0, 0], r"cuts do not ascend from 0 to 4"),
        ([0], [3], [0, 5], r"cuts do not ascend from 0 to 4"),
        ([0, 1], [3, 3], [0], r"instance 1 is \[1, 3\), which begins without a cut"),
        ([0.5], [3], [0], r"lo has values of type float64"),
    ],
)
def test_what_is_refused(lo: list[int], hi: list[int], cuts: list[int], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        marks_of(lo, hi, cuts, 4)
    with pytest.raises(QueryError, match=message):
        evaluate("cutty", Sum(), np.arange(4), lo, hi, cuts)


def test_other_ways_are_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"there is no way 'slices'\. Ways are naive, pairs"):
        evaluate("slices", Sum(), np.arange(4), [0], [1])


def test_where_slices_are_cut() -> None:
    lo, hi = np.array([0, 3, 5, 3]), np.array([4, 4, 5, 7])
    assert at_begins(lo, hi, 8).tolist() == [0, 3]
    assert at_edges(lo, hi, 8).tolist() == [0, 3, 4, 7]
