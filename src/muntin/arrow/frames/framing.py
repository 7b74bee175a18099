"""How a window of each kind is framed: which of its instances have ended, and which rows begin those that are open."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from muntin.arrow.frames.stretch import Flags, Slots, Stretch
from muntin.duration import FOREVER
from muntin.kernels.frames.codes import BEGINS, ENDS_BEFORE, ENDS_WITH, delta_codes, session_codes, until_codes
from muntin.kernels.frames.lasting import last_rows, located
from muntin.kernels.frames.runs import Runs, runs
from muntin.kernels.frames.stretches import growing, stretches
from muntin.kernels.protocol import Longs
from muntin.window import RowCount

EXACT = 2.0**53
"""From here on floats do not tell two steps apart."""
FURTHEST = 2**62
"""From here on the sum of two whole numbers may leave 64 bits."""


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


@dataclass(frozen=True)
class Periodic(Framing):
    """A window of time on a grid."""

    def forgets(self, stretch: Stretch) -> Flags:
        """Tell where all instances have ended."""
        return np.asarray(~np.isin(np.arange(len(stretch.base)), stretch.group[self.cuts(stretch)]))

    def ended(self, stretch: Stretch) -> Ended:
        """Give the instances that end by now and did not before."""
        range, slide, offset = self.window.period
        some = stretches(stretch.bounds, stretch.time, range, slide, offset, stretch.after, stretch.by)
        return Ended(some.lo, some.hi, some.begin, some.stop)

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell where the latest begin lies between an item and the one before, if its instance is open."""
        range, slide, offset = self.window.period
        latest = stretch.time - (stretch.time - offset) % slide
        is_first = latest > stretch.earlier(stretch.time, -FOREVER)
        return np.asarray(is_first & (latest + range > stretch.by[stretch.group]))


