"""Windows on a grid of places: of time, of rows, of a column; and those that grow step by step."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from muntin.arrow.frames.exact import Exact
from muntin.arrow.frames.framing import Ended, Framing
from muntin.arrow.frames.stretch import Flags, Slots, Stretch
from muntin.duration import FOREVER
from muntin.kernels.frames.stretches import growing, stretches
from muntin.kernels.protocol import Longs
from muntin.window.lengths import FURTHEST
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


class LastRow(NamedTuple):
    """The last row of every group along a column: numbers, or whole multiples of a unit."""

    numbers: NDArray[Any]
    is_known: Flags
    unit: int | None


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
    def first_is_partial(self) -> bool:
        """Whether the column may have passed the begin of the first instance before."""
        return self.was_added

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
        numbers, after, by = self._places(stretch)
        steps = self.window.steps
        begun, ended = steps.begun(numbers.values, numbers.unit), steps.ended(numbers.values, numbers.unit)
        some = stretches(stretch.bounds, begun, ended, self._gone(after), self._gone(by))
        ends = stretch.ends_of(some.hi, some.group)
        return Ended(some.lo, some.hi, stretch.time[some.lo], ends, steps.begin(some.step), steps.stop(some.step))

    def cuts(self, stretch: Stretch) -> Flags:
        """Tell where the latest begin lies between an item and the one before, if its instance is open."""
        numbers, _ = stretch.exact(self.columns[0])
        begun = self.window.steps.begun(numbers.values, numbers.unit)
        gone = self._gone(self._last(stretch, numbers))[stretch.group]
        return np.asarray((begun > stretch.earlier(begun, -FOREVER)) & (begun > gone))

    def _gone(self, last: LastRow) -> Longs:
        """Return the last instance that a row has ended, for every group."""
        return np.where(last.is_known, self.window.steps.ended(last.numbers, last.unit), -FOREVER)

    def _slot(self, stretch: Stretch) -> str:
        """Name what is kept of the column: doubles and decimals, or whole numbers."""
        if not self.is_whole:
            return self.slot("nearest")
        return self.slot("whole" if pa.types.is_integer(stretch.rows.batch[self.columns[0]].type) else "place")

    def _last(self, stretch: Stretch, numbers: Exact) -> LastRow:
        """Return what is kept of the last row of every group."""
        state = stretch.memory[self._slot(stretch)]
        is_known = np.asarray(state > (-FOREVER if state.dtype.kind == "i" else -np.inf), np.bool_)
        last = numbers.from_state(np.where(is_known, state, 0), is_known)
        if last.dtype != numbers.values.dtype and all(-FOREVER < number < FOREVER for number in last):
            last = last.astype(numbers.values.dtype)
        return LastRow(last, is_known, numbers.unit)

    def _keep(self, stretch: Stretch, numbers: Exact, last: LastRow) -> None:
        """Keep the last row of every group, exactly."""
        slot = self._slot(stretch)
        if numbers.unit is None or slot == self.slot("whole"):
            least = -np.inf if numbers.unit is None else -FOREVER
            stretch.memory[slot] = np.where(last.is_known, last.numbers, least)
            return
        state = np.full(len(last.numbers), -np.inf, object)
        state[last.is_known] = numbers.decimals(last.numbers[last.is_known])
        stretch.memory[slot] = state

    def _places(self, stretch: Stretch) -> tuple[Exact, LastRow, LastRow]:
        """Give the places of items, and of the last row before and now; refuse a column that falls or has gaps."""
        numbers, valid = stretch.exact(self.columns[0])
        new = numbers.values[stretch.new]
        self._check_values(stretch, numbers, valid[stretch.new], new)
        after = self._last(stretch, numbers)
        some = stretch.counts > 0
        kind = np.result_type(new, after.numbers)
        earlier = new.astype(kind)
        earlier[1:] = new[:-1]
        begins = stretch.new_bounds[:-1][some]
        earlier[begins] = np.where(after.is_known[some], after.numbers[some], new[begins])
        if (falls := new < earlier).any():
            item = int(np.argmax(falls))
            what = f"{self.window.measure!r} falls from {numbers.text(earlier[item])} to {numbers.text(new[item])}"
            raise stretch.fail(self.window.label, int(stretch.new[item]), what)
        by = after.numbers.astype(kind)
        by[some] = new[stretch.new_bounds[1:][some] - 1]
        last = LastRow(by, after.is_known | some, numbers.unit)
        self._keep(stretch, numbers, last)
        return numbers, after, last

    def _check_values(self, stretch: Stretch, numbers: Exact, valid: Flags, new: NDArray[Any]) -> None:
        """Refuse rows without a value, and values so far from 0 that steps to them cannot be counted."""
        wrong = ~valid | (new != new)
        if wrong.any():
            item = int(stretch.new[np.argmax(wrong)])
            raise stretch.fail(self.window.label, item, f"{self.window.measure!r} has no value")
        furthest = numbers.limit(self._furthest(numbers), up=False)
        if (far := (new > furthest) | (new < -furthest)).any():
            item = int(np.argmax(far))
            what = (
                f"{self.window.measure!r} is {numbers.text(new[item])}, "
                f"which is too far to count from 0 by {self.window.slide},"
            )
            raise stretch.fail(self.window.label, int(stretch.new[item]), what)

    def _furthest(self, numbers: Exact) -> float | Fraction:
        """Return up to where steps are counted: doubles also lose the places between them."""
        if numbers.unit is None:
            return FURTHEST if self.is_whole else EXACT * min(1.0, float(self.window.slide))
        return FURTHEST * min(Fraction(1), Fraction(self.window.steps.slide, self.window.steps.unit))


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
