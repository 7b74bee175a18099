"""Which queries of a set are evaluated together in batch, and how: the cheapest of a few ways to divide them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

from muntin.aggregates import Aggregate, Merge
from muntin.plan.physical.batch import WORTHWHILE, Bundle, choose
from muntin.plan.physical.grouping import branch_amounts, grouped
from muntin.plan.physical.plans import Group, PhysicalPlan, plan_forest, rate_below
from muntin.plan.physical.prices import Prices, added
from muntin.plan.physical.shapes import Shape
from muntin.plan.physical.work import Work
from muntin.plan.sharing import KEPT, READ, Reader, Share, SharingPlan, Way
from muntin.plan.show.shown import Shown
from muntin.plan.statistics import Statistics
from muntin.spark.batch.choice import shapes_of
from muntin.spark.input.events import name_parts
from muntin.spark.input.parts import Recipe
from muntin.spark.prices import session_prices
from muntin.spark.queries.asked import Asked, One, anonymous
from muntin.spark.queries.branches import Planned
from muntin.spark.queries.conditions import Unit
from muntin.spark.queries.fragments import Fragments
from muntin.spark.queries.sampling import Looked, look
from muntin.spark.workers.layout import key_obstacle
from muntin.window import Window

APART = "each by itself"
ROWS_NEEDED = "its rows are needed, so it is shared with queries of the same filter and keys only"


@dataclass(frozen=True, slots=True)
class Part:
    """Some queries of a set, how they are evaluated, and what that costs."""

    way: Way
    ones: tuple[One, ...]
    cost: float
    groups: tuple[Group, ...] = ()
    """Windows that are cut into slices together, where queries have partials in common."""
    statistics: tuple[Statistics, ...] = ()
    """Of the rows; or of the partials in common as rows, for each set of keys."""
    branches: tuple[Planned, ...] = ()
    """Queries by filter and keys, where rows are sliced at the source for each of them."""
    reason: str = ""

    @property
    def in_rows(self) -> bool:
        """Whether filters tell rows of partials apart, and not columns."""
        return self.way == "fragments"

    @property
    def is_direct(self) -> bool:
        """Whether the rows themselves are evaluated, and no partials in common."""
        return not self.groups and not self.branches

    @property
    def figures(self) -> Statistics | None:
        """What is known of the rows."""
        return self.statistics[0] if self.statistics else None

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
            parts=sum(group.slices for group in (*self.groups, *(branch.group for branch in self.branches))),
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

    def plan(self, plans: Iterable[tuple[Shown, ...]] = ()) -> SharingPlan:
        """Give the plan to show, with those of the parts' windows where they are known."""
        known = [*plans, *([()] * len(self.parts))]
        shares = tuple(
            replace(part.share, plans=own, rows=self.statistics.rows)
            for part, own in zip(self.parts, known, strict=False)
        )
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
    able = tuple(one for one in asked.ones if one.periodic)
    pricing = Pricing(asked.only(able), given) if able else None
    foldable = tuple(one for one in able if pricing is not None and pricing.folds(one))
    rest = tuple(together([one for one in asked.ones if one not in foldable], strategy))
    if pricing is None or not foldable:
        return Division(rest, given or Statistics(1_000_000, source="assumed"), (), None)
    ways = dict(_ways(pricing, foldable, strategy))
    ranked = sorted(((name, total(parts)) for name, parts in ways.items()), key=lambda way: way[1])
    best, alone = ranked[0][0], dict(ranked).get(APART)
    if strategy == "auto" and alone is not None and ranked[0][1] > WORTHWHILE * alone:
        best = APART
    return Division((*ways[best], *rest), pricing.overall, tuple(ranked), alone)


def total(parts: Iterable[Part]) -> float:
    """Add up what parts cost."""
    return sum(part.cost for part in parts)


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
    if strategy in ("auto", "apart"):
        yield APART, tuple(map(pricing.alone, ones))
    if strategy in ("auto", "conditions"):
        yield "filters in columns", (pricing.conditions(ones),)
    if strategy in ("auto", "fragments"):
        yield "filters in rows", (pricing.fragments(ones, in_rows=True),)
    able = tuple(filter(pricing.at_source, ones))
    if strategy == "branches" or (strategy == "auto" and able):
        rest = tuple(one for one in ones if one not in able)
        parts = (pricing.branches(able),) if able else ()
        yield "sliced at the source", (*parts, *(pricing.best(rest) if rest else ()))
    if strategy == "auto":
        by_keys: dict[tuple[str, ...], list[One]] = {}
        for one in ones:
            by_keys.setdefault(one.by, []).append(one)
        yield "sets of keys, joined as long as that saves", _joined(pricing, list(map(tuple, by_keys.values())))


