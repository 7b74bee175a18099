"""What every window says of itself, whatever its kind: the questions that plans, state and files ask."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from muntin.expressions import Named

Longs = NDArray[np.int64]
Flags = NDArray[np.bool_]

Grid = tuple[int, int]
"""A slide and a residue: the times residue + k·slide."""

Starts = tuple[int, int]
"""The first and the last start of some instances."""

Role = Literal["condition", "number", "any"]
"""What a window takes a column for."""


class Instance(NamedTuple):
    """An instance of a window over the rows of one key."""

    start: int
    end: int
    lo: int
    """The first of its rows."""
    hi: int
    """One past the last of its rows."""
    begin: float | None = None
    """Where it begins in the window's own measure, if that is not time."""
    stop: float | None = None
    """Where it ends in the window's own measure."""


class Watch(NamedTuple):
    """A column that a window looks at, beside the time, to tell where its instances begin and end."""

    column: Named
    role: Role


class Kind(ABC):
    """A window of some kind: frozen, hashable, and equal to windows of its own kind only; the id is not compared.

    Times are whole numbers, microseconds where a window is timed.
    """

    __slots__ = ()

    kind: ClassVar[str]
    """The name of the kind in files."""
    id: str | None

    @property
    @abstractmethod
    def text(self) -> str:
        """What the window is, in a few words."""

    @property
    def label(self) -> str:
        """What a result row carries as window_id: the id, or else what the window is."""
        return self.text if self.id is None else self.id

    def __str__(self) -> str:
        return self.text

    @abstractmethod
    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the kind and then what else makes the window, without its id, as JSON has it.

        Lengths are numbers, or texts that people read. The constructor takes what stands after the kind.
        """

    @abstractmethod
    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the instances over all rows of one key, in order, with the columns that the window watches.

        This is what is meant; the kernels give the same.
        """

    @property
    def watches(self) -> tuple[Watch, ...]:
        """The columns that the window looks at beside the time."""
        return ()

    @property
    def is_timed(self) -> bool:
        """Whether lengths of time are durations in microseconds, and not plain units."""
        return True

    @property
    def measure(self) -> str | None:
        """What instances begin and end in, if that is not time: 'rows', or the name of a column."""
        return None

    @property
    def instances_of_a_row(self) -> float:
        """How many instances a row lies in; 1 where that depends on the rows."""
        return 1

    @property
    def deterministic(self) -> bool:
        """Whether it is known of every row, when it comes, if an instance begins with it: slices are cut there."""
        return True

    @property
    def lag(self) -> int:
        """How long the watermark must have passed a row before no row at or before it can count any more."""
        return 0

    def timed(self) -> Self:
        """Give the same window with its lengths read as microseconds."""
        return self
