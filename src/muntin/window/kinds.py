"""The kinds of windows: a closed union, and what files call each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, get_args

from muntin.errors import UnsupportedError
from muntin.expressions import Expression
from muntin.window.driven import Delta, Punctuated, Snapshot, Until, While
from muntin.window.growing import Cumulating, Landmark
from muntin.window.measured import LastRows, LastTime, Measured
from muntin.window.periodic import Window
from muntin.window.sessions import Session
from muntin.window.user import UserWindow

Framed = (
    Session
    | Measured
    | LastRows
    | LastTime
    | Cumulating
    | Landmark
    | Snapshot
    | Punctuated
    | While
    | Delta
    | Until
    | UserWindow
)
"""A window whose instances only the rows of a key in order tell."""

AnyWindow = Window | Framed
"""A window of any kind."""

KINDS: Mapping[str, type[AnyWindow]] = {kind.kind: kind for kind in get_args(AnyWindow)}
"""The kinds by their names."""


def from_dict(fields: Mapping[str, Any], id: str | None = None) -> AnyWindow:
    """Read what a window wrote with to_dict; without a kind it is periodic.

    >>> from_dict(Window(30, 10).to_dict()), from_dict({"range": "1h"}, id="hour")
    (Window(30, 10), Window('1h', '1h', id='hour'))
    >>> from_dict(Session("1 h").to_dict(readable=True)) == Session("1 h")
    True
    >>> from_dict({"kind": "lunar"})
    Traceback (most recent call last):
    muntin.errors.UnsupportedError: a window is of kind 'lunar', which this version of Muntin does not know. Upgrade.
    """
    given = dict(fields)
    name = given.pop("kind", Window.kind)
    if name not in KINDS:
        raise UnsupportedError(f"a window is of kind {name!r}, which this version of Muntin does not know. Upgrade.")
    return KINDS[name](**given, id=id)


def periodic(window: AnyWindow, where: str) -> Window:
    """Give a window on a grid of time; refuse another, which is not done there.

    >>> periodic(Session("1 h"), "a registry")
    Traceback (most recent call last):
    muntin.errors.UnsupportedError: a registry takes windows on a grid of time only, not 'session 1h'. Leave it out.
    """
    if isinstance(window, Window):
        return window
    raise UnsupportedError(f"{where} takes windows on a grid of time only, not {window.label!r}. Leave it out.")


def by_names(window: AnyWindow) -> AnyWindow:
    """Give the same window with the names of its expressions in their place: it can travel then."""
    names: dict[str, Any] = {}
    for part in fields(window):
        value = getattr(window, part.name)
        if isinstance(value, Expression):
            names[part.name] = value.name
        elif isinstance(value, tuple) and any(isinstance(one, Expression) for one in value):
            names[part.name] = tuple(one.name if isinstance(one, Expression) else one for one in value)
    return replace(window, **names) if names else window


def in_order(windows: Iterable[Any]) -> tuple[Any, ...]:
    """Sort windows by their kinds, and those of one kind by what makes them.

    >>> in_order([Window(20), Window(10, 5), Window(10)])
    (Window(10, 5), Window(10, 10), Window(20, 20))
    """
    return tuple(sorted(windows, key=lambda window: tuple(map(_sortable, window.to_dict().values()))))


def _sortable(value: Any) -> Any:
    """Give a number as it is and anything else as text, so that fields of one place can be compared."""
    return (0, value, "") if isinstance(value, int | float) else (1, 0, str(value))
