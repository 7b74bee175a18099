"""The physical plan: which shape each group of windows is evaluated in on Spark, chosen by cost.

Costs are core-microseconds, from prices calibrated on Spark (docs/cost_model.md); only their order matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from heapq import heappop, heappush
from itertools import count
from math import ceil, exp

from muntin.duration import DAY
from muntin.errors import QueryError
from muntin.plan.figures import length, whole_number
from muntin.plan.forest.logical import Plan
from muntin.plan.show.describe import describe
from muntin.plan.slicing.cuts import Cut, Cuts
from muntin.plan.slicing.grids import Grid, density, slicing
from muntin.window import Length, Window


class Shape(Enum):
    """What is done with the rows of one group of windows."""

    INDEPENDENT = "one window aggregation each"
    EXPAND = "rows exploded into their windows, one aggregation"
    SLICES_EXPLODE = "slices in SQL, exploded into their windows, merged in SQL"
    SLICES_KERNEL = "slices in SQL, combined by kernels"
    SOURCE_SLICES_KERNEL = "slices by kernels at the source, combined by kernels"
    ROWS_KERNEL = "rows sorted by key and time, combined by kernels"
    SOURCE_KERNEL = "windows by kernels at the source, merged in SQL"

    @property
    def uses_slices(self) -> bool:
        """Whether windows of one group must have edges in common to be worth it."""
        return self in (Shape.SLICES_EXPLODE, Shape.SLICES_KERNEL, Shape.SOURCE_SLICES_KERNEL)

    @property
    def uses_kernel(self) -> bool:
        """Whether rows go to Python."""
        return self.name.endswith("KERNEL")

    @property
    def needs_merge(self) -> bool:
        """Whether partials are merged, and not rows aggregated."""
        return self not in (Shape.INDEPENDENT, Shape.EXPAND)


@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of the input: estimates are enough.

    >>> Statistics(rows=1000, keys=10, span=10**6).rate
    Fraction(1, 10000)
    >>> Statistics(rows=1e6, span="1 day") == Statistics(1_000_000, span=86_400_000_000)
    True
    """

    rows: int
    keys: int
    """Distinct keys."""
    span: int
    """From the first to the last event, in microseconds; text and timedelta are read as such."""
    ordered: bool
    """Whether rows arrive nearly in the order of time within a task."""
    source: str
    """Where the estimates are from."""

    def __init__(
        self,
        rows: float,
        keys: float = 1,
        span: Length | float = DAY,
        ordered: bool = True,
        source: str = "given",
    ) -> None:
        if not isinstance(ordered, bool):
            raise QueryError(f"ordered={ordered!r} is neither True nor False. Use True if rows come in order of time.")
        numbers = {"rows": whole_number("rows", rows, 0), "keys": whole_number("keys", keys, 1)}
        known = {"span": int(length("span", span, "1 day")), "ordered": ordered, "source": source}
        for name, value in (numbers | known).items():
            object.__setattr__(self, name, value)

    @property
    def rate(self) -> Fraction:
        """Events per microsecond and key."""
        return Fraction(max(1, self.rows), max(1, self.keys) * max(1, self.span))


@dataclass(frozen=True, slots=True)
class Prices:
    """Core-microseconds for one unit of each kind of work, measured on two cores (docs/cost_model.md)."""

    scan: float = 0.10
    group: float = 0.11
    """A row into a hash aggregation."""
    window: float = 0.10
    """A row given its window structs by Spark, more than a group costs."""
    emit: float = 0.75
    """A group out of a hash aggregation, its shuffle included."""
    explode: float = 0.18
    exchange: float = 0.60
    """A row shuffled and sorted by key and time."""
    transfer: float = 0.09
    """A row to Python."""
    column: float = 0.04
    """A value to Python."""
    back: float = 0.18
    """A row back from Python."""
    order: float = 0.22
    """A row sorted in Python."""
    element: float = 0.004
    """A value read by a kernel."""
    branch: float = 60_000
    """A branch of a union: planned, compiled, scheduled."""
    stage: float = 150_000
    """A shuffle."""
    python: float = 50_000
    """A stage in Python."""
    task: int = 100_000
    """Rows that a kernel at the source takes at once."""