@dataclass(frozen=True)
class Counted(Framing):
    """A window of rows of a key."""

    def ended(self, stretch: Stretch) -> Ended:
        """Give the instances that have all their rows, once a row has come after them or the input has ended."""
        by = stretch.seen - 1 + stretch.ended
        window = self.window
        some = stretches(stretch.bounds, stretch.number, window.range, window.slide, 0, stretch.base - 1, by)
        ended = Ended(
            some.lo, some.hi, stretch.time[some.lo], stretch.ends_of(some.hi, some.group), some.begin, some.stop
        )
        return ended.only(some.begin >= 0)

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell which rows a slide begins with whose instance is open."""
        is_first = stretch.number % int(self.window.slide) == 0
        return np.asarray(is_first & (stretch.number + int(self.window.range) >= stretch.seen[stretch.group]))


@dataclass(frozen=True)
class OnColumn(Framing):
    """A window of a column that never falls."""

    @property
    def checks(self) -> bool:
        """Whether rows may be wrong: the column may fall."""
        return True

    def check(self, stretch: Stretch) -> None:
        """Refuse a column that falls, or has no value."""
        self._places(stretch)

    @property
    def slots(self) -> Slots:
        """The last value of the column."""
        return {self.slot("place"): -np.inf, self.slot("whole"): -FOREVER}

    def ended(self, stretch: Stretch) -> Ended:
        """Give the instances whose end a row has reached that none had before."""
        places, after, by = self._places(stretch)
        window = self.window
        some = stretches(stretch.bounds, places, window.range, window.slide, window.offset, after, by)
        ends = stretch.ends_of(some.hi, some.group)
        return Ended(some.lo, some.hi, stretch.time[some.lo], ends, some.begin, some.stop)

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell where the latest begin lies between an item and the one before, if its instance is open."""
        places = self._numbers(stretch)[0]
        range, slide, offset = map(places.dtype.type, (self.window.range, self.window.slide, self.window.offset))
        latest = offset + (places - offset) // slide * slide
        latest = np.where(latest > places, latest - slide, np.where(latest + slide <= places, latest + slide, latest))
        least = -FOREVER if places.dtype.kind == "i" else -np.inf
        by = self._kept(stretch, places)[stretch.group]
        return np.asarray((latest > stretch.earlier(places, least)) & (latest + range > by))

    def _numbers(self, stretch: Stretch) -> tuple[NDArray[Any], Flags]:
        places, valid = stretch.values(self.columns[0])
        lengths = self.window.range, self.window.slide, self.window.offset
        return (places if all(isinstance(it, int) for it in lengths) else places.astype(np.float64)), valid

    def _kept(self, stretch: Stretch, places: NDArray[Any]) -> NDArray[Any]:
        return stretch.memory[self.slot("whole" if places.dtype.kind == "i" else "place")]

    def _places(self, stretch: Stretch) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Give the places of items, and of the last row before and now; refuse a column that falls or has gaps."""
        places, valid = self._numbers(stretch)
        after = self._kept(stretch, places).copy()
        new = places[stretch.new]
        wrong = ~valid[stretch.new] | (new != new)
        if wrong.any():
            item = int(stretch.new[np.argmax(wrong)])
            raise stretch.fail(self.window.label, item, f"{self.window.measure!r} has no value")
        furthest = FURTHEST if places.dtype.kind == "i" else EXACT * float(self.window.slide)
        if (far := (new > furthest) | (new < -furthest)).any():
            item = int(np.argmax(far))
            what = f"{self.window.measure!r} is {new[item]}, which is too far to count from 0 by {self.window.slide},"
            raise stretch.fail(self.window.label, int(stretch.new[item]), what)
        earlier = np.empty_like(new)
        earlier[1:] = new[:-1]
        some = stretch.counts > 0
        begins = stretch.new_bounds[:-1][some]
        earlier[begins] = after[some]
        if (falls := new < earlier).any():
            item = int(np.argmax(falls))
            what = f"{self.window.measure!r} falls from {earlier[item]} to {new[item]}"
            raise stretch.fail(self.window.label, int(stretch.new[item]), what)
        by = after.copy()
        by[some] = new[stretch.new_bounds[1:][some] - 1]
        self._kept(stretch, places)[:] = by
        return places, after, by


@dataclass(frozen=True)
class BackRows(Framing):
    """The last rows at every slide of time."""

    def ended(self, stretch: Stretch) -> Ended:
        """Give the rows before every slide that has ended with rows in it."""
        window = self.window
        group, end, lo, hi = last_rows(
            stretch.bounds, stretch.time, stretch.number, stretch.seen, window.count, int(window.slide),
            int(window.offset), stretch.after, stretch.by,
        )  # fmt: skip
        items = located(stretch.bounds, stretch.number, group, lo)
        ends = located(stretch.bounds, stretch.number, group, hi)
        return Ended(items, ends, stretch.time[items], end, lo, hi)

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell which rows are among the last ones: each of them may be a begin."""
        return np.asarray(stretch.number >= (stretch.seen - self.window.count)[stretch.group])


