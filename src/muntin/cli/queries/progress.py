"""What a command is doing just now, on a terminal; nothing where standard error is none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, Progress, ProgressColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Column

from muntin.safe_text import escape_controls

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAUSE = 0.2
"""Seconds between two looks at Spark's tasks."""


class Steps:
    """One line that says which step is done, for how long, and how many of Spark's tasks are through."""

    def __init__(self, bar: Progress) -> None:
        self._bar = bar
        self._task = bar.add_task("", total=None, tasks="")
        self._over = threading.Event()
        self._watch: threading.Thread | None = None

    def now(self, text: str) -> None:
        """Say what is done from here on."""
        self._bar.reset(self._task, total=None, description=escape(escape_controls(text)), tasks="")

    def say(self, text: str) -> None:
        """Say how far the same step is."""
        self._bar.update(self._task, description=escape(escape_controls(text)))

    def watch(self, spark: SparkSession) -> None:
        """Show the tasks of the stages that are running."""
        if not self._bar.disable:
            self._watch = threading.Thread(target=self._look, args=(spark,), daemon=True)
            self._watch.start()

    def end(self) -> None:
        """Look no longer."""
        self._over.set()
        if self._watch is not None:
            self._watch.join()

    def _look(self, spark: SparkSession) -> None:
        tracker = spark.sparkContext.statusTracker()
        while not self._over.wait(PAUSE):
            with suppress(Exception):  # a stage, or Spark itself, may be gone meanwhile
                stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                total = sum(stage.numTasks for stage in stages if stage)
                done = sum(stage.numCompletedTasks for stage in stages if stage)
                text = f"{done}/{total} tasks" if total else ""
                far = min(done, total - 0.5)  # what is complete is no longer shown as running
                self._bar.update(self._task, total=total or None, completed=far, tasks=text)


@contextmanager
def steps(console: Console, *, tasks: bool = True) -> Iterator[Steps]:
    """Show steps while something is done, with or without a bar of tasks; the line is gone afterwards."""
    text = TextColumn("{task.description}", table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1))
    columns: list[ProgressColumn] = [SpinnerColumn(), text]
    columns += [BarColumn(20), TextColumn("{task.fields[tasks]}")] if tasks else []
    bar = Progress(
        *columns, TimeElapsedColumn(), console=console, transient=True, expand=True, disable=not console.is_terminal
    )
    with bar:
        shown = Steps(bar)
        try:
            yield shown
        finally:
            shown.end()
