"""Windows of a user's own: a discretizer is given the rows of a key in order and says which windows begin and end.

This is Cutty's f_disc, with ends that are exclusive: a window that ends with a row does not have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any, ClassVar

from muntin.errors import QueryError
from muntin.expressions import Named, column_named
from muntin.typed_values import encode
from muntin.window.kind import Instance, Kind, Watch
from muntin.window.lengths import check_flag, check_id, of_window


@dataclass(frozen=True, slots=True)
class UserWindow(Kind):
    """What a discretizer makes of rows.

    Its method `step(state, time, *values)` takes one row and gives the next state, how many windows begin with the
    row, and how many of those that are open, oldest first, end before it; or which, by the numbers of the rows that
    they began with. `steps` takes whole arrays and gives arrays. A function stands for a step.

    >>> def every_third(state, time):
    ...     return state + 1, int(state % 3 == 0), int(state % 3 == 0 and state > 0)
    >>> [instance[:4] for instance in UserWindow(every_third, initial=0).over([1, 2, 3, 4])]
    [(1, 4, 0, 3), (4, 4, 3, 4)]
    """

    kind: ClassVar[str] = "user"

    discretizer: Any
    columns: tuple[Named, ...]
    initial: Any = field(compare=False)
    """The state before the first row of a key."""
    fifo: bool
    """Whether the window that began first must end first."""
    complete: bool
    """Whether only windows are given that ended, and not those that are open at the end of the input."""
    version: int
    """The version of the state: a checkpoint of another one is refused."""
    id: str | None = field(default=None, compare=False)
    start: str | None = field(default=None, init=False, repr=False)
    """The initial state as text, by which two windows are told apart; None if a file does not have it."""

    def __init__(
        self,
        discretizer: Any,
        columns: Any = (),
        initial: Any = None,
        fifo: bool = True,
        complete: bool = False,
        version: int = 1,
        id: str | None = None,
    ) -> None:
        check_id(id)
        methods = [name for name in ("step", "steps") if callable(getattr(discretizer, name, None))]
        if not methods and not callable(discretizer) and not isinstance(discretizer, str):  # a name, as files have it
            raise QueryError(
                f"{discretizer!r} is no discretizer{of_window(id)}. Use a function of state, time and values, "
                "or an object with a method step or steps."
            )
        check_flag("fifo", fifo, id)
        check_flag("complete", complete, id)
        if isinstance(version, bool) or not isinstance(version, int):
            raise QueryError(f"version {version!r} is not a whole number{of_window(id)}. Use one such as 2.")
        state = getattr(discretizer, "initial", None) if initial is None else initial
        given = (columns,) if isinstance(columns, str) or not isinstance(columns, Iterable) else tuple(columns)
        fields = {
            "discretizer": discretizer,
            "columns": tuple(column_named(column, "a user window") for column in given),
            "initial": state,
            "start": state if isinstance(discretizer, str) else _text(state),
            "fifo": fifo,
            "complete": complete,
            "version": version,
            "id": id,
        }
        for name, value in fields.items():
            object.__setattr__(self, name, value)

    @property
    def text(self) -> str:
        """The name of the discretizer."""
        return self._name

    @property
    def _name(self) -> str:
        """The name of the discretizer's code."""
        known = self.discretizer
        return known if isinstance(known, str) else str(getattr(known, "__name__", type(known).__name__))

    @property
    def watches(self) -> tuple[Watch, ...]:
        """The columns that the discretizer takes."""
        return tuple(Watch(column, "any") for column in self.columns)

    def to_dict(self, *, readable: bool = False) -> dict[str, Any]:
        """Give the name of the discretizer, its columns, the version of its state, and what else makes its windows."""
        told = {
            "kind": self.kind,
            "discretizer": self._name,
            "columns": [str(column) for column in self.columns],
            "version": self.version,
        }
        own = {"initial": self.start, "fifo": self.fifo, "complete": self.complete}
        return told if self.start is None else told | own

    def over(self, times: Sequence[int], *columns: Sequence[Any]) -> Iterator[Instance]:
        """Yield the windows in the order of their ends; the end of the input ends those that are open."""
        step, state = getattr(self.discretizer, "step", self.discretizer), deepcopy(self.initial)
        begun: list[int] = []
        for row, (time, *values) in enumerate(zip(times, *columns, strict=True)):
            state, begins, ends = step(state, time, *values)
            for lo in begun[:ends] if isinstance(ends, int) else list(ends):
                begun.remove(lo)
                yield Instance(times[lo], time, lo, row)
            begun += [row] * begins
        if not self.complete:
            yield from (Instance(times[lo], times[-1], lo, len(times)) for lo in begun)


def check_states(windows: Iterable[Kind]) -> None:
    """Refuse user windows whose state a checkpoint cannot keep, or cannot tell from that of another."""
    known: list[dict[str, Any]] = []
    for window in windows:
        if not isinstance(window, UserWindow):
            continue
        encode(window.initial, f"the initial state of window {window.label!r}")
        if window.to_dict() in known:
            raise QueryError(
                f"window {window.label!r} has a function called {window.text!r}, as another window has: a checkpoint "
                "cannot tell their states apart. Give the functions different names."
            )
        known.append(window.to_dict())


def _text(state: Any) -> str:
    """Return a state as text; one that cannot be kept differs from all others."""
    try:
        return encode(state, "the state")
    except QueryError:
        return f"{type(state).__name__} {id(state)}"


def user_window(
    discretizer: Any,
    columns: Any = (),
    *,
    initial: Any = None,
    fifo: bool = True,
    complete: bool = False,
    version: int = 1,
    id: str | None = None,
) -> UserWindow:
    """Define your own window by a function or object that says which windows begin and end with every row.

    Args:
        discretizer: A function of the state, the time of a row in microseconds and the values of the columns. It
            returns the next state, the number of windows that begin with the row, and the number of open windows that
            end before it. An object with a method `step` does the same; an object with a method `steps` takes arrays of
            rows.
        columns: The names of the columns whose values the discretizer receives.
        initial: The state that every key begins with. A stream keeps states between micro-batches: None, booleans,
            numbers, texts, bytes, decimals, dates and times, in tuples, lists, dicts and sets.
        fifo: Whether windows end in the order in which they began. If not, the discretizer returns a list of the
            numbers of the rows that the ending windows began with.
        complete: Whether windows that are open at the end of a batch are left out.
        version: A number that is part of a stream's checkpoint; raise it when you change what the state means.
        id: The window_id of result rows; by default the name of the function.

    >>> def hundred(rows, time):
    ...     return rows + 1, int(rows % 100 == 0), int(rows % 100 == 0 and rows > 0)
    >>> user_window(hundred, initial=0).label
    'hundred'
    """
    return UserWindow(discretizer, columns, initial, fifo, complete, version, id)