@dataclass(frozen=True)
class BackTime(Framing):
    """The last stretch of time whenever so many rows have come."""

    def ended(self, stretch: Stretch) -> Ended:
        """Give what lies before every row that ends an instance."""
        every, range = self.window.every, int(self.window.range)
        numbers = stretch.number[stretch.new]
        closing = (numbers % every == 0) & (numbers > 0)
        last = stretch.ended & (stretch.seen % every == 0) & (stretch.seen > 0)
        group = np.concatenate((stretch.group[stretch.new[closing]], np.flatnonzero(last)))
        hi = np.concatenate((stretch.new[closing], stretch.bounds[1:][last]))
        order = np.lexsort((hi, group))
        group, hi = group[order], hi[order]
        end = stretch.ends_of(hi, group)
        lo = _first_from(stretch, group, end - range)
        ended = Ended(lo, hi, end - range, end)
        return ended.only(lo < hi)

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell which rows a later instance may begin with: each of the range before the last."""
        return np.asarray(stretch.time >= (stretch.last - int(self.window.range))[stretch.group])


def _first_from(stretch: Stretch, group: Longs, time: Longs) -> Longs:
    """Give the first item of a group from a time on."""
    return np.asarray(located(stretch.bounds, stretch.time, group, time))


@dataclass(frozen=True)
class Growing(Framing):
    """A window that grows and begins anew every range."""

    def forgets(self, stretch: Stretch) -> Flags:
        """Tell where all instances have ended."""
        return np.asarray(~np.isin(np.arange(len(stretch.base)), stretch.group[self.cuts(stretch)]))

    def ended(self, stretch: Stretch) -> Ended:
        """Give every step that ended."""
        window = self.window
        _, begin, end, lo, hi = growing(
            stretch.bounds, stretch.time, int(window.range), int(window.step), int(window.offset),
            stretch.after, stretch.by,
        )  # fmt: skip
        return Ended(lo, hi, begin, end)

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell where a begin lies between an item and the one before, if its range has not passed."""
        range, offset = int(self.window.range), int(self.window.offset)
        begin = stretch.time - (stretch.time - offset) % range
        return np.asarray(
            (begin > stretch.earlier(stretch.time, -FOREVER)) & (begin + range > stretch.by[stretch.group])
        )


