"""Windows of which a key has at most one open instance at a time: rows begin and end it."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from muntin.arrow.frames.exact import Exact
from muntin.arrow.frames.framing import Ended, Framing
from muntin.arrow.frames.stretch import Flags, Slots, Stretch
from muntin.errors import QueryError
from muntin.kernels.frames.codes import BEGINS, ENDS_BEFORE, ENDS_WITH, delta_codes, session_codes, until_codes
from muntin.kernels.frames.lasting import located
from muntin.kernels.frames.runs import Runs, runs
from muntin.kernels.protocol import Longs
from muntin.window import RowCount


@dataclass(frozen=True)
class OneOpen(Framing):
    """A window of which a key has at most one open instance at a time."""

    @property
    def slots(self) -> Slots:
        """The number of the row that the open instance began with."""
        return {self.slot("opened"): -1}

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell which row the open instance began with."""
        return np.asarray(stretch.number == stretch.memory[self.slot("opened")][stretch.group])

    def forgets(self, stretch: Stretch) -> Flags:
        """Tell where no instance is open; a key whose first instance is not given has to stay known."""
        return np.asarray((stretch.memory[self.slot("opened")] < 0) & (not self.first_is_partial))

    def _runs(self, stretch: Stretch, codes: Any, close: Flags) -> tuple[Runs, Longs, Longs]:
        """Give the runs that marks of rows end, and the items from which and up to which they go."""
        some = runs(stretch.new_bounds, codes, stretch.base, stretch.memory[self.slot("opened")], close)
        lo = located(stretch.bounds, stretch.number, some.group, some.lo)
        return some, lo, located(stretch.bounds, stretch.number, some.group, some.hi)


@dataclass(frozen=True)
class Run(OneOpen):
    """A window that rows themselves begin and end."""

    def ended(self, stretch: Stretch) -> Ended:
        """Give the runs that have ended."""
        some, lo, hi = self._runs(stretch, self._codes(stretch), self._close(stretch))
        start = stretch.time[lo]
        return Ended(lo, hi, start, self._ends(stretch, some, start))

    @abstractmethod
    def _codes(self, stretch: Stretch) -> Any:
        """Mark the new rows."""

    def _close(self, stretch: Stretch) -> Flags:
        """Tell where the open instance ends after the last row."""
        return stretch.ended

    def _ends(self, stretch: Stretch, some: Runs, start: Longs) -> Longs:
        """Give the times of the rows that ended instances; of the last row at the end of the input."""
        if not len(stretch.new_time):
            return stretch.last[some.group]
        return np.where(some.closer >= 0, stretch.new_time[some.closer], stretch.last[some.group])

    def _holds(self, stretch: Stretch) -> Flags:
        values, valid = stretch.values(self.columns[0])
        return np.asarray((values[stretch.new] != 0) & valid[stretch.new])


@dataclass(frozen=True)
class Sessions(OneOpen):
    """Sessions."""

    @property
    def slots(self) -> Slots:
        """The open session's begin, and its first and last time."""
        return {**super().slots, self.slot("open"): False, self.slot("first"): 0, self.slot("latest"): 0}

    def ended(self, stretch: Stretch) -> Ended:
        """Give the sessions that no row can go on with; each ends a gap after its last row, or at its longest."""
        gap, longest = int(self.window.gap), 0 if self.window.longest is None else int(self.window.longest)
        is_open, first, latest = (stretch.memory[self.slot(name)] for name in ("open", "first", "latest"))
        times = stretch.new_time
        until = stretch.values(self.columns[0])[0][stretch.new] if self.columns else times
        bounds, aligned = stretch.new_bounds, self.window.aligned
        codes, before = session_codes(bounds, times, until, is_open, first, latest, gap, longest, aligned)
        last = latest + gap if not longest else np.minimum(latest + gap, self.window.bound(first) - 1)
        close = is_open & (stretch.ended | (np.minimum(stretch.by, stretch.following) > last))
        is_open[close] = False
        some, lo, hi = self._runs(stretch, codes, close)
        end = latest[some.group] + gap
        if len(before):
            end = np.where(some.closer >= 0, before[some.closer] + gap, end)
        start = stretch.time[lo]
        return Ended(lo, hi, start, np.minimum(end, self.window.bound(start)) if longest else end)


