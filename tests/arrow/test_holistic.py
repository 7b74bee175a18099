"""Reducers that read ranges of rows: nulls, ties, and what is lifted once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from muntin.arrow.batches import ColumnLayout, Rows
from muntin.arrow.holistic import Members, Mode, Percentile

LO, HI = np.array([0, 1, 3, 4]), np.array([3, 4, 4, 5])


def test_nulls_count_for_nothing() -> None:
    column = pa.array([1.5, None, 3.5, None, 2.0])
    half = Percentile(0.5)
    (result,) = half.lower(half.reduce(half.lift([column]), LO, HI), [column])
    assert result.to_pylist() == [2.5, 3.5, None, 2.0]
    texts = pa.array(["a", None, "a", None, "b"])
    (counts,) = Members().lower(Members().reduce(Members().lift([texts]), LO, HI), [texts])
    assert counts.to_pylist() == [1, 1, 0, 1]
    (modes,) = Mode().lower(Mode().reduce(Mode().lift([texts]), LO, HI), [texts])
    assert modes.to_pylist() == ["a", "a", None, "b"]


def test_nothing_but_nulls() -> None:
    column = pa.array([None, None], pa.float64())
    half = Percentile(0.5)
    (result,) = half.lower(half.reduce(half.lift([column]), np.array([0]), np.array([2])), [column])
    assert result.to_pylist() == [None]


def test_percentiles_of_one_column_share_a_matrix() -> None:
    values = pa.array([3.0, 1.0, 2.0])
    other = pa.array([3.0, 1.0, 9.0])
    layout = ColumnLayout.numbered((Percentile(0.1), Percentile(0.9), Percentile(0.9)), (1, 1, 1), 0)
    batch = pa.RecordBatch.from_arrays(
        [pa.array([1, 2, 3]), values, pa.concat_arrays([values]), other], names=["t", "p0", "p1", "p2"]
    )
    first, second, third = Rows(batch, layout).lifted()
    assert first is second
    assert third is not first


def test_percentiles_sort_zeros_by_their_sign_and_nan_last() -> None:
    values = np.array([0.0, 1.0, -0.0, np.nan, 0.0, -1.0])
    values[3:4].view(np.int64)[:] |= -(2**63)  # a NaN with the sign of negative numbers
    lo, hi = np.array([0, 0, 0, 1]), np.array([3, 5, 6, 4])
    for fraction, wanted in ((0, "-0.0 -0.0 -1.0 -0.0"), (0.25, "-0.0 0.0 -0.0 0.5"), (1, "1.0 nan nan nan")):
        kind = Percentile(fraction)
        for column in (pa.array(values), pa.array(values, pa.float32())):
            (result,) = kind.lower(kind.reduce(kind.lift([column]), lo, hi), [column])
            assert " ".join(map(str, result.to_pylist())) == wanted
