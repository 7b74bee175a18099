"""Groups of windows that are combined in Arrow batches by kernels, along their forest."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import types as T

from muntin import names
from muntin.arrow.batches import Chunks
from muntin.arrow.combine import CombineTask, SliceTask, combine, slices_at_source, windows_at_source
from muntin.arrow.forest import readers_of
from muntin.plan.forest.logical import Plan
from muntin.plan.physical.plans import Group
from muntin.plan.physical.shapes import Shape
from muntin.plan.statistics import Statistics
from muntin.spark.batch.native import merged, sliced
from muntin.spark.input.source import Source
from muntin.spark.workers.chunks import chunk_length, chunked, in_order
from muntin.spark.workers.layout import layout, tail, window_schema
from muntin.spark.workers.passage import mapped


def evaluate(source: Source, group: Group, statistics: Statistics) -> DataFrame:
    """Evaluate a group of windows by kernels, in the shape that was chosen for it."""
    forest, events = group.forest, source.events
    if group.shape is Shape.SOURCE_KERNEL:
        task = _task(source, forest)
        return merged(source, mapped(events.lifted, windows_at_source, task, window_schema(events), events.shared))
    halo = max(window.halo for window in group.windows)
    chunks = Chunks(chunk_length(halo, statistics), halo)
    match group.shape:
        case Shape.SLICES_KERNEL:
            parts = chunked(sliced(source, group.grids), chunks, names.BEGIN)
        case Shape.SOURCE_SLICES_KERNEL:
            schema = T.StructType([T.StructField(names.PLACE, T.LongType()), *tail(events)])
            slicing = SliceTask(layout(events), group.grids, chunks)
            parts = mapped(events.lifted, slices_at_source, slicing, schema, events.shared)
        case _:
            parts = chunked(events.lifted, chunks)
    ordered = in_order(events, parts, chunks)
    shared = {name: other for name, other in events.shared.items() if name not in parts.columns}
    windows = mapped(ordered, combine, _task(source, forest, chunks), window_schema(events), shared)
    return source.finish(windows, events.lowered())


def _task(source: Source, forest: Plan | None = None, chunks: Chunks | None = None) -> CombineTask:
    readers = () if forest is None else readers_of(forest, source.numbers)
    return CombineTask(readers, layout(source.events, chunks))
