"""What both commands do: look at everything that needs no Spark, start Spark, and hand the statements over."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muntin.choices import TableScope
from muntin.cli.plans import FORMATS
from muntin.cli.queries import logs, sessions
from muntin.cli.queries.inputs import Source, sources
from muntin.cli.queries.options import Asked, Explain
from muntin.cli.queries.progress import Steps, steps
from muntin.cli.queries.topic_options import with_options
from muntin.errors import QueryError
from muntin.sqltext.reading import read_for_spark
from muntin.sqltext.statement import Statement

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

log = logging.getLogger(__name__)

_BY_KEYWORD = re.compile(r"Give it by keyword, as in (.*?)=df")
_SCOPE = re.compile(r"tables='(given|catalog)'")
_CATALOG = re.compile(r"spark\.sql\.catalog(?!\.spark_catalog\b)")
"""What settings of catalogs begin with; Delta has to be set as that of the session, which needs no catalog."""


@dataclass(frozen=True, slots=True)
class Job:
    """Statements and inputs that are read and checked; Spark has not started yet."""

    asked: Asked
    text: str
    statements: tuple[Statement, ...]
    sources: tuple[Source, ...]
    config: Mapping[str, str] = field(repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the statements."""
        return tuple(statement.name for statement in self.statements)

    @property
    def tables(self) -> TableScope:
        """Which tables the statements may read: by default the inputs, unless there is none or a catalog is set."""
        if self.asked.tables is not None:
            return self.asked.tables
        has_catalog = any(map(_CATALOG.match, self.config))
        return "given" if self.sources and not has_catalog else "catalog"

    def arguments(self, spark: SparkSession) -> dict[str, Any]:
        """Give what mt.sql and mt.explain_sql are called with."""
        from muntin.cli.queries.reading import frames

        asked = self.asked
        said = {"dialect": asked.dialect, "boundaries": asked.boundaries, "watermark": asked.watermark}
        return {"spark": spark, "tables": self.tables, **said, **frames(spark, self.sources, stream=asked.stream)}


def prepared(asked: Asked) -> Job:
    """Read everything that a mistake can be in, before Spark starts."""
    text = text_of(asked.file)
    statements = read_for_spark(text, asked.dialect, asked.boundaries)
    log.info("%d statements: %s", len(statements), ", ".join(statement.name for statement in statements))
    inputs = sources(asked.inputs, asked.input_formats, asked.schemas, stream=asked.stream)
    inputs = with_options(inputs, asked.input_options, asked.input_options_files)
    sessions.checked_master(asked.master)
    return Job(asked, text, statements, inputs, sessions.settings(asked.conf, asked.conf_files))


def text_of(file: str) -> str:
    """Read the statements; - is standard input."""
    try:
        return sys.stdin.read() if file == "-" else Path(file).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise QueryError(f"there is no file {file!r}. Give the path of a file with SQL statements.") from error
    except IsADirectoryError as error:
        raise QueryError(f"{file!r} is a folder. Give the path of a file with SQL statements.") from error
    except UnicodeDecodeError as error:
        raise QueryError(f"{file!r} is not UTF-8 text. Give the path of a file with SQL statements.") from error


@contextmanager
def in_words_of_the_command_line() -> Iterator[None]:
    """Say how a table is given here, where an error says how it is given in Python."""
    try:
        yield
    except QueryError as error:
        text = _SCOPE.sub(r"--tables \1", _BY_KEYWORD.sub(r"Give it as --input \1=PATH", str(error)))
        if text == str(error):
            raise
        raise QueryError(text) from error


@contextmanager
def started(job: Job, shown: Steps) -> Iterator[SparkSession]:
    """Start Spark for a job, and end it."""
    asked = job.asked
    shown.now("starting Spark")
    name = f"muntin {Path(asked.file).name}"
    with (
        sessions.kept_log(quiet=not asked.verbose) as log_file,
        sessions.spark_session(name, asked.master, job.config, log_file, asked.verbose) as spark,
    ):
        shown.watch(spark)
        try:
            yield spark
        finally:
            shown.end()  # before Spark is gone


def explain(asked: Explain) -> str:
    """Write the plan of the statements."""
    import muntin as mt

    job = prepared(asked)
    with steps(logs.screen()) as shown, started(job, shown) as spark:
        shown.now("planning")
        with in_words_of_the_command_line():
            plan = mt.explain_sql(job.text, **job.arguments(spark))
        return FORMATS[asked.form](plan)
