"""One price model for batch, streams and rolling windows: what one unit of each kind of work costs on Spark.

A plan is so many units of each kind, its cost is their sum, each times its price (docs/cost_model.md). Prices are
core-microseconds, from a run of `muntin bench calibrate`. Only the order of costs matters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

Amounts = Mapping[str, float]
"""Units of work, by the names of their prices."""


@dataclass(frozen=True, slots=True)
class Prices:
    """Core-microseconds for one unit of each kind of work, measured on two cores."""

    # Rows in Spark SQL
    scan: float = 0.0323
    """A row read."""
    value: float = 0.00952
    """A value of a row read, or brought back from Python."""
    group: float = 0.0181
    """A row into a hash aggregation."""
    window: float = 0.0687
    """A row given its window structs by Spark, more than a group costs."""
    explode: float = 0.14
    """A row or slice placed in one of its instances."""
    grid: float = 0.00767
    """A row compared with one more grid to find its slice."""
    emit: float = 1.2
    """A group out of a hash aggregation, its shuffle included."""
    merge: float = 0.117
    """A partial merged with those of other batches, more than a group costs."""
    exchange: float = 0.602
    """A row shuffled and sorted by key and time."""
    join: float = 3.15
    """A result row put together with what other aggregates have for the same instance."""
    holistic: float = 2.56
    """A row kept for an aggregate that needs all rows of an instance."""
    distinct: float = 2.99
    """A row into an exact distinct count."""
    member: float = 0.77
    """A value put into a set."""

    # Rows in Python
    transfer: float = 0.0551
    """A row to Python."""
    column: float = 0.0167
    """A value to Python."""
    back: float = 0.326
    """A row back from Python."""
    limited_transfer: float = 0.432
    """A row to Python, where Spark limits the bytes of a batch and so measures the batch after every row."""
    limited_column: float = 0.0844
    """A value to Python there."""
    order: float = 0.113
    """A row sorted in Python."""
    element: float = 0.00365
    """A value read by a kernel."""
    search: float = 0.22
    """The value at a rank of an instance's rows, or how many distinct values they have, told by a kernel."""

    # Whatever the rows
    branch: float = 445_000
    """A branch of a union: planned, compiled, scheduled."""
    stage: float = 235_000
    """A shuffle."""
    python: float = 140_000
    """A stage in Python."""

    # Streams
    state_row: float = 0.241
    """A row into an aggregation with state, given its window."""
    state: float = 21.5
    """A group restored, updated, written and at last removed."""
    passing: float = 7.33
    """A group that is written and, most often, removed in the same micro-batch."""
    look: float = 0.182
    """A group looked at, to see whether the watermark has closed it: all of them, in every micro-batch."""
    state_python: float = 332_000
    """A micro-batch of an operator whose state is in the hands of Python processes, more than other operators cost."""
    packed: float = 0.0504
    """A slice packed with others, read and written in every micro-batch."""
    operator: float = 470_000
    """An operator with state in a micro-batch: its stores are opened and committed."""
    state_branch: float = 26_200
    """A branch of a union in a micro-batch, with a scan of its own."""

    # Rolling windows
    frame: float = 0.423
    """A row given the frame of one range by plain Spark."""
    frame_aggregate: float = 0.134
    """An aggregate begun for a frame by plain Spark."""
    frame_look: float = 0.0128
    """A row of a frame read again for one aggregate by plain Spark."""
    frame_climb: float = 0.0743
    """A level of Spark's segment tree, for one aggregate."""
    frame_row: float = 0.208
    """A row to Python and back, before any column."""
    carried: float = 0.0651
    """A column to Python and back."""
    frame_result: float = 0.0765
    """A partial of one frame reduced, sent back and lowered."""

    def of(self, amounts: Amounts) -> float:
        """Price units of work.

        >>> Prices(scan=0.1, stage=150_000).of({"scan": 1000, "stage": 1})
        150100.0
        """
        return float(sum(getattr(self, name) * units for name, units in amounts.items()))

    def limited(self) -> Prices:
        """Give the prices where Spark limits the bytes of a batch on its way to Python.

        A column that is carried goes there and back, and only the way there costs more. A row's way there has a price
        of its own beside `frame_row`.

        >>> prices = Prices().limited()
        >>> prices.transfer, round(prices.carried - Prices().carried, 4), prices.limited() == prices
        (0.432, 0.0677, True)
        """
        carried = self.carried + self.limited_column - self.column
        return replace(self, transfer=self.limited_transfer, column=self.limited_column, carried=carried)


def added(*parts: Amounts) -> dict[str, float]:
    """Add units of work.

    >>> added({"scan": 1, "group": 2}, {"scan": 3})
    {'scan': 4, 'group': 2}
    """
    together: dict[str, float] = {}
    for part in parts:
        for name, units in part.items():
            together[name] = together.get(name, 0) + units
    return together
