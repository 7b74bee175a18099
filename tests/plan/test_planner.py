import json
import pickle
import re
from fractions import Fraction
from typing import Any

import pytest

import muntin as mt
from muntin.aggregates.functions import FUNCTIONS
from muntin.plan import ALGORITHMS

PAPER = [mt.tumbling(20), mt.tumbling(30), mt.tumbling(40)]
TIMED = [mt.tumbling("20 minutes"), mt.tumbling("30 minutes"), mt.tumbling("40 minutes")]


def test_durations_plan_like_plain_units() -> None:
    plan = mt.plan(TIMED, mt.min("v"))
    assert (plan.cost, plan.independent_cost) == (150, 360)
    assert plan.factors == (mt.tumbling("10 minutes"),)
    assert plan.factors[0].is_timed
    assert plan.parent(mt.tumbling("40 minutes")) == mt.tumbling("20 minutes")
    assert plan.explain().startswith("best plan, 1 event per minute, over 2h")


@pytest.mark.parametrize("rate", ["2/minute", "2 per minute", "120 / hour", "4 / 2 minutes", 2, 2.0, "2", Fraction(2)])
def test_rates_with_and_without_a_unit(rate: Any) -> None:
    assert mt.plan(TIMED, "min", rate).cost == 270


def test_sparse_streams() -> None:
    plan = mt.plan(PAPER, "sum", rate=Fraction(1, 100))
    assert plan.independent_cost == Fraction(18, 5)
    assert plan.cost <= plan.independent_cost
    assert plan.to_dict()["independent_cost"] == "18/5"
    assert mt.plan(PAPER, "sum", rate=0.01) == plan == mt.plan(PAPER, "sum", rate="0.01")


def test_a_parent_is_preferred_to_as_many_events() -> None:
    plan = mt.plan([mt.tumbling("1 h"), mt.tumbling("1 d"), mt.tumbling("7 d")], "sum")
    assert plan.parent(mt.tumbling("1 d")) == mt.tumbling("1 h")
    assert plan.parent(mt.tumbling("7 d")) == mt.tumbling("1 d")


def test_aggregates_may_be_named() -> None:
    assert mt.plan(PAPER, "MIN") == mt.plan(PAPER, "min") == mt.plan(PAPER, mt.min("value"))


def test_several_aggregates_share_one_plan() -> None:
    plan = mt.plan(PAPER, [mt.min("v"), mt.max("v"), mt.sum("v"), mt.count()])
    assert plan.semantics.value == "partitioned by"
    assert plan.cost == 150


def test_a_holistic_aggregate_reads_rows_and_the_others_read_along() -> None:
    plan = mt.plan(PAPER, [mt.sum("v"), mt.median("v")])
    assert plan.semantics.value == "alone"
    assert plan.cost == plan.independent_cost == 360
    assert [node.parent for node in plan.nodes] == [None, None, None]


