"""What one unit of each kind of work costs on Spark, in core-microseconds (docs/cost_model.md)."""

from __future__ import annotations

from dataclasses import dataclass


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
    join: float = 1.0
    """A result row put together with what other aggregates have for the same instance."""
    holistic: float = 0.8
    """A row kept for an aggregate that needs all rows of an instance."""
    distinct: float = 0.9
    """A row into an exact distinct count."""
    member: float = 0.5
    """A value put into a set."""
    branch: float = 60_000
    """A branch of a union: planned, compiled, scheduled."""
    stage: float = 150_000
    """A shuffle."""
    python: float = 50_000
    """A stage in Python."""
    task: int = 100_000
    """Rows that a kernel at the source takes at once."""
