"""The size of a query over a stream, what its work costs, and the state that it keeps."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil

from muntin.plan.physical.work import Work
from muntin.window import Window

BATCH_ROWS = 1_000_000
"""Rows that a micro-batch is taken to have where statistics do not say."""


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

    @property
    def batch_rows(self) -> int:
        """Rows in a micro-batch."""
        return self.work.statistics.batch or BATCH_ROWS

    @property
    def batches(self) -> float:
        """Micro-batches in the stretch that the statistics describe."""
        return max(1.0, self.work.statistics.rows / self.batch_rows)

    @property
    def behind(self) -> float:
        """How long before the latest event the watermark stands: its delay, and a micro-batch."""
        return self.delay + self.work.statistics.span / self.batches

    def kept(self, slide: float, copies: float, stay: float) -> float:
        """Estimate the groups that have rows, of those that begin every slide and stay for some time."""
        s = self.work.statistics
        marks = s.keys * max(1.0, float(s.rate) * stay) * copies
        return self.work.occupied(s.keys * max(1.0, stay / slide), marks)

    def arriving(self, stay: float) -> float:
        """Count the rows that come in some time, of all aggregates whose partials are sets."""
        return self.work.sets * self.work.statistics.rows * min(1.0, stay / max(1, self.work.statistics.span))

    def members(self, window: Window, behind: float = 0) -> float:
        """Count the values in the sets of a window's open instances, of one aggregate, if none comes twice.

        An instance is half full on average, and stays full until the watermark has passed it.
        """
        s = self.work.statistics
        return s.rows * min(1.0, (window.range / 2 + behind) / max(1, s.span)) * self.work.copies(window)

    def touched(self, slide: float, copies: float) -> float:
        """Estimate the groups that micro-batches change, each counted once in every micro-batch that changes it."""
        s = self.work.statistics
        cells = s.keys * (s.span / self.batches / slide + copies)
        return self.batches * self.work.occupied(cells, copies * s.rows / self.batches)

    def load(self, windows: Iterable[Window]) -> StreamLoad:
        """Sum up what some windows take that are put together from slices, before they are cut."""
        work, windows = self.work, tuple(windows)
        return StreamLoad(
            sum(work.copies(window) for window in windows),
            sum(self.touched(window.slide, ceil(work.copies(window))) for window in windows),
            sum(self.kept(window.slide, work.copies(window), window.range) for window in windows),
            sum(work.instances(window) for window in windows),
            max(window.longest for window in windows),
            sum(self.members(window) for window in windows),
        )


@dataclass(frozen=True, slots=True)
class StreamLoad:
    """What the cost of some windows depends on that are put together from slices."""

    copies: float
    """Instances that one row falls into."""
    touched: float
    """Instances that micro-batches change."""
    merged: float
    """Instances that wait for further slices."""
    out: float
    """Result rows."""
    longest: int
    """How long an instance may last."""
    members: float
    """Values in the sets of instances that wait, of one aggregate whose partials are sets."""

    def __add__(self, other: StreamLoad) -> StreamLoad:
        """Put windows together that are not cut yet."""
        return StreamLoad(
            self.copies + other.copies,
            self.touched + other.touched,
            self.merged + other.merged,
            self.out + other.out,
            max(self.longest, other.longest),
            self.members + other.members,
        )
