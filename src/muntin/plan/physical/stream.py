"""Plans of queries over streams: which shape keeps how much state, and what it costs.

Costs are core-microseconds for the stretch of the stream that the statistics describe; only their order matters.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from math import ceil

from muntin.choices import Late, Output, check_choice
from muntin.duration import Duration, parse_duration
from muntin.errors import QueryError
from muntin.plan.figures import length
from muntin.plan.physical.work import Work
from muntin.plan.show.describe import describe_stream
from muntin.plan.slicing.grids import Grid, density, slicing
from muntin.plan.statistics import Statistics
from muntin.window import Length, Window

ASSUMED = Statistics(1_000_000, keys=100, source="assumed; statistics= says better")
"""What a stream is taken for that nothing is known of: it cannot be sampled before it runs."""


class StreamShape(Enum):
    """What is done with the rows of a stream."""

    INDEPENDENT = "one window aggregation each, every one with its own scan and state"
    EXPAND = "rows exploded into their windows, one aggregation with state"
    CHAIN = "slices until the watermark closes them, then exploded into their windows and merged"
    COLUMNAR = "open slices of many keys packed together, combined by kernels"

    @property
    def needs_merge(self) -> bool:
        """Whether partials are merged, and not rows aggregated."""
        return self in (StreamShape.CHAIN, StreamShape.COLUMNAR)

    @property
    def updates(self) -> bool:
        """Whether the current values of open windows can be given in update mode."""
        return self in (StreamShape.INDEPENDENT, StreamShape.EXPAND)

    @property
    def exact(self) -> bool:
        """Whether a late row counts for every window that is still open."""
        return self is not StreamShape.CHAIN


NATIVE = (StreamShape.EXPAND, StreamShape.CHAIN)
STRATEGIES: dict[str, tuple[StreamShape, ...]] = {
    "auto": tuple(StreamShape),
    "native": NATIVE,
    "kernel": (StreamShape.COLUMNAR,),
} | {shape.name.lower(): (shape,) for shape in StreamShape}
"""The shapes that may be chosen under each name."""


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What is agreed about time and output of a stream.

    >>> StreamOptions("10 minutes").watermark
    Duration('10m')
    >>> StreamOptions(late="keep")
    Traceback (most recent call last):
    muntin.errors.QueryError: unknown late 'keep'. Use 'drop' or 'exact'.
    """

    watermark: Duration | None
    """How much later than the latest event a row may come; None leaves it to the input."""
    late: Late
    output: Output
    future: Duration | None
    """How far ahead of the clock a row may be; None for any."""

    def __init__(
        self,
        watermark: Length | None = None,
        late: Late = "drop",
        output: Output = "append",
        future: Length | None = None,
    ) -> None:
        check_choice("late", late, Late)
        check_choice("output", output, Output)
        agreed = {"watermark": _delay(watermark), "late": late, "output": output, "future": _ahead(future)}
        for name, given in agreed.items():
            object.__setattr__(self, name, given)


def _delay(given: Length | None) -> Duration | None:
    """Read a watermark; Spark keeps it in milliseconds."""
    remedy = "Use a duration such as '10 minutes'."
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, Length):
        raise QueryError(f"watermark {given!r} is no length of time. {remedy}")
    if isinstance(given, int) and given and not isinstance(given, Duration):
        raise QueryError(f"watermark {given} has no unit of time. Write '{given} seconds', or whatever unit is meant.")
    delay = Duration(given) if isinstance(given, int) else parse_duration(given)
    if delay < 0 or delay % 1000:
        raise QueryError(f"watermark {delay} is not a whole number of milliseconds from 0 on. {remedy}")
    return delay


def _ahead(given: Length | None) -> Duration | None:
    """Read how far ahead of the clock rows may be."""
    return None if given is None else length("future", given, "1 hour")


@dataclass(frozen=True, slots=True)
class StreamPrices:
    """Core-microseconds for one unit of each kind of work in a micro-batch."""

    row: float = 0.8
    """A row into an aggregation with state, given its window."""
    state: float = 45
    """A group restored, updated, written and at last removed."""
    passing: float = 25
    """A group that is written and, most often, removed in the same micro-batch."""
    look: float = 0.2
    """A group looked at, to see whether the watermark has closed it: all of them, in every micro-batch."""
    python: float = 12
    """A row to a Python process with state."""
    packed: float = 0.05
    """A slice packed with others, read and written in every micro-batch."""
    operator: float = 100_000
    """An operator with state in a micro-batch: its stores are opened and committed."""
    branch: float = 60_000
    """A branch of a union in a micro-batch, with a scan of its own."""
    batch: int = 1_000_000
    """Rows in a micro-batch."""


@dataclass(frozen=True, slots=True)
class State:
    """What an operator is expected to keep between micro-batches."""

    name: str
    rows: float


