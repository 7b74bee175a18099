"""What state was made for: a versioned description that a checkpoint carries and every start compares.

It is made of values, not of how objects print, so that a later version can read what an earlier one wrote.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from itertools import zip_longest
from typing import Any

from muntin.errors import QueryError
from muntin.formats import FORMAT, check_format
from muntin.window import AnyWindow, Window, from_dict

BY_INSTANCE = ("expand", "chain")
"""Shapes whose state is kept by window instance, so that a query may leave out some of its windows."""


@dataclass(frozen=True, slots=True)
class Input:
    """A column that a query reads: the expression as Spark writes it, and its type."""

    expression: str
    type: str

    def __str__(self) -> str:
        return f"{self.expression} {self.type}"


@dataclass(frozen=True, slots=True)
class Computed:
    """An aggregate whose partials are kept; its output name is no part of it."""

    function: str
    inputs: tuple[Input, ...] = ()
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return f"{self.function}({', '.join([*map(str, self.inputs), *(f'{k}={v}' for k, v in self.options)])})"


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The shape of state, and the time, keys, aggregates and windows that it is kept by.

    >>> kept = Fingerprint("expand", Input("ts", "timestamp"), (), (Computed("min", (Input("v", "int"),)),))
    >>> Fingerprint.from_json(kept.to_json()) == kept
    True
    >>> list(kept.changes(replace(kept, aggregates=(Computed("max", (Input("v", "int"),)),))))
    ['aggregate 1 was min(v int) and is max(v int)']
    """

    shape: str
    time: Input
    keys: tuple[Input, ...]
    aggregates: tuple[Computed, ...]
    windows: tuple[AnyWindow, ...] | None = None
    """The windows that the state belongs to, in order; None for those of a registry, and where it was not written."""
    buckets: int | None = None
    """The number of buckets that keys are spread over; None where there are none."""
    spark: str = ""
    """The version of Spark that wrote the expressions, as major.minor; it is no part of what is compared."""
    format: int = FORMAT
    queries: tuple[str, ...] | None = None
    """The texts of queries that are evaluated together, whose columns have names of ours here."""
    output: str | None = None
    """The output mode, where there are several: in update mode, open groups of append mode would never be given."""
    order: tuple[str, ...] | None = None
    """What rows of one time are ordered by, where rows wait to be read in order."""
    registry: str | None = None
    """The identity of the registry whose changes the state has taken by their numbers."""
    text: str = field(default="", init=False, repr=False, compare=False)
    """What a checkpoint has, as it was read; empty for what this version describes. A changed copy loses it."""

    def to_json(self) -> str:
        """Write the fingerprint as one line; one that was read stays as it was written."""
        return self.text or _line(self._fields())

    def to_dict(self) -> dict[str, Any]:
        """Give the fingerprint as JSON has it."""
        told: dict[str, Any] = json.loads(self.to_json())
        return told

    def _fields(self) -> dict[str, Any]:
        windows = None if self.windows is None else [window.to_dict() for window in self.windows]
        fields = asdict(replace(self, windows=None)) | {"windows": windows}
        left_out = {"text", *(name for name in _SINCE_FORMAT_1 if fields[name] is None)}
        return {name: value for name, value in fields.items() if name not in left_out}

    @staticmethod
    def from_json(text: str) -> Fingerprint:
        """Read a fingerprint back; refuse one of a later format."""
        return _as_read(Fingerprint._from_fields(json.loads(text)), text)

    @staticmethod
    def from_dict(told: dict[str, Any]) -> Fingerprint:
        """Read a fingerprint from what JSON makes of it."""
        return _as_read(Fingerprint._from_fields(told), _line(told))

    @staticmethod
    def _from_fields(told: dict[str, Any]) -> Fingerprint:
        check_format(told.get("format"), "the checkpoint")
        return Fingerprint(
            told["shape"],
            Input(**told["time"]),
            tuple(Input(**key) for key in told["keys"]),
            tuple(
                Computed(
                    computed["function"],
                    tuple(Input(**given) for given in computed["inputs"]),
                    tuple((name, value) for name, value in computed["options"]),
                )
                for computed in told["aggregates"]
            ),
            None if told["windows"] is None else tuple(map(_window, told["windows"])),
            told["buckets"],
            told["spark"],
            told["format"],
            _texts(told.get("queries")),
            told.get("output"),
            _texts(told.get("order")),
            told.get("registry"),
        )

    @property
    def digest(self) -> bytes:
        """Eight bytes that differ where what is compared differs.

        They are those of the text. So a query that goes on from a checkpoint has the checkpoint's own digest, even if
        this version writes the same fingerprint in another way.
        """
        return sha256(_line(self.to_dict() | {"spark": ""}).encode()).digest()[:8]

    def changes(self, now: Fingerprint) -> Iterator[str]:
        """Say what differs in a query of now.

        Two versions of Spark may write one expression in two ways, so the texts count only within one version.
        """
        if self.shape != now.shape:
            yield f"the shape was {self.shape} and is {now.shape}"
        texts = self.spark == now.spark
        if self.queries and now.queries and (changes := list(_query_changes(self.queries, now.queries, texts=texts))):
            yield from changes
            return
        yield from _changes("time", [self.time], [now.time], texts=texts)
        yield from _changes("key", self.keys, now.keys, texts=texts)
        yield from _changes("aggregate", self.aggregates, now.aggregates, texts=texts)
        if self._other_windows(now):
            details = "; ".join(_window_changes(self.windows or (), now.windows or ()))
            yield details or f"the windows were {_windows(self.windows)} and are {_windows(now.windows)}"
        for name in ("output", "order", "registry") if texts else ("output", "registry"):
            before, after = getattr(self, name), getattr(now, name)
            if None not in (before, after) and before != after:
                yield f"the {name} was {_listed(before)} and is {_listed(after)}"
        if self.buckets != now.buckets:
            yield f"there were {self.buckets} buckets of keys and there are {now.buckets}"

    def _other_windows(self, now: Fingerprint) -> bool:
        """Whether the windows differ, as far as they are known."""
        return not self.lacks_windows and not _are_same(self.windows, now.windows)

    @property
    def lacks_windows(self) -> bool:
        """Whether an earlier version wrote the fingerprint without the windows, which could then change."""
        return self.windows is None and self.shape in BY_INSTANCE

    def remedy(self, now: Fingerprint) -> str:
        """Say what to do about the changes."""
        if self.shape != now.shape:
            return f"Use strategy={self.shape!r}, or a new checkpoint."
        if self.buckets != now.buckets:
            return f"Set spark.sql.shuffle.partitions to {self.buckets}, or use a new checkpoint."
        if self._other_windows(now):
            return "Use a new checkpoint; for windows that come and go, a WindowRegistry."
        if None not in (self.registry, now.registry) and self.registry != now.registry:
            return "Use the registry that the checkpoint was made with, or a new checkpoint."
        if None not in (self.output, now.output) and self.output != now.output:
            return f"Use output={self.output!r}, or a new checkpoint."
        return "Ask for what the checkpoint was made for, or use a new checkpoint."