@dataclass(frozen=True, slots=True)
class Group:
    """Windows that are evaluated together, and how."""

    windows: tuple[Window, ...]
    shape: Shape
    cost: float
    rows_out: float
    """Result rows."""
    slices: float = 0
    """Rows between the two steps, where there are two."""
    grids: tuple[Grid, ...] = ()
    """What slices lie on, where there are slices."""
    forest: Plan | None = None
    """Which window reads which, where kernels combine them."""
    techniques: tuple[str, ...] = ()
    """How each of them is combined, and why."""


@dataclass(frozen=True, slots=True, repr=False)
class PhysicalPlan:
    """The groups of windows, the logical plan that the kernels follow, and what else was weighed."""

    groups: tuple[Group, ...]
    strategy: str
    statistics: Statistics
    alternatives: tuple[tuple[str, float], ...] = field(default=())
    """Every way that was weighed with its cost, cheapest first."""
    notes: tuple[str, ...] = ()
    """Why shapes were left out, and what would help."""
    logical: Plan | None = None

    @property
    def cost(self) -> float:
        """The estimated core-microseconds."""
        return sum(group.cost for group in self.groups)

    def explain(self) -> str:
        """Write the plan as text: the choice, the alternatives with their costs, and the logical plan."""
        return describe(self)

    def __str__(self) -> str:
        return self.explain()

    def __repr__(self) -> str:
        shapes = ", ".join(dict.fromkeys(group.shape.name.lower() for group in self.groups))
        return f"<physical plan of {sum(len(group.windows) for group in self.groups)} windows: {shapes}>"


@dataclass(frozen=True, slots=True)
class Load:
    """What the cost of some windows depends on."""

    windows: int
    out: float
    """Result rows."""
    copies: float
    """Instances that one row falls into."""
    parts: float
    """Rows that kernels at the source give."""
    edges: float = 0.0
    """Edges per microsecond, where windows are cut into slices."""
    grids: int = 0
    """How many grids the edges lie on."""

    def cut(self, edges: float, grids: int) -> Load:
        """Cut the windows at some edges."""
        return Load(self.windows, self.out, self.copies, self.parts, edges, grids)

    def __add__(self, other: Load) -> Load:
        """Put windows together that are not cut yet."""
        return Load(
            self.windows + other.windows, self.out + other.out, self.copies + other.copies, self.parts + other.parts
        )


@dataclass(frozen=True, slots=True)
class Work:
    """One query's size, as far as costs depend on it."""

    statistics: Statistics
    columns: int = 1
    """Partial columns."""
    keys: int = 0
    """Key columns."""
    prices: Prices = Prices()
    shared: int = 0
    """Partial columns that are the same as others as long as a partial is one row."""

    def occupied(self, cells: float, marks: float) -> float:
        """Estimate how many of some cells are hit by marks thrown at random."""
        return 0.0 if cells <= 0 else cells * (1 - exp(-min(700.0, marks / cells)))

    def instances(self, window: Window) -> float:
        """Estimate the instances of a window that have rows."""
        s = self.statistics
        cells = s.keys * (s.span / window.slide + ceil(window.range / window.slide))
        return self.occupied(cells, self.copies(window) * s.rows)

    def copies(self, window: Window) -> float:
        """Count the instances that one row falls into."""
        return window.range / window.slide

    def load(self, windows: Iterable[Window]) -> Load:
        """Sum up what some windows give and take, before they are cut."""
        windows = tuple(windows)
        copies = [self.copies(window) for window in windows]
        parts = sum(self.per_batch(window.slide, ceil(many)) for window, many in zip(windows, copies, strict=True))
        return Load(len(windows), sum(map(self.instances, windows)), sum(copies), parts)

    def slices(self, found: tuple[Grid, ...]) -> float:
        """Estimate the slices that have rows."""
        return self.sliced(density(found))

    def sliced(self, edges: float) -> float:
        """Estimate the slices that have rows, where there are so many edges per microsecond."""
        s = self.statistics
        return self.occupied(s.keys * (s.span * edges + 1), s.rows)

    def per_batch(self, slide: float, copies: float) -> float:
        """Estimate the rows that a kernel at the source gives for a window, or for slices, over all its batches."""
        s = self.statistics
        batches = max(1.0, s.rows / self.prices.task)
        stretch = s.span / batches if s.ordered else s.span
        cells = s.keys * (stretch / slide + copies)
        return batches * self.occupied(cells, copies * min(s.rows, self.prices.task))

    def combining(self, load: Load, rows: float) -> float:
        """Price the kernels for some windows over rows, and what they give back."""
        reads = min(rows * load.windows, rows + 6 * load.out)  # windows read one another, not the rows
        return self.prices.element * (1 + self.columns) * (reads + 4 * load.out) + self.returned(load.out)

    def returned(self, rows: float) -> float:
        """Price rows that come back from Python."""
        return rows * (self.prices.back + 0.02 * (self.columns + self.keys))

    def sent(self, rows: float) -> float:
        """Price partials that go to Python."""
        return rows * (self.prices.transfer + self.prices.column * (1 + self.keys + self.columns))

    def sent_rows(self) -> float:
        """Price all rows that go to Python, each a partial of itself."""
        rows = self.statistics.rows
        return self.sent(rows) - rows * self.prices.column * self.shared


