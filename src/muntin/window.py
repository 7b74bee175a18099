"""Windows ⟨range, slide, offset⟩ and their algebra: instances, coverage, partitioning.

The theorems are those of the factor-windows paper, repaired: coverage needs a longer range (the printed Theorem 1
forgets it), holds for ranges that are no multiple of the slide, and for offsets that agree modulo the parent's slide.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import timedelta
from operator import index
from typing import Never

from muntin.duration import LONGEST, Duration, parse_duration
from muntin.errors import QueryError

Length = int | str | timedelta
"""A length of time as users write it: text, timedelta, or an int in plain units, which only planning takes."""

Shape = tuple[int, int, int]
"""Range, slide and offset as plain numbers."""


@dataclass(frozen=True, slots=True, order=True, repr=False)
class Window:
    """The intervals [offset + k·slide, offset + k·slide + range) for every integer k.

    The offset is kept modulo the slide, so that equal windows compare equal. The id is a label and takes no part in
    comparisons. Lengths are all durations or all plain ints.

    >>> Window(10, 2), Window("1 hour", "5 minutes")
    (Window(10, 2), Window('1h', '5m'))
    >>> Window(20, 20, 25) == Window(20, 20, 5)
    True
    >>> Window("1 hour", 300)
    Traceback (most recent call last):
    muntin.errors.QueryError: slide 300 has no unit of time, unlike the other lengths. Write it as '300 seconds', say.
    """

    range: int
    slide: int
    offset: int
    id: str | None = field(default=None, compare=False)

    def __init__(self, range: Length, slide: Length | None = None, offset: Length = 0, id: str | None = None) -> None:
        lengths = {"range": range, "slide": range if slide is None else slide, "offset": offset}
        r, s, o = (_length(name, value, id) for name, value in lengths.items())
        unit = _unit({"range": r, "slide": s, "offset": o}, id)
        r, s, o = unit(r), unit(s), unit(o)
        for name, value in (("range", r), ("slide", s)):
            if value <= 0:
                raise QueryError(f"{name} {value} is not positive{_of(id)}. Use a {name} longer than nothing.")
        if s > r:
            raise QueryError(f"slide {s} exceeds range {r}{_of(id)}. Use a slide of at most {r}.")
        if id is not None and not (isinstance(id, str) and id):
            raise QueryError(f"window id {id!r} is not a text. Use a non-empty string.")
        fields: dict[str, object] = {"range": r, "slide": s, "offset": unit(o % s), "id": id}
        for name, field_value in fields.items():
            object.__setattr__(self, name, field_value)

    @property
    def is_tumbling(self) -> bool:
        """Whether instances follow one another without overlap."""
        return self.range == self.slide

    @property
    def is_timed(self) -> bool:
        """Whether lengths are durations in microseconds, and not plain units."""
        return isinstance(self.range, Duration)

    @property
    def label(self) -> str:
        """The id, or else the lengths: what a result row carries as window_id.

        >>> Window("1 hour", "5 minutes").label, Window(20).label, Window(10, 2, 1).label, Window(20, id="w").label
        ('1h/5m', '20', '10/2+1', 'w')
        """
        if self.id is not None:
            return self.id
        slide = "" if self.is_tumbling else f"/{self.slide}"
        offset = f"+{self.offset}" if self.offset else ""
        return f"{self.range}{slide}{offset}"

    def __str__(self) -> str:
        """Write the window as the papers do.

        >>> str(Window("1 hour", "5 minutes")), str(Window(10, 2, 1))
        ('⟨1h,5m⟩', '⟨10,2⟩+1')
        """
        return f"⟨{self.range},{self.slide}⟩" + (f"+{self.offset}" if self.offset else "")

    def __repr__(self) -> str:
        lengths = [self.range, self.slide, *([self.offset] if self.offset else [])]
        arguments = [repr(str(length)) if self.is_timed else repr(length) for length in lengths]
        if self.id is not None:
            arguments.append(f"id={self.id!r}")
        return f"Window({', '.join(arguments)})"

    def timed(self) -> Window:
        """Give the same window with its lengths read as microseconds."""
        return replace(self, range=Duration(self.range), slide=Duration(self.slide), offset=Duration(self.offset))

    def instances(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the instances that lie completely inside [start, end).

        >>> list(Window(10, 2).instances(0, 14))
        [(0, 10), (2, 12), (4, 14)]
        """
        first = start + (self.offset - start) % self.slide
        for begin in range(first, end - self.range + 1, self.slide):
            yield begin, begin + self.range

    def containing(self, time: int) -> Iterator[tuple[int, int]]:
        """Yield the instances that contain a time, earliest first, as Spark assigns them (before the epoch too).

        >>> list(Window(10, 4).containing(5))
        [(-4, 6), (0, 10), (4, 14)]
        """
        last = time - (time - self.offset) % self.slide
        count = (self.range - 1 - (time - last)) // self.slide + 1
        for begin in range(last - (count - 1) * self.slide, last + 1, self.slide):
            yield begin, begin + self.range

    def recurrence(self, horizon: int) -> int:
        """Count the instances completely inside a stretch of time that begins where one instance begins.

        This is n of the paper's Equation 1, 1 + (R - r) / s, rounded down where the slide does not divide.

        >>> Window(10, 2).recurrence(120), Window(7, 3).recurrence(14)
        (56, 3)
        """
        return recurrence(self.range, self.slide, horizon)

    @property
    def shape(self) -> Shape:
        """Range, slide and offset as plain numbers."""
        return int(self.range), int(self.slide), int(self.offset)

    def covered_by(self, parent: Window) -> bool:
        """Tell whether every instance is the union of parent instances, overlapping or not (Definition 1).

        >>> Window(10, 2).covered_by(Window(8, 2)), Window(8, 2).covered_by(Window(10, 2))
        (True, False)
        >>> Window(10, 4).covered_by(Window(10, 2))  # readable all the same: see piggybacks_on
        False
        """
        return self == parent or (self.range > parent.range and on_grid(self.shape, parent.shape))

    def partitioned_by(self, parent: Window) -> bool:
        """Tell whether every instance is the union of disjoint parent instances (Definition 5, Theorem 4).

        >>> Window(20, 10).partitioned_by(Window(10)), Window(20, 10).partitioned_by(Window(20))
        (True, False)
        """
        return self == parent or (parent.is_tumbling and self.covered_by(parent))

    def piggybacks_on(self, parent: Window) -> bool:
        """Tell whether every instance is itself an instance of the parent: equal ranges, a multiple of its slide.

        Nothing is combined then, so any aggregate may be read this way, holistic ones included.

        >>> Window(12, 4).piggybacks_on(Window(12, 2))
        True
        """
        return self.range == parent.range and on_grid(self.shape, parent.shape)

    def multiplier(self, parent: Window) -> int:
        """Count the parent instances inside one instance: the covering multiplier M.

        >>> Window(10, 2).multiplier(Window(8, 2)), Window(30).multiplier(Window(10))
        (2, 3)
        """
        if not (self.covered_by(parent) or self.piggybacks_on(parent)):
            needs = f"a longer range, and a slide, range and offset that differ from it by multiples of {parent.slide}"
            raise QueryError(f"window {self} is not covered by {parent}. It would need {needs}.")
        return 1 + (self.range - parent.range) // parent.slide


