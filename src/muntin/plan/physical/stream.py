"""Plans of queries over streams: which shape keeps how much state, and what it costs.

Costs are core-microseconds for the stretch of the stream that the statistics describe; only their order matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from math import ceil
from typing import Any

from muntin.aggregates import Aggregate
from muntin.plan.forest.logical import Plan
from muntin.plan.forest.planner import plan_reads
from muntin.plan.forest.problem import Semantics
from muntin.plan.physical.batch import WORTHWHILE
from muntin.plan.physical.options import StreamOptions
from muntin.plan.physical.prices import Amounts, added
from muntin.plan.physical.stream_work import State, StreamLoad, StreamWork
from muntin.plan.rate import unit_of
from muntin.plan.show.outline import Outline
from muntin.plan.show.shown import Shown
from muntin.plan.show.stream import outline_of_stream
from muntin.plan.slicing.grids import Grid, density, slice_rate, slicing
from muntin.plan.slicing.slicings import sliced_apart
from muntin.plan.statistics import Statistics
from muntin.window import Window

ASSUMED = Statistics(1_000_000, keys=100, source="assumed; statistics= says better")
"""What a stream is taken for that nothing is known of: it cannot be sampled before it runs."""

RESTORED = 0.3
"""The share of a member's price that one costs which is read with its set from state, and written again."""


class StreamShape(Enum):
    """What is done with the rows of a stream."""

    INDEPENDENT = "one window aggregation each, every one with its own scan and state"
    EXPAND = "rows exploded into their windows, one aggregation with state"
    CHAIN = "slices until the watermark closes them, then exploded into their windows and merged"
    COLUMNAR = "open slices of many keys packed together, combined by kernels"
    DISTINCT = "the latest occurrences of items packed together, counted for all windows"
    ORDERED = "rows wait for the watermark, packed, and are then read in order, key by key"

    @property
    def needs_merge(self) -> bool:
        """Whether partials are merged, and not rows aggregated."""
        return self in (StreamShape.CHAIN, StreamShape.COLUMNAR)

    @property
    def uses_slices(self) -> bool:
        """Whether rows are put into slices, and windows together from them."""
        return self in (StreamShape.CHAIN, StreamShape.COLUMNAR, StreamShape.DISTINCT)

    @property
    def updates(self) -> bool:
        """Whether the current values of open windows can be given in update mode."""
        return self in (StreamShape.INDEPENDENT, StreamShape.EXPAND)

    @property
    def exact(self) -> bool:
        """Whether a late row counts for every window that is still open."""
        return self not in (StreamShape.CHAIN, StreamShape.ORDERED)

    @property
    def packed(self) -> bool:
        """Whether state is packed by kernels, and not kept by operators of Spark, which drop late rows unseen."""
        return self in (StreamShape.COLUMNAR, StreamShape.DISTINCT, StreamShape.ORDERED)

    @property
    def alone(self) -> bool:
        """Whether every window has a scan and an operator with state of its own."""
        return self is StreamShape.INDEPENDENT


PERIODIC = (StreamShape.INDEPENDENT, StreamShape.EXPAND, StreamShape.CHAIN, StreamShape.COLUMNAR)
"""The shapes of windows on a grid of time alone, whatever the aggregates."""
STREAM_NATIVE = (StreamShape.EXPAND, StreamShape.CHAIN)
STREAM_STRATEGIES: dict[str, tuple[StreamShape, ...]] = {
    "auto": (*PERIODIC, StreamShape.DISTINCT),
    "native": STREAM_NATIVE,
    "kernel": (StreamShape.COLUMNAR, StreamShape.DISTINCT),
} | {shape.name.lower(): (shape,) for shape in StreamShape}
"""The shapes that may be chosen under each name."""