def price(work: Work, windows: tuple[Window, ...], shape: Shape) -> Group:
    """Price one group of windows in one shape."""
    grids = slicing(windows) if shape.uses_slices else ()
    load = work.load(windows).cut(density(grids), len(grids)) if grids else work.load(windows)
    cost, slices = _cost(work, load, shape)
    return Group(windows, shape, cost, load.out, slices, grids)


def _cost(work: Work, load: Load, shape: Shape) -> tuple[float, float]:
    """Price a load in one shape; give also the rows between the two steps."""
    p, rows, out = work.prices, work.statistics.rows, load.out
    wide = 1 + 0.25 * (work.columns - 1) + 0.15 * work.keys
    read = rows * (p.scan + 0.02 * (work.columns + work.keys))
    slices = work.sliced(load.edges) if shape.uses_slices else 0.0
    match shape:
        case Shape.INDEPENDENT:
            copies = rows * load.copies
            cost = (
                load.windows * (p.branch + p.stage + read) + copies * (p.group * wide + p.window) + out * p.emit * wide
            )
        case Shape.EXPAND:
            copies = rows * load.copies
            cost = p.branch + p.stage + read + copies * (p.group * wide + p.explode) + out * p.emit * wide
        case Shape.SLICES_EXPLODE:
            copies = slices * load.copies
            cost = p.branch + 2 * p.stage + read + rows * p.group * wide + slices * p.emit * wide
            cost += copies * (p.group * wide + p.explode) + out * p.emit * wide
        case Shape.SLICES_KERNEL:
            cost = p.branch + 2 * p.stage + p.python + read + rows * (p.group + 0.01 * load.grids) * wide
            cost += slices * (p.emit + p.exchange) * wide + work.sent(slices) + work.combining(load, slices)
        case Shape.SOURCE_SLICES_KERNEL:
            slices = work.per_batch(1 / load.edges, 1)
            cost = p.branch + p.stage + 2 * p.python + read + work.sent_rows() + _ordering(work)
            cost += rows * p.element * (1 + work.columns) + work.returned(slices)
            cost += slices * p.exchange * wide + work.sent(slices) + work.combining(load, slices)
        case Shape.ROWS_KERNEL:
            cost = p.branch + p.stage + p.python + read + rows * p.exchange * wide
            cost += work.sent_rows() + work.combining(load, rows)
        case Shape.SOURCE_KERNEL:
            slices = parts = load.parts
            cost = p.branch + p.stage + p.python + read + work.sent_rows() + _ordering(work)
            cost += work.combining(load, rows) + work.returned(max(0.0, parts - out))
            cost += parts * (p.group + 0.2) * wide + out * p.emit * wide * 0.8
    return cost, slices


def _ordering(work: Work) -> float:
    """Price the sort in Python, which rows in order of one key do without."""
    s = work.statistics
    return 0.0 if s.ordered and s.keys <= 1 else s.rows * work.prices.order


def grouped(work: Work, windows: tuple[Window, ...], shape: Shape) -> tuple[Group, ...]:
    """Split windows into groups for a shape, as long as joining two groups would cost more.

    Only slices are worth splitting: windows with no common divisor cut them as fine as the events.
    """
    if not shape.uses_slices or len(windows) == 1:
        return (price(work, windows, shape),)
    whole = price(work, windows, shape)
    if whole.slices < 0.2 * work.statistics.rows:  # splitting would read the rows again to save few slices
        return (whole,)
    split = tuple(price(work, part.windows, shape) for part in _parts(work, windows, shape))
    return split if _total(split) < whole.cost else (whole,)


