from fractions import Fraction
from typing import Any

import pytest

import muntin as mt

PAPER = [mt.tumbling(20), mt.tumbling(30), mt.tumbling(40)]
TIMED = [mt.tumbling("20 minutes"), mt.tumbling("30 minutes"), mt.tumbling("40 minutes")]


def test_durations_plan_like_plain_units() -> None:
    plan = mt.plan(TIMED, mt.min("v"))
    assert (plan.cost, plan.independent_cost) == (150, 360)
    assert plan.factors == (mt.tumbling("10 minutes"),)
    assert plan.factors[0].is_timed
    assert plan.parent(mt.tumbling("40 minutes")) == mt.tumbling("20 minutes")
    assert plan.rate_text == "1 event per minute"


@pytest.mark.parametrize("rate", ["2/minute", "2 per minute", "120 / hour", "4 / 2 minutes", 2, 2.0, "2", Fraction(2)])
def test_rates_with_and_without_a_unit(rate: Any) -> None:
    assert mt.plan(TIMED, "min", rate).cost == 270


def test_sparse_streams() -> None:
    plan = mt.plan(PAPER, "sum", rate=Fraction(1, 100))
    assert plan.independent_cost == Fraction(18, 5)
    assert plan.cost <= plan.independent_cost
    assert plan.to_dict()["independent_cost"] == "18/5"
    assert mt.plan(PAPER, "sum", rate=0.01) == plan == mt.plan(PAPER, "sum", rate="0.01")


def test_several_aggregates_share_one_plan() -> None:
    plan = mt.plan(PAPER, [mt.min("v"), mt.max("v"), mt.sum("v"), mt.count()])
    assert len(plan.forests) == 1
    assert plan.cost == 150


def test_holistic_aggregates_read_rows() -> None:
    plan = mt.plan(PAPER, [mt.sum("v"), mt.median("v")])
    shared, alone = plan.forests
    assert shared.cost == 150
    assert alone.cost == 360
    assert [node.parent for node in alone.nodes] == [None, None, None]
    assert plan.independent_cost == 720
    assert plan.parent(mt.tumbling(40)) == mt.tumbling(20)


def test_other_horizons() -> None:
    assert mt.plan(PAPER, "min", horizon=240).cost == 300
    assert mt.plan(TIMED, "min", horizon="4 hours").cost == 300
    assert mt.plan(PAPER, "min", horizon="steady").cost == 150


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"windows": []}, "no windows are asked for"),
        ({"windows": [20]}, "20 is no window. Use mt.tumbling(20)"),
        ({"windows": [*PAPER, mt.hopping(20, 20)]}, "window ⟨20,20⟩ is asked for twice"),
        ({"aggregate": []}, "no aggregates are asked for"),
        ({"aggregate": "minimum"}, "unknown aggregate 'minimum'. Use one of approx_count_distinct,"),
        ({"aggregate": 7}, "7 is no aggregate"),
        ({"aggregate": [7]}, "7 is no aggregate"),
        ({"algorithm": "magic"}, "unknown algorithm 'magic'. Use one of 'independent', 'shared',"),
        ({"rate": 0}, "rate 0 is not positive"),
        ({"rate": -1}, "rate -1 is not positive"),
        ({"rate": "fast"}, "cannot read 'fast' as a rate"),
        ({"rate": float("nan")}, "is no finite number"),
        ({"rate": None}, "rate None is no number"),
        ({"rate": "5/s"}, "rate '5/s' has a unit of time but the windows are plain numbers"),
        ({"windows": TIMED, "rate": "5/month"}, "has no fixed length"),
        ({"horizon": 39}, "horizon 39 is shorter than the longest range. Use at least 40, or 'steady'."),
        ({"windows": TIMED, "horizon": "1 minute"}, "horizon 1m is shorter than the longest range. Use at least 40m"),
        ({"horizon": "1 hour"}, "horizon '1 hour' has a unit but the windows are plain numbers"),
        ({"horizon": 2.5}, "horizon 2.5 is no length of time"),
        ({"horizon": "soon", "windows": TIMED}, "cannot read 'soon' as a duration"),
    ],
)
def test_bad_requests_say_what_would_be_right(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(mt.QueryError) as error:
        mt.plan(**{"windows": PAPER, "aggregate": "min", **arguments})
    assert message in str(error.value)


def test_optimal_is_for_small_sets() -> None:
    with pytest.raises(mt.UnsupportedError, match=r"at most 10 windows, not 11\. Use 'best'"):
        mt.plan([mt.tumbling(r) for r in range(2, 13)], "min", algorithm="optimal")


def test_a_window_that_is_not_in_the_plan() -> None:
    with pytest.raises(mt.QueryError, match=r"window ⟨7,7⟩ is not in the plan\. Its windows are ⟨10,10⟩, ⟨20,20⟩"):
        mt.plan(PAPER, "min").parent(mt.tumbling(7))
