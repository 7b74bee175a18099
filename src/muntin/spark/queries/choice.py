"""Which queries of a set are evaluated together in batch, and how: the cheapest of a few ways to divide them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from muntin.aggregates import Aggregate
from muntin.plan.physical.batch import WORTHWHILE, Bundle, choose
from muntin.plan.physical.grouping import grouped
from muntin.plan.physical.plans import Group, PhysicalPlan
from muntin.plan.physical.prices import Prices, added
from muntin.plan.physical.shapes import Shape
from muntin.plan.physical.work import Work
from muntin.plan.sharing import KEPT, READ, Reader, Share, SharingPlan, Way
from muntin.plan.statistics import Statistics
from muntin.spark.batch.choice import prices, shapes_of
from muntin.spark.input.events import name_parts
from muntin.spark.input.parts import Recipe
from muntin.spark.queries.asked import Asked, One, anonymous
from muntin.spark.queries.fragments import Fragments
from muntin.spark.queries.sampling import Looked, look
from muntin.spark.workers.layout import key_obstacle
from muntin.window import Window

TRIED = 40
"""Queries up to which each is tried by itself while the others are shared."""
ROWS_NEEDED = "its rows are needed, so it is shared with queries of the same filter and keys only"


@dataclass(frozen=True, slots=True)
class Part:
    """Some queries of a set, how they are evaluated, and what that costs."""

    way: Way
    ones: tuple[One, ...]
    cost: float
    groups: tuple[Group, ...] = ()
    """Windows that are cut into slices together, where queries have partials in common."""
    statistics: Statistics | None = None
    """Of the rows, or of the partials in common as rows."""
    reason: str = ""

    @property
    def reader(self) -> tuple[Reader, ...]:
        """What the queries ask, in words."""
        return tuple(told(one) for one in self.ones)

    @property
    def share(self) -> Share:
        """The part as the plan shows it."""
        return Share(
            self.way,
            self.reader,
            self.cost,
            parts=sum(group.slices for group in self.groups),
            filters=len({one.where for one in self.ones if one.where is not None}),
            keys=tuple(dict.fromkeys(one.keys for one in self.ones)),
            reason=self.reason,
        )


@dataclass(frozen=True, slots=True)
class Division:
    """All queries of a set, divided into parts; and what else was weighed."""

    parts: tuple[Part, ...]
    statistics: Statistics
    alternatives: tuple[tuple[str, float], ...]
    alone: float | None

    def plan(self, plans: dict[int, PhysicalPlan]) -> SharingPlan:
        """Give the plan to show, with the plans of parts by their places."""
        rows = self.statistics.rows
        shares = tuple(replace(part.share, plan=plans.get(place), rows=rows) for place, part in enumerate(self.parts))
        return SharingPlan(shares, self.statistics, alternatives=self.alternatives, alone=self.alone)


def told(one: One) -> Reader:
    """Say what a query asks."""
    query = one.query
    return Reader(
        one.name,
        one.keys,
        tuple(window.label for window in query.windows),
        tuple(map(repr, query.aggregates)),
        None if query.where is None else str(query.where),
    )


def divide(asked: Asked, strategy: str, given: Statistics | None) -> Division:
    """Divide queries into parts: those that can share nothing but their rows, and the others by cost."""
    able = tuple(one for one in asked.ones if one.conditional)
    pricing = Pricing(asked.only(able), given) if able else None
    foldable = tuple(one for one in able if pricing is not None and pricing.folds(one))
    rest = tuple(together([one for one in asked.ones if one not in foldable], strategy))
    if pricing is None or not foldable:
        return Division(rest, given or Statistics(1_000_000, source="assumed"), (), None)
    ways = dict(_ways(pricing, foldable, strategy))
    ranked = sorted(((name, sum(part.cost for part in parts)) for name, parts in ways.items()), key=lambda way: way[1])
    best, alone = ranked[0][0], dict(ranked).get("each by itself")
    if strategy == "auto" and alone is not None and ranked[0][1] > WORTHWHILE * alone:
        best = "each by itself"
    return Division((*ways[best], *rest), pricing.overall, tuple(ranked), alone)


def together(ones: Iterable[One], strategy: str) -> Iterator[Part]:
    """Put queries together that count the same rows by the same keys, all windows on a grid or none."""
    alike: dict[tuple[object, ...], list[One]] = {}
    for place, one in enumerate(ones):
        own = (place,) if strategy == "apart" else ()
        alike.setdefault((one.where, one.by, one.periodic, *own), []).append(one)
    for some in alike.values():
        yield Part("conditions" if len(some) > 1 else "apart", tuple(some), 0.0, reason=ROWS_NEEDED)


def _ways(pricing: Pricing, ones: tuple[One, ...], strategy: str) -> Iterator[tuple[str, tuple[Part, ...]]]:
    """Yield ways to divide queries, each under its name."""
    alone = tuple(map(pricing.alone, ones))
    by_keys: dict[tuple[str, ...], list[One]] = {}
    for one in ones:
        by_keys.setdefault(one.by, []).append(one)
    if strategy in ("auto", "apart"):
        yield "each by itself", alone
    if strategy in ("auto", "conditions"):
        yield (
            "filters as conditions, for each set of keys",
            tuple(pricing.conditions(some) for some in by_keys.values()),
        )
    if strategy in ("auto", "fragments"):
        whole = pricing.fragments(ones)
        yield "all over common partials", (whole,)
    if strategy == "auto" and len(by_keys) > 1:
        yield "the best for each set of keys", tuple(part for some in by_keys.values() for part in pricing.best(some))
    if strategy == "auto" and 2 < len(ones) <= TRIED:
        yield "common partials, but for some", _without(pricing, whole, alone)


def _without(pricing: Pricing, whole: Part, alone: tuple[Part, ...]) -> tuple[Part, ...]:
    """Take out of common partials, one after the other, the queries that cost less by themselves."""
    out: list[Part] = []
    for part in sorted(alone, key=lambda part: part.cost):
        if len(whole.ones) == 1:
            break
        less = pricing.fragments(tuple(one for one in whole.ones if one is not part.ones[0]))
        if less.cost + part.cost < whole.cost:
            whole = less
            out.append(part)
    return (whole, *out)


class Pricing:
    """What it costs to evaluate queries with mergeable aggregates, in every way."""

    def __init__(self, asked: Asked, given: Statistics | None) -> None:
        self.asked = asked
        self.fragmented = Fragments(asked)
        self.given = given

    @cached_property
    def _recipes(self) -> dict[Aggregate, Recipe]:
        made = {recipe.aggregate.name: recipe for recipe in self.fragmented.source.events.recipes}
        return {asked: made[name] for asked, name in self.fragmented.results.items()}

    @cached_property
    def _looked(self) -> Looked:
        return look(self.asked, self.given)

    @cached_property
    def _prices(self) -> Prices:
        return prices(self.fragmented.source.events)[0]

    @cached_property
    def _shapes(self) -> dict[Aggregate, frozenset[Shape]]:
        obstacle = key_obstacle(self.fragmented.source.events)
        return {asked: shapes_of(made, obstacle) - {Shape.RANGES_KERNEL} for asked, made in self._recipes.items()}

    @property
    def overall(self) -> Statistics:
        """What is known of all rows."""
        return self._looked.statistics(self.fragmented.keys, [None])

    def folds(self, one: One) -> bool:
        """Whether partials of a query's aggregates can be merged, and do not grow with the rows."""
        made = [self._recipes[anonymous(asked)] for asked in one.aggregates]
        return all(recipe.mergeable and all(part.how.bounded for part in recipe.parts) for recipe in made)

    def alone(self, one: One) -> Part:
        """Price a query by itself."""
        statistics = self._looked.statistics(one.by, [one.where])
        work = self._work(statistics, self._columns([(asked, None) for asked in one.aggregates]), len(one.by))
        return Part("apart", (one,), self._planned(work, [one]).cost, statistics=statistics)

    def conditions(self, ones: Iterable[One]) -> Part:
        """Price queries with the same keys as one, in which filters are conditions."""
        ones = tuple(ones)
        if len(ones) == 1:
            return self.alone(ones[0])
        filters = {one.where for one in ones}
        statistics = self._looked.statistics(ones[0].by, filters)
        apart = len(filters) > 1
        columns = self._columns([(asked, one.where if apart else None) for one in ones for asked in one.aggregates])
        work = self._work(statistics, columns + (len(filters - {None}) if apart else 0), len(ones[0].by))
        plan = self._planned(work, ones)
        return Part("conditions", ones, plan.cost + _reading(plan, ones), statistics=statistics)

    def fragments(self, ones: Iterable[One]) -> Part:
        """Price queries over common partials."""
        ones = tuple(ones)
        if len(ones) == 1:
            return self.alone(ones[0])
        fragments = Fragments(self.asked.only(ones))
        keys, filters = fragments.keys, [grouping.where for grouping in fragments.groupings]
        rows = self._looked.statistics(keys, filters, fragments.filters)
        columns = self._columns([(asked, None) for one in ones for asked in one.aggregates])
        work = self._work(rows, columns, len(keys) + len(fragments.signatures))
        groups = grouped(work, _windows(ones), Shape.SLICES_EXPLODE)
        own = [self._looked.statistics(grouping.by, [grouping.where]) for grouping in fragments.groupings]
        many = self._looked.copies(filters) * sum(group.slices for group in groups) / len(groups)
        parts = replace(rows, rows=max(1, int(many)), keys=max(1, sum(one.keys for one in own)), ordered=False)
        plan = self._planned(self._work(parts, columns, 1 + len(keys)), ones)
        cost = sum(self._slicing(work, group) for group in groups) + plan.cost + _reading(plan, ones)
        return Part("fragments", ones, cost, groups, parts)

    def best(self, ones: Iterable[One]) -> tuple[Part, ...]:
        """Give the cheapest way for queries with the same keys."""
        ones = tuple(ones)
        ways = (tuple(map(self.alone, ones)), (self.conditions(ones),), (self.fragments(ones),))
        return min(ways, key=lambda parts: sum(part.cost for part in parts))

    def _slicing(self, work: Work, group: Group) -> float:
        """Price the fragments of a group of windows."""
        rows, wide = work.statistics.rows, work.wide
        own = {"branch": 1, "stage": 1, "group": rows * wide, "grid": rows * len(group.grids) * wide}
        return work.prices.of(added(own, work.reading(), {"emit": group.slices * wide}))

    def _columns(self, asked: Iterable[tuple[Aggregate, str | None]]) -> int:
        """Count the partial columns of aggregates under filters."""
        by_filter: dict[str | None, dict[Recipe, None]] = {}
        for aggregate, where in asked:
            by_filter.setdefault(where, {})[self._recipes[anonymous(aggregate)]] = None
        return sum(len(kept.names) for made in by_filter.values() for kept in name_parts(tuple(made)))

    def _work(self, statistics: Statistics, columns: int, keys: int) -> Work:
        return Work(statistics, max(1, columns), keys, self._prices)

    def _planned(self, work: Work, ones: Iterable[One]) -> PhysicalPlan:
        ones = tuple(ones)
        asked = tuple(dict.fromkeys(anonymous(aggregate) for one in ones for aggregate in one.aggregates))
        shapes = frozenset.intersection(*(self._shapes[one] for one in asked))
        return choose(lambda some: Bundle(some, work, shapes), [asked], _windows(ones), "auto")


def _reading(plan: PhysicalPlan, ones: tuple[One, ...]) -> float:
    """Price what is kept and read again by every query."""
    return KEPT * sum(group.rows_out for group in plan.groups) + READ * len(ones)


def _windows(ones: Iterable[One]) -> tuple[Window, ...]:
    return tuple(dict.fromkeys(window for one in ones for window in one.query.periodic))