@dataclass(frozen=True)
class Since(Framing):
    """A window that grows from one moment for ever."""

    @property
    def slots(self) -> Slots:
        """The last end that was given."""
        return {self.slot("given"): -FOREVER}

    def ended(self, stretch: Stretch) -> Ended:
        """Give every step up to that of the last row, which must have ended itself."""
        since, step = self.window.since, int(self.window.step)
        given = stretch.memory[self.slot("given")]
        has_rows = stretch.last >= since
        current = since + ((stretch.last - since) // step + 1) * step
        limit = np.where(stretch.ended | (current <= stretch.by), current, current - step)
        groups = np.flatnonzero(has_rows & (limit > given))
        items = _first_from(stretch, groups, np.full(len(groups), since))
        first = since + ((stretch.time[np.minimum(items, len(stretch.time) - 1)] - since) // step + 1) * step
        first = np.maximum(first, np.where(given[groups] > -FOREVER, given[groups] + step, first))
        counts = np.maximum(0, (limit[groups] - first) // step + 1)
        group = np.repeat(groups, counts)
        ranks = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
        end = np.repeat(first, counts) + ranks * step
        given[groups] = limit[groups]
        return Ended(np.repeat(items, counts), _first_from(stretch, group, end), np.full(len(group), since), end)

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell which is the first row from the moment on."""
        since = self.window.since
        return np.asarray((stretch.time >= since) & (stretch.earlier(stretch.time, -FOREVER) < since))


@dataclass(frozen=True)
class Run(Framing):
    """A window of which a key has at most one open instance at a time; rows begin and end it."""

    @property
    def slots(self) -> Slots:
        """The number of the row that the open instance began with."""
        return {self.slot("opened"): -1}

    def ended(self, stretch: Stretch) -> Ended:
        """Give the runs that have ended."""
        opened = stretch.memory[self.slot("opened")]
        some = runs(stretch.new_bounds, self._codes(stretch), stretch.base, opened, self._close(stretch))
        lo = located(stretch.bounds, stretch.number, some.group, some.lo)
        hi = located(stretch.bounds, stretch.number, some.group, some.hi)
        start = stretch.time[lo]
        return Ended(lo, hi, start, self._ends(stretch, some, start))

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell which row the open instance began with."""
        return np.asarray(stretch.number == stretch.memory[self.slot("opened")][stretch.group])

    def forgets(self, stretch: Stretch) -> Flags:
        """Tell where no instance is open."""
        return np.asarray(stretch.memory[self.slot("opened")] < 0)

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
class Sessions(Run):
    """Sessions."""

    @property
    def slots(self) -> Slots:
        """The open session's begin, and its first and last time."""
        return {**super().slots, self.slot("open"): False, self.slot("first"): 0, self.slot("latest"): 0}

    def ended(self, stretch: Stretch) -> Ended:
        """Give the sessions that no row can go on with; each ends a gap after its last row, or at its longest."""
        gap, longest = int(self.window.gap), 0 if self.window.longest is None else int(self.window.longest)
        opened, is_open, first, latest = (
            stretch.memory[self.slot(name)] for name in ("opened", "open", "first", "latest")
        )
        times = stretch.new_time
        until = stretch.values(self.columns[0])[0][stretch.new] if self.columns else times
        codes, before = session_codes(stretch.new_bounds, times, until, is_open, first, latest, gap, longest)
        last = latest + gap if not longest else np.minimum(latest + gap, first + longest - 1)
        close = is_open & (stretch.ended | (np.minimum(stretch.by, stretch.following) > last))
        is_open[close] = False
        some = runs(stretch.new_bounds, codes, stretch.base, opened, close)
        lo = located(stretch.bounds, stretch.number, some.group, some.lo)
        hi = located(stretch.bounds, stretch.number, some.group, some.hi)
        end = latest[some.group] + gap
        if len(before):
            end = np.where(some.closer >= 0, before[some.closer] + gap, end)
        start = stretch.time[lo]
        return Ended(lo, hi, start, np.minimum(end, start + longest) if longest else end)

    def _codes(self, stretch: Stretch) -> Any:
        raise NotImplementedError


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

    def _codes(self, stretch: Stretch) -> Any:
        holds = self._holds(stretch)
        if self.window.ends:
            return np.where(holds, BEGINS | ENDS_WITH, BEGINS).astype(np.int8)
        return np.where(holds, ENDS_BEFORE | BEGINS, 0).astype(np.int8)


@dataclass(frozen=True)
class Whiles(Run):
    """Runs of rows for which a condition holds."""

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
class Deltas(Run):
    """Rows within a distance of their window's first."""

    @property
    def slots(self) -> Slots:
        """The open window's begin and first value."""
        return {**super().slots, self.slot("known"): False, self.slot("value"): 0.0}

    def _codes(self, stretch: Stretch) -> Any:
        values, valid = stretch.values(self.columns[0])
        values = values.astype(np.float64)
        valid = valid & ~np.isnan(values)
        state = (stretch.memory[self.slot(name)] for name in ("known", "value"))
        new = stretch.new
        return delta_codes(stretch.new_bounds, values[new], valid[new], *state, float(self.window.distance))


@dataclass(frozen=True)
class Untils(Run):
    """Rows until an aggregate reaches a bound."""

    @property
    def slots(self) -> Slots:
        """The open window's begin and its aggregate."""
        return {**super().slots, self.slot("known"): False, self.slot("value"): 0.0}

    def _codes(self, stretch: Stretch) -> Any:
        new = stretch.new
        if self.columns:
            values, valid = (array[new] for array in self._values(stretch))
        else:
            values, valid = np.ones(len(new)), np.ones(len(new), np.bool_)
        state = (stretch.memory[self.slot(name)] for name in ("known", "value"))
        function = {"max": 1, "min": 2}.get(self.window.function, 0)
        return until_codes(stretch.new_bounds, values, valid, *state, function, float(self.window.bound))

    def _values(self, stretch: Stretch) -> tuple[NDArray[Any], Flags]:
        if self.window.function == "count":
            column = stretch.rows.batch[self.columns[0]]
            valid = np.asarray(column.is_valid().to_numpy(zero_copy_only=False))
            return np.ones(len(valid)), valid
        values, valid = stretch.values(self.columns[0])
        return values.astype(np.float64), valid
