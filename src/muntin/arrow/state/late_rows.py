"""Rows that missed all their windows, given back: the rows themselves go to the state, and are sliced there.

Slices are otherwise cut at the source, which does not know the watermark. What a bucket keeps is the same either way,
so late rows may be asked for, or no longer, at a restart from the same checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from muntin import names
from muntin.arrow.batches import ColumnLayout, joined
from muntin.arrow.combine import SliceTask, slices_at_source
from muntin.arrow.frames.state import FrameJob, missed
from muntin.arrow.state.bucket import News, Outcome, Store, changed
from muntin.arrow.state.head import Head, Job
from muntin.arrow.state.packing import apart, labelled_instances, no_windows, pack, unpack, with_count
from muntin.arrow.state.terms import Term, any_open
from muntin.fingerprint import Fingerprint
from muntin.kernels.protocol import Longs
from muntin.plan.slicing.grids import slicing


@dataclass(frozen=True, slots=True)
class LateJob:
    """A job that is given rows, and gives back those that are too late for all windows; it travels pickled."""

    job: Any
    step: Callable[[Any, Head | None, Store, News, int], Outcome]
    """What a bucket does otherwise."""
    columns: tuple[str, ...]
    """The columns of the input that late rows are given back with."""
    layout: ColumnLayout | None = None
    """What is in the rows, where they are to be sliced."""
    items: tuple[str, ...] = ()
    """Keys that are items to be counted; of several, a slice has one."""

    @property
    def fingerprint(self) -> Fingerprint:
        """What a checkpoint must have been made for."""
        given: Fingerprint = self.job.fingerprint
        return given

    @property
    def terms(self) -> tuple[Term, ...]:
        """The windows, unless a registry has them."""
        given: tuple[Term, ...] = self.job.terms
        return given


def late_step(job: LateJob, head: Head | None, store: Store, news: News, watermark: int) -> Outcome:
    """Do one step of a bucket, and give back the rows that came too late for all windows."""
    inner = job.job
    before = head or Head(inner.fingerprint, inner.terms)
    terms = changed(before, news.changes, watermark)
    late, taken = [], []
    for data in news.slices:
        rows = unpack(data)
        is_late = _is_late(inner, rows[names.TIME].to_numpy(), before, terms)
        if is_late.any():
            late.append(rows.filter(pa.array(is_late)).select(job.columns))
        bare = rows.drop_columns(list(job.columns))
        taken += [bare] if job.layout is None else _sliced(bare, job.layout, job.items, terms)
    given = replace(news, slices=tuple(map(pack, taken)), grids=frozenset())
    outcome = job.step(inner, head, store, given, watermark)
    return replace(outcome, missed=pack(_with_watermark(joined(late), before.watermark))) if late else outcome


def _is_late(job: Job | FrameJob, time: Longs, head: Head, terms: Sequence[Term]) -> NDArray[np.bool_]:
    """Tell which rows come too late for all instances that they lie in; a row in none is not late."""
    if isinstance(job, FrameJob):
        return missed(time, head, job.slicings(terms))
    closed = np.zeros(len(time), np.bool_)
    for term in terms:
        closed |= term.is_closed(time, head.watermark)
    return (time < head.watermark) & closed & ~any_open(terms, time, time, head.watermark)


def _sliced(
    rows: pa.RecordBatch, layout: ColumnLayout, items: tuple[str, ...], terms: Sequence[Term]
) -> list[pa.RecordBatch]:
    """Cut rows into slices, as a task at the source does."""
    single = with_count(rows)
    batch = apart(single, items) if len(items) > 1 else single
    grids = slicing(tuple(term.window for term in terms)) if terms else no_windows()
    return list(slices_at_source(iter([batch]), SliceTask(layout, grids)))


def _with_watermark(rows: pa.RecordBatch, watermark: int) -> pa.RecordBatch:
    mark = pa.array(np.full(rows.num_rows, watermark), pa.int64()).cast(pa.timestamp("us", "UTC"))
    return rows.append_column(names.WATERMARK, mark)


def unpacked_beside(batches: Iterable[pa.RecordBatch], labelled: bool) -> Iterator[pa.RecordBatch]:
    """Turn packed instances and packed late rows into rows: a late row is a struct beside an empty instance.

    Two columns that are null in all rows tell the types.
    """
    for batch in batches:
        instance, late_row = (batch.schema.field(name).type for name in (names.INSTANCE, names.LATE_ROW))
        for data in batch[names.DATA]:
            if data.is_valid and data.as_buffer().size:
                instances = unpack(data.as_buffer())
                given = labelled_instances(instances) if labelled else instances.replace_schema_metadata()
                yield given.append_column(names.LATE_ROW, pa.nulls(given.num_rows, late_row))
        for data in batch[names.MISSED]:
            if data.is_valid:
                rows = unpack(data.as_buffer())
                cast = (column.cast(field.type) for column, field in zip(rows.columns, late_row, strict=True))
                structs = pa.StructArray.from_arrays(list(cast), fields=list(late_row))
                empty = [pa.nulls(rows.num_rows, field.type) for field in instance]
                columns = [field.name for field in instance]
                yield pa.RecordBatch.from_arrays([*empty, structs], names=[*columns, names.LATE_ROW])
