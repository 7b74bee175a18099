"""Queries with other filters and keys as one query: filters become conditions on what is lifted.

Queries with the same keys are a unit. A count of the rows that satisfy a filter tells which instances its queries have.
Where units differ in their keys, every row is copied for each unit, whose number is then a key beside its own ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from muntin import names
from muntin.aggregates import Aggregate, Merge
from muntin.aggregates import functions as f
from muntin.expressions import Named, column_named
from muntin.query import MEASURES
from muntin.spark.input.checking import quoted
from muntin.spark.input.source import literal
from muntin.spark.queries.asked import RESULT, Asked, One, anonymous, distinct_windows, either
from muntin.window import AnyWindow

UNIT, COPY = "muntin_unit", "muntin_copy"
BY = "muntin_by_{}"
"""What a key of several units is called."""

Projection = Callable[[DataFrame], DataFrame]
"""Gives the rows of one query, of those that several have in common."""


@dataclass(frozen=True, slots=True)
class Unit:
    """Queries with the same keys whose rows are read together."""

    by: tuple[str, ...]
    ones: tuple[One, ...]

    @property
    def where(self) -> str | None:
        """The condition on its rows: that one of its filters holds."""
        return either(one.where for one in self.ones)

    def asks(self, one: One) -> bool:
        """Whether all of its rows are those of a query, so that none has to be told apart."""
        return all(other.where == one.where for other in self.ones)


@dataclass(frozen=True)
class Conditions:
    """Queries as one query: its input, keys, windows and aggregates, and how each query's rows are told from it."""

    asked: Asked
    apart: bool = False
    """Whether there are rows that satisfy none of the filters."""

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """The units; a query that cannot bear the rows of other filters is in one with those of its own alone."""
        alike = len({one.where for one in self.asked.ones}) == 1
        units: dict[tuple[object, ...], list[One]] = {}
        for one in self.asked.ones:
            own = () if alike or one.periodic else (one.where, "alone")
            units.setdefault((one.by, *own), []).append(one)
        return tuple(Unit(ones[0].by, tuple(ones)) for ones in units.values())

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """All keys of all units, each once."""
        return tuple(dict.fromkeys(key for unit in self.units for key in unit.by))

    @property
    def copied(self) -> bool:
        """Whether rows are copied, once for each unit."""
        return len(self.units) > 1

    @property
    def by(self) -> tuple[str, ...]:
        """The keys of the one query."""
        return (UNIT, *(BY.format(place) for place in range(len(self.keys)))) if self.copied else self.keys

    @cached_property
    def windows(self) -> dict[AnyWindow, str]:
        """All windows, each once, with their ids."""
        return distinct_windows(self.asked.ones)

    def frame(self) -> DataFrame:
        """Give the rows that a query counts, a copy for each unit that has one such."""
        if not self.copied:
            where = self.units[0].where
            return self.asked.frame if where is None else self.asked.frame.where(where)
        copies = ", ".join(self._copy(number, unit) for number, unit in enumerate(self.units))
        exploded = self.asked.frame.selectExpr("*", f"explode(array_compact(array({copies}))) AS {COPY}")
        return exploded.selectExpr("*", f"{COPY}.*").drop(COPY)

    def _copy(self, number: int, unit: Unit) -> str:
        keys = (
            f"{quoted(key) if key in unit.by else typed_null(quoted(key))} AS {BY.format(place)}"
            for place, key in enumerate(self.keys)
        )
        copy = f"struct({', '.join([f'{number} AS {UNIT}', *keys])})"
        return copy if unit.where is None else f"CASE WHEN {unit.where} THEN {copy} END"

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """All aggregates under the conditions of their units and filters, each once."""
        return tuple(self.made.values())

    @cached_property
    def made(self) -> dict[tuple[Aggregate, str | None], Aggregate]:
        """All aggregates, by what is asked and under which filter."""
        return {
            (asked, where): conditional(asked, self._condition(where, units), self.asked.time).alias(
                RESULT.format(place)
            )
            for place, ((asked, where), units) in enumerate(self._readers.items())
        }

    @cached_property
    def _readers(self) -> dict[tuple[Aggregate, str | None], set[int]]:
        """Aggregates with the filters that rows are told apart by, and the units that ask for them."""
        readers: dict[tuple[Aggregate, str | None], set[int]] = {}
        for number, unit in enumerate(self.units):
            for one in unit.ones:
                where = self._told_by(unit, one)
                present = () if where is None else (f.count(),)
                for asked in (*map(anonymous, one.aggregates), *present):
                    readers.setdefault((asked, where), set()).add(number)
        return readers

    def _told_by(self, unit: Unit, one: One) -> str | None:
        """Give the filter that tells a query's rows from others; None where all are its own."""
        return None if unit.asks(one) and not self.apart else one.where

    def _condition(self, where: str | None, units: Iterable[int]) -> str | None:
        numbers = sorted(units)
        among = f"{UNIT} IN ({', '.join(map(str, numbers))})" if len(numbers) < len(self.units) else None
        return " AND ".join(one for one in (among, where and quoted(where)) if one) or None

    def projection(self, one: One) -> Projection:
        """Give what tells the rows of a query from those of all."""
        number, unit = next((number, unit) for number, unit in enumerate(self.units) if one in unit.ones)
        where = self._told_by(unit, one)
        conditions = [f"{UNIT} = {number}"] if self.copied else []
        if where is not None:
            conditions.append(f"{self.made[f.count(), where].name} > 0")
        places = {key: quoted(BY.format(place) if self.copied else key) for place, key in enumerate(self.keys)}
        steps = [places[key] for key in one.by]
        steps += [self.made[anonymous(asked), where].name for asked in one.aggregates]
        return projected(one, self.windows, conditions, steps)

    def named_windows(self) -> tuple[AnyWindow, ...]:
        """Give all windows under their ids."""
        return tuple(replace(window, id=id) for window, id in self.windows.items())


