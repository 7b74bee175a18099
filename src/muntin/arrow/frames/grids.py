"""Windows on a grid of places: of time, of rows, of a column; and those that grow step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from muntin.arrow.frames.framing import Ended, Framing
from muntin.arrow.frames.stretch import Flags, Slots, Stretch
from muntin.duration import FOREVER
from muntin.kernels.frames.stretches import growing, stretches
from muntin.kernels.protocol import Longs
from muntin.window.measured import FURTHEST
from muntin.window.steps import EXACT


@dataclass(frozen=True)
class Periodic(Framing):
    """A window of time on a grid."""

    def forgets(self, stretch: Stretch) -> Flags:
        """Tell where all instances have ended."""
        return np.asarray(~np.isin(np.arange(len(stretch.base)), stretch.group[self.cuts(stretch)]))

    def ended(self, stretch: Stretch) -> Ended:
        """Give the instances that end by now and did not before."""
        range, slide, offset = self.window.period
        begun = (stretch.time - offset) // slide
        ended, after, by = ((time - offset - range) // slide for time in (stretch.time, stretch.after, stretch.by))
        some = stretches(stretch.bounds, begun, ended, after, by)
        begin = offset + some.step * slide
        return Ended(some.lo, some.hi, begin, begin + range)

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
        steps = self.window.steps
        ended, after, by = map(steps.ended, (stretch.number, stretch.base - 1, stretch.seen - 1 + stretch.ended))
        some = stretches(stretch.bounds, steps.begun(stretch.number), ended, np.maximum(after, -1), by)
        ends = stretch.ends_of(some.hi, some.group)
        return Ended(some.lo, some.hi, stretch.time[some.lo], ends, steps.begin(some.step), steps.stop(some.step))

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
        if self.is_whole:
            return {self.slot("place"): -np.inf, self.slot("whole"): -FOREVER}
        return {self.slot("nearest"): -np.inf}

    @property
    def is_whole(self) -> bool:
        """Whether all lengths are whole numbers."""
        return bool(self.window.steps.unit == 1)

    def ended(self, stretch: Stretch) -> Ended:
        """Give the instances whose end a row has reached that none had before."""
        places, after, by = self._places(stretch)
        steps = self.window.steps
        some = stretches(stretch.bounds, steps.begun(places), steps.ended(places), self._gone(after), self._gone(by))
        ends = stretch.ends_of(some.hi, some.group)
        return Ended(some.lo, some.hi, stretch.time[some.lo], ends, steps.begin(some.step), steps.stop(some.step))

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell where the latest begin lies between an item and the one before, if its instance is open."""
        places = self._numbers(stretch)[0]
        begun = self.window.steps.begun(places)
        gone = self._gone(self._kept(stretch, places))[stretch.group]
        return np.asarray((begun > stretch.earlier(begun, -FOREVER)) & (begun > gone))

    def _gone(self, last: NDArray[Any]) -> Longs:
        """Return the last instance that a row has ended, for every group."""
        has_rows = last > -FOREVER
        return np.where(has_rows, self.window.steps.ended(np.where(has_rows, last, last.dtype.type(0))), -FOREVER)

    def _numbers(self, stretch: Stretch) -> tuple[NDArray[Any], Flags]:
        places, valid = stretch.values(self.columns[0])
        return (places if self.is_whole else places.astype(np.float64)), valid

    def _kept(self, stretch: Stretch, places: NDArray[Any]) -> NDArray[Any]:
        if not self.is_whole:
            return stretch.memory[self.slot("nearest")]
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
        furthest = FURTHEST if self.is_whole else EXACT * min(1.0, float(self.window.slide))
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
        items = stretch.first_from(groups, np.full(len(groups), since))
        first = since + ((stretch.time[np.minimum(items, len(stretch.time) - 1)] - since) // step + 1) * step
        first = np.maximum(first, np.where(given[groups] > -FOREVER, given[groups] + step, first))
        counts = np.maximum(0, (limit[groups] - first) // step + 1)
        group = np.repeat(groups, counts)
        ranks = np.arange(len(group)) - np.repeat(np.cumsum(counts) - counts, counts)
        end = np.repeat(first, counts) + ranks * step
        given[groups] = limit[groups]
        return Ended(np.repeat(items, counts), stretch.first_from(group, end), np.full(len(group), since), end)

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell which is the first row from the moment on."""
        since = self.window.since
        return np.asarray((stretch.time >= since) & (stretch.earlier(stretch.time, -FOREVER) < since))
