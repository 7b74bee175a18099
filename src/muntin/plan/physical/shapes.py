"""The shapes in which a group of windows can be evaluated in batch, and the names that users call them by."""

from __future__ import annotations

from enum import Enum


class Shape(Enum):
    """What is done with the rows of one group of windows."""

    INDEPENDENT = "one window aggregation each"
    EXPAND = "rows exploded into their windows, one aggregation"
    SLICES_EXPLODE = "slices in SQL, exploded into their windows, merged in SQL"
    SLICES_KERNEL = "slices in SQL, combined by kernels"
    SOURCE_SLICES_KERNEL = "slices by kernels at the source, combined by kernels"
    ROWS_KERNEL = "rows sorted by key and time, combined by kernels"
    SOURCE_KERNEL = "windows by kernels at the source, merged in SQL"
    RANGES_KERNEL = "rows sorted by key and time, ranges of them read by kernels"
    MARKS = "marks where the latest occurrence of an item begins and ceases to count, summed up in SQL"
    SOURCE_SESSIONS = "partial sessions by kernels at the source, merged in order"
    ORDERED = "rows of every key in order, cut where windows begin and end"
    TAGGED = "rows of every key in order, each given to its instances, one aggregation"

    @property
    def uses_slices(self) -> bool:
        """Whether windows of one group must have edges in common to be worth it."""
        return self in (Shape.SLICES_EXPLODE, Shape.SLICES_KERNEL, Shape.SOURCE_SLICES_KERNEL)

    @property
    def uses_kernel(self) -> bool:
        """Whether rows go to Python."""
        return self.name.endswith("KERNEL") or self in FRAMED

    @property
    def is_in_order(self) -> bool:
        """Whether windows are read from the rows of every key in order, so that all kinds can be."""
        return self in (Shape.ORDERED, Shape.TAGGED)

    @property
    def explodes(self) -> bool:
        """Whether rows or slices are given once for every instance that they lie in."""
        return self in (Shape.EXPAND, Shape.SLICES_EXPLODE)

    @property
    def needs_merge(self) -> bool:
        """Whether partials are merged, and not rows aggregated."""
        return self not in (Shape.INDEPENDENT, Shape.EXPAND, Shape.TAGGED, *READING)


FRAMED = (Shape.SOURCE_SESSIONS, Shape.ORDERED, Shape.TAGGED)
"""The shapes of windows of other kinds."""
PERIODIC = tuple(shape for shape in Shape if shape not in FRAMED)
"""The shapes of windows on a grid of time alone."""
READING = (Shape.RANGES_KERNEL, Shape.MARKS)
"""The shapes of aggregates that need all rows of an instance, or all that are distinct."""
MERGING = tuple(shape for shape in PERIODIC if shape not in READING)
"""The shapes of aggregates whose partials are small and can be merged."""
NATIVE = (Shape.EXPAND, Shape.SLICES_EXPLODE, Shape.MARKS)
KERNEL = tuple(shape for shape in PERIODIC if shape.uses_kernel)
BATCH_STRATEGIES: dict[str, tuple[Shape, ...]] = {
    "auto": PERIODIC,
    "independent": (Shape.INDEPENDENT,),
    "native": NATIVE,
    "kernel": KERNEL,
} | {shape.name.lower(): (shape,) for shape in Shape if shape is not Shape.INDEPENDENT}
"""The shapes that may be chosen under each name; a single shape by its own name is for tests and benchmarks."""
