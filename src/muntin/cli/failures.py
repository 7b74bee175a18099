"""How a command ends when something is wrong: with a message and an exit code; with a traceback only if asked for.

Exit code 2 is a mistake of the user, which the message says how to mend; 1 is a failure of Spark, or a defect.
"""

from __future__ import annotations

import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from shutil import get_terminal_size
from textwrap import fill
from typing import Any

import click

from muntin.errors import InternalError, MuntinError
from muntin.safe_text import escape_controls, hide_user_info
from muntin.sentences import error_of_worker, sentence_of

log = logging.getLogger(__name__)

MISTAKE, FAILED, INTERRUPTED = 2, 1, 130


class Failure(click.ClickException):
    """The end of a command that failed; on a terminal the lines of its message are broken between words."""

    exit_code = FAILED

    def format_message(self) -> str:
        """Give the message as it is printed: without passwords, and with control characters written out."""
        message = _printable(self.message)
        return broken(message, get_terminal_size().columns) if sys.stderr.isatty() else message


def broken(message: str, width: int) -> str:
    r"""Break the long lines of a message, which `Error: ` stands before; quoted lines are indented and stay.

    >>> print(broken("column 4: no column 'c'. Did you mean 'b'?\n  SELECT c, d, e, f FROM t\n         ^", 32))
    column 4: no column 'c'.
    Did you mean 'b'?
      SELECT c, d, e, f FROM t
             ^
    """
    lines = message.splitlines()
    room = max(width, 20)
    return "\n".join(
        line if line.startswith(" ") else fill(" " * len("Error: ") * (not place) + line, room, break_on_hyphens=False)
        for place, line in enumerate(lines)
    ).lstrip(" ")


class Mistake(Failure):
    """The end of a command that was asked for something wrong."""

    exit_code = MISTAKE


class Interrupted(Failure):
    """The end of a command that Ctrl-C stopped before it was done."""

    exit_code = INTERRUPTED


@contextmanager
def errors_as_messages(debug: bool = False) -> Iterator[None]:
    """End a command with Muntin's own errors, and those of files, as messages."""
    try:
        yield
    except (MuntinError, OSError) as error:
        if debug:
            _print_traceback()
        raise _ended(*told(error)) from error


@contextmanager
def all_errors_as_messages(debug: bool = False) -> Iterator[None]:
    """End a command with every error as a message, those of Spark and of the operating system included."""
    try:
        yield
    except (click.ClickException, click.exceptions.Exit):
        raise
    except KeyboardInterrupt as error:
        raise Interrupted("interrupted.") from error
    except Exception as error:
        if debug:
            _print_traceback()
        log.debug("the command fails", exc_info=error)
        raise _ended(*told(error)) from error


def told(error: Exception) -> tuple[str, int]:
    """Say in a message what an error means for the user, and give the exit code.

    >>> told(FileNotFoundError(2, "No such file or directory", "a.sql"))
    ("[Errno 2] No such file or directory: 'a.sql'", 2)
    """
    if isinstance(error, MuntinError):
        return _own(error)
    if isinstance(error, OSError) and not _of_spark(error):
        return str(error), MISTAKE
    if _of_spark(error):
        if own := error_of_worker(error):
            return _own(own)
        return _of_analysis(error) or ("\n".join((f"Spark failed: {sentence_of(error)}", *_notes(error))), FAILED)
    name = type(error).__name__
    return f"{name}: {error}\nThis is a defect of Muntin. Please report it, with what --debug shows.", FAILED


def _print_traceback() -> None:
    click.echo(_printable(traceback.format_exc()), err=True, nl=False)


def _printable(text: str) -> str:
    return escape_controls(hide_user_info(text), keep="\n\t")


def _ended(message: str, code: int) -> click.ClickException:
    return Mistake(message) if code == MISTAKE else Failure(message)


def _own(error: MuntinError) -> tuple[str, int]:
    if isinstance(error, InternalError):
        return f"{error}\nThis is a defect of Muntin. Please report it, with what --debug shows.", FAILED
    return str(error), MISTAKE


def _notes(error: Exception) -> list[str]:
    return getattr(error, "__notes__", [])


def _of_analysis(error: Exception) -> tuple[str, int] | None:
    """Take what Spark finds wrong in a query before it runs for a mistake of the user."""
    import pyspark.errors

    return (sentence_of(error), MISTAKE) if isinstance(error, pyspark.errors.AnalysisException) else None


def _of_spark(error: Exception) -> bool:
    """Tell whether Spark, or the way to it, raised an error; it has not if it was never loaded."""
    known: list[Any] = []
    if "pyspark" in sys.modules:
        import pyspark.errors

        known.append(pyspark.errors.PySparkException)
    if "py4j" in sys.modules:
        from py4j.protocol import Py4JError  # type: ignore[import-untyped]

        known += [Py4JError, ConnectionError]  # the latter where the JVM is gone
    return isinstance(error, tuple(known))