def check_same(kept: Iterable[Fingerprint], now: Fingerprint) -> Fingerprint:
    """Give the fingerprint among those of a checkpoint that a query of now goes on with; refuse if there is none.

    >>> kept = Fingerprint("expand", Input("ts", "timestamp"), (Input("device", "string"),), (Computed("count"),))
    >>> check_same([kept], replace(kept, keys=(Input("lower(device)", "string"),)))
    Traceback (most recent call last):
    muntin.errors.QueryError: the checkpoint was made for another query: key 1 was device string and is \
lower(device) string. Ask for what the checkpoint was made for, or use a new checkpoint.
    """
    nearest = min(kept, key=lambda one: len(list(one.changes(now))))
    if changes := list(nearest.changes(now)):
        told = "; ".join(changes)
        raise QueryError(f"the checkpoint was made for another query: {told}. {nearest.remedy(now)}")
    return nearest


def _query_changes(before: Sequence[str], after: Sequence[str], *, texts: bool) -> Iterator[str]:
    """Say which queries of a set differ, by their places; only in their number if texts do not count."""
    for place, (old, new) in enumerate(zip_longest(before, after), start=1):
        if old is None or new is None:
            yield f"query {place} is new: {new}" if old is None else f"query {place} is missing: {old}"
        elif texts and old != new:
            yield f"query {place} was {old} and is {new}"


_SINCE_FORMAT_1 = ("queries", "output", "order", "registry")
"""Fields that checkpoints of earlier versions lack. They are written and compared where they are known."""


def _changes(
    role: str, before: Sequence[Input | Computed], after: Sequence[Input | Computed], *, texts: bool
) -> Iterator[str]:
    """Say which columns or aggregates differ, by their places; in more than the text of expressions if that is all."""
    for place, (old, new) in enumerate(zip_longest(before, after), start=1):
        name = role if role == "time" else f"{role} {place}"
        if old is None or new is None:
            yield f"{name} is new: {new}" if old is None else f"{name} is missing: {old}"
        elif old != new and (texts or _without_texts(old) != _without_texts(new)):
            yield f"{name} was {old} and is {new}"


def _without_texts(given: Input | Computed) -> object:
    if isinstance(given, Input):
        return given.type
    return given.function, given.options, [one.type for one in given.inputs]


def _as_read(kept: Fingerprint, text: str) -> Fingerprint:
    """Keep the text that a fingerprint was read from."""
    object.__setattr__(kept, "text", text)
    return kept


def _line(told: dict[str, Any]) -> str:
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def _window(told: dict[str, Any] | list[int]) -> AnyWindow:
    """Read a window; where there were periodic ones only, three numbers made one."""
    if isinstance(told, dict):
        return from_dict(told)
    range, slide, offset = told
    return Window(range, slide, offset)


def _told(windows: Iterable[AnyWindow] | None) -> list[dict[str, Any]] | None:
    """Give windows as files have them: expressions by their texts, and a user's code by its name and version."""
    return None if windows is None else [window.to_dict() for window in windows]


def _are_same(before: Iterable[AnyWindow] | None, after: Iterable[AnyWindow] | None) -> bool:
    """Whether windows are equal in all that a checkpoint says of them; an early one says less of a user's window."""
    old, new = _told(before), _told(after)
    if old is None or new is None or len(old) != len(new):
        return old == new
    return all(a == b or (a["kind"] == "user" == b["kind"] and b | a == b) for a, b in zip(old, new, strict=True))


def _window_changes(before: Iterable[AnyWindow], after: Iterable[AnyWindow]) -> Iterator[str]:
    """Say in which fields windows differ, where they print alike."""
    for old, new in zip(before, after, strict=False):
        fields = new.to_dict()
        if str(old) == str(new):
            yield from (
                f"{name} of window {str(new)!r} was {value} and is {fields.get(name)}"
                for name, value in old.to_dict().items()
                if value != fields.get(name)
            )


def _texts(listed: Iterable[str] | None) -> tuple[str, ...] | None:
    return None if listed is None else tuple(listed)


def _listed(value: str | tuple[str, ...]) -> str:
    return value if isinstance(value, str) else ", ".join(value) or "none"


def _windows(windows: Iterable[AnyWindow] | None) -> str:
    if windows is None:
        return "those of a registry"
    return ", ".join(str(window.timed()) for window in windows)