@dataclass(frozen=True, slots=True)
class _Part:
    """Windows that may be joined with others."""

    windows: tuple[Window, ...]
    cut: Cut
    load: Load
    cost: float


def _parts(work: Work, windows: tuple[Window, ...], shape: Shape) -> Iterable[_Part]:
    """Join the two parts that gain most, again and again, as long as that gains anything.

    Pairs are weighed by an estimate of the edges that they have together. Edges are counted when it is a pair's turn;
    if it gains less than estimated, it waits for its turn again.
    """
    cuts = Cuts(windows)
    parts: dict[int, _Part] = {}
    pairs: list[tuple[float, int, int]] = []
    numbers = count()

    def cost(load: Load, slicing: tuple[float, int]) -> float:
        return _cost(work, load.cut(*slicing), shape)[0]

    def add(windows: tuple[Window, ...], cut: Cut, load: Load) -> None:
        new, number = _Part(windows, cut, load, cost(load, cut.slicing)), next(numbers)
        for other, old in parts.items():
            loss = cost(old.load + load, old.cut.slicing_with(cut)) - old.cost - new.cost
            if loss < 0:
                heappush(pairs, (loss, other, number))
        parts[number] = new

    for window in windows:
        add((window,), cuts.alone(window), work.load((window,)))
    while pairs:
        _, a, b = heappop(pairs)
        if a in parts and b in parts:
            one, other = parts[a], parts[b]
            cut, load = cuts.joined(one.cut, other.cut), one.load + other.load
            loss = cost(load, cut.slicing) - one.cost - other.cost
            if loss < 0 and pairs and pairs[0][0] < loss:
                heappush(pairs, (loss, a, b))
            elif loss < 0:
                del parts[a], parts[b]
                add((*one.windows, *other.windows), cut, load)
    return parts.values()


NATIVE = (Shape.EXPAND, Shape.SLICES_EXPLODE)
KERNEL = (Shape.SLICES_KERNEL, Shape.SOURCE_SLICES_KERNEL, Shape.ROWS_KERNEL, Shape.SOURCE_KERNEL)
STRATEGIES: dict[str, tuple[Shape, ...]] = {
    "auto": tuple(Shape),
    "independent": (Shape.INDEPENDENT,),
    "native": NATIVE,
    "kernel": KERNEL,
} | {shape.name.lower(): (shape,) for shape in Shape if shape is not Shape.INDEPENDENT}
"""The shapes that may be chosen under each name; a single shape by its own name is for tests and benchmarks."""


WORTHWHILE = 0.8
"""The share of the plain Spark plan's cost that a shape may cost to be taken instead: prices are rough."""


def choose(work: Work, windows: tuple[Window, ...], strategy: str, allowed: Callable[[Shape], bool]) -> PhysicalPlan:
    """Choose the cheapest shape among those that a strategy names and that are allowed.

    Where that saves little, the plain Spark plan is taken, if it is among them: one or two windows share little.

    >>> windows = (Window("10 s"), Window("20 s"), Window("30 s"), Window("1 min"))
    >>> plan = choose(Work(Statistics(10**7, span=10**13)), windows, "native", lambda shape: True)
    >>> [group.shape.name for group in plan.groups]
    ['SLICES_EXPLODE']
    """
    shapes = [shape for shape in STRATEGIES[strategy] if allowed(shape)] or [s for s in NATIVE if allowed(s)]
    weighed = sorted(((grouped(work, windows, shape), shape) for shape in shapes), key=lambda pair: _total(pair[0]))
    alternatives = tuple((shape.name.lower(), _total(groups)) for groups, shape in weighed)
    plain = next((groups for groups, shape in weighed if shape is Shape.INDEPENDENT), None)
    best = weighed[0][0]
    if plain is not None and _total(best) > WORTHWHILE * _total(plain):
        best = plain
    return PhysicalPlan(best, strategy, work.statistics, alternatives)


def _total(groups: tuple[Group, ...]) -> float:
    return sum(group.cost for group in groups)
