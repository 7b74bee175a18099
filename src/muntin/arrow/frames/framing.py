"""What every framing says: which instances of a window have ended, and which rows begin those that are open."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muntin.arrow.frames.stretch import Flags, Slots, Stretch
from muntin.kernels.protocol import Longs


class Ended(NamedTuple):
    """Instances that have ended: ranges of items, and what result rows say of them."""

    lo: Longs
    hi: Longs
    start: Longs
    end: Longs
    begin: NDArray[Any] | None = None
    """Where they begin in the window's own measure."""
    stop: NDArray[Any] | None = None

    def only(self, chosen: Any) -> Ended:
        """Give some of them."""
        lo, hi, start, end = (array[chosen] for array in self[:4])
        begin, stop = (None if array is None else array[chosen] for array in self[4:])
        return Ended(lo, hi, start, end, begin, stop)


@dataclass(frozen=True)
class Framing(ABC):
    """A window that is read from rows in order; it travels pickled."""

    window: Any
    number: int
    """The number of the window in the query."""
    columns: tuple[str, ...] = ()
    """The columns that it watches."""
    place: int = 0
    """What state knows the window by: its place among all windows in order, however a query lists them."""
    was_added: bool = False
    """Whether a registry added the window to a running query: keys may have had rows before."""

    @property
    def slots(self) -> Slots:
        """What it keeps of a key between two stretches."""
        return {}

    @property
    def deterministic(self) -> bool:
        """Whether slices cut at its begins will do; otherwise it needs rows of their own."""
        return bool(self.window.deterministic)

    def slot(self, name: str) -> str:
        """Name what is kept for this window."""
        return f"{self.place}.{name}"

    @property
    def first_is_partial(self) -> bool:
        """Whether the instance of a key's first row may have begun before it, and so is not given."""
        return False

    @property
    def checks(self) -> bool:
        """Whether rows may be wrong for the window; a stream then checks them when they come, before they are kept."""
        return False

    def check(self, stretch: Stretch) -> None:  # noqa: B027 - most windows take any row
        """Refuse rows that are wrong for the window."""

    def forgets(self, stretch: Stretch) -> Flags:
        """Tell of which keys nothing needs to be known, since no instance is open."""
        return np.zeros(len(stretch.base), np.bool_)

    @abstractmethod
    def ended(self, stretch: Stretch) -> Ended:
        """Give the instances that have ended with this stretch, and keep what the next one needs."""

    @abstractmethod
    def cuts(self, stretch: Stretch) -> Flags:
        """Tell which items begin an instance that is open after this stretch."""