def test_other_horizons() -> None:
    assert mt.plan(PAPER, "min", horizon=240).cost == mt.plan(PAPER, "min", horizon="240").cost == 300
    assert mt.plan(TIMED, "min", horizon="4 hours").cost == 300
    assert mt.plan(PAPER, "min", horizon="steady").cost == 150


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"windows": []}, "no windows were given"),
        ({"windows": [20]}, "20 is not a window. Make one with mt.tumbling(range)"),
        ({"windows": [*PAPER, mt.hopping(20, 20)]}, "window ⟨20,20⟩ appears twice"),
        ({"aggregate": []}, "no aggregates were given"),
        ({"aggregate": "minimum"}, "unknown aggregate 'minimum'. Use one of approx_count_distinct,"),
        ({"aggregate": 7}, "7 is not an aggregate"),
        ({"aggregate": [7]}, "7 is not an aggregate"),
        ({"algorithm": ["best"]}, "unknown algorithm ['best']"),
        ({"algorithm": "magic"}, "unknown algorithm 'magic'. Use 'independent', 'shared',"),
        ({"rate": 0}, "rate 0 is not positive"),
        ({"rate": -1}, "rate -1 is not positive"),
        ({"rate": "fast"}, "cannot read 'fast' as a rate"),
        ({"rate": float("nan")}, "is not a finite number"),
        ({"rate": None}, "rate None is not a number"),
        ({"rate": True}, "rate True is not a number"),
        ({"rate": "1/0"}, "cannot read '1/0' as a rate"),
        ({"rate": "1.5/2"}, "cannot read '1.5/2' as a rate"),
        ({"rate": "9" * 5000}, "as a rate"),
        ({"windows": TIMED, "rate": "100/"}, "cannot read '100/' as a rate"),
        ({"windows": TIMED, "rate": "100 per"}, "cannot read '100 per' as a rate"),
        ({"windows": TIMED, "rate": "100/0 s"}, "rate '100/0 s' is per 0s"),
        ({"windows": TIMED, "rate": "100/-5 s"}, "rate '100/-5 s' is per -5s"),
        ({"rate": "5/s"}, "rate '5/s' has a unit of time but the windows are plain numbers"),
        ({"windows": TIMED, "rate": "5/month"}, "has no fixed length"),
        ({"horizon": 39}, "horizon 39 is shorter than the longest range. Use at least 40, or 'steady'."),
        ({"windows": TIMED, "horizon": "1 minute"}, "horizon 1m is shorter than the longest range. Use at least 40m"),
        ({"horizon": "1 hour"}, "horizon '1 hour' has a unit but the windows are plain numbers"),
        ({"horizon": 2.5}, "horizon 2.5 is not a length of time"),
        ({"horizon": "²"}, "horizon '²' has a unit"),
        ({"horizon": "-5"}, "horizon '-5' has a unit"),
        ({"windows": TIMED, "horizon": 1e12}, "horizon 1000000000000.0 is not a length of time"),
        ({"windows": TIMED, "horizon": [1]}, "horizon [1] is not a length of time"),
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


def test_the_planner_holds_algorithms_to_their_contract(monkeypatch: pytest.MonkeyPatch) -> None:
    broken: list[Any] = [
        lambda problem: dict.fromkeys(problem.periods[1:]),  # forgets
        lambda problem: dict.fromkeys(problem.periods) | {problem.periods[2]: problem.periods[1]},  # invents
        lambda problem: dict.fromkeys(problem.periods) | {problem.periods[0]: (1, 1, 0)},  # dangles
        lambda problem: dict.fromkeys([(1, 1, 0), *problem.periods]),  # wastes
    ]
    for algorithm in broken:
        monkeypatch.setitem(ALGORITHMS, "best", algorithm)
        with pytest.raises(mt.InternalError, match="Please report this"):
            mt.plan(PAPER, "min", algorithm="best")


def test_numbers_beyond_all_bounds_print() -> None:
    huge = mt.plan([mt.tumbling(r) for r in range(10**6 + 1, 10**6 + 1400, 2)], "sum", rate=Fraction(1, 3))
    assert huge.horizon.bit_length() > 4_000
    assert "e+" in huge.explain()
    assert "e+" in repr(huge)
    assert huge.to_html()
    assert huge.to_mermaid()
    assert json.dumps(huge.to_dict())
    timed = mt.plan([mt.tumbling(f"{r} s") for r in range(100_001, 100_400, 2)], "sum", rate=10**5000)
    assert re.search(r"over \d\.\d+e\+\d+ days", timed.explain())
    small = mt.plan(PAPER, "sum", rate=1e-5)
    assert "6 × 0.0002 = 0.0012" in small.explain()


def test_plans_and_aggregates_can_be_pickled() -> None:
    plan = mt.plan(TIMED, [mt.stddev("v"), mt.corr("x", "y"), mt.first("v")], rate="100/s")
    assert pickle.loads(pickle.dumps(plan)) == plan  # noqa: S301
    for function in FUNCTIONS.values():
        assert pickle.loads(pickle.dumps(function)) == function  # noqa: S301
