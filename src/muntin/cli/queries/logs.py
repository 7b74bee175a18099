"""What a command says beside its results: on standard error, quietly unless it is asked to say more."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from typing import Any

from rich.console import Console

from muntin.errors import MuntinWarning

_LEVELS = (logging.WARNING, logging.INFO, logging.DEBUG)
_OTHERS = (logging.ERROR, logging.WARNING, logging.INFO)
"""What Muntin and what other libraries log, by how often -v was given."""


def screen() -> Console:
    """Give a console on standard error, which stays there while Spark starts with another one."""
    return Console(file=os.fdopen(os.dup(sys.stderr.fileno()), "w", encoding="utf-8"))


def set_up(verbosity: int) -> None:
    """Send logging and warnings to standard error."""
    place = min(verbosity, len(_LEVELS) - 1)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=_OTHERS[place], force=True)
    logging.getLogger("muntin").setLevel(_LEVELS[place])
    warnings.showwarning = _shown
    if not verbosity:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", MuntinWarning)


def _shown(message: Warning | str, category: type[Warning], *_: Any) -> None:
    sys.stderr.write(f"Warning: {message}\n")
