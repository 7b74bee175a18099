"""Joins, checked: both sides under safe names, what makes a pair, and how the results are called; nothing runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import types as T

from muntin import names
from muntin.errors import QueryError
from muntin.pairing import WITHIN, Band, Ranges, output_names, read_ranges
from muntin.query import RESERVED, Windows, check_units, check_windows, repeated, several
from muntin.sentences import sentence_of
from muntin.spark.input.checking import ATOMS, alike, expression, folding
from muntin.spark.input.columns import Key
from muntin.spark.input.events import Events
from muntin.spark.input.reading import read
from muntin.window import Length, Window, check_lengths
from muntin.window.kinds import periodic

ROLES = {names.LEFT: "left", names.RIGHT: "right"}
"""What users call the sides, by what stands before their columns' names."""


@dataclass(frozen=True)
class Side:
    """One input of a join under safe names."""

    prefix: str
    """What stands before the names of its columns once they are beside those of the other side."""
    events: Events
    columns: tuple[str, ...]
    """The names of the columns that are no keys."""
    carried: tuple[str, ...]
    """Their safe names."""
    time: str | None
    """The safe name of the one among them that is the time, if it is an instant."""

    @property
    def is_streaming(self) -> bool:
        """Whether it is a stream."""
        return self.events.frame.isStreaming

    def safe(self, name: str) -> str:
        """Give the name of one of its columns beside those of the other side."""
        return f"{self.prefix}{name}"

    @property
    def micros(self) -> str:
        """The time in microseconds, from what rows have under names that the other side has not."""
        return self.safe(names.TIME) if self.time is None else f"unix_micros({self.safe(self.time)})"

    @property
    def own_micros(self) -> str:
        """The same where the side stands alone."""
        return names.TIME if self.time is None else f"unix_micros({self.time})"

    def rows(self, *more: str, frame: DataFrame | None = None) -> DataFrame:
        """Give times, keys and all that results have, beside other columns, under names that the other side has not."""
        own = (*([names.TIME] if self.time is None else []), *self.events.keys, *self.carried)
        given = self.events.frame if frame is None else frame
        return given.selectExpr(*(f"{name} AS {self.safe(name)}" for name in own), *more)


@dataclass(frozen=True)
class Request:
    """A checked join."""

    left: Side
    right: Side
    by: tuple[str, ...]
    outer: bool
    """Whether left rows without a partner are kept."""
    forward: bool
    """Whether the right row of a pair is at or after the left one."""
    ranges: Ranges | None
    windows: tuple[Window, ...]
    """None if there are ranges."""

    @property
    def how(self) -> str:
        """The kind of join, as Spark calls it."""
        return "left" if self.outer else "inner"

    @property
    def zoned(self) -> bool:
        """Whether times are instants, and not wall-clock times."""
        return self.left.events.zoned

    @property
    def sides(self) -> tuple[Side, Side]:
        """Both sides."""
        return self.left, self.right

    @property
    def equal_keys(self) -> str:
        """The condition that both rows have the same keys, which nulls have not."""
        keys = self.left.events.keys
        return " AND ".join(f"{self.left.safe(key)} = {self.right.safe(key)}" for key in keys)

    @property
    def times(self) -> tuple[str, str]:
        """Both times in microseconds."""
        return self.left.micros, self.right.micros

    @cached_property
    def band(self) -> Band:
        """How far from the left row the right one may be: two rows of one instance are less than its range apart."""
        if self.ranges is not None:
            return self.ranges.band(forward=self.forward)
        longest = max(window.longest for window in self.windows) - 1
        return Band(0 if self.forward else longest, longest)

    @cached_property
    def outputs(self) -> tuple[str, ...]:
        """The names of the columns of pairs."""
        first = RESERVED if self.ranges is None else (WITHIN,)
        fold = folding(self.left.events.frame)
        return output_names(first, self.by, self.left.columns, self.right.columns, fold)

    def named(self, pairs: DataFrame, *first: Column | str) -> DataFrame:
        """Give pairs their columns' names: what tells the range or the instance, the keys once, left, then right."""
        keys = [self.left.safe(key) for key in self.left.events.keys]
        own = [side.safe(name) for side in self.sides for name in side.carried]
        return pairs.select(*first, *keys, *own).toDF(*self.outputs)


