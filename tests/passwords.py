"""A password that must not be seen, and what can be seen of an error."""

from __future__ import annotations

import traceback
from collections.abc import Iterator

PASSWORD = "PASSW0RD"  # noqa: S105 - of nobody
URL = f"s3a://user:{PASSWORD}@bucket/windows"


def shown_texts(error: BaseException) -> str:
    """Return all that tools show of an error: its texts, its traceback, and those of its causes."""
    return "\n".join(_texts(error)) + "".join(traceback.format_exception(error))


def _texts(error: BaseException | None) -> Iterator[str]:
    while error is not None:
        yield f"{error} {error!r} {error.args} {getattr(error, '__notes__', '')}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
