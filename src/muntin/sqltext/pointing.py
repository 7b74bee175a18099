"""Places in a text of SQL: errors show the line, and a caret under what is meant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from typing import NoReturn
from unicodedata import combining, east_asian_width

from sqlglot import exp

from muntin.errors import MuntinError, QueryError, UnsupportedError
from muntin.safe_text import hide_beside, hide_user_info

_SHOWN = 76
"""How much of a long line is shown: with what stands around it, no more than a terminal of 80 columns has."""

_COMPARED = 100
"""How long a name may be that is compared with others: what that costs grows with the square."""


class Refused(Exception):  # noqa: N818
    """Something that is not read as windows here: where it stands, what to say, and why Spark may run it instead."""

    def __init__(
        self, at: exp.Expr | int | None, message: str, reason: str = "", error: type[MuntinError] = QueryError
    ):
        super().__init__(message)
        self.at, self.message, self.reason, self.error = at, message, reason, error


class Wrong(Refused):
    """Something that no dialect could read: it is an error even where Spark would be asked."""


@dataclass(frozen=True, slots=True)
class Source:
    """A text of SQL, which errors point into."""

    text: str
    start: int = 0
    """Where the statement at hand starts."""

    def error(self, refused: Refused) -> MuntinError:
        """Make the error that says what was refused, and where."""
        place = refused.at if isinstance(refused.at, int) else place_of(refused.at)
        return refused.error(point(self.text, self.start if place is None else place, refused.message))


def point(text: str, place: int, message: str) -> str:
    r"""Write a message with the line and column of a place, and the line itself, without passwords, and a caret below.

    >>> print(point("SELECT a\nFORM t", 9, "expected FROM."))
    line 2, column 1: expected FROM.
      FORM t
      ^
    """
    place = max(0, min(place, len(text)))
    begin = text.rfind("\n", 0, place) + 1
    found = f"line {text.count(chr(10), 0, place) + 1}, column {place - begin + 1}"
    safe, moved = hide_beside(text, place)
    begin = safe.rfind("\n", 0, moved) + 1
    end = safe.find("\n", moved)
    line, column = safe[begin : len(safe) if end < 0 else end].rstrip("\r"), moved - begin
    cut = max(0, min(column - _SHOWN // 2, len(line) - _SHOWN))
    shown = ("…" if cut else "") + line[cut : cut + _SHOWN] + ("…" if len(line) > cut + _SHOWN else "")
    blank = " " * bool(cut) + "".join(map(_blank, line[cut:column]))
    return f"{found}: {hide_user_info(message)}\n  {shown}\n  {blank}^"


def _blank(character: str) -> str:
    """Give what takes as much room on a terminal as a character."""
    if character == "\t":
        return "\t"
    if combining(character):
        return ""
    return "  " if east_asian_width(character) in "WF" else " "


def place_of(node: exp.Expr | None) -> int | None:
    """Give where a node begins in the text, from its own place or those of its parts; None where none is known."""
    if node is None:
        return None
    places = [part.meta["start"] for part in node.walk() if part.meta.get("start") is not None]
    return min(places, default=None) if places else place_of(node.parent)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Say which known name one may have meant; nothing if none is like it, or the name is too long to compare.

    >>> did_you_mean("minuts", ["minute", "hour"])
    " Did you mean 'minute'?"
    """
    if len(name) > _COMPARED:
        return ""
    spelled = {one.casefold(): one for one in known if len(one) <= 2 * _COMPARED}
    near = get_close_matches(name.casefold(), spelled, n=1, cutoff=0.6)
    return f" Did you mean {spelled[near[0]]!r}?" if near else ""


def refuse(at: exp.Expr | int | None, message: str, reason: str = "") -> NoReturn:
    """Refuse what cannot mean anything, unless Spark is to run it."""
    raise Refused(at, message, reason)


def unsupported(at: exp.Expr | int | None, message: str, reason: str = "") -> NoReturn:
    """Refuse what is not supported here, unless Spark is to run it."""
    raise Refused(at, message, reason, UnsupportedError)