def _joined(pricing: Pricing, blocks: list[tuple[One, ...]]) -> tuple[Part, ...]:
    """Join blocks of queries, the two that save most first, until none saves anything."""
    best = {block: pricing.best(block) for block in blocks}

    def saving(pair: tuple[tuple[One, ...], tuple[One, ...]]) -> float:
        one, other = pair
        if one + other not in best:
            best[one + other] = pricing.best(one + other)
        return total(best[one]) + total(best[other]) - total(best[one + other])

    while len(blocks) > 1:
        pair = max(combinations(blocks, 2), key=saving)
        if saving(pair) <= 0:
            break
        blocks = [*(block for block in blocks if block not in pair), pair[0] + pair[1]]
    return tuple(part for block in blocks for part in best[block])


class Pricing:
    """What it costs to evaluate queries with mergeable aggregates, in every way."""

    def __init__(self, asked: Asked, given: Statistics | None) -> None:
        self.asked = asked
        self._given = given
        self._base = Fragments(asked, in_rows=True)
        self._alone: dict[str, Part] = {}

    @cached_property
    def _recipes(self) -> dict[Aggregate, Recipe]:
        made = {recipe.aggregate.name: recipe for recipe in self._base.source.events.recipes}
        return {asked: made[name] for (asked, _), name in self._base.names.items()}

    @cached_property
    def _looked(self) -> Looked:
        return look(self.asked, self._given)

    @cached_property
    def _prices(self) -> Prices:
        return session_prices(self._base.source.events.frame)

    @cached_property
    def _shapes(self) -> dict[Aggregate, frozenset[Shape]]:
        obstacle = key_obstacle(self._base.source.events)
        return {asked: shapes_of(made, obstacle) - {Shape.RANGES_KERNEL} for asked, made in self._recipes.items()}

    @property
    def overall(self) -> Statistics:
        """What is known of all rows."""
        return self._looked.statistics(self._base.keys, [None])

    def folds(self, one: One) -> bool:
        """Whether partials of a query's aggregates can be merged in Spark SQL, and do not grow with the rows."""
        made = [self._recipes[anonymous(asked)] for asked in one.aggregates]
        return all(recipe.mergeable and all(_folds(part.how) for part in recipe.parts) for recipe in made)

    def best(self, ones: tuple[One, ...]) -> tuple[Part, ...]:
        """Give the cheapest way for some queries."""
        ways = (
            tuple(map(self.alone, ones)),
            (self.conditions(ones),),
            *([(self.fragments(ones, in_rows=False),)] if len({one.by for one in ones}) == 1 else []),
            (self.fragments(ones, in_rows=True),),
        )
        return min(ways, key=total)

    def alone(self, one: One) -> Part:
        """Price a query by itself."""
        if one.name not in self._alone:
            self._alone[one.name] = self._priced_alone(one)
        return self._alone[one.name]

    def _priced_alone(self, one: One) -> Part:
        statistics = self._looked.statistics(one.by, [one.where])
        work = self._work(statistics, self._columns([(asked, None) for asked in one.aggregates]), len(one.by))
        return Part("apart", (one,), self._planned(work, (one,)).cost, statistics=(statistics,))

    def conditions(self, ones: tuple[One, ...]) -> Part:
        """Price queries whose filters are conditions: over rows where all have the same keys, else over partials."""
        if len(ones) == 1:
            return self.alone(ones[0])
        if len({one.by for one in ones}) > 1:
            return self.fragments(ones, in_rows=False)
        statistics = self._looked.statistics(ones[0].by, {one.where for one in ones})
        work = self._work(statistics, self._under_filters(ones, ones), len(ones[0].by))
        plan = self._planned(work, ones)
        return Part("conditions", ones, plan.cost + _reading(plan, ones), statistics=(statistics,))

    def fragments(self, ones: tuple[One, ...], *, in_rows: bool) -> Part:
        """Price queries over common partials, filters being in rows or in columns."""
        if len(ones) == 1:
            return self.alone(ones[0])
        base = Fragments(self.asked.only(ones), in_rows)
        rows = self._looked.statistics(base.keys, {one.where for one in ones}, base.filters if in_rows else ())
        columns = self._under_filters(ones, ones, in_rows=in_rows)
        work = self._work(rows, columns, len(base.keys) + len(base.signatures))
        groups = grouped(work, windows_of(ones), Shape.SLICES_EXPLODE)
        cost = sum(self._slicing(work, group, kept=len(base.units) > 1) for group in groups)
        slices = sum(group.slices for group in groups) / len(groups)
        statistics = []
        for unit in base.units:
            filters = tuple(dict.fromkeys(one.where for one in unit.ones))
            copies = self._looked.copies(filters) if in_rows else 1.0
            keys = (
                sum(self._looked.statistics(unit.by, [where]).keys for where in filters)
                if in_rows
                else (self._looked.statistics(unit.by, filters).keys)
            )
            own = replace(rows, rows=max(1, int(slices * copies)), keys=max(1, keys), ordered=False)
            wide = self._under_filters(unit.ones, ones, in_rows=in_rows)
            plan = self._planned(self._work(own, wide, len(unit.by) + in_rows), unit.ones)
            cost += plan.cost + _reading(plan, unit.ones)
            statistics.append(own)
        return Part("fragments" if in_rows else "conditions", ones, cost, groups, tuple(statistics))

    def at_source(self, one: One) -> bool:
        """Whether kernels can slice a query's rows."""
        return all(Shape.SOURCE_SLICES_KERNEL in self._shapes[anonymous(asked)] for asked in one.aggregates)

    def branches(self, ones: tuple[One, ...]) -> Part:
        """Price queries that are sliced at the source for every filter and set of keys."""
        if len(ones) == 1:
            return self.alone(ones[0])
        alike: dict[tuple[object, ...], list[One]] = {}
        for one in ones:
            alike.setdefault((one.by, one.where), []).append(one)
        base = Fragments(self.asked.only(ones), in_rows=True)
        everything = self._looked.statistics(base.keys, {one.where for one in ones})
        work = self._work(
            everything, self._under_filters(ones, ones, in_rows=True), len(base.keys) + len(base.signatures)
        )
        cost = work.prices.of(added({"branch": 1, "stage": 1, "python": 2}, work.reading(), work.sent_rows()))
        planned = [branch for some in alike.values() for branch in self._branches(tuple(some))]
        kept = KEPT * sum(branch.group.rows_out for branch in planned) + READ * len(ones)
        cost += kept + sum(branch.group.cost for branch in planned)
        return Part("branches", ones, cost, statistics=(everything,), branches=tuple(planned))

    def _branches(self, ones: tuple[One, ...]) -> Iterator[Planned]:
        """Yield the branches of queries with the same filter and keys: one, unless windows are better cut apart."""
        statistics = self._looked.statistics(ones[0].by, [ones[0].where])
        aggregates = tuple(dict.fromkeys(anonymous(asked) for one in ones for asked in one.aggregates))
        work = self._work(statistics, self._under_filters(ones, ones), len(ones[0].by))
        for group in grouped(work, windows_of(ones), Shape.SOURCE_SLICES_KERNEL):
            forest = plan_forest(group.windows, aggregates, rate_below(group, statistics))
            cost = work.prices.of(branch_amounts(work, group.windows))
            yield Planned(ones, replace(group, cost=cost, forest=forest, aggregates=aggregates), statistics)

    def _slicing(self, work: Work, group: Group, *, kept: bool) -> float:
        """Price the partials of a group of windows, and keeping them for several sets of keys."""
        rows, wide = work.statistics.rows, work.wide
        own = {"branch": 1, "stage": 1, "group": rows * wide, "grid": rows * len(group.grids) * wide}
        cost = work.prices.of(added(own, work.reading(), {"emit": group.slices * wide}))
        return cost + (KEPT * group.slices if kept else 0.0)

    def _under_filters(self, ones: tuple[One, ...], among: tuple[One, ...], *, in_rows: bool = False) -> int:
        """Count the partial columns of queries: for every filter, where filters are in columns, with a count each."""
        filters = {one.where for one in among}
        apart = len(filters) > 1 and not in_rows
        columns = self._columns([(asked, one.where if apart else None) for one in ones for asked in one.aggregates])
        return columns + (len({one.where for one in ones} - {None}) if apart else 0)

    def _columns(self, asked: Iterable[tuple[Aggregate, str | None]]) -> int:
        """Count the partial columns of aggregates under filters."""
        by_filter: dict[str | None, dict[Aggregate, Recipe]] = {}
        for aggregate, where in asked:
            by_filter.setdefault(where, {})[anonymous(aggregate)] = self._recipes[anonymous(aggregate)]
        return sum(len(kept.names) for made in by_filter.values() for kept in name_parts(tuple(made.values())))

    def _work(self, statistics: Statistics, columns: int, keys: int) -> Work:
        return Work(statistics, max(1, columns), keys, self._prices)

    def _planned(self, work: Work, ones: tuple[One, ...]) -> PhysicalPlan:
        asked = tuple(dict.fromkeys(anonymous(aggregate) for one in ones for aggregate in one.aggregates))
        shapes = frozenset.intersection(*(self._shapes[one] for one in asked))
        return choose(lambda some: Bundle(some, work, shapes), [asked], windows_of(ones), "auto")


def _folds(how: Merge) -> bool:
    return how.bounded and how is not Merge.CUSTOM


def _reading(plan: PhysicalPlan, ones: tuple[One, ...]) -> float:
    """Price what several queries have in common: it is kept, and read by each of them."""
    return KEPT * sum(group.rows_out for group in plan.groups) + READ * len(ones) if len(ones) > 1 else 0.0


def own_windows(unit: Unit, group: Group) -> tuple[Window, ...]:
    """Give the windows of a group that a unit asks for."""
    asked = windows_of(unit.ones)
    return tuple(window for window in group.windows if window in asked)


def windows_of(ones: Iterable[One]) -> tuple[Window, ...]:
    """Return the periodic windows of some queries, each once."""
    return tuple(dict.fromkeys(window for one in ones for window in one.query.periodic))
