"""The size of a query over an input, and what each shape costs for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil, exp

from muntin.plan.physical.prices import Prices
from muntin.plan.physical.shapes import Shape
from muntin.plan.slicing.grids import Grid, density
from muntin.plan.statistics import Statistics
from muntin.window import Window


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
    prices: Prices = field(default_factory=Prices)
    shared: int = 0
    """Partial columns that are the same as others as long as a partial is one row."""
    holistic: int = 0
    """Aggregates that need the rows of every instance."""
    sets: int = 0
    """Aggregates whose partials are sets, which grow with the rows."""

    def joined(self, rows: float) -> float:
        """Price result rows that are put together with those of other aggregates."""
        return self.prices.stage + rows * self.prices.join * (1 + 0.15 * self.keys + 0.1 * self.columns)

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

    def slices(self, grids: tuple[Grid, ...]) -> float:
        """Estimate the slices that have rows."""
        return self.sliced(density(grids))

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


def cost(work: Work, load: Load, shape: Shape) -> tuple[float, float]:
    """Price a load in one shape; give also the rows between the two steps."""
    p, rows, out = work.prices, work.statistics.rows, load.out
    wide = 1 + 0.25 * (work.columns - 1) + 0.15 * work.keys
    read = rows * (p.scan + 0.02 * (work.columns + work.keys))
    heavy = work.holistic * p.holistic + work.sets * p.distinct
    slices = work.sliced(load.edges) if shape.uses_slices else 0.0
    match shape:
        case Shape.INDEPENDENT:
            copies = rows * load.copies
            cost = load.windows * (p.branch + p.stage + read)
            cost += copies * (p.group * wide + p.window + heavy) + out * p.emit * wide
        case Shape.EXPAND:
            copies = rows * load.copies
            cost = p.branch + p.stage + read + copies * (p.group * wide + p.explode + heavy) + out * p.emit * wide
        case Shape.SLICES_EXPLODE:
            copies = slices * load.copies
            cost = p.branch + 2 * p.stage + read + rows * p.group * wide + slices * p.emit * wide
            cost += copies * (p.group * wide + p.explode) + out * p.emit * wide
            cost += (
                work.sets * p.member * (rows + rows * load.copies)
            )  # each value into its slice, and into its windows
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
