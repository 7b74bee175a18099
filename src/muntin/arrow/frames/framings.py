"""Which framing is whose: windows of each kind, as queries ask for them."""

from __future__ import annotations

from typing import Any

from muntin.arrow.frames.framing import Framing
from muntin.arrow.frames.grids import Counted, Growing, OnColumn, Periodic, Since
from muntin.arrow.frames.looking_back import BackRows, BackTime
from muntin.arrow.frames.runs import Deltas, Moments, Punctuations, Sessions, Untils, Whiles
from muntin.arrow.frames.user import Users
from muntin.window import (
    Cumulating,
    Delta,
    Landmark,
    LastRows,
    LastTime,
    Measured,
    Punctuated,
    Session,
    Snapshot,
    Until,
    UserWindow,
    While,
    Window,
    by_names,
)

FRAMINGS: dict[type, type[Framing]] = {
    Window: Periodic,
    Session: Sessions,
    LastRows: BackRows,
    LastTime: BackTime,
    Cumulating: Growing,
    Landmark: Since,
    Snapshot: Moments,
    Punctuated: Punctuations,
    While: Whiles,
    Delta: Deltas,
    Until: Untils,
    UserWindow: Users,
}
"""How each kind of window is framed; a measured one by its measure."""


def framing(window: Any, number: int, columns: tuple[str, ...], place: int, *, was_added: bool = False) -> Framing:
    """Frame a window that has a number in the query, watches some columns, and has a place among all in order."""
    window = by_names(window)
    if isinstance(window, Measured):
        return (Counted if window.on is None else OnColumn)(window, number, columns, place, was_added)
    return FRAMINGS[type(window)](window, number, columns, place, was_added)