@dataclass(frozen=True, slots=True, repr=False)
class StreamPlan(Shown):
    """The shape in which a stream is evaluated, the state that it is expected to keep, and the alternatives.

    mt.explain returns it for a stream.

    Example:
        ```python
        stream = spark.readStream.schema(readings.schema).parquet("readings")
        plan = mt.explain(stream, "ts", "device", "10 minutes", mt.count(), watermark="5 minutes")
        print(plan.shape.name, [state.rows for state in plan.states])
        ```
    """

    windows: tuple[Any, ...]
    """Windows of the kinds that the shape reads: periodic ones, or, where rows are in order, any."""
    shape: StreamShape
    strategy: str
    statistics: Statistics
    options: StreamOptions
    cost: float
    states: tuple[State, ...]
    grids: tuple[Grid, ...] = ()
    """What slices lie on, where there are slices."""
    alternatives: tuple[tuple[str, float], ...] = field(default=())
    """Every shape that was weighed with its cost, cheapest first."""
    alternative_rows: tuple[float, ...] = ()
    """The state rows that each of them was expected to keep."""
    notes: tuple[str, ...] = ()
    aggregates: tuple[Aggregate, ...] = ()
    slices: float = 0
    """Rows between the two steps, where there are two."""
    rows_out: float = 0
    """Result rows: in append mode every instance once, in update mode whenever it has changed."""

    @property
    def scans(self) -> int:
        """How often the rows are read."""
        return len(self.windows) if self.shape.alone else 1

    @property
    def forest(self) -> Plan | None:
        """Which window reads which, where kernels combine them."""
        if self.shape is not StreamShape.COLUMNAR or not self.windows or not self.aggregates:
            return None
        return slice_forest(self.windows, all(aggregate.function.overlap_safe for aggregate in self.aggregates))

    @property
    def state_rows(self) -> float:
        """The rows that all operators together are expected to keep."""
        return sum(state.rows for state in self.states)

    def outline(self) -> Outline:
        """Say what the plan contains: all ways to show it are made of this."""
        return outline_of_stream(self)

    def __repr__(self) -> str:
        return f"<stream plan of {len(self.windows)} windows: {self.shape.name.lower()}>"


Priced = tuple[float, tuple[State, ...], tuple[Grid, ...]]
Counted = tuple[Amounts, tuple[State, ...], tuple[Grid, ...]]


def price(stream: StreamWork, windows: tuple[Window, ...], shape: StreamShape) -> Priced:
    """Price a shape; give also its state and its slices."""
    units, states, grids = stream_amounts(stream, windows, shape)
    return stream.work.prices.of(units), states, grids


def stream_amounts(stream: StreamWork, windows: tuple[Window, ...], shape: StreamShape) -> Counted:
    """Count the units of work of a shape; give also its state and its slices."""
    if shape.uses_slices:
        grids = slicing(windows)
        return *_sliced(stream, stream.load(windows), density(grids), shape), grids
    work, rows, batches = stream.work, stream.work.statistics.rows, stream.batches
    copies = sum(work.copies(window) for window in windows)
    opened = {w: stream.kept(w.slide, work.copies(w), w.range + stream.behind) for w in windows}
    touched = sum(stream.touched(w.slide, ceil(work.copies(w))) for w in windows)
    held = sum(opened.values())
    own = {"state_row": rows * copies * work.wide, "state": touched, "look": batches * held}
    restored = batches * sum(stream.members(w, stream.behind) for w in windows)
    own["member"] = work.sets * (rows * copies + RESTORED * restored)
    if shape is StreamShape.EXPAND:
        return added(own, work.reading(), {"operator": batches}), (State("windows", held),), ()
    each = len(windows)
    own |= {"operator": each * batches, "state_branch": each * batches, "window": rows * copies}
    states = tuple(State(f"window {window.label}", kept) for window, kept in opened.items())
    return added(own, work.reading(each)), states, ()


def _sliced(
    stream: StreamWork, load: StreamLoad, edges: float, shape: StreamShape
) -> tuple[Amounts, tuple[State, ...]]:
    """Count the work of a load that is cut at so many edges per microsecond; give also its state."""
    work, rows, batches = stream.work, stream.work.statistics.rows, stream.batches
    if shape is StreamShape.CHAIN:
        slices = stream.kept(1 / edges, 1, stream.behind)
        exploded = min(rows, work.sliced(edges)) * load.copies
        own = {"operator": 2 * batches, "state_row": (rows + exploded) * work.wide}
        own |= {"state": stream.touched(1 / edges, 1), "passing": load.touched}
        own["look"] = batches * (slices + load.merged)
        own["member"] = work.sets * (rows * (1 + load.copies) + RESTORED * batches * load.members)
        states = State("slices", slices), State("windows", load.merged)
        return added(own, work.reading()), states
    stay = load.longest + stream.behind
    if shape is StreamShape.DISTINCT:
        kept = State("packed items, if none comes twice", stream.arriving(stay))
    else:
        kept = State("packed slices", stream.kept(1 / edges, 1, stay))
    own = {"operator": batches, "python": 2 * batches, "state_python": batches, "packed": batches * kept.rows}
    return added(own, work.reading(), work.sent_rows(), work.returned(load.out)), (kept,)


