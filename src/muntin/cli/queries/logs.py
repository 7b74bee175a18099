"""What a command says beside its results: on standard error, quietly unless it is asked to say more."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from muntin.errors import MuntinWarning
from muntin.safe_text import escape_controls, hide_user_info

_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
"""What Muntin logs, by how often -v was given."""


def screen() -> Console:
    """Give a console on standard error, which stays there while Spark starts with another one."""
    return Console(file=os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8"))


@contextmanager
def logged(verbosity: int) -> Iterator[None]:
    """Send what Muntin logs and warns of to standard error, meanwhile."""
    handler = logging.StreamHandler()
    handler.setFormatter(_SafeFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("muntin")
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(_LEVELS[min(verbosity, len(_LEVELS) - 1)])
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _shown  # type: ignore[assignment]
            if not verbosity:
                warnings.simplefilter("ignore")
                warnings.simplefilter("always", MuntinWarning)
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class _SafeFormatter(logging.Formatter):
    """Writes records, and the errors in them, as texts that are fit for a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record."""
        return escape_controls(hide_user_info(super().format(record)), keep="\n\t")


def _shown(message: Warning | str, *_: Any) -> None:
    sys.stderr.write(f"Warning: {escape_controls(hide_user_info(str(message)), keep=chr(10))}\n")
