"""muntin run: the results of all statements as files or tables, of a batch or a stream."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from rich.console import Console

from muntin.cli.queries import logs, options, summary
from muntin.cli.queries.options import Run
from muntin.cli.queries.outputs import Outputs, batch_outputs, stream_outputs
from muntin.cli.queries.progress import Steps, steps
from muntin.cli.queries.reading import require
from muntin.cli.queries.streaming import Tally, follow, single
from muntin.cli.queries.work import Job, in_words_of_the_command_line, prepared, started
from muntin.cli.queries.writing import FileFormat, FolderSink, write
from muntin.cli.terminal import Rows, first_rows, print_plan, show
from muntin.errors import QueryError, UnsupportedError
from muntin.files import Files, LocalFiles
from muntin.paths import is_remote, place_of, url
from muntin.safe_text import hide_user_info
from muntin.spark.hadoop import HadoopFiles
from muntin.spark.statements.run import statement_results


@dataclass(frozen=True, slots=True)
class Answer:
    """What mt.sql gave: a DataFrame for every statement, and the plan of all."""

    frames: Mapping[str, DataFrame]
    plan: Any
    together: Any = None
    """The results of several statements, which start and end together; None for a single one."""


def run(asked: Run) -> None:
    """Run the statements of a file, and say what came of them."""
    options.check(asked)
    options.trigger_of(asked.trigger)
    elsewhere = _is_elsewhere(asked)
    job = prepared(asked)
    places = None if elsewhere else _places(asked, job, LocalFiles())
    out, err = Console(), logs.screen()
    both = out.is_terminal and err.is_terminal
    screen = out if both else err  # a terminal is written by one console, or lines would mix
    with steps(screen, tasks=not asked.stream) as shown, started(job, shown) as spark:
        if asked.form == "delta":
            require(spark, "delta")
        if elsewhere:  # only Spark knows the way there
            places = _places(asked, job, HadoopFiles(spark))
        shown.now("planning")
        with _answered(job, spark) as answer:
            if asked.explain:
                print_plan(out, answer.plan.explain())
            if asked.stream:
                said = _stream(asked, answer, places, spark, out, shown)
            elif places is not None:
                said = _files(asked, answer, places, shown)
            else:
                said = _tables(asked, answer, out, shown)
    for line in said:
        (out if places is not None else screen).print(line)


def _is_elsewhere(asked: Run) -> bool:
    """Tell whether results go to another file system; then its checkpoint is there as well."""
    output = asked.output is not None and is_remote(asked.output)
    if asked.output and asked.checkpoint and output != is_remote(asked.checkpoint):
        raise QueryError(
            f"output {hide_user_info(asked.output)!r} is on another file system than checkpoint "
            f"{hide_user_info(asked.checkpoint)!r}. "
            "Give both on one, or leave out --checkpoint."
        )
    return output


def _places(asked: Run, job: Job, files: Files) -> Outputs | None:
    """Give every statement its folder, if results are written; refuse folders that are taken."""
    if asked.output is None:
        return None
    inputs = [source.folder or source.path for source in job.sources if source.format != "kafka"]
    if asked.stream:
        return stream_outputs(
            asked.output, job.names, inputs, files, checkpoint=asked.checkpoint, overwrite=asked.overwrite
        )
    return batch_outputs(asked.output, job.names, inputs, files, overwrite=asked.overwrite)


@contextmanager
def _answered(job: Job, spark: SparkSession) -> Iterator[Answer]:
    """Hand the statements over to Muntin, and release what they share in the end."""
    with in_words_of_the_command_line():
        results = statement_results(job.text, **job.arguments(spark))
    try:
        yield Answer(results, results.plan, results if len(results) > 1 else None)
    finally:
        results.release()


def _file_format(asked: Run) -> FileFormat:
    return "parquet" if asked.form is None or asked.form == "table" else asked.form


def _files(asked: Run, answer: Answer, places: Outputs, shown: Steps) -> list[Any]:
    begun = time.monotonic()
    written = []
    for number, (name, place) in enumerate(places.folders.items(), 1):
        shown.now(f"{name} ({number} of {len(places.folders)})")
        rows = write(answer.frames[name], place, _file_format(asked), places.files)
        written.append(summary.Written(name, rows, place))
    seconds = time.monotonic() - begun
    return [summary.written_table(written), *summary.batch_lines(len(written), seconds, answer.plan)]


def _tables(asked: Run, answer: Answer, out: Console, shown: Steps) -> list[Any]:
    begun = time.monotonic()
    for number, (name, frame) in enumerate(answer.frames.items(), 1):
        shown.now(f"{name} ({number} of {len(answer.frames)})")
        show(out, first_rows(frame, asked.rows), name)
        out.print()
    return summary.batch_lines(len(answer.frames), time.monotonic() - begun, answer.plan)


def _stream(
    asked: Run, answer: Answer, places: Outputs | None, spark: SparkSession, out: Console, shown: Steps
) -> list[Any]:
    with _checkpoint(asked, places) as checkpoint:
        if places is not None:
            places.clear()
        sinks = {name: _sink(asked, name, places, out) for name in answer.frames}
        trigger = options.trigger_of(asked.trigger)

        def start() -> Any:
            if answer.together is None:
                [(name, frame)] = answer.frames.items()
                return single(frame, sinks[name], checkpoint, trigger)
            try:
                return answer.together.start(sinks, checkpoint=checkpoint, trigger=trigger)
            except UnsupportedError as error:
                raise UnsupportedError(f"{error}\nHere: put it into a file of its own, and run each file.") from error

        shown.now("waiting for events")
        tally, stopped = follow(spark, start, lambda tally: _tell(shown, tally))
    lines = summary.stream_lines(tally, stopped, goes_on=places is not None or asked.checkpoint is not None)
    if places is None:
        return lines
    written = [summary.Written(name, sinks[name].rows, place) for name, place in places.folders.items()]
    return [summary.written_table(written), *lines, summary.in_short(answer.plan)]


def _tell(shown: Steps, tally: Tally) -> None:
    if tally.batches:
        shown.say(str(tally))


@contextmanager
def _checkpoint(asked: Run, places: Outputs | None) -> Iterator[str]:
    """Give the checkpoint of a stream; one that prints and shall not go on later needs it only for now."""
    if places is not None and places.checkpoint is not None:
        yield url(places.checkpoint)
    elif asked.checkpoint is not None:
        yield url(place_of(asked.checkpoint, "checkpoint"))
    else:
        with tempfile.TemporaryDirectory(prefix="muntin-", ignore_cleanup_errors=True) as temporary:
            yield url(Path(temporary))


def _sink(asked: Run, name: str, places: Outputs | None, out: Console) -> Any:
    if places is not None:
        return FolderSink(places.folders[name], _file_format(asked), places.files)
    return TableSink(name, asked.rows, out)


@dataclass(slots=True)
class TableSink:
    """A statement of a stream that is printed: a table for every micro-batch that has rows."""

    name: str
    most: int
    out: Console
    rows: int = 0
    """Rows that were printed."""

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Print the rows of a micro-batch."""
        rows: Rows = first_rows(frame, self.most)
        if len(rows):
            self.rows += len(rows)
            show(self.out, rows, f"{self.name}, micro-batch {batch}")
            self.out.print()