def sliced_in_queries(
    stream: StreamWork, windows: tuple[Window, ...], shape: StreamShape
) -> tuple[list[tuple[Window, ...]], float]:
    """Part windows as if each part were a query with its own slices; give also what these cost in all.

    An operator has one slicing, so a query has one. A further query reads the stream once more.
    """
    further = stream.batches * stream.work.prices.state_branch

    def charge(load: StreamLoad, edges: float, grids: int) -> float:
        return further + stream.work.prices.of(_sliced(stream, load, edges, shape)[0])

    parts = sliced_apart(windows, lambda window: stream.load((window,)), charge)
    return parts, sum(price(stream, part, shape)[0] for part in parts) + further * (len(parts) - 1)


def slice_forest(windows: tuple[Window, ...], overlap: bool) -> Plan:
    """Plan how windows read slices and one another; overlap says whether what overlaps may be combined.

    >>> [str(node.window) for node in slice_forest((Window(20), Window(40), Window(30)), False).nodes if node.parent]
    ['⟨40,40⟩']
    """
    rate = slice_rate(slicing(windows)) * (unit_of(windows) or 1)
    return plan_reads(windows, Semantics.COVERED_BY if overlap else Semantics.PARTITIONED_BY, rate)


def choose_stream(
    stream: StreamWork,
    windows: tuple[Window, ...],
    strategy: str,
    options: StreamOptions,
    shapes: Iterable[StreamShape],
    aggregates: tuple[Aggregate, ...] = (),
) -> StreamPlan:
    """Choose the cheapest of some shapes.

    >>> from muntin.plan.physical.work import Work
    >>> dense = StreamWork(Work(Statistics(10**7, keys=10, span=10**12)), 10**7)
    >>> windows = tuple(Window(f"{n} min") for n in range(1, 11))
    >>> choose_stream(dense, windows, "native", StreamOptions(), STREAM_NATIVE).shape.name
    'CHAIN'
    """
    weighed = sorted(((price(stream, windows, shape), shape) for shape in shapes), key=lambda priced: priced[0][0])
    (cost, states, grids), best = weighed[0]
    return StreamPlan(
        *(windows, best, strategy, stream.work.statistics, options, cost, states, grids),
        alternatives=tuple((shape.name.lower(), cost) for (cost, _, _), shape in weighed),
        alternative_rows=tuple(sum(state.rows for state in states) for (_, states, _), _ in weighed),
        notes=tuple(_notes(stream, windows, best, cost)),
        aggregates=aggregates,
        slices=_between(stream, best, grids),
        rows_out=_given(stream, windows, options),
    )


def _notes(stream: StreamWork, windows: tuple[Window, ...], shape: StreamShape, cost: float) -> Iterator[str]:
    """Say what several slicings would save, where that is much: a query runs one all the same."""
    if shape.uses_slices:
        parts, apart = sliced_in_queries(stream, windows, shape)
        if len(parts) > 1 and apart <= WORTHWHILE * cost:
            queries = "; ".join(", ".join(window.label for window in part) for part in parts)
            seconds = f"{apart / 1e6:.2f} core-seconds"
            yield f"{len(parts)} queries, each with its own slices, cost about {seconds}: {queries}"


def _between(stream: StreamWork, shape: StreamShape, grids: tuple[Grid, ...]) -> float:
    """Estimate the slices that go from the first step to the second: closed ones, or those of every micro-batch."""
    if not grids:
        return 0
    if shape is StreamShape.DISTINCT:
        return stream.work.statistics.rows
    closed = stream.work.slices(grids)
    return closed if shape is StreamShape.CHAIN else stream.touched(1 / density(grids), 1)


def _given(stream: StreamWork, windows: tuple[Window, ...], options: StreamOptions) -> float:
    """Estimate the result rows."""
    work = stream.work
    if options.output == "append":
        return sum(work.instances(window) for window in windows)
    return sum(stream.touched(window.slide, ceil(work.copies(window))) for window in windows)
