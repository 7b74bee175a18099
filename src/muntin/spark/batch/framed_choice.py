"""The physical plan of a batch query with windows of other kinds: all in order together, or periodic ones apart."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from muntin.errors import UnsupportedError
from muntin.plan.physical import framed
from muntin.plan.physical.batch import WORTHWHILE, WORTHWHILE_FOR_FEW
from muntin.plan.physical.plans import Group, PhysicalPlan
from muntin.plan.physical.shapes import Shape
from muntin.plan.physical.work import Work
from muntin.plan.statistics import Statistics
from muntin.spark.batch.choice import plan_batch, work_of
from muntin.spark.batch.tagged import tag_obstacle
from muntin.spark.input.source import Source
from muntin.spark.input.statistics import measure
from muntin.spark.prices import price_notes, session_prices
from muntin.spark.workers.layout import obstacle
from muntin.window import AnyWindow, Session, Window

ASSUMED = Statistics(1_000_000, source="assumed")
"""What is taken for the input where it does not matter."""


def plan_framed(source: Source, strategy: str, statistics: Statistics | None) -> PhysicalPlan:
    """Choose how a query is evaluated in which a window is on no grid of time.

    Unless there is only one way, that needs statistics, and so a small job.
    """
    if statistics is None:
        statistics = ASSUMED if _is_only_way(source, strategy) else measure(source.events)
    work = work_of(source.events, statistics, session_prices(source.events.frame))
    weighed = sorted(_ways(source, work, strategy), key=lambda plan: plan.cost)
    if not weighed and len(source.query.periodic) == len(source.query.windows):
        return plan_batch(source, "native", statistics)
    if not weighed:
        raise _refusal(source, strategy)
    best = weighed[0]
    plain = next((plan for plan in weighed if all(group.shape is Shape.INDEPENDENT for group in plan.groups)), None)
    share = WORTHWHILE if len(source.query.windows) > 2 else WORTHWHILE_FOR_FEW
    if plain is not None and best.cost > share * plain.cost:
        best = plain
    notes = dict.fromkeys((*best.notes, *_notes(source, best), *price_notes(source.events.frame)))
    return replace(best, alternatives=tuple((_name(plan), plan.cost) for plan in weighed), notes=tuple(notes))


def _ways(source: Source, work: Work, strategy: str) -> Iterator[PhysicalPlan]:
    """Yield every plan that a strategy names: all windows in order, or periodic ones in shapes of their own."""
    query, watched = source.query, len(source.watching.watched)
    others = tuple(window for window in query.windows if not isinstance(window, Window))
    price = _in_order(source, strategy)
    if price is not None and strategy in ("auto", "kernel", "ordered", "tagged"):
        yield PhysicalPlan((price(work, query.windows, query.aggregates, watched),), strategy, work.statistics)
    apart: list[Group] = []
    if price is not None and strategy in ("auto", "kernel"):
        apart.append(price(work, others, query.aggregates, watched))
    if others and all(_is_plain(window) for window in others):
        if obstacle(source.events) is None and strategy in ("auto", "kernel", "source_sessions"):
            apart.append(framed.source_sessions(work, others, query.aggregates))
        if strategy in ("auto", "independent"):
            apart.append(framed.plain_sessions(work, others, query.aggregates))
    if not query.periodic:
        apart = [group for group in apart if not group.shape.is_in_order]  # that is all windows together
        yield from (PhysicalPlan((group,), strategy, work.statistics) for group in apart)
    elif apart:
        periodic = plan_batch(source, _PERIODIC.get(strategy, strategy), work.statistics, query.periodic)
        yield from (replace(periodic, groups=(*periodic.groups, group)) for group in apart)


def _is_only_way(source: Source, strategy: str) -> bool:
    """Tell whether no statistics could change a plan: all windows are read from rows in order, or are plain."""
    if strategy in ("ordered", "tagged", "independent"):
        return True
    return not source.query.periodic and not all(map(_is_plain, source.query.windows))


def _in_order(source: Source, strategy: str) -> Callable[..., Group] | None:
    """Give what prices windows over rows in order: by kernels, or by Spark, which is given the rows of instances."""
    if obstacle(source.events) is None and strategy != "tagged":
        return framed.ordered
    return framed.tagged if tag_obstacle(source) is None else None


_PERIODIC = {"source_sessions": "auto"}
"""The strategies of periodic windows beside others that are forced into a shape."""


def _is_plain(window: AnyWindow) -> bool:
    """Tell whether plain Spark has such a window."""
    return isinstance(window, Session) and window.longest is None


def _name(plan: PhysicalPlan) -> str:
    return " + ".join(dict.fromkeys(group.shape.name.lower() for group in plan.groups))


def _notes(source: Source, plan: PhysicalPlan) -> Iterator[str]:
    shapes = {group.shape for group in plan.groups}
    if not any(shape.is_in_order for shape in shapes):
        return
    yield "the rows of a key are one task's work, in order"
    if Shape.TAGGED in shapes:
        reason = obstacle(source.events) or "no kernel is asked for"
        yield f"{reason}, so rows are given to all their instances, and the rows of open ones are kept"
        return
    if rows := [window.label for window in source.query.windows if not window.deterministic]:
        yield f"{', '.join(rows)}: where an instance begins is known only when it ends, so rows are kept for it"


def _refusal(source: Source, strategy: str) -> UnsupportedError:
    """Say why there is no plan."""
    others = [window for window in source.query.windows if not isinstance(window, Window)]
    label = next((window.label for window in others if not _is_plain(window)), others[0].label)
    if obstacle(source.events) and (reason := tag_obstacle(source)):
        return UnsupportedError(
            f"window {label!r} needs the rows of a key in order, in Python, and {reason}. "
            "Use other aggregates or keys, or cast them."
        )
    if strategy == "independent":
        return UnsupportedError(
            f"strategy 'independent' is for windows that plain Spark has, and {label!r} is none. "
            "Use strategy='auto' or 'kernel'."
        )
    return UnsupportedError(
        f"strategy {strategy!r} does not do window {label!r} with these aggregates. Use strategy='auto' or 'kernel'."
    )