def tumbling(range: Length, *slide: Never, offset: Length = 0, id: str | None = None) -> Window:
    """Make a window whose instances follow one another without overlap.

    >>> tumbling("20 minutes", id="20 min").label
    '20 min'
    >>> tumbling("1 hour", "5 min")
    Traceback (most recent call last):
    muntin.errors.QueryError: a tumbling window has no slide. Use mt.hopping('1 hour', '5 min'), or offset='5 min'.
    """
    if slide:
        given = repr(slide[0])
        raise QueryError(f"a tumbling window has no slide. Use mt.hopping({range!r}, {given}), or offset={given}.")
    return Window(range, range, offset, id)


def hopping(range: Length, slide: Length, *more: Never, offset: Length = 0, id: str | None = None) -> Window:
    """Make a window whose instances begin every slide; slide = range equals tumbling.

    >>> hopping("1 hour", "5 minutes").label
    '1h/5m'
    """
    if more:
        raise QueryError(f"a hopping window takes a range and a slide. Use offset={more[0]!r} for where it begins.")
    return Window(range, slide, offset, id)


_WINDOW_TEXT = re.compile(
    r"\s*(?P<range>[^/+@]+?)\s*(?:(?:/|\bevery\b|\bby\b)\s*(?P<slide>[^/+@]+?)\s*)?(?:(?:\+|@|\boffset\b)\s*(?P<offset>[^/+@]+?)\s*)?",
    re.IGNORECASE,
)


