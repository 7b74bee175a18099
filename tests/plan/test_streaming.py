"""Prices of shapes on streams: which state is expected, and which shape wins where."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import muntin as mt
from muntin.errors import QueryError
from muntin.plan.physical.stream import (
    STRATEGIES,
    StreamOptions,
    StreamPlan,
    StreamShape,
    StreamWork,
    choose_stream,
    price,
)
from muntin.plan.physical.work import Work
from muntin.plan.statistics import Statistics

TENS = tuple(mt.tumbling(f"{10 * n} minutes") for n in range(1, 11))
SPARSE = StreamWork(Work(Statistics(10**7, keys=100, span=10**13), keys=1), 10_000_000)
"""Six events per slice of ten minutes and key."""
DENSE = StreamWork(Work(Statistics(10**8, keys=100, span=6 * 10**12), keys=1), 10_000_000)


def chosen(stream: StreamWork, strategy: str = "auto", **options: Any) -> StreamPlan:
    agreed = StreamOptions("10 s", **options)

    def allowed(shape: StreamShape) -> bool:
        return (shape.exact or agreed.late == "drop") and (shape.updates or agreed.output == "append")

    return choose_stream(stream, TENS, strategy, agreed, filter(allowed, STRATEGIES[strategy]))


def test_slices_pay_where_they_are_dense() -> None:
    assert chosen(DENSE, "native").shape is StreamShape.CHAIN
    assert chosen(DENSE, "native", late="exact").shape is StreamShape.EXPAND
    assert chosen(DENSE, output="update").shape is StreamShape.EXPAND
    assert [name for name, _ in chosen(SPARSE).alternatives] == [*("columnar", "chain", "expand", "independent")]


def test_state_follows_windows_watermark_and_micro_batches() -> None:
    """A window of every key stays for its range, the delay and a micro-batch; slices for the latter two."""
    _, (windows,), _ = price(SPARSE, TENS, StreamShape.EXPAND)
    _, (slices, merged), grids = price(SPARSE, TENS, StreamShape.CHAIN)
    batch = 10**13 // 10 / 600e6  # slices of a micro-batch of a million rows
    assert slices.rows == pytest.approx(100 * batch, rel=0.02)
    assert windows.rows == pytest.approx(100 * (batch * sum(1 / n for n in range(1, 11)) + 10), rel=0.02)
    assert merged.rows == pytest.approx(100 * 10, rel=0.02)
    assert grids == ((600_000_000, 0),)
    longer = StreamWork(SPARSE.work, 10 * SPARSE.delay + 10**12)
    assert price(longer, TENS, StreamShape.EXPAND)[1][0].rows > 1.5 * windows.rows
    _, each, _ = price(SPARSE, TENS, StreamShape.INDEPENDENT)
    assert sum(state.rows for state in each) == pytest.approx(windows.rows)


def test_more_windows_cost_the_chain_least() -> None:
    def growth(shape: StreamShape) -> float:
        return price(DENSE, TENS, shape)[0] / price(DENSE, TENS[:1], shape)[0]

    assert growth(StreamShape.CHAIN) < 2 < growth(StreamShape.EXPAND) < growth(StreamShape.INDEPENDENT) + 1


def test_every_shape_has_its_name_and_every_strategy_a_shape() -> None:
    assert {shape.name.lower() for shape in StreamShape} < set(STRATEGIES)
    assert all(STRATEGIES.values())


@pytest.mark.parametrize("watermark", ["5", "-1 s", "1 us", 1, True, 2.5, [], "3 months"])
def test_bad_watermarks(watermark: object) -> None:
    with pytest.raises(QueryError):
        StreamOptions(watermark)  # type: ignore[arg-type]


def test_good_watermarks() -> None:
    assert StreamOptions("1h30m").watermark == StreamOptions(timedelta(minutes=90)).watermark == 5_400_000_000
    assert StreamOptions(0).watermark == 0
    assert StreamOptions().watermark is None
