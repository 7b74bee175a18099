"""The pictures of docs/windows.md: every kind of window over the same rows of one key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from muntin.window import (
    Kind,
    Until,
    cumulating,
    delta,
    hopping,
    landmark,
    punctuated,
    rows,
    session_window,
    snapshot,
    tumbling,
    user_window,
    while_,
)
from tools.pictures.drawing import Drawn, Line, Rows, draw

NINE = datetime(2024, 5, 1, 9, tzinfo=UTC)


class Ride(NamedTuple):
    """What a van told at one moment."""

    minute: int
    """Minutes after nine."""
    km: int
    speed: int
    stop: bool
    parcels: int | None


RIDES = (
    Ride(0, 0, 30, False, 2),
    Ride(2, 1, 55, True, 1),
    Ride(3, 1, 60, False, 4),
    Ride(7, 3, 40, True, 3),
    Ride(8, 4, 45, False, 2),
    Ride(8, 4, 45, False, 2),
    Ride(16, 9, 65, True, None),
    Ride(18, 11, 70, False, 6),
    Ride(20, 12, 80, False, 1),
    Ride(21, 12, 30, False, 5),
    Ride(26, 14, 60, True, 1),
    Ride(28, 17, 62, False, 2),
)


def micros(minute: int) -> int:
    """Give a minute after nine as microseconds since 1970."""
    return (NINE + timedelta(minutes=minute) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


TIMES = [micros(ride.minute) for ride in RIDES]
LINE = Line(micros(-5), micros(35))


def two_legs(stops: int, time: int, stop: bool) -> tuple[int, int, int]:
    """Begin a window at every stop, and end it at the second stop after it."""
    return stops + stop, int(stop), int(stop and stops >= 2)


@dataclass(frozen=True)
class Example:
    """A window of the gallery."""

    code: str
    """How it is asked for, as the page has it."""
    window: Kind
    shows: str | None = None
    """The column that it goes by."""

    @property
    def values(self) -> list[Any]:
        """The values of that column."""
        return [] if self.shows is None else [getattr(ride, self.shows) for ride in RIDES]

    @property
    def columns(self) -> list[list[Any]]:
        """What the window watches: the column, or whether the van is fast."""
        if not self.window.watches:
            return []
        return [[value > 50 for value in self.values] if self.window.kind == "while" else self.values]

    def drawn(self) -> Drawn:
        """Give the window and its instances."""
        return Drawn.over(self.window, TIMES, *self.columns)

    def picture(self) -> str:
        """Draw the rows and the instances."""
        holds = self.columns[0] if self.columns and isinstance(self.columns[0][0], bool) else []
        told = self.shows is not None and not isinstance(self.values[0], bool)
        shown = Rows(TIMES, self.values if told else (), self.shows or "", holds)
        return draw(self.code, LINE, shown, [self.drawn()])


EXAMPLES = {
    "tumbling": Example('mt.tumbling("10 minutes")', tumbling("10 minutes")),
    "hopping": Example('mt.hopping("10 minutes", "5 minutes")', hopping("10 minutes", "5 minutes")),
    "session": Example('mt.session_window("5 minutes")', session_window("5 minutes")),
    "session_longest": Example(
        'mt.session_window("5 minutes", longest="6 minutes")', session_window("5 minutes", longest="6 minutes")
    ),
    "rows_tumbling": Example("mt.tumbling(mt.rows(5))", tumbling(rows(5))),
    "rows_hopping": Example("mt.hopping(mt.rows(4), mt.rows(2))", hopping(rows(4), rows(2))),
    "measure": Example('mt.hopping(10, 5, on="km")', hopping(10, 5, on="km"), "km"),
    "last_rows": Example('mt.hopping(mt.rows(3), "10 minutes")', hopping(rows(3), "10 minutes")),
    "last_time": Example('mt.hopping("10 minutes", mt.rows(4))', hopping("10 minutes", rows(4))),
    "punctuated": Example('mt.punctuated("stop")', punctuated("stop"), "stop"),
    "punctuated_ends": Example('mt.punctuated("stop", ends=True)', punctuated("stop", ends=True), "stop"),
    "cumulating": Example('mt.cumulating("15 minutes", "5 minutes")', cumulating("15 minutes", "5 minutes")),
    "landmark": Example(
        'mt.landmark(since="2024-05-01 09:05", step="10 minutes")',
        landmark(since=NINE + timedelta(minutes=5), step="10 minutes"),
    ),
    "snapshot": Example("mt.snapshot()", snapshot()),
    "while": Example(
        'mt.while_(F.col("speed") > 50, at_least="3 minutes")', while_(">(speed, 50)", at_least="3 minutes"), "speed"
    ),
    "delta": Example('mt.delta("speed", 20)', delta("speed", 20), "speed"),
    "until": Example('mt.until(mt.sum("parcels"), 10)', Until("sum", "parcels", 10), "parcels"),
    "user": Example('mt.user_window(two_legs, "stop", initial=0)', user_window(two_legs, "stop", initial=0), "stop"),
}
"""One window of every kind, by the name of its picture."""

MIXED = ("tumbling", "session", "rows_tumbling", "punctuated")
"""The windows of the picture that shows how slices are shared."""


def pictures() -> Iterator[tuple[str, str]]:
    """Yield every picture with its name."""
    for name, example in EXAMPLES.items():
        yield name, example.picture()
    stops = [ride.stop for ride in RIDES]
    drawn = [EXAMPLES[name].drawn() for name in MIXED]
    yield "mixed", draw("one slicing for all", LINE, Rows(TIMES, name="stop", holds=stops), drawn, cut=True)
