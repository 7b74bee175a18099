"""Plans whose windows are combined in Arrow batches by kernels, along the forest of the logical plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import TypeVar

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_type

from muntin.aggregates import Aggregate, Merge
from muntin.plan.logical import Plan
from muntin.plan.overlap import overlap
from muntin.plan.physical import Group, Shape, Statistics
from muntin.plan.slicing import Grid
from muntin.spark.batches import Chunks, Layout
from muntin.spark.combine import Task, combine, nodes_of, slices_at_source, windows_at_source
from muntin.spark.leaving import leave_quietly
from muntin.spark.native import merged, sliced
from muntin.spark.reducers import Reducer, reducer
from muntin.spark.source import LONGEST_WINDOW, Events, Source, is_set
from muntin.techniques import Need, cheapest

Given = TypeVar("Given")

MANY_KEYS = 64
"""From so many keys on, cutting hot ones by time is a precaution, and chunks may be long."""


def obstacle(source: Events) -> str | None:
    """Say why kernels cannot take a query; None if they can."""
    for name, found in zip(source.by, source.key_types, strict=True):
        if not is_flat(found):
            return f"key {name!r} is of type {found.simpleString()}"
    for made in source.recipes:
        if not made.lift:
            return f"no kernel knows {made.aggregate!r}"
    schema = source.lifted_schema
    for made, names in zip(source.recipes, source.partials, strict=True):
        types = [schema[name].dataType for name in names]
        if not all(map(is_flat, types)) or None in _reducers_of(made.aggregate.function.merge, types, strict=True):
            kinds = ", ".join(found.simpleString() for found in types)
            return f"no kernel knows {made.aggregate!r} over {kinds}"
    return None


def techniques(source: Source, group: Group, forest: Plan, statistics: Statistics) -> tuple[str, ...]:
    """Say how every window with overlapping instances will be combined, if the statistics are right.

    The choice itself is made for every batch, by the same prices and the ranges that are there.
    """
    kinds: dict[frozenset[Need], list[str]] = {}
    for aggregate, made, _ in _parts(source):
        kinds.setdefault(frozenset(made.offers), []).append(repr(aggregate))
    lines = []
    for node in forest.nodes:
        members, arrivals = overlap(node.window, node.parent, group.grids, statistics)
        if members < 2 * arrivals:
            continue
        chosen: dict[str, list[str]] = {}
        for needs, asked in kinds.items():
            chosen.setdefault(cheapest(needs, members, arrivals).name, []).extend(asked)
        how = ", ".join(f"{name} for {', '.join(dict.fromkeys(asked))}" for name, asked in chosen.items())
        lines.append(f"{node.window.label} by {how}: {members:.3g} partials in a range, {arrivals:.3g} of them new")
    return tuple(lines)


def evaluate(source: Source, group: Group, statistics: Statistics) -> DataFrame:
    """Evaluate a group of windows by kernels, in the shape that was chosen for it."""
    forest = group.forest
    if group.shape is Shape.SOURCE_KERNEL:
        task = _task(source, forest)
        return merged(source, mapped(source.lifted, windows_at_source, task, window_schema(source), source.shared))
    longest = max(int(window.range) for window in group.windows)
    chunks = Chunks(chunk_length(longest, statistics), longest)
    match group.shape:
        case Shape.SLICES_KERNEL:
            parts = chunked(sliced(source, group.grids), chunks)
        case Shape.SOURCE_SLICES_KERNEL:
            schema = T.StructType([T.StructField("t", T.LongType()), *tail(source)])
            task = _task(source, chunks=chunks, grids=group.grids)
            parts = mapped(source.lifted, slices_at_source, task, schema, source.shared)
        case _:
            parts = chunked(source.lifted, chunks)
    ordered = in_order(source, parts, chunks)
    shared = {name: other for name, other in source.shared.items() if name not in parts.columns}
    windows = mapped(ordered, combine, _task(source, forest, chunks), window_schema(source), shared)
    return source.finish(windows, source.lowered())


def in_order(source: Events, parts: DataFrame, chunks: Chunks | None) -> DataFrame:
    """Bring rows of one key and chunk together, sorted by key and time."""
    together = [F.col(key) for key in source.keys]
    if chunks is not None:
        together.append(F.expr(_floor_div("t", chunks.stride)))
    spread = parts.repartition(*together) if together else parts.repartition(1)
    return spread.sortWithinPartitions(*source.keys, "t")


def chunk_length(longest: int, statistics: Statistics) -> int:
    """Choose how long the time chunks are that keys are cut into, so that one hot key uses all cores.

    Every chunk also needs the rows of one longest range after it (the halo), so chunks are several times as long.
    """
    halos = 8 if statistics.keys >= MANY_KEYS else 2
    return max(halos * longest, min(statistics.span, LONGEST_WINDOW) // 64)


def chunked(parts: DataFrame, chunks: Chunks, *, timeless: bool = False) -> DataFrame:
    """Give every row a place in each chunk whose windows may contain it (see Chunks); null where it has no time."""
    own = _floor_div("t", chunks.length)
    earliest = _floor_div(f"(t - {chunks.halo - 1}L)", chunks.length)
    within = f"CASE WHEN {earliest} = {own} THEN array({own}) ELSE sequence({earliest}, {own}) END"
    places = f"transform({within}, chunk -> t + chunk * {chunks.halo}L)"
    rest = [name for name in parts.columns if name != "t"]
    explode = "explode_outer" if timeless else "explode"
    return parts.select(F.expr(f"{explode}({places})").alias("t"), *rest)


def _floor_div(value: str, length: int) -> str:
    """Divide whole numbers, rounding down; Spark's div rounds towards zero and its / is a float.

    As text, since every call into Spark takes time.
    """
    return f"(({value} - pmod({value}, {length}L)) div {length}L)"


def mapped(
    frame: DataFrame,
    step: Callable[[Iterator[pa.RecordBatch], Given], Iterator[pa.RecordBatch]],
    task: Given,
    schema: T.StructType,
    shared: Mapping[str, str] = MappingProxyType({}),
) -> DataFrame:
    """Send rows through a step in Python; columns that are the same as others are put beside them there."""
    same = dict(shared)

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        leave_quietly()
        return step(map(whole, batches) if same else batches, task)

    def whole(batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [*batch.columns, *(batch[other] for other in same.values())]
        return pa.RecordBatch.from_arrays(columns, names=[*batch.schema.names, *same])

    return frame.mapInArrow(run, schema)


def _task(
    source: Source, forest: Plan | None = None, chunks: Chunks | None = None, grids: tuple[Grid, ...] = ()
) -> Task:
    numbers = {window: number for number, window in enumerate(source.query.windows)}
    nodes = () if forest is None else nodes_of(forest, numbers)
    return Task(nodes, layout(source, chunks), grids)


def tail(source: Source) -> list[T.StructField]:
    """Give the columns of keys and partials."""
    fields = [field for field in source.lifted_schema if field.name != "t"]
    return [T.StructField(f.name, f.dataType, f.nullable or f.name not in source.keys) for f in fields]


def window_schema(source: Source) -> T.StructType:
    """Give the columns of instances: the window's number, the start, keys and partials."""
    return T.StructType([T.StructField("w", T.IntegerType()), T.StructField("s", T.LongType()), *tail(source)])


