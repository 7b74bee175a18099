"""Rows and times of Parquet files by their footers: exact where all rows of the files are read, and nothing runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from muntin.spark.plans import is_classic, optimized_plan
from muntin.spark.telling import log

MOST_FOOTERS = 64
"""Footers that are read, at about a millisecond each; of more files, some are read that lie evenly among all."""
_NANOS = {"milliseconds": 1_000_000, "microseconds": 1_000, "nanoseconds": 1}


@dataclass(frozen=True, slots=True)
class FileFigures:
    """What footers say of the files that a DataFrame reads."""

    rows: int
    """The rows of all files, before any filter."""
    first: int | None
    """The earliest time in microseconds; None where footers have no times, or not those of the DataFrame."""
    last: int | None
    """The latest time."""
    filtered: bool
    """Whether the DataFrame leaves out some of the rows."""
    origin: str
    """Which footers were read."""

    @property
    def span(self) -> int | None:
        """The microseconds from the first to the last event; None where footers do not tell."""
        if self.filtered or self.first is None or self.last is None:
            return None
        return max(1, self.last - self.first)


@dataclass(frozen=True, slots=True)
class Scan:
    """Parquet files on this machine, all of whose rows a DataFrame reads, or some."""

    paths: tuple[Path, ...]
    """The files, or some that lie evenly among them."""
    files: int
    bytes: int
    """The size of all files together."""
    column: str | None
    """The column of the files that the time is; None where the time is computed."""
    filtered: bool


def read_footers(frame: DataFrame, time: str) -> FileFigures | None:
    """Return what footers say of the files that a DataFrame reads; None if it reads anything else.

    Figures are estimates, so nothing that goes wrong here is an error; it is logged.
    """
    if not is_classic(frame):
        return None
    try:
        scan = _scan_of(frame, time)
        return None if scan is None else _figures_of(scan)
    except Exception as error:  # of files that are gone, damaged or encrypted, or of another version of Spark
        log.info("footers of Parquet files cannot be read: %s", type(error).__name__)
        return None


def _scan_of(frame: DataFrame, time: str) -> Scan | None:
    """Follow an optimized plan from the time to the files, through what changes rows one by one."""
    plan = optimized_plan(frame)
    column: Any = next((it for it in _items(plan.output()) if it.name() == time), None)
    filtered = False
    while plan.children().size() == 1:
        match plan.nodeName():
            case "Project":
                column = _below(plan, column)
            case "Filter":
                filtered = True
            case _:
                return None
        plan = plan.children().head()
    if plan.getClass().getSimpleName() != "LogicalRelation":
        return None
    relation = plan.relation()
    names = [it.getClass().getSimpleName() for it in (relation, *_formats(relation))]
    if names != ["HadoopFsRelation", "ParquetFileFormat"]:
        return None
    files = relation.location().inputFiles()
    chosen = [urlsplit(files[place]) for place in evenly(len(files), MOST_FOOTERS)]
    if not chosen or any(file.scheme != "file" for file in chosen):
        return None
    paths = tuple(Path(unquote(file.path)) for file in chosen)
    name = None if column is None else _name_in(relation, column.name())
    return Scan(paths, len(files), int(relation.location().sizeInBytes()), name, filtered)


def _formats(relation: Any) -> Iterator[Any]:
    if relation.getClass().getSimpleName() == "HadoopFsRelation":
        yield relation.fileFormat()


def _name_in(relation: Any, name: str) -> str | None:
    """Return the name of a column in the files; None for a column in the names of folders."""
    return name if name in relation.dataSchema().fieldNames() else None


def _below(project: Any, column: Any) -> Any:
    """Return the column below a projection that a column above it is; None if it is computed."""
    if column is None:
        return None
    for item in _items(project.projectList()):
        if item.exprId().equals(column.exprId()):
            below = item.children().head() if item.getClass().getSimpleName() == "Alias" else item
            return below if below.getClass().getSimpleName() == "AttributeReference" else None
    return None


def _items(sequence: Any) -> Iterator[Any]:
    return (sequence.apply(place) for place in range(sequence.size()))


def evenly(count: int, most: int) -> Iterable[int]:
    """Return places that lie evenly among so many, at most so many of them.

    >>> list(evenly(3, 5)), list(evenly(101, 3))
    ([0, 1, 2], [0, 50, 100])
    """
    if count <= most:
        return range(count)
    return (place * (count - 1) // (most - 1) for place in range(most))


def _figures_of(scan: Scan) -> FileFigures:
    footers = [pq.read_metadata(path) for path in scan.paths]
    rows, all_read = sum(footer.num_rows for footer in footers), len(footers) == scan.files
    if not all_read:
        rows = rows * scan.bytes // max(1, sum(path.stat().st_size for path in scan.paths))
    ranges = [_range(footer, scan.column) for footer in footers if footer.num_rows]
    times = [moment for pair in ranges if pair is not None for moment in pair]
    known = bool(times) and None not in ranges
    number = f"{scan.files:,}" if all_read else f"{len(footers)} of {scan.files:,}"
    return FileFigures(
        rows,
        min(times) if known else None,
        max(times) if known else None,
        scan.filtered,
        f"the footers of {number} file{'s'[: scan.files != 1]}{', before filters,' if scan.filtered else ''}",
    )


def _range(footer: pq.FileMetaData, column: str | None) -> tuple[int, int] | None:
    """Return the first and the last time of a file in microseconds; None if a row group does not tell them."""
    names = [footer.schema.column(place).path for place in range(footer.num_columns)]
    if column not in names:
        return None
    place = names.index(column)
    logical = json.loads(footer.schema.column(place).logical_type.to_json())
    if logical.get("Type") != "Timestamp" or footer.schema.column(place).physical_type != "INT64":
        return None  # INT96 has no statistics
    nanos = _NANOS[logical["timeUnit"]]
    groups = [footer.row_group(number).column(place).statistics for number in range(footer.num_row_groups)]
    if any(group is None or not group.has_min_max for group in groups):
        return None
    first, last = min(group.min_raw for group in groups), max(group.max_raw for group in groups)
    return first * nanos // 1_000, last * nanos // 1_000
