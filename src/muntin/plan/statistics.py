"""What is known of an input: estimates are enough."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from muntin.duration import DAY
from muntin.errors import QueryError
from muntin.plan.figures import length, whole_number
from muntin.window import Length


@dataclass(frozen=True, slots=True)
class Statistics:
    """Known figures about the input; rough estimates are enough.

    Args:
        rows: The number of rows.
        keys: The number of distinct keys.
        span: From the first to the last event: text, a timedelta, or microseconds.
        ordered: Whether rows come nearly in order of time within a task.
        source: Where the figures come from; plans show it.
        batch: The number of rows in a micro-batch of a stream.

    Raises:
        QueryError: If a figure is negative, or not a whole number.

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
    batch: int | None
    """Rows of a stream in one micro-batch; None if nobody knows."""

    def __init__(
        self,
        rows: float,
        keys: float = 1,
        span: Length | float = DAY,
        ordered: bool = True,
        source: str = "given",
        batch: float | None = None,
    ) -> None:
        if not isinstance(ordered, bool):
            raise QueryError(f"ordered={ordered!r} is neither True nor False. Use True if rows come in order of time.")
        numbers = {"rows": whole_number("rows", rows, 0), "keys": whole_number("keys", keys, 1)}
        known = {"span": int(length("span", span, "1 day")), "ordered": ordered, "source": source}
        known["batch"] = None if batch is None else whole_number("batch", batch, 1)
        for name, value in (numbers | known).items():
            object.__setattr__(self, name, value)

    @property
    def rate(self) -> Fraction:
        """Events per microsecond and key."""
        return Fraction(max(1, self.rows), max(1, self.keys) * max(1, self.span))
