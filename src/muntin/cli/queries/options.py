"""The options of muntin run and muntin explain, as data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import click

from muntin.choices import TableScope
from muntin.duration import parse_duration
from muntin.errors import QueryError
from muntin.sqltext.statement import Boundaries, Dialect

ResultFormat = Literal["parquet", "csv", "json", "delta", "table"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is common to both commands: the statements, their inputs, and the Spark that reads them."""

    file: str
    inputs: tuple[str, ...] = field(default=(), repr=False)
    input_formats: tuple[str, ...] = ()
    input_options: tuple[str, ...] = field(default=(), repr=False)
    input_options_files: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()
    stream: bool = False
    dialect: Dialect | None = None
    boundaries: Boundaries | None = None
    watermark: str | None = None
    tables: TableScope | None = None
    master: str | None = None
    conf: tuple[str, ...] = field(default=(), repr=False)
    conf_files: tuple[str, ...] = ()
    verbose: int = 0
    debug: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Run(Asked):
    """What muntin run is asked for."""

    output: str | None = field(default=None, repr=False)
    form: ResultFormat | None = None
    rows: int = 20
    overwrite: bool = False
    checkpoint: str | None = field(default=None, repr=False)
    trigger: str | None = None
    explain: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Explain(Asked):
    """What muntin explain is asked for."""

    form: str = "text"


def _stacked(*options: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def add(command: Any) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return add


asked_options = _stacked(
    click.argument("file", metavar="FILE"),
    click.option(
        "-i",
        "--input",
        "inputs",
        multiple=True,
        metavar="NAME=PATH",
        help="A table that statements read: a file, a folder, or kafka://HOST:PORT/TOPIC. Repeat it for several.",
    ),
    click.option(
        "--input-format",
        "input_formats",
        multiple=True,
        metavar="[NAME=]FORMAT",
        help="parquet, csv, json or delta, if the file names do not show it.",
    ),
    click.option(
        "--input-option",
        "input_options",
        multiple=True,
        metavar="[NAME=]KEY=VALUE",
        help="How a topic is read, such as kafka.security.protocol=SASL_SSL. Without NAME, for all topics.",
    ),
    click.option(
        "--input-options-file",
        "input_options_files",
        multiple=True,
        metavar="[NAME=]PATH",
        help="A file of such options, one in a line: the place for passwords.",
    ),
    click.option(
        "--schema",
        "schemas",
        multiple=True,
        metavar="[NAME=]COLUMNS",
        help="Columns of an input, such as 'ts TIMESTAMP, value DOUBLE', if its files do not declare them.",
    ),
    click.option("--stream", is_flag=True, help="Read inputs as streams: folders in which files arrive, or topics."),
    click.option(
        "--dialect",
        type=click.Choice(get_args(Dialect)),
        help="Dialect of the SQL.  [default: recognised from the text]",
    ),
    click.option(
        "--boundaries",
        type=click.Choice(get_args(Boundaries)),
        help="Which end belongs to a window.  [default: (] in Azure's dialect, else [)]",
    ),
    click.option("--watermark", metavar="LENGTH", help="How late rows of a stream may be, such as '10 minutes'."),
    click.option(
        "--tables",
        type=click.Choice(get_args(TableScope)),
        help="Tables that the SQL may read: only the inputs, or whatever Spark can, catalogs and paths included.  "
        "[default: given if there is an input and no setting names a catalog]",
    ),
    click.option("--master", metavar="URL", help="Spark's master.  [default: all cores of this machine]"),
    click.option("--conf", multiple=True, metavar="KEY=VALUE", help="A setting of Spark. Repeat it for several."),
    click.option(
        "--conf-file",
        "conf_files",
        multiple=True,
        metavar="PATH",
        help="A file of such settings, one in a line: the place for passwords. --conf replaces what it says.",
    ),
    click.option("-v", "--verbose", count=True, help="Log each step; -vv logs more, and shows Spark's own log."),
    click.option("--debug", is_flag=True, help="Show the traceback of an error."),
)

run_options = _stacked(
    asked_options,
    click.option("-o", "--output", metavar="FOLDER", help="Write results here, each statement into its own subfolder."),
    click.option(
        "--format",
        "form",
        type=click.Choice(get_args(ResultFormat)),
        help="How results are written; table prints them.  [default: parquet with --output, else table]",
    ),
    click.option(
        "--rows", default=20, show_default=True, type=click.IntRange(min=1), help="How many rows of a table to print."
    ),
    click.option("--overwrite", is_flag=True, help="Replace results of an earlier run."),
    click.option(
        "--checkpoint",
        metavar="FOLDER",
        help="Where a stream stores its progress, so that it can resume.  [default: _checkpoint in the output]",
    ),
    click.option(
        "--trigger",
        metavar="WHEN",
        help="availableNow and once process the data that is there now, and end; '10 seconds' runs that often, until "
        "stopped.  [default: run whenever data arrives, until stopped]",
    ),
    click.option("--explain", is_flag=True, help="Print the whole plan before it runs."),
)


def trigger_of(text: str | None) -> dict[str, Any]:
    """Read --trigger as Spark takes it; nothing for a micro-batch after the other.

    >>> trigger_of("availableNow"), trigger_of("10 seconds"), trigger_of(None)
    ({'availableNow': True}, {'processingTime': '10000 milliseconds'}, {})
    """
    if text is None:
        return {}
    match text.replace("-", "").replace("_", "").lower():
        case "availablenow":
            return {"availableNow": True}
        case "once":
            return {"once": True}
    try:
        length = parse_duration(text)
    except QueryError as error:
        raise QueryError(
            f"--trigger {text!r} is not a time. Write availableNow, once, or a time: '10 seconds'."
        ) from error
    return {"processingTime": f"{length // 1000} milliseconds"}


def check(run: Run) -> None:
    """Refuse options that do not go together."""
    if not run.stream:
        for option, value in (
            ("--checkpoint", run.checkpoint),
            ("--trigger", run.trigger),
            ("--watermark", run.watermark),
        ):
            if value is not None:
                raise QueryError(f"{option} is for streams. Add --stream, or leave it out.")
    if run.form == "table" and run.output is not None:
        raise QueryError("--format table prints results, and --output is for files. Leave out one of them.")
    if run.form not in (None, "table") and run.output is None:
        raise QueryError(f"--format {run.form} needs a folder to write to. Add --output FOLDER.")
    if run.overwrite and run.output is None:
        raise QueryError("--overwrite is for files. Add --output FOLDER, or leave it out.")
