"""The size of a query over an input, and what each shape costs for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import ceil, exp

from muntin.plan.physical.prices import Amounts, Prices, added
from muntin.plan.physical.shapes import Shape
from muntin.plan.slicing.grids import Grid, density
from muntin.plan.statistics import Statistics
from muntin.window import Window

TASK_ROWS = 100_000
"""Rows that a kernel at the source takes at once."""
WIDER_BY_COLUMN = 0.25
"""How much dearer a row of an aggregation is for one more partial column."""
WIDER_BY_KEY = 0.15
"""How much dearer a row of an aggregation is for one more key."""
JOINED_BY_COLUMN = 0.1
"""How much dearer a result row that is joined is for one more column."""
READ_AGAIN = 6
"""Partials that an instance reads where windows read one another."""
WRITTEN = 4
"""What an instance costs a kernel beside what it reads, in values read."""
LIFTED = 2
"""What it takes to rank a row's value and to put it into a wavelet matrix, in rows sorted in Python."""
MERGED = 0.8
"""The share of a group's price that an instance costs which was reduced at the source."""


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

    @property
    def ranked(self) -> int:
        """Aggregates that kernels read from all rows of a range."""
        return self.holistic + self.sets

    @property
    def wide(self) -> float:
        """How much dearer rows of aggregations are for their columns and keys."""
        return 1 + WIDER_BY_COLUMN * (self.columns - 1) + WIDER_BY_KEY * self.keys

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
        batches = max(1.0, s.rows / TASK_ROWS)
        stretch = s.span / batches if s.ordered else s.span
        cells = s.keys * (stretch / slide + copies)
        return batches * self.occupied(cells, copies * min(s.rows, TASK_ROWS))

    def joined(self, rows: float) -> Amounts:
        """Put result rows together with those of other aggregates."""
        return {"stage": 1, "join": rows * (1 + WIDER_BY_KEY * self.keys + JOINED_BY_COLUMN * self.columns)}

    def reading(self, times: float = 1) -> Amounts:
        """Read all rows so many times."""
        rows = times * self.statistics.rows
        return {"scan": rows, "value": rows * (self.columns + self.keys)}

    def heavy(self, rows: float) -> Amounts:
        """Take rows into aggregates that need all of them, or all that are distinct."""
        return {"holistic": rows * self.holistic, "distinct": rows * self.sets}

    def combining(self, load: Load, rows: float) -> Amounts:
        """Combine rows by kernels for some windows, which read one another, and give the instances back."""
        reads = min(rows * load.windows, rows + READ_AGAIN * load.out)
        return added({"element": (1 + self.columns) * (reads + WRITTEN * load.out)}, self.returned(load.out))

    def returned(self, rows: float) -> Amounts:
        """Bring rows back from Python."""
        return {"back": rows, "value": rows * (self.columns + self.keys)}

    def sent(self, rows: float) -> Amounts:
        """Send partials to Python."""
        return {"transfer": rows, "column": rows * (1 + self.keys + self.columns)}

    def sent_rows(self) -> Amounts:
        """Send all rows to Python, each a partial of itself, and what is the same only once."""
        rows = self.statistics.rows
        return {"transfer": rows, "column": rows * (1 + self.keys + self.columns - self.shared)}

    def ordering(self) -> Amounts:
        """Sort all rows in Python, unless they come in order of one key."""
        s = self.statistics
        return {} if s.ordered and s.keys <= 1 else {"order": s.rows}


def amounts(work: Work, load: Load, shape: Shape) -> tuple[Amounts, float]:
    """Count the units of work of a load in one shape; give also the rows between the two steps."""
    rows, out, wide = work.statistics.rows, load.out, work.wide
    slices = work.sliced(load.edges) if shape.uses_slices else 0.0
    match shape:
        case Shape.INDEPENDENT:
            copies, each = rows * load.copies, load.windows
            own = {"branch": each, "stage": each, "group": copies * wide, "window": copies, "emit": out * wide}
            return added(own, work.reading(each), work.heavy(copies)), slices
        case Shape.EXPAND:
            copies = rows * load.copies
            own = {"branch": 1, "stage": 1, "group": copies * wide, "explode": copies, "emit": out * wide}
            return added(own, work.reading(), work.heavy(copies)), slices
        case Shape.SLICES_EXPLODE:
            copies = slices * load.copies
            own = {"branch": 1, "stage": 2, "group": (rows + copies) * wide, "explode": copies}
            own |= {"emit": (slices + out) * wide, "member": work.sets * rows * (1 + load.copies)}
            return added(own, work.reading()), slices
        case Shape.SLICES_KERNEL:
            own = {"branch": 1, "stage": 2, "python": 1, "group": rows * wide, "grid": rows * load.grids * wide}
            own |= {"emit": slices * wide, "exchange": slices * wide}
            return added(own, work.reading(), work.sent(slices), work.combining(load, slices)), slices
        case Shape.SOURCE_SLICES_KERNEL:
            sliced, slices = at_source(work, load)
            return added({"branch": 1, "stage": 1, "python": 2}, work.reading(), work.sent_rows(), sliced), slices
        case Shape.RANGES_KERNEL:
            own = {"branch": 1, "stage": 1, "python": 1, "exchange": rows * wide, "element": rows * load.windows}
            read = {"order": LIFTED * rows * work.ranked, "search": out * work.ranked}
            return added(own, read, work.reading(), work.sent_rows(), work.returned(out)), slices
        case Shape.MARKS:
            marks = 2 * load.windows * rows * work.sets
            own = {"branch": work.sets, "stage": 2 * work.sets + 2, "exchange": rows * wide * work.sets}
            own |= {"group": (rows + marks) * wide, "explode": marks, "emit": out * wide}
            return added(own, work.reading(work.sets)), slices
        case Shape.ROWS_KERNEL:
            own = {"branch": 1, "stage": 1, "python": 1, "exchange": rows * wide}
            return added(own, work.reading(), work.sent_rows(), work.combining(load, rows)), slices
    parts = load.parts  # windows at the source
    own = {"branch": 1, "stage": 1, "python": 1, "group": parts * wide, "merge": parts * wide}
    own |= {"emit": MERGED * out * wide}
    taken = added(work.reading(), work.sent_rows(), work.ordering())
    return added(own, taken, work.combining(load, rows), work.returned(max(0.0, parts - out))), parts


def at_source(work: Work, load: Load) -> tuple[Amounts, float]:
    """Slice rows that are in Python, shuffle the slices and combine them; give also how many slices there are."""
    slices = work.per_batch(1 / load.edges, 1)
    own = {"element": work.statistics.rows * (1 + work.columns), "exchange": slices * work.wide}
    between = added(work.returned(slices), work.sent(slices))
    return added(own, work.ordering(), between, work.combining(load, slices)), slices


def cost(work: Work, load: Load, shape: Shape) -> tuple[float, float]:
    """Price a load in one shape; give also the rows between the two steps."""
    units, between = amounts(work, load, shape)
    return work.prices.of(units), between
