"""Windows of a user's own: the discretizer is called for every key's new rows, compiled where that can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from muntin.arrow.frames.checked_steps import step_loop
from muntin.arrow.frames.framing import Ended, Framing
from muntin.arrow.frames.stretch import Flags, Slots, Stretch
from muntin.arrow.reducers import is_number
from muntin.errors import QueryError
from muntin.kernels.frames.lasting import located
from muntin.kernels.protocol import Longs

WORTH_COMPILING = 50_000
"""Rows at once from which on a step is compiled; an attribute `compiled` of a discretizer says it otherwise."""


class Marks(NamedTuple):
    """What a discretizer said of some rows."""

    state: Any
    begins: Sequence[int]
    """How many windows begin with each row."""
    ends: Sequence[Any]
    """How many end before it, or the numbers of the rows that they began with."""


@dataclass(frozen=True)
class Users(Framing):
    """A window that a discretizer begins and ends."""

    @property
    def slots(self) -> Slots:
        """The discretizer's own state, and the rows that open windows began with."""
        return {self.slot("state"): [self.window.initial], self.slot("open"): []}

    def ended(self, stretch: Stretch) -> Ended:
        """Ask the discretizer, key by key."""
        table = [window for group in range(len(stretch.base)) for window in self._of_group(stretch, group)]
        group, lo, hi, end = np.array(table, np.int64).reshape(-1, 4).T
        items = located(stretch.bounds, stretch.number, group, lo)
        return Ended(items, located(stretch.bounds, stretch.number, group, hi), stretch.time[items], end)

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell which rows open windows began with."""
        begun = stretch.memory[self.slot("open")]
        pairs = [(group, row) for group, rows in enumerate(begun) for row in rows]
        cut = np.zeros(len(stretch.time), np.bool_)
        if pairs:
            group, row = np.array(pairs, np.int64).T
            cut[located(stretch.bounds, stretch.number, group, row)] = True
        return cut

    def _of_group(self, stretch: Stretch, group: int) -> Iterator[tuple[int, int, int, int]]:
        """Yield the windows of a key that end: its group, the numbers of its rows, and when it ends."""
        first, last = stretch.new_bounds[group], stretch.new_bounds[group + 1]
        begun = list(stretch.memory[self.slot("open")][group])
        if first < last:
            marks = self._marks(stretch, group, stretch.new[first:last])
            base = int(stretch.base[group])
            pairs = enumerate(zip(marks.begins, marks.ends, strict=True))
            for place in [place for place, (begin, end) in pairs if not (_is_nothing(begin) and _is_nothing(end))]:
                item = int(stretch.new[first + place])
                for row in self._ending(stretch, item, begun, marks.ends[place]):
                    begun.remove(row)
                    yield group, row, base + place, int(stretch.time[item])
                begun += [base + place] * self._count(stretch, item, marks.begins[place], "begin")
            stretch.memory[self.slot("state")][group] = [marks.state]
        if stretch.ended[group]:
            if not self.window.complete:
                yield from ((group, row, int(stretch.seen[group]), int(stretch.last[group])) for row in begun)
            begun = []
        stretch.memory[self.slot("open")][group] = begun

    def _marks(self, stretch: Stretch, group: int, items: Longs) -> Marks:
        """Ask the discretizer for all new rows of a key at once, or one by one."""
        (state,) = stretch.memory[self.slot("state")][group]
        columns = [stretch.rows.batch[name].take(pa.array(items)) for name in self.columns]
        discretizer = self.window.discretizer
        if callable(whole := getattr(discretizer, "steps", None)):
            arrays = [column.to_numpy(zero_copy_only=False) for column in columns]
            try:
                marks = Marks(*whole(state, stretch.time[items], *arrays))
            except Exception as error:
                raise self._raised(stretch, int(items[0]), error) from error
            if len(marks.begins) != len(items) or len(marks.ends) != len(items):
                what = f"steps gave {len(marks.begins)} begins and {len(marks.ends)} ends for {len(items)} rows, from"
                raise stretch.fail(self.window.label, int(items[0]), what)
            return marks
        step = getattr(discretizer, "step", discretizer)
        are_plain = all(is_number(column.type) and not column.null_count for column in columns)
        drive = None
        if are_plain and _is_plain(state) and getattr(discretizer, "compiled", len(stretch.new) >= WORTH_COMPILING):
            drive = _compiled(step, len(columns))
        if drive is not None:
            arrays = [_widened(column.to_numpy(zero_copy_only=False)) for column in columns]
            try:
                return Marks(*drive(state, stretch.time[items], *arrays))
            except Exception:  # of Numba, which knows less than Python; or of the step, which Python then tells
                _REFUSED.add(step)
        return self._one_by_one(stretch, items, step, state, columns)

    def _one_by_one(
        self, stretch: Stretch, items: Longs, step: Callable[..., Any], state: Any, columns: list[pa.Array]
    ) -> Marks:
        begins, ends = [], []
        values = zip(*(column.to_pylist() for column in columns), strict=True) if columns else [()] * len(items)
        for item, row in zip(items.tolist(), values, strict=True):
            try:
                state, begin, end = step(state, int(stretch.time[item]), *row)
            except Exception as error:
                raise self._raised(stretch, item, error) from error
            begins.append(begin)
            ends.append(end)
        return Marks(state, begins, ends)

    def _ending(self, stretch: Stretch, item: int, begun: list[int], ends: Any) -> list[int]:
        """Give the rows that ending windows began with; refuse what is not open, and what is out of turn."""
        if isinstance(ends, list | tuple | np.ndarray):
            if strange := [row for row in ends if not _is_whole(row)]:
                what = f"the discretizer ends a window that began with row {strange[0]!r}, which is no row's number,"
                raise stretch.fail(self.window.label, item, what)
            rows = [int(row) for row in ends]
            if missing := list(Counter(rows) - Counter(begun)):
                row = missing[0]
                what = f"the discretizer ends a window that began with row {row}, which none did that is open,"
                if row in begun:
                    what = f"the discretizer ends {rows.count(row)} windows that began with row {row}, too many,"
                raise stretch.fail(self.window.label, item, what)
            if self.window.fifo and sorted(rows) != begun[: len(rows)]:
                what = f"the discretizer ends windows of rows {rows} before that of row {begun[0]}, though fifo=True,"
                raise stretch.fail(self.window.label, item, what)
            return rows
        count = self._count(stretch, item, ends, "end")
        if count > len(begun):
            what = f"the discretizer ends {count} window{'s' * (count > 1)} where {len(begun)} are open"
            raise stretch.fail(self.window.label, item, what)
        return begun[:count]

    def _count(self, stretch: Stretch, item: int, given: Any, what: str) -> int:
        if not (isinstance(given, bool | np.bool_) or _is_whole(given)) or given < 0:
            raise stretch.fail(self.window.label, item, f"the discretizer says that {given!r} windows {what}")
        return int(given)

    def _raised(self, stretch: Stretch, item: int, error: Exception) -> QueryError:
        return stretch.fail(self.window.label, item, f"the discretizer raised {type(error).__name__}: {error}")


def _is_nothing(marks: Any) -> bool:
    """Tell whether nothing begins or ends."""
    return len(marks) == 0 if isinstance(marks, list | tuple | np.ndarray) else marks is not None and marks == 0


def _is_whole(given: Any) -> bool:
    return isinstance(given, int | np.integer) and not isinstance(given, bool)


def _is_plain(state: Any) -> bool:
    """Tell whether a state is a number, or a tuple of such: what Numba takes as it is."""
    return all(map(_is_plain, state)) if isinstance(state, tuple) else isinstance(state, bool | int | float)


_REFUSED: set[Callable[..., Any]] = set()
"""Steps that Numba does not compile."""


def _compiled(step: Callable[..., Any], columns: int) -> Callable[..., Any] | None:
    """Give a loop over rows that calls a step, compiled; None for a method, and if Numba has refused it before."""
    return None if not isinstance(step, FunctionType) or step in _REFUSED else step_loop(step, columns)


def _widened(array: Any) -> Any:
    """Return numbers in 64 bits, in which Python computes with them."""
    return array.astype({"i": np.int64, "f": np.float64}.get(array.dtype.kind, array.dtype), copy=False)
