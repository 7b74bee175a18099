"""Queries as branches: rows go to Python once, are sliced there for every filter and set of keys, and shuffled once.

Queries with the same keys and filter are a branch, or several where their windows are better cut apart. Every branch
has its own slices, windows and aggregates, so nothing is evaluated that no query of it asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from muntin import names
from muntin.aggregates import Aggregate
from muntin.arrow.batches import Chunks, ColumnLayout
from muntin.arrow.branches import Branch, BranchesTask, instances_of_branches, slices_of_branches
from muntin.arrow.combine import CombineTask, SliceTask
from muntin.arrow.forest import readers_of
from muntin.errors import InternalError
from muntin.plan.physical.plans import Group, PhysicalPlan
from muntin.plan.statistics import Statistics
from muntin.query import RESERVED, Query
from muntin.spark.input.checking import quoted
from muntin.spark.input.events import Events, NamedPart
from muntin.spark.input.parts import Recipe, Step
from muntin.spark.input.source import Source
from muntin.spark.queries.asked import RESULT, Asked, One, anonymous
from muntin.spark.queries.conditions import Projection, projected
from muntin.spark.queries.fragments import Fragments
from muntin.spark.workers.chunks import chunk_length
from muntin.spark.workers.passage import mapped


@dataclass(frozen=True, slots=True)
class Planned:
    """A branch as it was planned: queries with the same keys and filter, and some of their windows."""

    ones: tuple[One, ...]
    group: Group
    """The windows, with the slices and the forest that they follow."""
    statistics: Statistics

    @property
    def by(self) -> tuple[str, ...]:
        """The keys."""
        return self.ones[0].by

    @property
    def where(self) -> str | None:
        """The filter."""
        return self.ones[0].where

    @property
    def aggregates(self) -> tuple[Aggregate, ...]:
        """What the queries ask, each once."""
        return tuple(dict.fromkeys(anonymous(asked) for one in self.ones for asked in one.aggregates))

    @property
    def plan(self) -> PhysicalPlan:
        """The plan of the windows, to show."""
        return PhysicalPlan((self.group,), "auto", self.statistics)

    @property
    def chunks(self) -> Chunks:
        """The stretches of time that keys are cut into."""
        halo = max(window.halo for window in self.group.windows)
        return Chunks(chunk_length(halo, self.statistics), halo)


@dataclass(frozen=True)
class Branches:
    """All branches of some queries over their input."""

    asked: Asked
    planned: tuple[Planned, ...]

    @cached_property
    def base(self) -> Fragments:
        """The rows of all queries with the bits of their filters, and all partials, each once."""
        return Fragments(self.asked, in_rows=True, unmixed=True)

    @property
    def events(self) -> Events:
        """The rows, under safe names."""
        return self.base.source.events

    @cached_property
    def recipes(self) -> dict[Aggregate, Recipe]:
        """The recipes of all that is asked."""
        made = {recipe.aggregate.name: recipe for recipe in self.events.recipes}
        return {asked: made[name] for (asked, _), name in self.base.names.items()}

    @cached_property
    def _types(self) -> dict[str, T.DataType]:
        return {field.name: field.dataType for field in self.events.lifted_schema}

    def parts(self, branch: Planned) -> tuple[NamedPart, ...]:
        """Give the parts that a branch needs, each once."""
        needed = {part.key for asked in branch.aggregates for part in self.recipes[asked].parts}
        return tuple(kept for kept in self.events.parts if kept.part.key in needed)

    def slots(self, branch: Planned) -> dict[str, str]:
        """Give the slots that a branch puts its partials into: the first ones of their types."""
        own: dict[str, str] = {}
        for name in (name for kept in self.parts(branch) for name in kept.names):
            own[name] = next(
                slot for slot, given in self._slots if given == self._types[name] and slot not in own.values()
            )
        return own

    @cached_property
    def _slots(self) -> tuple[tuple[str, T.DataType], ...]:
        """The slots with their types: as many of each type as a branch needs at most."""
        needed: dict[T.DataType, int] = {}
        for branch in self.planned:
            own: dict[T.DataType, int] = {}
            for name in (name for kept in self.parts(branch) for name in kept.names):
                own[self._types[name]] = own.get(self._types[name], 0) + 1
            needed |= {given: max(many, needed.get(given, 0)) for given, many in own.items()}
        types = [given for given, many in needed.items() for _ in range(many)]
        return tuple((names.slot(number), given) for number, given in enumerate(types))

    @cached_property
    def keys(self) -> dict[str, str]:
        """The keys of all queries, with their safe names."""
        return dict(zip(self.base.keys, self.events.keys, strict=False))

    def rows(self) -> DataFrame:
        """Give the instances of all branches: branch, number of the window, start, keys and slots."""
        task, long = self._task(), T.LongType()
        slices = mapped(
            self.events.lifted,
            slices_of_branches,
            task,
            self._schema((names.CHUNK, long), (names.PLACE, long)),
            self.events.shared,
        )
        keys = [names.BRANCH, *self.keys.values()]
        ordered = slices.repartition(*keys, names.CHUNK).sortWithinPartitions(*keys, names.PLACE)
        return mapped(
            ordered, instances_of_branches, task, self._schema((names.NUMBER, T.IntegerType()), (names.START, long))
        )

    def _schema(self, *head: tuple[str, T.DataType]) -> T.StructType:
        keys = ((name, self._types[name]) for name in self.keys.values())
        columns = ((names.BRANCH, T.IntegerType()), *head, *keys, *self._slots)
        return T.StructType([T.StructField(name, given) for name, given in columns])

    def _task(self) -> BranchesTask:
        examples = {given: name for name, given in self._types.items() if name in self.events.partials}
        slots = {slot: examples[given] for slot, given in self._slots}
        return BranchesTask(tuple(map(self._branch, self.planned)), tuple(self.keys.values()), slots)

    def _branch(self, branch: Planned) -> Branch:
        if branch.group.forest is None:
            raise InternalError("a branch has no forest to follow")
        kept, slots, keys = self.parts(branch), self.slots(branch), tuple(self.keys[key] for key in branch.by)
        reducers = tuple(one.part.reducer for one in kept if one.part.reducer is not None)
        rows = ColumnLayout(reducers, tuple(one.names for one in kept), keys)
        numbers = {window: number for number, window in enumerate(self.base.windows)}
        slotted = tuple(tuple(slots[name] for name in one.names) for one in kept)
        return Branch(
            SliceTask(rows, branch.group.grids, branch.chunks),
            CombineTask(
                readers_of(branch.group.forest, numbers),  # type: ignore[arg-type]
                ColumnLayout(reducers, slotted, keys, branch.chunks),
            ),
            None if branch.where is None or not self.base.signatures else self.base.bit(branch.where),
        )

    def projection(self, one: One) -> Projection:
        """Give what tells the rows of a query from those of all branches."""
        own = {number: branch for number, branch in enumerate(self.planned) if one in branch.ones}
        slots = self.slots(next(iter(own.values())))
        source = self._source(one)
        keys = zip(one.by, source.events.keys, strict=True)
        kept = [names.NUMBER, names.START, *(f"{self.keys[key]} AS {name}" for key, name in keys), *slots.values()]
        steps = [self._lowered(asked, slots) for asked in one.aggregates]
        project = projected(one, self.base.windows, [], list(map(quoted, source.query.outputs[len(RESERVED) :])))
        places = [number for number, window in enumerate(self.base.windows) if window in one.windows]

        def told(rows: DataFrame) -> DataFrame:
            chosen = rows.where(f"{_within(names.BRANCH, own)} AND {_within(names.NUMBER, places)}")
            return project(source.finish(chosen.selectExpr(*kept), steps))

        return told

    def _lowered(self, asked: Aggregate, slots: Mapping[str, str]) -> Step:
        """Give the result of an aggregate's partials in their slots."""
        recipe, columns = self.recipes[anonymous(asked)], {kept.part.key: kept.names for kept in self.events.parts}
        if recipe.lower is None:
            raise InternalError(f"{asked!r} has partials that nothing lowers")
        return recipe.lower(*(slots[name] for part in recipe.parts for name in columns[part.key]))

    def _source(self, one: One) -> Source:
        """Give the input as a query sees it, with results under names that no key has."""
        safe = [self.keys[key] for key in one.by]
        recipes = tuple(
            replace(made, aggregate=made.aggregate.alias(RESULT.format(place)))
            for place, made in enumerate(self.recipes[anonymous(asked)] for asked in one.aggregates)
        )
        events = self.events
        frame = events.frame.selectExpr(
            names.TIMESTAMP, *(f"{name} AS {names.key(place)}" for place, name in enumerate(safe))
        )
        types = tuple(self._types[name] for name in safe)
        windows = [replace(window, id=id) for window, id in self.base.windows.items()]
        query = Query(self.asked.time, one.by, windows, [made.aggregate for made in recipes])
        return Source(Events(one.by, frame, types, events.zoned, recipes), query, (self.asked.time, *one.by))


def _within(column: str, numbers: Iterable[int]) -> str:
    return f"{column} IN ({', '.join(map(str, numbers))})"