def projected(one: One, windows: dict[AnyWindow, str], conditions: list[str], steps: list[str]) -> Projection:
    """Give what tells the rows of a query by conditions, and gives keys and results their names."""
    ids = ", ".join(f"'{windows[window]}'" for window in one.windows)
    conditions = [*conditions, *([f"window_id IN ({ids})"] if len(one.windows) < len(windows) else [])]
    labels = ", ".join(f"'{windows[window]}', {literal(window.label)}" for window in one.windows)
    own = MEASURES if one.query.measured else ()
    steps = [f"coalesce(element_at(map({labels}), window_id), '')", "window", *own, *steps]

    def project(rows: DataFrame) -> DataFrame:
        told = rows.where(" AND ".join(conditions)) if conditions else rows
        named = told.selectExpr(*(f"{step} AS {names.output(place)}" for place, step in enumerate(steps)))
        return named.toDF(*one.outputs)

    return project


def conditional(aggregate: Aggregate, condition: str | None, time: str) -> Aggregate:
    """Give an aggregate over the rows that satisfy a condition: for others, what is lifted is null.

    >>> conditional(f.count(), None, "ts")
    count()
    """
    if condition is None:
        return aggregate
    function, columns = aggregate.function, aggregate.columns
    if not columns:
        return f.count_if(F.expr(condition))
    if function.conditional:
        both = f"({condition}) AND {quoted(str(columns[0]))}"
        return replace(aggregate, columns=(column_named(F.expr(both), function.name),), name="")
    if function.merge in (
        Merge.EARLIER,
        Merge.LATER,
    ):  # a row without an order does not count, one without a value does
        order = time if function.takes_time else str(columns[1])
        by_order = f.MIN_BY if function.merge is Merge.EARLIER else f.MAX_BY
        return Aggregate(by_order, (columns[0], _where(condition, order)))
    return replace(aggregate, columns=(_where(condition, str(columns[0])), *columns[1:]), name="")


def typed_null(column: str) -> str:
    """Write a null of a column's type."""
    return f"CASE WHEN false THEN {column} END"


def _where(condition: str, column: str) -> Named:
    return column_named(F.expr(f"CASE WHEN {condition} THEN {quoted(column)} END"), "a condition")
