"""From what was asked to a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from muntin.aggregates import Aggregate
from muntin.aggregates.functions import FUNCTIONS
from muntin.choices import Algorithm, check_choice
from muntin.errors import InternalError, QueryError
from muntin.plan.forest.best import best
from muntin.plan.forest.factor import factor
from muntin.plan.forest.horizon import parse_horizon
from muntin.plan.forest.independent import independent
from muntin.plan.forest.logical import Node, Plan
from muntin.plan.forest.optimal import optimal
from muntin.plan.forest.problem import Parents, Problem, Semantics, state
from muntin.plan.forest.shared import shared
from muntin.plan.rate import Rate, parse_rate, unit_of
from muntin.query import Windows, check_aggregates, check_windows, several
from muntin.window import Length, Period, Window, periodic

ALGORITHMS: dict[Algorithm, Callable[[Problem], Parents]] = {
    "independent": independent,
    "shared": shared,
    "factor": factor,
    "optimal": optimal,
    "best": best,
}


def plan(
    windows: Windows,
    aggregate: Aggregate | str | Iterable[Aggregate | str],
    rate: Rate = 1,
    algorithm: Algorithm = "best",
    horizon: Length | None = None,
) -> Plan:
    """Plan how windows are evaluated together, without Spark.

    Args:
        windows: Periodic windows, as objects or text: "20 minutes, 1 hour every 5 minutes".
        aggregate: An aggregate, the name of a function, or several of either; they determine what may be combined.
        rate: Events per key and unit of time, or text such as "100/s". For windows made of ints, the unit is the plain
            unit. For windows made of durations, it is the longest unit that divides all lengths.
        algorithm: "best", "optimal" (for up to ten windows), "factor", "shared" or "independent".
        horizon: The length over which costs are counted: by default the least common multiple of the ranges, as in the
            paper. Pass another length, or "steady" for the steady state.

    Raises:
        QueryError: If a window is not periodic, or windows have different units.

    >>> from muntin.window import tumbling
    >>> p = plan([tumbling(20), tumbling(30), tumbling(40)], "min")
    >>> p.cost, p.independent_cost, p.factors
    (150, 360, (Window(10, 10),))
    """
    asked = tuple(periodic(window, "mt.plan") for window in check_windows(windows))
    aggregates = check_aggregates(_named(aggregate))
    return plan_reads(asked, _semantics(aggregates), rate, algorithm, horizon, aggregates)


def plan_reads(
    asked: tuple[Window, ...],
    semantics: Semantics,
    rate: Rate = 1,
    algorithm: Algorithm = "best",
    horizon: Length | None = None,
    aggregates: tuple[Aggregate, ...] = (),
) -> Plan:
    """Plan which windows read which, where no more is known of the aggregates than what they may read."""
    check_choice("algorithm", algorithm, Algorithm)
    events, unit = parse_rate(rate, unit_of(asked))
    over = parse_horizon(horizon, asked)
    problem, scale = state(asked, semantics, events, over)
    parents = ALGORITHMS[algorithm](problem)
    _check(problem, parents, algorithm)
    known = {scale.period(window): window for window in asked}

    def window(period: Period) -> Window:
        return known[period] if period in known else scale.window(period, timed=asked[0].is_timed)

    nodes = tuple(
        Node(
            window=window(child),
            parent=None if parent is None else window(parent),
            instances=problem.instances(child),
            inputs=scale.cost(problem.price(child, parent)),
            is_factor=child not in known,
        )
        for child, parent in parents.items()
    )
    alone = scale.cost(problem.cost(independent(problem)))
    return Plan(asked, aggregates, semantics, algorithm, events, unit, over, nodes, alone)


def _named(aggregate: Aggregate | str | Iterable[Aggregate | str]) -> list[Aggregate]:
    """Give aggregates; a function's name alone is enough for planning."""
    aggregates = []
    for item in several(aggregate):
        if isinstance(item, str):
            function = FUNCTIONS.get(item.casefold())
            if function is None:
                raise QueryError(f"unknown aggregate {item!r}. Use one of {', '.join(sorted(FUNCTIONS))}.")
            aggregates.append(Aggregate(function, ("value", "other")[: function.inputs[0]]))
        else:
            aggregates.append(item)
    return aggregates


def _semantics(aggregates: tuple[Aggregate, ...]) -> Semantics:
    """Tell what the least tolerant aggregate may read.

    That is right for each of them, and no dearer than a forest for each kind: what one of them must read, the others
    read along.
    """
    if not all(aggregate.function.mergeable for aggregate in aggregates):
        return Semantics.ALONE
    if not all(aggregate.function.overlap_safe for aggregate in aggregates):
        return Semantics.PARTITIONED_BY
    return Semantics.COVERED_BY


def _check(problem: Problem, parents: Parents, algorithm: str) -> None:
    """Hold an algorithm to its contract: all asked windows are there, every read is allowed, the cost is not raised."""
    if missing := problem.asked - parents.keys():
        raise InternalError(f"algorithm {algorithm!r} left out {sorted(missing)}. Please report this.")
    for child, parent in parents.items():
        if parent is not None and (parent not in parents or not problem.inputs(child, parent)):
            raise InternalError(f"algorithm {algorithm!r} lets {child} read {parent}. Please report this.")
    if problem.cost(parents) > problem.cost(independent(problem)):
        raise InternalError(f"algorithm {algorithm!r} raised the cost of {problem}. Please report this.")
