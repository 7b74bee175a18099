"""The metrics by name, and what a report adds to them; names and meanings are the same for all shapes, and stay."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from muntin.spark.stream.progress import Progress


@dataclass(frozen=True, slots=True)
class Family:
    """A metric: its name, whether it is a counter or a gauge, and what it means."""

    name: str
    kind: Literal["counter", "gauge"]
    help: str
    label: str | None = None
    """The label that it has beside those of the query."""
    shaped: bool = True
    """Whether it has the shape as a label: what is known before the first micro-batch has not."""


UP = Family("muntin_query_up", "gauge", "1 while the query runs, 0 after it has ended.", shaped=False)
STARTS = Family("muntin_query_starts_total", "counter", "Starts of the query, restarts included.", shaped=False)
FAILURES = Family("muntin_query_failures_total", "counter", "Ends of the query by an error.", shaped=False)
BATCHES = Family("muntin_batches_total", "counter", "Micro-batches.")
INPUT_ROWS = Family(
    "muntin_input_rows_total", "counter", "Rows that arrived; those that are read for each window count once."
)
OUTPUT_ROWS = Family(
    "muntin_output_rows_total",
    "counter",
    "Rows that were written, or rows of the result where the sink does not count.",
)
LATE_ROWS = Family(
    "muntin_late_rows_total",
    "counter",
    "Rows that came too late for an instance of the window; not with independent, expand, chain.",
    "window",
)
MISSED_ROWS = Family(
    "muntin_missed_rows_total",
    "counter",
    "Rows that came too late for all instances; not with independent, expand, chain.",
)
LATE_GROUPS = Family(
    "muntin_late_groups_total",
    "counter",
    "Groups of late rows that operators of Spark dropped, one for each micro-batch, key and instance or slice.",
)
FUTURE_ROWS = Family(
    "muntin_future_rows_total", "counter", "Rows that were set aside because they were too far ahead of the clock."
)
STEP_SECONDS = Family(
    "muntin_step_seconds_total",
    "counter",
    "Time of micro-batches by step, as Spark names it; triggerExecution is the whole.",
    "step",
)
BATCH_SECONDS = Family("muntin_batch_seconds", "gauge", "How long the last micro-batch took.")
BATCH_TIME = Family("muntin_batch_timestamp_seconds", "gauge", "When the last micro-batch began, in Unix time.")
INPUT_RATE = Family(
    "muntin_input_rows_per_second", "gauge", "Rows that arrived in a second, as of the last micro-batch."
)
PROCESSED_RATE = Family(
    "muntin_processed_rows_per_second", "gauge", "Rows that the last micro-batch could read in a second."
)
STATE_ROWS = Family(
    "muntin_state_rows", "gauge", "Instances, slices and waiting rows that are kept, packed ones counted one by one."
)
STATE_MEMORY = Family("muntin_state_memory_bytes", "gauge", "Memory that the stores of state take.")
STATE_FILES = Family("muntin_state_file_bytes", "gauge", "Size of RocksDB's files of state.")
WATERMARK = Family(
    "muntin_watermark_timestamp_seconds", "gauge", "The watermark of the last micro-batch, in Unix time."
)
LAG = Family("muntin_watermark_lag_seconds", "gauge", "How far the watermark is behind the clock now.")
CHANGE = Family(
    "muntin_registry_change", "gauge", "The newest change of the registry of windows that the query has taken up."
)
DAMAGED = Family(
    "muntin_damaged_changes",
    "gauge",
    "Changes of the registry that cannot be read and are skipped (skip_damaged=True).",
)

FAMILIES = (
    *(UP, STARTS, FAILURES, BATCHES, INPUT_ROWS, OUTPUT_ROWS, LATE_ROWS, MISSED_ROWS, LATE_GROUPS, FUTURE_ROWS),
    *(STEP_SECONDS, BATCH_SECONDS, BATCH_TIME, INPUT_RATE, PROCESSED_RATE, STATE_ROWS, STATE_MEMORY, STATE_FILES),
    *(WATERMARK, LAG, CHANGE, DAMAGED),
)
"""All metrics, in the order in which they are written."""


class Sample(NamedTuple):
    """A value of a metric, for one value of its own label if it has one."""

    family: Family
    value: float
    label: str = ""


def samples(one: Progress) -> Iterator[Sample]:
    """Give what a report tells: what a counter goes up by, and where a gauge stands.

    What a shape does not count is left out, and not given as 0.
    """
    yield Sample(BATCHES, one.batches)
    yield Sample(INPUT_ROWS, one.rows_in // one.scans)
    yield from _known(OUTPUT_ROWS, one.rows_out)
    yield from (Sample(LATE_ROWS, rows, window) for window, rows in one.late_rows)
    yield from _known(MISSED_ROWS, one.missed)
    if one.packed is None and one.state:
        yield Sample(LATE_GROUPS, one.late_groups)
    yield from _known(FUTURE_ROWS, one.future)
    yield from (Sample(STEP_SECONDS, taken / 1000, step) for step, taken in one.steps)
    yield Sample(BATCH_SECONDS, one.milliseconds / 1000)
    yield from _known(BATCH_TIME, None if one.began is None else one.began.timestamp())
    yield from _known(INPUT_RATE, one.input_rate and one.input_rate / one.scans)
    yield from _known(PROCESSED_RATE, one.processed_rate and one.processed_rate / one.scans)
    if one.state:
        yield Sample(STATE_ROWS, one.kept)
        yield Sample(STATE_MEMORY, sum(operator.bytes for operator in one.state))
    if files := [operator.file_bytes for operator in one.state if operator.file_bytes is not None]:
        yield Sample(STATE_FILES, sum(files))
    if one.watermark is not None and one.watermark.timestamp() > 0:  # Spark's word for none yet
        yield Sample(WATERMARK, one.watermark.timestamp())
    yield from _known(CHANGE, one.change)
    yield from _known(DAMAGED, one.damaged)


def _known(family: Family, value: float | None) -> Iterator[Sample]:
    if value is not None:
        yield Sample(family, value)
