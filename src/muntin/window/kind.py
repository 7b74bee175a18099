"""What every window says of itself, whatever its kind: the questions that plans, state and files ask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muntin.duration import FOREVER

Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]

Grid = tuple[int, int]
"""A slide and a residue: the times residue + k·slide."""

Starts = tuple[int, int]
"""The first and the last start of some instances."""


class Instance(NamedTuple):
    """An instance of a window over the rows of one key."""

    start: int
    end: int
    lo: int
    """The first of its rows."""
    hi: int
    """One past the last of its rows."""


class Kind(ABC):
    """A window of some kind: frozen, hashable, and equal to windows of its own kind only; the id is not compared.

    Times are whole numbers, microseconds where a window is timed. A window on a stream may count for a stretch of time
    only: its instances inside [since, until).
    """

    __slots__ = ()

    kind: ClassVar[str]
    """The name of the kind in files."""
    id: str | None

    @property
    @abstractmethod
    def label(self) -> str:
        """What a result row carries as window_id: the id, or else a text of what the window is."""

    @abstractmethod
    def timed(self) -> Kind:
        """Give the same window with its lengths read as microseconds."""

    @abstractmethod
    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the kind and then what else makes the window, without its id, as JSON has it.

        Lengths are numbers, or texts that people read. The constructor takes what stands after the kind.
        """

    @property
    @abstractmethod
    def edges(self) -> tuple[Grid, ...] | None:
        """The grids on which instances begin and end; None where only rows tell, so that no slices can be cut."""

    @property
    @abstractmethod
    def longest(self) -> int | None:
        """How long an instance may last; None if there is no limit."""

    @property
    @abstractmethod
    def halo(self) -> int | None:
        """How long after a stretch of time its instances may need rows; None if rows elsewhere may change them.

        A key's rows may be cut into chunks of time that are followed by such a halo, and every chunk gives the
        instances that begin in it.
        """

    @property
    @abstractmethod
    def in_forest(self) -> bool:
        """Whether covered_by and partitioned_by hold between such windows, so that one may read another."""

    @abstractmethod
    def over(self, times: Sequence[int]) -> Iterator[Instance]:
        """Yield the instances that have rows of one key, whose times are in order.

        This is what is meant; where there are kernels, they give the same.
        """

    @abstractmethod
    def due(self, after: int, by: int, since: int = -FOREVER, until: int = FOREVER) -> Starts | None:
        """Give the instances that one watermark has left open and another closes; None if there are none."""

    @abstractmethod
    def is_open(self, first: Longs, last: Longs, watermark: int, since: int = -FOREVER, until: int = FOREVER) -> Flags:
        """Tell which stretches of time, from first to last, meet an instance that the watermark has not closed."""

    @abstractmethod
    def is_closed(self, time: Longs, watermark: int, since: int = -FOREVER, until: int = FOREVER) -> Flags:
        """Tell which times lie in an instance that the watermark has closed."""