@dataclass(frozen=True, slots=True)
class StreamWork:
    """One query's size on a stream, as far as costs and state depend on it."""

    work: Work
    delay: int
    """The watermark's delay, in microseconds."""
    prices: StreamPrices = StreamPrices()

    @property
    def batches(self) -> float:
        """Micro-batches in the stretch that the statistics describe."""
        return max(1.0, self.work.statistics.rows / self.prices.batch)

    @property
    def behind(self) -> float:
        """How long before the latest event the watermark stands: its delay, and a micro-batch."""
        return self.delay + self.work.statistics.span / self.batches

    def kept(self, slide: float, copies: float, stay: float) -> float:
        """Estimate the groups that have rows, of those that begin every slide and stay for some time."""
        s = self.work.statistics
        marks = s.keys * max(1.0, float(s.rate) * stay) * copies
        return self.work.occupied(s.keys * max(1.0, stay / slide), marks)

    def touched(self, slide: float, copies: float) -> float:
        """Estimate the groups that micro-batches change, each counted once in every micro-batch that changes it."""
        s = self.work.statistics
        cells = s.keys * (s.span / self.batches / slide + copies)
        return self.batches * self.work.occupied(cells, copies * s.rows / self.batches)


@dataclass(frozen=True, slots=True, repr=False)
class StreamPlan:
    """The shape in which a stream is evaluated, the state that it is expected to keep, and what else was weighed."""

    windows: tuple[Window, ...]
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

    @property
    def state_rows(self) -> float:
        """The rows that all operators together are expected to keep."""
        return sum(state.rows for state in self.states)

    def explain(self) -> str:
        """Write the plan as text: the choice, its state, and the alternatives."""
        return describe_stream(self)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        return f"<stream plan of {len(self.windows)} windows: {self.shape.name.lower()}>"


Priced = tuple[float, tuple[State, ...], tuple[Grid, ...]]


def price(stream: StreamWork, windows: tuple[Window, ...], shape: StreamShape) -> Priced:
    """Price a shape; give also its state and its slices."""
    work, p = stream.work, stream.prices
    wide = 1 + 0.25 * (work.columns - 1) + 0.15 * work.keys
    rows, read = work.statistics.rows, work.statistics.rows * (work.prices.scan + 0.02 * (work.columns + work.keys))
    copies = sum(work.copies(window) for window in windows)
    opened = {w: stream.kept(w.slide, work.copies(w), w.range + stream.behind) for w in windows}
    touched = sum(stream.touched(w.slide, ceil(work.copies(w))) for w in windows)
    held = sum(opened.values())
    match shape:
        case StreamShape.INDEPENDENT:
            cost = len(windows) * (read + stream.batches * (p.operator + p.branch)) + rows * copies * p.row * wide
            cost += rows * copies * work.prices.window + touched * p.state + stream.batches * held * p.look
            return cost, tuple(State(f"window {w.label}", found) for w, found in opened.items()), ()
        case StreamShape.EXPAND:
            cost = read + stream.batches * p.operator + rows * copies * p.row * wide
            return cost + touched * p.state + stream.batches * held * p.look, (State("windows", held),), ()
    found = slicing(windows)
    pieces, cut = stream.touched(1 / density(found), 1), 1 / density(found)
    if shape is StreamShape.CHAIN:
        slices = stream.kept(cut, 1, stream.behind)
        merged = sum(stream.kept(w.slide, work.copies(w), w.range) for w in windows)
        cost = read + 2 * stream.batches * p.operator + (rows + min(rows, work.slices(found)) * copies) * p.row * wide
        cost += pieces * p.state + touched * p.passing + stream.batches * (slices + merged) * p.look
        return cost, (State("slices", slices), State("windows", merged)), found
    slices = stream.kept(cut, 1, max(w.range for w in windows) + stream.behind)
    cost = read + stream.batches * (p.operator + work.prices.python) + rows * p.python
    cost += stream.batches * slices * p.packed + work.returned(sum(work.instances(w) for w in windows))
    return cost, (State("packed slices", slices),), found


def choose_stream(
    stream: StreamWork,
    windows: tuple[Window, ...],
    strategy: str,
    options: StreamOptions,
    shapes: Iterable[StreamShape],
) -> StreamPlan:
    """Choose the cheapest of some shapes.

    >>> dense = StreamWork(Work(Statistics(10**7, keys=10, span=10**12)), 10**7)
    >>> windows = tuple(Window(f"{n} min") for n in range(1, 11))
    >>> choose_stream(dense, windows, "native", StreamOptions(), NATIVE).shape.name
    'CHAIN'
    """
    weighed = sorted(((price(stream, windows, shape), shape) for shape in shapes), key=lambda found: found[0][0])
    (cost, states, grids), best = weighed[0]
    return StreamPlan(
        *(windows, best, strategy, stream.work.statistics, options, cost, states, grids),
        alternatives=tuple((shape.name.lower(), found[0]) for found, shape in weighed),
        alternative_rows=tuple(sum(state.rows for state in found[1]) for found, _ in weighed),
    )
