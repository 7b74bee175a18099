"""The plan of a rolling query: plain window functions or kernels, by cost."""

from __future__ import annotations

from muntin.aggregates import Aggregate
from muntin.choices import RollingStrategy
from muntin.errors import UnsupportedError
from muntin.plan.physical.rolling import Rolling, RollingPlan, RollingShape, frame_rows
from muntin.plan.physical.work import Work
from muntin.plan.statistics import Statistics
from muntin.spark.capabilities import Feature, capabilities
from muntin.spark.input.checking import is_set
from muntin.spark.input.statistics import measure
from muntin.spark.input.travel import travels
from muntin.spark.prices import price_notes, session_prices
from muntin.spark.rolling_windows.request import Request
from muntin.spark.workers.layout import obstacle
from muntin.spark.workers.techniques import expected, kinds_of

ROLLING_STRATEGIES = {
    "auto": (RollingShape.INDEPENDENT, RollingShape.KERNEL),
    "independent": (RollingShape.INDEPENDENT,),
    "kernel": (RollingShape.KERNEL,),
}
UNMEASURED = Statistics(1_000_000, source="assumed")
"""What stands for statistics where nothing depends on them."""


def plan_rolling(request: Request, strategy: RollingStrategy, statistics: Statistics | None) -> RollingPlan:
    """Choose how a query is evaluated; unless that is given, it needs statistics, and so a small job."""
    stopped = kernel_obstacle(request) if strategy != "independent" else None
    shapes = ROLLING_STRATEGIES["independent" if stopped else strategy]
    if request.counted is not None:
        if RollingShape.KERNEL not in shapes:
            raise _refusal(request.counted, stopped)
        shapes = (RollingShape.KERNEL,)
    if statistics is None:
        statistics = measure(request.events) if RollingShape.KERNEL in shapes else UNMEASURED
    sizes = sizes_of(request, statistics)
    costs = {shape: sizes.cost(shape) for shape in shapes}
    weighed = sorted(shapes, key=costs.__getitem__)
    return RollingPlan(
        weighed[0],
        strategy,
        request.frames.labels,
        statistics,
        tuple((shape.name.lower(), costs[shape]) for shape in weighed),
        (f"kernels are left out: {stopped}",) if stopped else _faster(request, shapes),
        tuple(made.aggregate for made in request.events.recipes),
        sizes.frames,
        _techniques(request, sizes.frames) if weighed[0] is RollingShape.KERNEL else (),
    )


def _faster(request: Request, shapes: tuple[RollingShape, ...]) -> tuple[str, ...]:
    """Return what would make kernels faster, if they are weighed."""
    return price_notes(request.events.frame) if RollingShape.KERNEL in shapes else ()


def _refusal(counted: Aggregate, obstacle: str | None) -> UnsupportedError:
    """Say why neither plain Spark nor kernels evaluate a query with a distinct count."""
    if obstacle is None:
        return UnsupportedError(
            f"Spark does not evaluate {counted!r} over a rolling window: it has no distinct counts there. "
            "Use strategy='auto'."
        )
    return UnsupportedError(
        f"only kernels evaluate {counted!r} over a rolling window, and they do not take this query: {obstacle}. "
        "Leave one of the two out, or use mt.aggregate with hopping windows."
    )


def _techniques(request: Request, lengths: tuple[float, ...]) -> tuple[str, ...]:
    """Say how frames of several rows will be combined; the choice itself is made for every batch."""
    kinds = kinds_of(request.events)
    frames = zip(request.frames.labels, lengths, strict=True)
    return tuple(f"{label} by {expected(kinds, rows, 1)}" for label, rows in frames if rows >= 2)


def kernel_obstacle(request: Request) -> str | None:
    """Say why kernels cannot take a query; None if they can."""
    schema = request.events.frame.schema
    for name, safe in zip(request.columns, request.carried, strict=True):
        if not travels(schema[safe].dataType):
            return f"column {name!r} is of type {schema[safe].dataType.simpleString()}, which Arrow does not carry"
    return obstacle(request.events)


def sizes_of(request: Request, statistics: Statistics) -> Rolling:
    """Give the sizes that the costs of a query depend on."""
    events, frames = request.events, request.frames
    shared = sum(name in events.shared for name in events.partials)
    read = sum(made.ranged is not None for made in events.recipes)
    prices = session_prices(events.frame)
    work = Work(statistics, len(events.partials), len(events.keys), prices, shared, holistic=read)
    lengths = frame_rows(work, frames.ranges, frames.counts)
    able = capabilities(events.frame.sparkSession)
    tree = able.has(Feature.SEGMENT_TREES) and is_set(events.frame, "spark.sql.window.segmentTree.enabled", "false")
    return Rolling(work, lengths, len(request.columns), len(events.recipes), tree)
