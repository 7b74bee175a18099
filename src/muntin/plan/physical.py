"""The physical plan: which shape each group of windows is evaluated in on Spark, chosen by cost.

Costs are core-microseconds, from prices calibrated on Spark (docs/cost_model.md); only their order matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from itertools import combinations
from math import ceil, exp

from muntin.duration import DAY
from muntin.errors import QueryError
from muntin.plan.describe import describe
from muntin.plan.figures import count, length
from muntin.plan.logical import Plan
from muntin.plan.slicing import Grid, density, slicing
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
        numbers = {"rows": count("rows", rows, 0), "keys": count("keys", keys, 1)}
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

    def slices(self, found: tuple[Grid, ...]) -> float:
        """Estimate the slices that have rows."""
        s = self.statistics
        return self.occupied(s.keys * (s.span * density(found) + 1), s.rows)

    def per_batch(self, slide: float, copies: float) -> float:
        """Estimate the rows that a kernel at the source gives for a window, or for slices, over all its batches."""
        s = self.statistics
        batches = max(1.0, s.rows / self.prices.task)
        stretch = s.span / batches if s.ordered else s.span
        cells = s.keys * (stretch / slide + copies)
        return batches * self.occupied(cells, copies * min(s.rows, self.prices.task))

    def combining(self, windows: Iterable[Window], rows: float) -> float:
        """Price the kernels for some windows over rows, and what they give back."""
        p, windows = self.prices, tuple(windows)
        found = [self.instances(window) for window in windows]
        sums = sum(found)
        reads = min(rows * len(windows), rows + 6 * sums)  # windows read one another, not the rows
        return p.element * (1 + self.columns) * (reads + 4 * sums) + self.returned(sums)

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
    p, rows = work.prices, work.statistics.rows
    found = slicing(windows) if shape.uses_slices else ()
    out = sum(work.instances(window) for window in windows)
    wide = 1 + 0.25 * (work.columns - 1) + 0.15 * work.keys
    read = rows * (p.scan + 0.02 * (work.columns + work.keys))
    slices = work.slices(found) if found else 0.0
    pieces = work.per_batch(1 / density(found), 1) if found else 0.0
    match shape:
        case Shape.INDEPENDENT:
            copies = rows * sum(work.copies(window) for window in windows)
            cost = (
                len(windows) * (p.branch + p.stage + read) + copies * (p.group * wide + p.window) + out * p.emit * wide
            )
        case Shape.EXPAND:
            copies = rows * sum(work.copies(window) for window in windows)
            cost = p.branch + p.stage + read + copies * (p.group * wide + p.explode) + out * p.emit * wide
        case Shape.SLICES_EXPLODE:
            copies = slices * sum(work.copies(window) for window in windows)
            cost = p.branch + 2 * p.stage + read + rows * p.group * wide + slices * p.emit * wide
            cost += copies * (p.group * wide + p.explode) + out * p.emit * wide
        case Shape.SLICES_KERNEL:
            cost = p.branch + 2 * p.stage + p.python + read + rows * (p.group + 0.01 * len(found)) * wide
            cost += slices * (p.emit + p.exchange) * wide + work.sent(slices) + work.combining(windows, slices)
        case Shape.SOURCE_SLICES_KERNEL:
            cost = p.branch + p.stage + 2 * p.python + read + work.sent_rows() + _ordering(work)
            cost += rows * p.element * (1 + work.columns) + work.returned(pieces)
            cost += pieces * p.exchange * wide + work.sent(pieces) + work.combining(windows, pieces)
        case Shape.ROWS_KERNEL:
            cost = p.branch + p.stage + p.python + read + rows * p.exchange * wide
            cost += work.sent_rows() + work.combining(windows, rows)
        case Shape.SOURCE_KERNEL:
            parts = sum(work.per_batch(window.slide, ceil(work.copies(window))) for window in windows)
            cost = p.branch + p.stage + p.python + read + work.sent_rows() + _ordering(work)
            cost += work.combining(windows, rows) + work.returned(max(0.0, parts - out))
            cost += parts * (p.group + 0.2) * wide + out * p.emit * wide * 0.8
            slices = parts
    return Group(windows, shape, cost, out, pieces if shape is Shape.SOURCE_SLICES_KERNEL else slices, found)


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
    groups = {number: price(work, (window,), shape) for number, window in enumerate(windows)}

    def gain(a: int, b: int) -> tuple[float, Group]:
        joined = price(work, (*groups[a].windows, *groups[b].windows), shape)
        return groups[a].cost + groups[b].cost - joined.cost, joined

    joins = {(a, b): gain(a, b) for a, b in combinations(groups, 2)}
    while joins:
        (a, b), (gained, joined) = max(joins.items(), key=lambda join: join[1][0])
        if gained <= 0:
            break
        joins = {pair: found for pair, found in joins.items() if not {a, b} & set(pair)}
        del groups[b]
        groups[a] = joined
        joins |= {(a, other): gain(a, other) for other in groups if other != a}
    split = tuple(groups.values())
    return split if _total(split) < whole.cost else (whole,)


NATIVE = (Shape.EXPAND, Shape.SLICES_EXPLODE)
KERNEL = (Shape.SLICES_KERNEL, Shape.SOURCE_SLICES_KERNEL, Shape.ROWS_KERNEL, Shape.SOURCE_KERNEL)
STRATEGIES: dict[str, tuple[Shape, ...]] = {
    "auto": tuple(Shape),
    "independent": (Shape.INDEPENDENT,),
    "native": NATIVE,
    "kernel": KERNEL,
} | {shape.name.lower(): (shape,) for shape in Shape if shape is not Shape.INDEPENDENT}
"""The shapes that may be chosen under each name; a single shape by its own name is for tests and benchmarks."""


def choose(work: Work, windows: tuple[Window, ...], strategy: str, allowed: Callable[[Shape], bool]) -> PhysicalPlan:
    """Choose the cheapest shape among those that a strategy names and that are allowed.

    >>> windows = (Window("10 s"), Window("20 s"), Window("30 s"), Window("1 min"))
    >>> plan = choose(Work(Statistics(10**7, span=10**13)), windows, "native", lambda shape: True)
    >>> [group.shape.name for group in plan.groups]
    ['SLICES_EXPLODE']
    """
    shapes = [shape for shape in STRATEGIES[strategy] if allowed(shape)] or [s for s in NATIVE if allowed(s)]
    weighed = sorted(((grouped(work, windows, shape), shape) for shape in shapes), key=lambda found: _total(found[0]))
    alternatives = tuple((shape.name.lower(), _total(groups)) for groups, shape in weighed)
    return PhysicalPlan(weighed[0][0], strategy, work.statistics, alternatives)


def _total(groups: tuple[Group, ...]) -> float:
    return sum(group.cost for group in groups)