def parse_window(text: str) -> Window:
    """Read one window from text: a range, then optionally a slide and an offset.

    >>> parse_window("1 hour every 5 minutes") == parse_window("1h/5m") == hopping("1 hour", "5 minutes")
    True
    >>> parse_window("20"), parse_window("20 min offset 5 min").label
    (Window(20, 20), '20m+5m')
    """
    parts = _WINDOW_TEXT.fullmatch(" ".join(text.split()))
    if "," in text:
        raise QueryError(f"{text!r} is to be one window. Write several as a list of texts, and a sum as '1h30m'.")
    if parts is None:
        raise QueryError(
            f"cannot read {text!r} as a window. Write '20 minutes', '1 hour every 5 minutes' or '1h/5m+30s'."
        )

    def length(value: str) -> int | str:
        return int(value) if re.fullmatch(r"-?\d{1,25}", value) else value

    range, slide, offset = parts["range"], parts["slide"], parts["offset"]
    return Window(length(range), None if slide is None else length(slide), 0 if offset is None else length(offset))


def parse_windows(text: str) -> tuple[Window, ...]:
    """Read windows separated by commas, all with a unit of time or all without.

    >>> [window.label for window in parse_windows("20 minutes, 1h/5m")]
    ['20m', '1h/5m']
    >>> parse_windows("20, 30 minutes")
    Traceback (most recent call last):
    muntin.errors.QueryError: '20' in '20, 30 minutes' has no unit of time. Write '20 minutes', or no units at all.
    """
    texts = [part.strip() for part in text.split(",") if part.strip()]
    windows = tuple(map(parse_window, texts))
    bare = [part for part, window in zip(texts, windows, strict=True) if not window.is_timed]
    if bare and len(bare) < len(texts):
        timed = next(part for part in texts if part not in bare)
        unit = re.findall(r"\d\s*([^\W\d_]+)", timed)[-1].lower()
        remedy = re.sub(r"\d+", rf"\g<0> {unit}", bare[0])
        raise QueryError(f"{bare[0]!r} in {text!r} has no unit of time. Write {remedy!r}, or no units at all.")
    return windows


def recurrence(range: int, slide: int, horizon: int) -> int:
    """Count the instances of ⟨range, slide⟩ inside a stretch that begins where one begins."""
    return max(0, 1 + (horizon - range) // slide)


def on_grid(child: Shape, parent: Shape) -> bool:
    """Tell whether all edges of the child, begins and ends, are edges of the parent of the same kind.

    >>> on_grid((10, 4, 0), (8, 2, 0)), on_grid((10, 4, 1), (8, 2, 0))
    (True, False)
    """
    range, slide, offset = parent
    return child[1] % slide == 0 and (child[0] - range) % slide == 0 and (child[2] - offset) % slide == 0


def _length(name: str, value: object, id: str | None) -> int:
    if isinstance(value, str | timedelta):
        return parse_duration(value)
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        remedy = "Use text such as '5 minutes', a timedelta, or an int."
        raise QueryError(f"{name} {value!r} is no length of time{_of(id)}. {remedy}")
    length = value if isinstance(value, Duration) else index(value)
    if abs(length) > LONGEST:
        raise QueryError(f"{name} of {length.bit_length()} bits exceeds 2**63 - 1{_of(id)}. Use a shorter {name}.")
    return length


def _unit(lengths: dict[str, int], id: str | None) -> type[int]:
    """Give the type that all lengths have; nothing is nothing in any unit."""
    if not any(isinstance(length, Duration) for length in lengths.values()):
        return int
    for name, length in lengths.items():
        if length and not isinstance(length, Duration):
            raise QueryError(
                f"{name} {length} has no unit of time, unlike the other lengths{_of(id)}. "
                f"Write it as '{length} seconds', say."
            )
    return Duration


def _of(id: str | None) -> str:
    return "" if id is None else f" in window {id!r}"
