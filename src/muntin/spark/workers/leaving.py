"""A quiet end for Python workers whose rows nobody reads any more, as under show(3) or LIMIT."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import Any

_DAEMON = str(Path("pyspark", "daemon.py"))


def leave_quietly() -> None:
    """Let this worker end without a traceback where Spark has closed the connection to it.

    A LIMIT that has its rows closes the connection. The worker then ends, and PySpark 4.3 prints the broken pipe, which
    is all that a user sees of it. Errors of functions do not come this way: they are sent to Spark, and reported.
    """
    for frame, _ in traceback.walk_stack(None):
        names = frame.f_globals
        if frame.f_code.co_filename.endswith(_DAEMON) and names.get("traceback") is traceback:
            names["traceback"] = _Reports()


class _Reports:
    """The module traceback as PySpark's daemon knows it, without reports of connections that Spark has closed."""

    def __getattr__(self, name: str) -> Any:
        return getattr(traceback, name)

    def print_exc(self) -> None:
        """Print the exception that is being handled, unless it is a connection that was closed."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            traceback.print_exc()
