"""Aggregates of the pairs of every instance and key: from aggregates of each side where that is enough."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from muntin import names
from muntin.aggregates import Aggregate, Merge
from muntin.aggregates import functions as f
from muntin.aggregates.model import Repetition
from muntin.errors import InternalError
from muntin.expressions import Expression
from muntin.query import RESERVED
from muntin.spark.input.checking import quoted
from muntin.spark.input.columns import Key
from muntin.spark.input.parts import named
from muntin.spark.input.reading import read
from muntin.spark.joins.asked import Asked, of_side, times
from muntin.spark.joins.instances import in_instances, instance, label
from muntin.spark.joins.request import ROLES, Request, Side
from muntin.spark.run import aggregate
from muntin.window import Window


@dataclass(frozen=True)
class Input:
    """One side as the user gave it."""

    frame: DataFrame
    time: Key
    prefix: str

    @property
    def aliased(self) -> DataFrame:
        """The DataFrame by the name of its side."""
        return self.frame.alias(ROLES[self.prefix])


def from_sides(
    left: Input,
    right: Input,
    by: tuple[str, ...],
    windows: tuple[Window, ...],
    asked: tuple[Asked, ...],
    *,
    outer: bool,
) -> DataFrame:
    """Aggregate each side over all windows, let equal instances and keys meet, and multiply what pairs multiply."""
    one, other = (_aggregated(side, by, windows, asked) for side in (left, right))
    meeting = [*names.keys(len(by)), names.LABEL, names.WINDOW]
    same = " AND ".join(f"{names.LEFT}{name} = {names.RIGHT}{name}" for name in meeting)
    pairs = one.join(other, F.expr(same), "left" if outer else "inner")
    counts = {side: f"{side}{names.COUNT}" for side in ROLES}
    partners = {names.LEFT: counts[names.RIGHT], names.RIGHT: counts[names.LEFT]}
    if outer:  # a left row without a partner counts once
        partners[names.LEFT] = f"coalesce({partners[names.LEFT]}, 1L)"
    types = {field.name: field.dataType for field in pairs.schema}
    results = [_result(place, asked[place], counts, partners, types, outer=outer) for place in range(len(asked))]
    found = pairs.select(
        *(f"{names.LEFT}{name}" for name in (names.LABEL, names.WINDOW, *names.keys(len(by)))),
        *(named(result, names.result(place)) for place, result in enumerate(results)),
    )
    return found.toDF(*RESERVED, *by, *(it.aggregate.name for it in asked))


def _aggregated(side: Input, by: tuple[str, ...], windows: tuple[Window, ...], asked: tuple[Asked, ...]) -> DataFrame:
    """Aggregate one side: how many rows it has, and what is asked of it alone."""
    own = list(of_side(asked, side.prefix))
    aggregates = [
        replace(one.aggregate, columns=tuple(given.column for given in one.inputs), name=names.result(place))
        for place, one in own
    ]
    keys = [F.col(quoted(key)).alias(names.key(place)) for place, key in enumerate(by)]
    counted = f.count().alias(names.COUNT)
    strategy: Any = "native" if side.frame.isStreaming else "auto"
    made = aggregate(side.aliased, side.time, keys, windows, [counted, *aggregates], strategy=strategy)
    results = [names.COUNT, *(names.result(place) for place, _ in own)]
    return made.toDF(*(f"{side.prefix}{name}" for name in (names.LABEL, names.WINDOW, *names.keys(len(by)), *results)))


def _result(
    place: int,
    one: Asked,
    counts: dict[str, str],
    partners: dict[str, str],
    types: dict[str, T.DataType],
    *,
    outer: bool,
) -> str:
    """Write the result over pairs, of the result over one side and the number of rows of the other."""
    if one.side is None:
        return f"{counts[names.LEFT]} * {partners[names.LEFT]}"
    result, function = f"{one.side}{names.result(place)}", one.aggregate.function
    kind = types[result]
    if function.repetition is Repetition.TIMES:
        product = times(kind, result, partners[one.side])
        if product is None:
            raise InternalError(f"no product of {one.aggregate!r}. Please report this.")  # pragma: no cover
        result = product
    return f"coalesce({result}, 0L)" if function.counts and outer else result


def from_pairs(request: Request, asked: tuple[Asked, ...], *, stretches: bool) -> DataFrame:
    """Aggregate the pairs themselves, once for all windows."""
    placed = in_instances(request, stretches=stretches)
    keys = [request.left.safe(key) for key in request.left.events.keys]
    times_of = (F.expr(side.micros).alias(side.safe(names.TIME)) for side in request.sides)
    whole = (_whole(request, side) for side in request.sides)
    rows = placed.select(label(request), instance(request), *keys, *times_of, *whole)
    start = Expression(F.col(f"{names.WINDOW}.start"), names.TIMESTAMP)  # of which nothing is asked
    grouping = [Expression(name, name) for name in (names.LABEL, names.WINDOW, *keys)]
    events = read(rows, start, grouping, tuple(map(_of_pairs, asked)))
    results = [named(made.plain, names.result(place)) for place, made in enumerate(events.recipes)]
    groups = events.frame.groupBy(*events.keys).agg(*results)
    return groups.toDF(*RESERVED, *request.by, *(one.aggregate.name for one in asked))


def _whole(request: Request, side: Side) -> Column:
    """Give the row of a side as a struct of its name, so that users' columns left.x and right.x are fields of it."""
    safe = dict(zip((*side.events.keys, *side.carried), (*request.by, *side.columns), strict=True))
    fields = (F.col(side.safe(name)).alias(own) for name, own in safe.items())
    return F.struct(*fields).alias(ROLES[side.prefix])


def _of_pairs(one: Asked) -> Aggregate:
    """Write an aggregate over the columns of pairs; the earliest row of a side is that of its own time."""
    function, columns = one.aggregate.function, tuple(given.column for given in one.inputs)
    if not function.takes_time:
        return replace(one.aggregate, columns=columns)
    by_order = f.MIN_BY if function.merge is Merge.EARLIER else f.MAX_BY
    return Aggregate(by_order, (*columns, f"{one.side}{names.TIME}"), one.aggregate.name)
