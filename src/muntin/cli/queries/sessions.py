"""The Spark session of a command: quiet, with its log in a file that is kept only if Spark fails."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from logging import LogRecord
from pathlib import Path
from typing import TYPE_CHECKING

from muntin.cli.failures import FAILED, told
from muntin.cli.queries.settings_files import read_settings
from muntin.errors import QueryError
from muntin.safe_text import hide_user_info

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_MASTER = re.compile(r"local(\[.+\])?|local-cluster\[.+\]|yarn|(spark|k8s)://.+")
LEVELS = ("ERROR", "WARN", "INFO")
"""What Spark logs, by how often -v was given."""


def settings(conf: Iterable[str], files: Iterable[str] = ()) -> dict[str, str]:
    """Take --conf KEY=VALUE apart; it goes before what --conf-file says.

    >>> settings(["spark.driver.memory=4g", "spark.driver.extraJavaOptions=-Da=b"])
    {'spark.driver.memory': '4g', 'spark.driver.extraJavaOptions': '-Da=b'}
    """
    given: dict[str, str] = {}
    for file in files:
        given |= read_settings(file, "--conf-file")
    for text in conf:
        key, sign, value = text.partition("=")
        if not (key.strip() and sign):
            named = re.split(r"[=:\s]", text, maxsplit=1)[0]  # what follows may be a password
            raise QueryError(f"--conf {named!r} is not KEY=VALUE. Write --conf spark.driver.memory=4g.")
        given[key.strip()] = value.strip()
    return given


def checked_master(master: str | None) -> str | None:
    """Refuse what is no address of a master, before Spark starts."""
    if master is not None and not _MASTER.fullmatch(master):
        raise QueryError(
            f"--master {hide_user_info(master)!r} is not a Spark master. "
            "Write local[4], spark://HOST:PORT, k8s://… or yarn."
        )
    return master


@contextmanager
def spark_session(
    app: str, master: str | None, config: Mapping[str, str], log: Path | None, verbosity: int = 0
) -> Iterator[SparkSession]:
    """Start Spark, and end it; what Java prints goes to the log, if there is one."""
    from muntin.spark import session

    try:
        with _stderr_to(log):  # Java keeps what is its standard error when it starts
            spark = session(master, app, config)
    except Exception as error:
        error.add_note("Spark did not start. It needs Java 17 or later, and settings that it knows.")
        raise
    try:
        spark.sparkContext.setLogLevel(LEVELS[min(verbosity, len(LEVELS) - 1)])
        with nullcontext() if verbosity else _unlogged():
            yield spark
    finally:
        with suppress(Exception):  # a JVM that is gone cannot be ended, and why it is gone is known already
            spark.stop()


@contextmanager
def _unlogged() -> Iterator[None]:
    """Keep PySpark from logging the errors that it raises: the command says them once."""
    from pyspark.logger import PySparkLogger

    loggers = [PySparkLogger.getLogger(name) for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger")]
    for logger in loggers:
        logger.addFilter(_nothing)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(_nothing)


def _nothing(record: LogRecord) -> bool:
    return False


@contextmanager
def kept_log(*, quiet: bool) -> Iterator[Path | None]:
    """Give a file for Spark's log; it is removed in the end, unless Spark failed."""
    if not quiet:
        yield None
        return
    handle, name = tempfile.mkstemp(prefix="muntin-spark-", suffix=".log")
    os.close(handle)
    log = Path(name)
    keep = False
    try:
        yield log
    except Exception as error:
        keep = log.stat().st_size > 0 and told(error)[1] == FAILED
        if keep:
            error.add_note(f"Spark's log is in {log}.")
        raise
    finally:
        if not keep:
            log.unlink()


@contextmanager
def _stderr_to(log: Path | None) -> Iterator[None]:
    """Send what processes that start meanwhile print as errors into a file."""
    if log is None:
        yield
        return
    terminal = os.dup(2)
    with log.open("ab") as file:
        os.dup2(file.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(terminal, 2)
        os.close(terminal)
