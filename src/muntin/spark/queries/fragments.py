"""Queries over common partials: rows are aggregated once by slice and all keys, and every set of keys rolls them up.

Filters are in the columns or in the rows of the partials. In columns, each filter has its own partials of what its
queries ask, and a count. In rows, the partials are of fragments: rows that satisfy the same filters, which count for
each of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from muntin import names
from muntin.aggregates import Aggregate
from muntin.aggregates import functions as f
from muntin.plan.slicing.grids import Grid
from muntin.query import Query
from muntin.spark.batch.native import sliced
from muntin.spark.input.checking import quoted
from muntin.spark.input.events import Events
from muntin.spark.input.parts import Part, Recipe
from muntin.spark.input.reading import prepare
from muntin.spark.input.source import Source
from muntin.spark.queries.asked import RESULT, Asked, One, anonymous, distinct_windows, either
from muntin.spark.queries.conditions import Conditions, Projection, Unit, conditional, projected
from muntin.window import AnyWindow

SIGNATURE = "muntin_signature_{}"
"""Which filters a row satisfies, a bit for each."""
BITS = 62
FILTER = "muntin_filter"
"""The number of a filter, where partials are copied for the filters that they count for."""

Wanted = tuple[Aggregate, str | None]
"""An aggregate, and the filter that it is under; None for all rows that are there."""


@dataclass(frozen=True)
class Fragments:
    """Common partials of some queries, and each set of keys over them."""

    asked: Asked
    in_rows: bool
    """Whether filters tell rows of partials apart, and not columns."""
    unmixed: bool = False
    """Whether rows are reduced only for filters that they satisfy."""

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """Queries with the same keys."""
        units: dict[tuple[str, ...], list[One]] = {}
        for one in self.asked.ones:
            units.setdefault(one.by, []).append(one)
        return tuple(Unit(by, tuple(ones)) for by, ones in units.items())

    @cached_property
    def filters(self) -> tuple[str, ...]:
        """The filters that rows are told apart by; none where all queries have the same."""
        given = tuple(dict.fromkeys(one.where for one in self.asked.ones))
        return () if len(given) == 1 else tuple(where for where in given if where is not None)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The keys of all queries, each once."""
        return tuple(dict.fromkeys(key for unit in self.units for key in unit.by))

    @property
    def signatures(self) -> tuple[str, ...]:
        """The columns that have the bits of filters."""
        filters = len(self.filters) if self.in_rows else 0
        return tuple(SIGNATURE.format(number) for number in range(-(-filters // BITS)))

    @cached_property
    def windows(self) -> dict[AnyWindow, str]:
        """All windows, each once, with their ids."""
        return distinct_windows(self.asked.ones)

    def conditions(self, unit: Unit) -> Conditions:
        """Give the queries of a unit as one, filters being conditions."""
        return Conditions(self.asked.only(unit.ones), apart=bool(self.filters))

    def wanted(self, unit: Unit) -> tuple[Wanted, ...]:
        """Give what the queries of a unit ask of the partials."""
        if not self.in_rows:
            return tuple(self.conditions(unit).made)
        return tuple(dict.fromkeys((anonymous(asked), None) for one in unit.ones for asked in one.aggregates))

    @cached_property
    def names(self) -> dict[Wanted, str]:
        """All that is asked of the partials, each once, with names."""
        given = dict.fromkeys(one for unit in self.units for one in self.wanted(unit))
        return {one: RESULT.format(number) for number, one in enumerate(given)}

    @cached_property
    def source(self) -> Source:
        """The rows of all queries, with all keys, and filters as keys or as conditions."""
        where = either(one.where for one in self.asked.ones)
        frame = self.asked.frame if where is None else self.asked.frame.where(where)
        if self.signatures:
            signed = (f"{self._bits(number)} AS {name}" for number, name in enumerate(self.signatures))
            frame = frame.selectExpr("*", *signed)
        windows = [replace(window, id=id) for window, id in self.windows.items()]
        aggregates = [self._aggregate(*one).alias(name) for one, name in self.names.items()]
        return prepare(frame, self.asked.time, (*self.keys, *self.signatures), windows, aggregates)

    def _bits(self, number: int) -> str:
        own = self.filters[BITS * number : BITS * (number + 1)]
        return " | ".join(f"CASE WHEN {quoted(where)} THEN {1 << bit}L ELSE 0L END" for bit, where in enumerate(own))

    def _aggregate(self, aggregate: Aggregate, where: str | None) -> Aggregate:
        """Give an aggregate over the rows that count for it; where others might make it fail, over those who ask."""
        if not self.in_rows:
            return conditional(aggregate, where and quoted(where), self.asked.time)
        asking = {one.where for one in self.asked.ones if aggregate in map(anonymous, one.aggregates)}
        everybody = None in asking or asking == {one.where for one in self.asked.ones}
        free = everybody or all(map(self._is_harmless, map(str, aggregate.columns)))
        return aggregate if free else conditional(aggregate, either(sorted(asking, key=str)), self.asked.time)

    def _is_harmless(self, column: str) -> bool:
        """Whether no row's value can make an aggregate fail: texts may, and sums of whole numbers that are mixed."""
        given = self.asked.types.get(column)
        return isinstance(given, T.FloatType | T.DoubleType) or (self.unmixed and isinstance(given, T.NumericType))

    def parts(self, grids: tuple[Grid, ...]) -> DataFrame:
        """Give the partials of slices: keys, begin, and columns of partials."""
        return sliced(self.source, grids)

    def over(self, unit: Unit, parts: DataFrame, windows: Iterable[AnyWindow]) -> Source:
        """Give the partials as rows of a unit: under its own keys, and copied for the filters that they count for."""
        base = self.source
        named = dict(zip(self.keys, base.events.keys, strict=False))
        begin, filters = names.BEGIN, self._filters(unit)
        keys = [*(["copy"] if filters else []), *(named[key] for key in unit.by)]
        kept = [*(named[key] for key in unit.by), *base.events.partials]
        copies = [f"explode({self._copies(filters)}) AS copy"] if filters else []
        recipes = self._recipes(unit)
        frame = parts.selectExpr(begin, *kept, *copies).selectExpr(
            f"{base.moment(begin)} AS {names.TIMESTAMP}",
            f"{begin} AS {names.TIME}",
            *(f"{name} AS {key}" for name, key in zip(keys, names.keys(len(keys)), strict=True)),
            *base.events.partials,
        )
        by = (*([FILTER] if filters else []), *unit.by)
        types = [*([T.IntegerType()] if filters else []), *(self._type(key) for key in unit.by)]
        events = Events(by, frame, tuple(types), base.events.zoned, recipes)
        asked = tuple(replace(window, id=self.windows[window]) for window in windows)
        query = Query(self.asked.time, by, asked, tuple(made.aggregate for made in recipes))
        return Source(events, query, (self.asked.time, *by))

    def _type(self, key: str) -> T.DataType:
        return self.source.events.key_types[self.keys.index(key)]

    def _filters(self, unit: Unit) -> tuple[str | None, ...]:
        """Give the filters of a unit, where they tell rows of partials apart."""
        return tuple(dict.fromkeys(one.where for one in unit.ones)) if self.signatures else ()

    def _copies(self, filters: tuple[str | None, ...]) -> str:
        copies = []
        for number, where in enumerate(filters):
            if where is None:
                copies.append(str(number))
                continue
            bits, bit = self.bit(where)
            copies.append(f"CASE WHEN {bits} & {bit}L != 0 THEN {number} END")
        return f"array_compact(array({', '.join(copies)}))"

    def bit(self, where: str) -> tuple[str, int]:
        """Give the column of bits that tells whether a row satisfies a filter, and the bit."""
        place = self.filters.index(where)
        return self.source.events.keys[len(self.keys) + place // BITS], 1 << place % BITS

    def _recipes(self, unit: Unit) -> tuple[Recipe, ...]:
        """Give the recipes of what a unit asks over partials, under the names that it has for the results."""
        made = {recipe.aggregate.name: recipe for recipe in over_partials(self.source.events)}
        return tuple(
            replace(made[self.names[one]], aggregate=made[self.names[one]].aggregate.alias(name))
            for one, name in self._results(unit).items()
        )

    def _results(self, unit: Unit) -> dict[Wanted, str]:
        if not self.in_rows:
            return {one: aggregate.name for one, aggregate in self.conditions(unit).made.items()}
        return {one: RESULT.format(number) for number, one in enumerate(self.wanted(unit))}

    def projection(self, unit: Unit, one: One) -> Projection:
        """Give what tells the rows of a query from those of its unit."""
        results, filters = self._results(unit), self._filters(unit)
        if not self.in_rows:
            where = one.where if self.filters else None
            present = [] if where is None else [f"{results[anonymous(f.count()), where]} > 0"]
        else:
            where, present = None, [f"{FILTER} = {filters.index(one.where)}"] if filters else []
        steps = [*map(quoted, one.by), *(results[anonymous(asked), where] for asked in one.aggregates)]
        return projected(one, self.windows, present, steps)


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
