"""From what was asked to a plan."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction

from muntin.aggregate import Aggregate
from muntin.duration import natural_unit
from muntin.errors import InternalError, QueryError
from muntin.functions import FUNCTIONS
from muntin.plan.best import best
from muntin.plan.factor import factor
from muntin.plan.horizon import Horizon, parse_horizon
from muntin.plan.independent import independent
from muntin.plan.logical import Forest, Node, Plan
from muntin.plan.optimal import optimal
from muntin.plan.problem import Parents, Problem, Semantics, Shape, state
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
    events, unit = parse_rate(rate, _natural_unit(asked))
    over = parse_horizon(horizon, asked)
    groups = _group(aggregates)
    forests = tuple(_forest(asked, members, semantics, events, over, algorithm) for semantics, members in groups)
    return Plan(asked, algorithm, events, unit, over, forests)


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


def _natural_unit(windows: tuple[Window, ...]) -> int | None:
    if not windows[0].is_timed:
        return None
    return natural_unit([length for window in windows for length in (window.range, window.slide, window.offset)])


def _group(aggregates: tuple[Aggregate, ...]) -> list[tuple[Semantics, tuple[Aggregate, ...]]]:
    """Group aggregates by what they may read.

    All that can be combined share one forest: one that suits the least tolerant of them is right for each, and reading
    the input once for all is cheaper than a better forest for some.
    """
    mergeable = tuple(aggregate for aggregate in aggregates if aggregate.function.mergeable)
    others = tuple(aggregate for aggregate in aggregates if not aggregate.function.mergeable)
    overlap_safe = all(aggregate.function.overlap_safe for aggregate in mergeable)
    semantics = Semantics.COVERED_BY if overlap_safe else Semantics.PARTITIONED_BY
    return [
        (semantics, members) for semantics, members in ((semantics, mergeable), (Semantics.ALONE, others)) if members
    ]


def _forest(
    asked: tuple[Window, ...],
    aggregates: tuple[Aggregate, ...],
    semantics: Semantics,
    rate: Fraction,
    horizon: Horizon,
    algorithm: str,
) -> Forest:
    problem, scale = state(asked, semantics, rate, horizon)
    parents = ALGORITHMS[algorithm](problem)
    _check(problem, parents, algorithm)
    known = {scale.shape(window): window for window in asked}

    def window(shape: Shape) -> Window:
        found = known.get(shape) or scale.window(shape)
        return found.timed() if asked[0].is_timed else found

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
    return Forest(semantics, aggregates, nodes, scale.cost(problem.cost(independent(problem))))


def _check(problem: Problem, parents: Parents, algorithm: str) -> None:
    """Hold an algorithm to its contract: all asked windows are there, every read is allowed, the cost is not raised."""
    if missing := problem.asked - parents.keys():
        raise InternalError(f"algorithm {algorithm!r} left out {sorted(missing)}. Please report this.")
    for child, parent in parents.items():
        if parent is not None and (parent not in parents or not problem.inputs(child, parent)):
            raise InternalError(f"algorithm {algorithm!r} lets {child} read {parent}. Please report this.")
    if problem.cost(parents) > problem.cost(independent(problem)):
        raise InternalError(f"algorithm {algorithm!r} raised the cost of {problem}. Please report this.")
