"""From what was asked to a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import lcm

from muntin.aggregate import Aggregate
from muntin.duration import Duration, natural_unit, parse_duration
from muntin.errors import InternalError, QueryError
from muntin.functions import FUNCTIONS
from muntin.plan.best import best
from muntin.plan.factor import factor
from muntin.plan.independent import independent
from muntin.plan.logical import Forest, Node, Plan
from muntin.plan.optimal import optimal
from muntin.plan.problem import Parents, Problem, Semantics, state
from muntin.plan.rate import Rate, parse_rate
from muntin.plan.shared import shared
from muntin.query import check_aggregates, check_windows, several
from muntin.window import Length, Window

ALGORITHMS: dict[str, Callable[[Problem], Parents]] = {
    "independent": independent,
    "shared": shared,
    "factor": factor,
    "optimal": optimal,
    "best": best,
}


def plan(
    windows: Window | Iterable[Window],
    aggregate: Aggregate | str | Iterable[Aggregate | str],
    rate: Rate = 1,
    algorithm: str = "best",
    horizon: Length | None = None,
) -> Plan:
    """Plan how windows are evaluated together, without Spark.

    The rate is in events per unit of time: per plain unit for windows made of ints, per the longest unit that divides
    all lengths for windows made of durations, or whatever a text such as '100/s' says. Costs are counted over the least
    common multiple of the ranges as in the paper, over another length, or in the steady state with horizon='steady'.

    >>> from muntin.window import tumbling
    >>> p = plan([tumbling(20), tumbling(30), tumbling(40)], "min")
    >>> p.cost, p.independent_cost, p.factors
    (150, 360, (Window(10, 10),))
    """
    asked = check_windows(windows)
    aggregates = check_aggregates(_named(aggregate))
    if algorithm not in ALGORITHMS:
        raise QueryError(f"unknown algorithm {algorithm!r}. Use one of {', '.join(map(repr, ALGORITHMS))}.")
    timed = asked[0].is_timed
    unit = (
        natural_unit([length for window in asked for length in (window.range, window.slide, window.offset)])
        if timed
        else None
    )
    events, unit = parse_rate(rate, unit)
    length, steady = _horizon(horizon, asked)
    forests = tuple(
        _forest(asked, semantics, members, events, length, steady, algorithm)
        for semantics, members in _group(aggregates)
    )
    alone = sum(
        (
            window.range * window.recurrence(length) if not steady else Fraction(window.range * length, window.slide)
            for window in asked
        ),
        Fraction(0),
    )
    cost = alone * events * len(forests)
    found = Plan(
        asked, algorithm, events, unit, length, steady, forests, cost.numerator if cost.denominator == 1 else cost
    )
    if found.cost > found.independent_cost:
        change = f"from {found.independent_cost} to {found.cost}"
        raise InternalError(f"algorithm {algorithm!r} raised the cost {change} for {asked}. Please report this.")
    return found


def _named(aggregate: Aggregate | str | Iterable[Aggregate | str]) -> list[Aggregate]:
    """Give aggregates; a function's name alone is enough for planning."""
    found = []
    for item in several(aggregate):
        if isinstance(item, str):
            if item not in FUNCTIONS:
                raise QueryError(f"unknown aggregate {item!r}. Use one of {', '.join(sorted(FUNCTIONS))}.")
            function = FUNCTIONS[item]
            found.append(Aggregate(function, ("value", "other")[: function.inputs[0]]))
        else:
            found.append(item)
    return found


def _group(aggregates: tuple[Aggregate, ...]) -> list[tuple[Semantics, tuple[Aggregate, ...]]]:
    """Group aggregates by what they may read.

    All that can be combined share one forest: one that suits the least tolerant of them is right for each, and reading
    the input once for all is cheaper than a better forest for some.
    """
    mergeable = tuple(aggregate for aggregate in aggregates if aggregate.function.mergeable)
    others = tuple(aggregate for aggregate in aggregates if not aggregate.function.mergeable)
    overlap_safe = all(aggregate.function.overlap_safe for aggregate in mergeable)
    groups = [
        (Semantics.COVERED_BY if overlap_safe else Semantics.PARTITIONED_BY, mergeable),
        (Semantics.ALONE, others),
    ]
    return [(semantics, members) for semantics, members in groups if members]


def _horizon(horizon: Length | None, windows: tuple[Window, ...]) -> tuple[int, bool]:
    unit = Duration if windows[0].is_timed else int
    if horizon is None:
        return unit(lcm(*(window.range for window in windows))), False
    if horizon == "steady":
        return unit(lcm(*(window.slide for window in windows))), True
    if not isinstance(horizon, int) and unit is int:
        raise QueryError(
            f"horizon {horizon!r} is a duration but the windows are plain numbers. Use a number, or 'steady'."
        )
    length = horizon if isinstance(horizon, int) else parse_duration(horizon)
    longest = max(window.range for window in windows)
    if length < longest:
        raise QueryError(
            f"horizon {unit(length)} is shorter than the longest range {longest}. Use at least {longest}, or 'steady'."
        )
    return unit(length), False


def _forest(
    windows: tuple[Window, ...],
    semantics: Semantics,
    aggregates: tuple[Aggregate, ...],
    rate: Fraction,
    horizon: int,
    steady: bool,
    algorithm: str,
) -> Forest:
    problem, scale = state(windows, semantics, rate, horizon, steady)
    parents = ALGORITHMS[algorithm](problem)
    asked = {scale.shape(window): window for window in windows}
    _check_forest(problem, parents)

    def window(shape: tuple[int, int, int]) -> Window:
        found = asked.get(shape) or scale.window(shape)
        return found.timed() if windows[0].is_timed else found

    nodes = tuple(
        Node(
            window(child),
            None if parent is None else window(parent),
            problem.instances(child),
            scale.cost(problem.price(child, parent)),
            child not in asked,
        )
        for child, parent in parents.items()
    )
    return Forest(semantics, aggregates, nodes)


def _check_forest(problem: Problem, parents: Parents) -> None:
    """Hold every algorithm to its contract: all asked windows are there, and every read is allowed."""
    if missing := problem.asked - parents.keys():
        raise InternalError(f"the plan lacks {sorted(missing)}. Please report this.")
    for child, parent in parents.items():
        if parent is not None and (parent not in parents or not problem.inputs(child, parent)):
            raise InternalError(f"the plan lets {child} read {parent}, which is not allowed. Please report this.")
