"""What is said at the end of a run."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from muntin.plan.sharing import SharingPlan
from muntin.safe_text import escape_controls, hide_user_info

if TYPE_CHECKING:
    from muntin.cli.queries.streaming import Tally
    from muntin.spark.statements.plan import SharedPlan, SqlPlan

MOST_LINES = 8
"""Lines of a plan that are said without being asked for."""


@dataclass(frozen=True, slots=True)
class Written:
    """A statement, the rows that it gave, and where they are."""

    name: str
    rows: int
    place: str = field(repr=False)


def written_table(results: Iterable[Written]) -> RenderableType:
    """List the results of all statements."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("statement", overflow="fold")
    table.add_column("rows", justify="right", no_wrap=True)
    table.add_column("folder", overflow="fold")
    for one in results:
        table.add_row(_text(one.name), f"{one.rows:,}", _text(_short(one.place)))
    return table


def batch_lines(statements: int, seconds: float, plan: SqlPlan) -> list[RenderableType]:
    """Say how long a batch took, and how it was evaluated."""
    return [Text(f"{_statements(statements)} in {seconds:.1f} s", style="bold green"), in_short(plan)]


def stream_lines(tally: Tally, stopped: bool, *, goes_on: bool) -> list[RenderableType]:
    """Say what a stream did, and how it ended."""
    end = "stopped" if stopped else "done"
    seconds = time.monotonic() - tally.started
    done = f"{end} after {seconds:.1f} s: {tally.events:,} events, {tally.late:,} late, {tally.in_batches}"
    rest = [] if tally.watermark is None else [f"watermark {tally.watermark:%Y-%m-%d %H:%M:%S}"]
    rest += ["run the same command to resume"] if goes_on else []
    return [Text(done, style="bold green"), *([Text("; ".join(rest))] if rest else [])]


def in_short(plan: SqlPlan) -> RenderableType:
    """Say in a few lines which statements are evaluated together, and what that saves."""
    lines = [line for shared in plan.shared for line in _shared(shared)]
    lines += [f"{plain.name} as plain Spark{f': {plain.reason}' if plain.reason else ''}" for plain in plan.plain]
    if len(lines) > MOST_LINES:
        lines[MOST_LINES:] = [f"… and {len(lines) - MOST_LINES} more lines; --explain prints the whole plan"]
    return Padding(Group(*(_text(line, "dim") for line in lines)), (0, 0, 0, 2), expand=False)


def _shared(shared: SharedPlan) -> Iterator[str]:
    plan, tables = shared.plan, ", ".join(shared.tables)
    if not isinstance(plan, SharingPlan):
        yield f"{tables} → {', '.join(shared.statements)}"
        return
    for share in plan.shares:
        names = ", ".join(reader.name for reader in share.queries)
        yield f"{tables} → {names}{f' together, by {share.way}' if len(share.queries) > 1 else ' by itself'}"
    if plan.alone is not None and plan.cost > 0 and len(shared.statements) > 1:
        yield (
            f"estimated {plan.cost / 1e6:.2f} core-seconds instead of {plan.alone / 1e6:.2f} one by one: "
            f"{plan.alone / plan.cost:.1f} times cheaper"
        )


def _text(text: str, style: str = "") -> Text:
    """Write what may have names of any characters in it."""
    return Text(escape_controls(hide_user_info(text)), style=style)


def _statements(count: int) -> str:
    return f"{count} statement{'' if count == 1 else 's'}"


def _short(place: str) -> str:
    """Write a path from where the user is, if it is below."""
    return place.removeprefix(f"{Path.cwd()}/")