def layout(source: Events, chunks: Chunks | None = None) -> Layout:
    """Tell what is in the columns that go to Python, and how each is reduced."""
    _, reducers, counts = zip(*_parts(source), strict=True)
    return Layout(reducers, counts, len(source.keys), chunks)


def _parts(source: Events) -> list[tuple[Aggregate, Reducer, int]]:
    """Give the reducers of all partial columns in order, whose they are, and how many columns each takes."""
    schema = source.lifted_schema
    strict = is_set(source.frame, "spark.sql.ansi.enabled", "true")
    parts = []
    for made, names in zip(source.recipes, source.partials, strict=True):
        found = _reducers_of(made.aggregate.function.merge, [schema[name].dataType for name in names], strict=strict)
        parts += [(made.aggregate, r, len(names) // len(found)) for r in found if r is not None]
    return parts


def _reducers_of(merge: Merge, types: list[T.DataType], *, strict: bool) -> list[Reducer | None]:
    """Give one reducer for all columns of a partial, or one for each where each is merged by itself."""
    if merge is Merge.SUM:
        if any(isinstance(found, T.DecimalType) and found.precision == 38 for found in types):
            return [None]  # a sum could leave 38 digits without leaving 128 bits
        return [reducer(merge, to_arrow_type(found, timezone="UTC"), strict=strict) for found in types]
    return [reducer(merge, to_arrow_type(types[0], timezone="UTC"), strict=strict)]


def is_flat(found: T.DataType) -> bool:
    """Tell whether Arrow compares a type's values as Spark does: no nested types, no collations, no intervals."""
    if isinstance(found, T.StringType):
        return found.simpleString() == "string"
    return isinstance(
        found,
        T.NumericType | T.BooleanType | T.DateType | T.TimestampType | T.TimestampNTZType | T.BinaryType,
    )
