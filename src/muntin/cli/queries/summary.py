"""What is said at the end of a run."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from muntin.cli.queries.streaming import Tally


@dataclass(frozen=True, slots=True)
class Written:
    """A statement, the rows that it gave, and where they are."""

    name: str
    rows: int
    place: Path


def written_table(results: Iterable[Written]) -> RenderableType:
    """List the results of all statements."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("statement", overflow="fold")
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("folder", overflow="fold")
    for one in results:
        table.add_row(Text(one.name), f"{one.rows:,}", Text(_short(one.place)))
    return table


def batch_lines(statements: int, seconds: float, plan: Any) -> list[RenderableType]:
    """Say how long a batch took, and how it was evaluated."""
    return [Text(f"{_statements(statements)} in {seconds:.1f} s", style="bold green"), in_short(plan)]


def stream_lines(tally: Tally, stopped: bool, *, goes_on: bool) -> list[RenderableType]:
    """Say what a stream did, and how it ended."""
    seconds = time.monotonic() - tally.started
    end = "stopped" if stopped else "done"
    again = "; the same command goes on from here" if goes_on else ""
    return [Text(f"{end} after {seconds:.1f} s: {tally}{again}", style="bold green")]


def in_short(plan: Any, lines: int = 6) -> RenderableType:
    """Give the first lines of a plan."""
    told = plan.explain().splitlines()
    more = [f"… {len(told) - lines} more lines with --explain"] if len(told) > lines + 1 else told[lines:]
    return Group(*(Text(line, no_wrap=True, overflow="ellipsis", style="dim") for line in (*told[:lines], *more)))


def _statements(count: int) -> str:
    return f"{count} statement{'' if count == 1 else 's'}"


def _short(place: Path) -> str:
    """Write a path from where the user is, if it is below."""
    try:
        return str(place.relative_to(Path.cwd()))
    except ValueError:
        return str(place)
