"""Queries with other filters and keys over common partials: rows are aggregated once, by fragments.

A fragment is the rows of one slice that have the same keys, of all queries together, and satisfy the same filters. Its
partials count for every query whose filter is among those, under that query's own keys: what was fine is rolled up.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from muntin import names
from muntin.aggregates import Aggregate
from muntin.plan.physical.plans import Group
from muntin.query import Query
from muntin.spark.batch.native import sliced
from muntin.spark.input.checking import quoted
from muntin.spark.input.events import Events
from muntin.spark.input.parts import Part, Recipe
from muntin.spark.input.reading import prepare
from muntin.spark.input.source import Source, literal
from muntin.spark.queries.asked import Asked, One, anonymous, distinct_aggregates, distinct_windows, either
from muntin.spark.queries.conditions import Projection, conditional, typed_null
from muntin.window import AnyWindow

SIGNATURE = "muntin_signature_{}"
"""Which filters a row satisfies, a bit for each."""
BITS = 62
GROUPING = "muntin_grouping"
"""The number of a filter with keys."""


@dataclass(frozen=True, slots=True)
class Grouping:
    """A filter and keys: queries that have both in common count the same rows."""

    where: str | None
    by: tuple[str, ...]


@dataclass(frozen=True)
class Fragments:
    """Queries over common partials, how those are made, and how each query's rows are told from the results."""

    asked: Asked

    @cached_property
    def groupings(self) -> tuple[Grouping, ...]:
        """The filters and keys of all queries, each pair once."""
        return tuple(dict.fromkeys(Grouping(one.where, one.by) for one in self.asked.ones))

    @cached_property
    def filters(self) -> tuple[str, ...]:
        """The filters that rows are told apart by: all, unless every query has the same."""
        given = tuple(dict.fromkeys(grouping.where for grouping in self.groupings))
        return () if len(given) == 1 else tuple(where for where in given if where is not None)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of all queries, each once."""
        return tuple(dict.fromkeys(key for grouping in self.groupings for key in grouping.by))

    @property
    def signatures(self) -> tuple[str, ...]:
        """The columns that have the bits of filters."""
        return tuple(SIGNATURE.format(number) for number in range(-(-len(self.filters) // BITS)))

    @cached_property
    def windows(self) -> dict[AnyWindow, str]:
        """All windows, each once, with their ids."""
        return distinct_windows(self.asked.ones)

    @cached_property
    def source(self) -> Source:
        """The rows of all queries, with the finest keys and the bits of filters as keys."""
        where = either(grouping.where for grouping in self.groupings)
        frame = self.asked.frame if where is None else self.asked.frame.where(where)
        if self.filters:
            signed = (f"{self._bits(number)} AS {name}" for number, name in enumerate(self.signatures))
            frame = frame.selectExpr("*", *signed)
        windows = [replace(window, id=id) for window, id in self.windows.items()]
        aggregates = [self._guarded(asked).alias(name) for asked, name in self.results.items()]
        return prepare(frame, self.asked.time, (*self.keys, *self.signatures), windows, aggregates)

    @cached_property
    def results(self) -> dict[Aggregate, str]:
        """All aggregates, each once, with the names of their results."""
        return distinct_aggregates(self.asked.ones)

    def _guarded(self, aggregate: Aggregate) -> Aggregate:
        """Give an aggregate over the rows of those who ask for it, where others might make it fail."""
        asking = {one.where for one in self.asked.ones if aggregate in map(anonymous, one.aggregates)}
        free = not aggregate.columns or None in asking or asking == {grouping.where for grouping in self.groupings}
        return aggregate if free else conditional(aggregate, either(sorted(asking, key=str)), self.asked.time)

    def _bits(self, number: int) -> str:
        own = self.filters[BITS * number : BITS * (number + 1)]
        return " | ".join(f"CASE WHEN {quoted(where)} THEN {1 << bit}L ELSE 0L END" for bit, where in enumerate(own))

    def over(self, group: Group) -> Source:
        """Give the partials of a group of windows as rows, a copy for every grouping that they count for."""
        base, keys = self.source, self.source.events.keys
        parts = sliced(base, group.grids)
        copies = ", ".join(self._copy(number, grouping) for number, grouping in enumerate(self.groupings))
        exploded = parts.selectExpr("*", f"explode(array_compact(array({copies}))) AS copy").drop(*keys)
        places = names.keys(1 + len(self.keys))
        frame = exploded.selectExpr(
            f"{base.moment(names.BEGIN)} AS {names.TIMESTAMP}",
            f"{names.BEGIN} AS {names.TIME}",
            *(f"copy.{key}" for key in places),
            *base.events.partials,
        )
        types = (T.IntegerType(), *base.events.key_types[: len(self.keys)])
        by = (GROUPING, *self.keys)
        events = Events(by, frame, types, base.events.zoned, over_partials(base.events))
        windows = tuple(replace(window, id=self.windows[window]) for window in group.windows)
        query = Query(self.asked.time, by, windows, base.query.aggregates)
        return Source(events, query, (self.asked.time, *by))

    def _copy(self, number: int, grouping: Grouping) -> str:
        keys = (
            f"{name if key in grouping.by else typed_null(name)} AS {names.key(place + 1)}"
            for place, (key, name) in enumerate(zip(self.keys, self.source.events.keys, strict=False))
        )
        copy = f"struct({', '.join([f'{number} AS {names.key(0)}', *keys])})"
        if grouping.where is None or not self.filters:
            return copy
        place = self.filters.index(grouping.where)
        bits = self.source.events.keys[len(self.keys) + place // BITS]
        return f"CASE WHEN {bits} & {1 << place % BITS}L != 0 THEN {copy} END"

    def projection(self, one: One) -> Projection:
        """Give what tells the rows of a query from those of all."""
        number = self.groupings.index(Grouping(one.where, one.by))
        conditions = [f"{GROUPING} = {number}"]
        if len(one.windows) < len(self.windows):
            conditions.append(f"window_id IN ({', '.join(repr(self.windows[window]) for window in one.windows)})")
        labels = ", ".join(f"'{self.windows[window]}', {literal(window.label)}" for window in one.windows)
        steps = [f"coalesce(element_at(map({labels}), window_id), '')", "window", *map(quoted, one.by)]
        steps += [self.results[anonymous(asked)] for asked in one.aggregates]

        def project(rows: DataFrame) -> DataFrame:
            told = rows.where(" AND ".join(conditions))
            named = told.selectExpr(*(f"{step} AS {names.output(place)}" for place, step in enumerate(steps)))
            return named.toDF(*one.outputs)

        return project


def over_partials(events: Events) -> tuple[Recipe, ...]:
    """Give the recipes of the same results over rows that are partials already."""
    columns = {kept.part.key: kept.names for kept in events.parts}

    def again(part: Part) -> Part:
        own = columns[part.key]
        merged = part.merge(*own) if part.merge is not None else ()
        return replace(part, partials=merged, lift=own if part.lift else ())

    def over(made: Recipe) -> Recipe:
        parts = tuple(map(again, made.parts))
        plain = made.lower(*(f"({step})" for part in parts for step in part.partials)) if made.lower else made.plain
        return replace(made, plain=plain, parts=parts, item=None, ranged=None)

    return tuple(map(over, events.recipes))
