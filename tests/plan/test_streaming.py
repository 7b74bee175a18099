"""Prices of shapes on streams: which state is expected, and which shape wins where."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

import muntin as mt
from muntin.errors import QueryError
from muntin.plan.physical.batch import WORTHWHILE
from muntin.plan.physical.options import StreamOptions
from muntin.plan.physical.stream import (
    STREAM_STRATEGIES,
    StreamPlan,
    StreamShape,
    choose_stream,
    price,
    sliced_in_queries,
)
from muntin.plan.physical.stream_work import StreamWork
from muntin.plan.physical.work import Work
from muntin.plan.slicing.grids import slicing
from muntin.plan.statistics import Statistics

TENS = tuple(mt.tumbling(f"{10 * n} minutes") for n in range(1, 11))
SPARSE = StreamWork(Work(Statistics(10**7, keys=100, span=10**13), keys=1), 10_000_000)
"""Six events per slice of ten minutes and key."""
DENSE = StreamWork(Work(Statistics(10**8, keys=100, span=6 * 10**12), keys=1), 10_000_000)


def chosen(stream: StreamWork, strategy: str = "auto", **options: Any) -> StreamPlan:
    agreed = StreamOptions("10 s", **options)

    def allowed(shape: StreamShape) -> bool:
        if shape is StreamShape.DISTINCT and not stream.work.sets:
            return False
        return (shape.exact or agreed.late == "drop") and (shape.updates or agreed.output == "append")

    return choose_stream(stream, TENS, strategy, agreed, filter(allowed, STREAM_STRATEGIES[strategy]))


def test_slices_pay_where_they_are_dense() -> None:
    assert chosen(DENSE, "native").shape is StreamShape.CHAIN
    assert chosen(DENSE, "native", late="exact").shape is StreamShape.EXPAND
    assert chosen(DENSE, output="update").shape is StreamShape.EXPAND
    assert [name for name, _ in chosen(SPARSE).alternatives] == [*("columnar", "chain", "expand", "independent")]


DAYS = (mt.tumbling("1 day"), mt.hopping("7 days", "1 day"), mt.hopping("30 days", "1 day"))


def test_sets_of_many_windows_are_dearer_than_latest_occurrences() -> None:
    """Active users: the more windows, the more sets; the latest occurrences of users are one state for all."""
    active = StreamWork(Work(Statistics(2_000_000, 5, span="60 days", batch=40_000), keys=1, sets=1), 3_600_000_000)

    def ratio(windows: tuple[mt.Window, ...]) -> float:
        return price(active, windows, StreamShape.CHAIN)[0] / price(active, windows, StreamShape.DISTINCT)[0]

    assert ratio(DAYS) > 3
    assert 2 * ratio(DAYS[:1]) < ratio(DAYS)
    (kept,) = price(active, DAYS, StreamShape.DISTINCT)[1]
    assert kept.rows == pytest.approx(2_000_000 * 31.2 / 60, rel=0.02)  # a month, an hour and a micro-batch
    twice = StreamWork(Work(active.work.statistics, 2, keys=1, sets=2), active.delay)
    assert price(twice, DAYS, StreamShape.DISTINCT)[1][0].rows == 2 * kept.rows


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
    assert {shape.name.lower() for shape in StreamShape} < set(STREAM_STRATEGIES)
    assert all(STREAM_STRATEGIES.values())


FAMILIES = tuple(mt.hopping(f"{60 * n} s", f"{n} s") for n in (8, 16, 24, 7, 14, 21))
"""Slides of eight seconds and of seven: slices of both are cut into pieces that each must be put into all windows."""
THIN = StreamWork(Work(Statistics(10**6, keys=1, span=10**12)), 10_000_000)


def test_a_chain_says_what_several_slicings_would_save_and_runs_one() -> None:
    plan = choose_stream(THIN, FAMILIES, "native", StreamOptions("10 s"), STREAM_STRATEGIES["native"])
    assert plan.shape is StreamShape.CHAIN
    assert plan.grids == slicing(FAMILIES)
    parts, apart = sliced_in_queries(THIN, FAMILIES, plan.shape)
    assert all(len({window in FAMILIES[:3] for window in part}) == 1 for part in parts)
    assert apart < WORTHWHILE * plan.cost
    (note,) = plan.notes
    assert note in plan.explain()
    assert note.startswith(f"{len(parts)} queries, each with its own slices, cost about")


def test_nothing_is_said_where_windows_belong_into_one_slicing() -> None:
    assert not chosen(DENSE, "native").notes
    assert not chosen(SPARSE, "kernel").notes
    assert len(sliced_in_queries(THIN, FAMILIES, StreamShape.COLUMNAR)[0]) == 1  # rows to Python cost more than slices


@pytest.mark.parametrize("watermark", ["5", "-1 s", "1 us", 1, True, 2.5, [], "3 months"])
def test_bad_watermarks(watermark: object) -> None:
    with pytest.raises(QueryError):
        StreamOptions(watermark)  # type: ignore[arg-type]


@pytest.mark.parametrize("future", ["5", "-1 s", 3600, -1, True, 2.5, [], "3 months"])
def test_bad_lengths_ahead_of_the_clock(future: object) -> None:
    with pytest.raises(QueryError, match=r"future|unit|months"):
        StreamOptions("10 s", future=future)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["watermark", "future"])
def test_numbers_without_a_unit_are_no_microseconds(name: str) -> None:
    with pytest.raises(QueryError, match=rf"^{name} 3600 has no unit of time\. Write '3600 seconds'"):
        StreamOptions(**{name: 3600})  # type: ignore[arg-type]


def test_good_lengths_ahead_of_the_clock() -> None:
    assert StreamOptions(future="1 hour").future == StreamOptions(future=timedelta(hours=1)).future == 3_600_000_000
    assert StreamOptions(future=mt.tumbling("1 hour").range).future == 3_600_000_000
    assert StreamOptions(future=0).future == 0


def test_good_watermarks() -> None:
    assert StreamOptions("1h30m").watermark == StreamOptions(timedelta(minutes=90)).watermark == 5_400_000_000
    assert StreamOptions(0).watermark == 0
    assert StreamOptions().watermark is None
