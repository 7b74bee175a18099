"""How partials are reduced, without Spark: sums that leave 64 bits, signs of zero, rows that are equal."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from muntin.aggregates import Merge
from muntin.arrow.reducers import Place, Reducer, reducer
from muntin.kernels.operators import Max, Min

GREATEST = 2**63 - 1


def made(merge: Merge, type: pa.DataType, *, strict: bool = True) -> Reducer:
    reduces = reducer(merge, type, strict=strict)
    assert reduces is not None
    return reduces


def over(kind: Reducer, columns: list[pa.Array], pairs: list[tuple[int, int]]) -> list[list[Any]]:
    lo, hi = np.array(pairs, np.int64).T
    lowered = kind.lower(kind.reduce(kind.lift(columns), np.ascontiguousarray(lo), np.ascontiguousarray(hi)), columns)
    return [column.to_pylist() for column in lowered]


@pytest.mark.parametrize("size", [1, 3, 10, 200])
def test_sums_that_leave_64_bits_are_noticed_whatever_was_taken_out(size: int) -> None:
    r = random.Random(size)
    for bits in (50, 58, 62, 63):
        values = [r.randint(-(2**bits), 2**bits - 1) for _ in range(300)]
        pairs = [(max(0, end - size), end) for end in range(1, 301)]
        wanted = [sum(values[lo:hi]) for lo, hi in pairs]
        column = pa.array(values, pa.int64())
        wrapped = [(total + 2**63) % 2**64 - 2**63 for total in wanted]
        assert over(made(Merge.SUM, pa.int64(), strict=False), [column], pairs) == [wrapped]
        if wrapped == wanted:
            assert over(made(Merge.SUM, pa.int64()), [column], pairs) == [wanted]
        else:
            with pytest.raises(OverflowError, match="ARITHMETIC_OVERFLOW"):
                over(made(Merge.SUM, pa.int64()), [column], pairs)


def test_a_total_beyond_64_bits_after_a_wrapped_remainder() -> None:
    """The oldest is taken out of a total that wraps then: the next total must not seem to fit."""
    pairs = [(max(0, end - 3), end) for end in range(1, 5)]
    with pytest.raises(OverflowError, match="ARITHMETIC_OVERFLOW"):
        over(made(Merge.SUM, pa.int64()), [pa.array([-10, GREATEST, 1, 5])], pairs)


def test_sums_of_nothing_but_negative_zeros_are_zero() -> None:
    sums = over(made(Merge.SUM, pa.float64()), [pa.array([-0.0, -0.0, None])], [(0, 1), (0, 2), (0, 3), (2, 3)])[0]
    assert [str(value) for value in sums] == ["0.0", "0.0", "0.0", "None"]


@pytest.mark.parametrize("merge", [Merge.MIN, Merge.MAX])
def test_the_first_of_equal_zeros(merge: Merge) -> None:
    values = [random.Random(merge.name).choice([0.0, -0.0]) for _ in range(60)] + [0.0, -0.0] * 10
    for size in (1, 2, 7, 50):
        pairs = [(max(0, end - size), end) for end in range(1, len(values) + 1)]
        results = over(made(merge, pa.float64()), [pa.array(values)], pairs)[0]
        assert list(map(str, results)) == [str(values[lo]) for lo, _ in pairs]


@pytest.mark.parametrize(("merge", "best"), [(Merge.EARLIER, min), (Merge.LATER, max)])
def test_the_last_of_rows_with_equal_orders(merge: Merge, best: Any) -> None:
    r = random.Random(merge.name)
    orders = [r.choice([1, 2, 3, None]) for _ in range(100)]
    columns = [pa.array(orders, pa.int64()), pa.array([str(row).zfill(3) for row in range(100)])]
    pairs = [(max(0, end - 6), end) for end in range(1, 101)]
    wanted = []
    for lo, hi in pairs:
        known = [(orders[row], row) for row in range(lo, hi) if orders[row] is not None]
        chosen = best((order for order, _ in known), default=None)
        wanted.append(max((str(row).zfill(3) for order, row in known if order == chosen), default=None))
    assert over(made(merge, pa.int64()), columns, pairs)[1] == wanted


def test_texts_are_taken_from_their_rows() -> None:
    assert (made(Merge.MIN, pa.string()), made(Merge.MAX, pa.string())) == (Place(Min()), Place(Max()))
