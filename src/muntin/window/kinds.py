"""The kinds of windows: a closed union, and what files call each of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from muntin.errors import UnsupportedError
from muntin.window.periodic import Window

AnyWindow = Window
"""A window of any kind."""

KINDS: Mapping[str, type[AnyWindow]] = {kind.kind: kind for kind in (Window,)}
"""The kinds by their names."""


def from_dict(fields: Mapping[str, Any], id: str | None = None) -> AnyWindow:
    """Read what a window wrote with to_dict; without a kind it is periodic.

    >>> from_dict(Window(30, 10).to_dict()), from_dict({"range": "1h"}, id="hour")
    (Window(30, 10), Window('1h', '1h', id='hour'))
    >>> from_dict({"kind": "lunar"})
    Traceback (most recent call last):
    muntin.errors.UnsupportedError: a window is of kind 'lunar', and this version of Muntin knows 'periodic'. Upgrade.
    """
    given = dict(fields)
    name = given.pop("kind", Window.kind)
    if name not in KINDS:
        known = ", ".join(map(repr, KINDS))
        raise UnsupportedError(f"a window is of kind {name!r}, and this version of Muntin knows {known}. Upgrade.")
    return KINDS[name](**given, id=id)


def in_order(windows: Iterable[AnyWindow]) -> tuple[AnyWindow, ...]:
    """Sort windows by their kinds, and those of one kind by what makes them.

    >>> in_order([Window(20), Window(10, 5), Window(10)])
    (Window(10, 5), Window(10, 10), Window(20, 20))
    """
    return tuple(sorted(windows, key=lambda window: tuple(window.to_dict().values())))