def check_sides(
    left: DataFrame, right: DataFrame, on: Iterable[str], left_time: Key, right_time: Key
) -> tuple[Side, Side, tuple[str, ...]]:
    """Check both inputs and their keys; give also the names of the keys."""
    keys = several(on)
    fold = folding(left)
    if not keys:
        common = [name for name in left.columns if fold(name) in set(map(fold, right.columns))]
        choices = f"Columns of both sides are {', '.join(map(repr, common))}." if common else "Rename one for it."
        raise QueryError(
            f"on is empty, and all rows would meet all others. Use a column that both sides have. {choices}"
        )
    for key in keys:
        if not isinstance(key, str) or not key:
            raise QueryError(f"on has {key!r}, which is not a column. Use names of columns that both sides have.")
    if twice := repeated(map(fold, keys)):
        raise QueryError(f"key {twice!r} appears twice in on. Leave one out.")
    one, other = _side(left, names.LEFT, keys, left_time), _side(right, names.RIGHT, keys, right_time)
    _check_keys(one, other, keys)
    if one.events.zoned != other.events.zoned:
        kinds = ["timestamp" if side.events.zoned else "timestamp_ntz" for side in (one, other)]
        raise QueryError(
            f"left_time is of type {kinds[0]} and right_time of type {kinds[1]}, which have no distance. "
            f"Cast one, such as right_time=F.col(…).cast({kinds[0]!r})."
        )
    return one, other, keys


def _side(df: DataFrame, prefix: str, keys: tuple[str, ...], time: Any) -> Side:
    """Read one input; what is wrong with it is said of its side."""
    role, fold = ROLES[prefix], folding(df)
    known = df.alias(role)
    try:
        if twice := alike(df.columns, fold):
            raise QueryError(f"the input has two columns {twice}. Rename one, for example with df.toDF(…).")
        at = expression(known, time, f"{role}_time")
        events = read(known, at, [expression(known, key, "on") for key in keys], (), carry=True)
    except QueryError as error:
        raise QueryError(f"{role} side: {error}") from error
    folded = set(map(fold, keys))
    kept = {name: names.carried(place) for place, name in enumerate(df.columns) if fold(name) not in folded}
    own = next((name for name in kept if isinstance(time, str) and fold(name) == fold(time)), None)
    when = kept[own] if own is not None and events.zoned else None
    return Side(prefix, events, tuple(kept), tuple(kept.values()), when)


def _check_keys(left: Side, right: Side, keys: tuple[str, ...]) -> None:
    """Refuse keys of different types, and of types that Spark cannot compare."""
    for place, key in enumerate(keys):
        one, other = (side.events.key_types[place] for side in (left, right))
        kinds = one.simpleString(), other.simpleString()
        if kinds[0] != kinds[1]:
            raise QueryError(
                f"key {key!r} is of type {kinds[0]} on the left side and {kinds[1]} on the right. "
                f"Cast one, such as right.withColumn({key!r}, F.col({key!r}).cast({kinds[0]!r}))."
            )
        if isinstance(one, (*ATOMS, T.StringType)):
            continue
        try:
            _ = left.events.frame.selectExpr(f"{names.key(place)} = {names.key(place)}").schema
        except AnalysisException as error:
            raise QueryError(
                f"key {key!r} is of type {kinds[0]}, which Spark cannot compare. Use another column. "
                f"Spark says: {sentence_of(error)}"
            ) from error


def check_near(
    within: Length | Iterable[Length] | None, windows: Windows | None, *, forward: bool
) -> tuple[Ranges | None, tuple[Window, ...]]:
    """Check what makes two rows of equal keys a pair: ranges or windows, and not both."""
    if (within is None) == (windows is None):
        given = "neither within nor windows is given" if within is None else "both within and windows are given"
        raise QueryError(
            f"{given}. Use within=['1 hour'] for rows at most so far apart, or windows=[mt.tumbling('1 hour')] for "
            "rows in the same instance of a window."
        )
    if within is not None:
        ranges = read_ranges(within)
        check_lengths(Window(length).timed() for length in ranges.lengths)
        return ranges, ()
    if forward:
        raise QueryError(
            "direction='forward' is for within=. With windows= add a filter on the times of the result, such as "
            ".where('right_ts >= left_ts')."
        )
    asked = check_windows(windows)  # type: ignore[arg-type]
    on_grid = tuple(periodic(window, "a join") for window in asked)
    check_units(on_grid)
    check_lengths(on_grid)
    return None, on_grid