@dataclass(frozen=True)
class Moments(Run):
    """Rows of one time."""

    def _codes(self, stretch: Stretch) -> Any:
        times = stretch.new_time
        earlier = np.empty_like(times)
        earlier[1:] = times[:-1]
        some = stretch.counts > 0
        earlier[stretch.new_bounds[:-1][some]] = stretch.before[some]
        return np.where(times != earlier, ENDS_BEFORE | BEGINS, BEGINS).astype(np.int8)

    def _close(self, stretch: Stretch) -> Flags:
        """Tell where the time has passed."""
        return stretch.ended | (stretch.by > stretch.last)

    def _ends(self, stretch: Stretch, some: Runs, start: Longs) -> Longs:
        """Give the time itself."""
        return start


@dataclass(frozen=True)
class Punctuations(Run):
    """Rows between punctuations."""

    @property
    def first_is_partial(self) -> bool:
        """Whether rows before the first one may belong to its instance: those after the punctuation before."""
        return self.was_added and bool(self.window.ends)

    def _codes(self, stretch: Stretch) -> Any:
        holds = self._holds(stretch)
        if self.window.ends:
            return np.where(holds, BEGINS | ENDS_WITH, BEGINS).astype(np.int8)
        return np.where(holds, ENDS_BEFORE | BEGINS, 0).astype(np.int8)


@dataclass(frozen=True)
class Whiles(Run):
    """Runs of rows for which a condition holds."""

    @property
    def first_is_partial(self) -> bool:
        """Whether the condition may have held before the first row."""
        return self.was_added

    def _codes(self, stretch: Stretch) -> Any:
        return np.where(self._holds(stretch), BEGINS, ENDS_BEFORE).astype(np.int8)

    def ended(self, stretch: Stretch) -> Ended:
        """Give the runs that are long enough."""
        ended = super().ended(stretch)
        shortest = self.window.at_least
        if isinstance(shortest, RowCount):
            sizes = np.append(stretch.number, 0)
            group = stretch.group[ended.lo]
            last = np.where(ended.hi < stretch.bounds[group + 1], sizes[ended.hi], stretch.seen[group])
            return ended.only(last - stretch.number[ended.lo] >= shortest.count)
        return ended if shortest is None else ended.only(ended.end - ended.start >= int(shortest))


@dataclass(frozen=True)
class Compared(Run):
    """A window that compares exact numbers, and keeps one of them of every key."""

    @property
    def slots(self) -> Slots:
        """The open window's begin and its number."""
        return {**super().slots, self.slot("known"): False, self.slot("value"): 0.0}

    def _compared(self, stretch: Stretch, numbers: Exact, valid: Flags, limit: Any, kernel: Any, *function: int) -> Any:
        """Mark new rows by a kernel: compiled, or as plain Python where 64 bits may not do."""
        known, kept = (stretch.memory[self.slot(name)] for name in ("known", "value"))
        state = numbers.from_state(kept, known)
        values = numbers.values[stretch.new]
        added = int(stretch.counts.max(initial=0)) if function == (0,) else 1
        if numbers.fits(state, limit, added):
            if numbers.unit is not None:
                values, state = values.astype(np.int64), state.astype(np.int64)
        else:
            values, state, kernel = values.astype(object), state.astype(object), getattr(kernel, "py_func", kernel)
        codes = kernel(stretch.new_bounds, values, valid[stretch.new], known, state, limit, *function)
        try:
            stretch.memory[self.slot("value")] = numbers.to_state(state)
        except OverflowError as error:
            raise QueryError(
                f"window {self.window.label!r}: a sum leaves 64 bits. Cast the column to decimal."
            ) from error
        return codes


@dataclass(frozen=True)
class Deltas(Compared):
    """Rows within a distance of their window's first."""

    def _codes(self, stretch: Stretch) -> Any:
        numbers, valid = stretch.exact(self.columns[0])
        return self._compared(stretch, numbers, valid, numbers.limit(self.window.distance, up=False), delta_codes)


@dataclass(frozen=True)
class Untils(Compared):
    """Rows until an aggregate reaches a bound."""

    def _codes(self, stretch: Stretch) -> Any:
        function = self.window.function
        if function == "count":
            counted = np.ones(len(stretch.time), np.int64)
            numbers, valid = Exact(counted, 1), stretch.valid(self.columns[0]) if self.columns else counted > 0
        else:
            numbers, valid = stretch.exact(self.columns[0])
        limit = numbers.limit(self.window.bound, up=function != "min")
        return self._compared(stretch, numbers, valid, limit, until_codes, {"max": 1, "min": 2}.get(function, 0))
